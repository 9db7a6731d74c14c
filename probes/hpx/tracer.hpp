// SPDX-License-Identifier: BSD-2-Clause
/*
 * HPX's tracing backend for tracer: hpx::tracing as points (HPX_WITH_TRACER).
 *
 * `apply` copies this file, tracer_detail.hpp and tracer.cpp into HPX's sources and adds the lines that call it.
 * Nobody attached, each call is a load and a branch; no description is computed, and no struct of HPX has a byte more. What a name costs
 * is paid when somebody records: without HPX_WITH_THREAD_DESCRIPTION a task goes by the type of its callable,
 * a literal in the binary.
 *
 * HPX's interface is not told everything, so the added lines call more than it has:
 *
 *	description_staged()	a task from its description on: the number that it gets there stays its identity
 *	thread_created()	with the true parent, also where a worker makes a task of a description later on
 *	task_woken()		by the waker; the interface's task_resumed() is the woken task itself, too late to tell
 *	waits_on(), fulfils	what the next suspension of this thread's task waits for, and what its next wake is for
 *	stolen()		in every scheduler that steals
 *	worker_sleeps		around the blocking call; background and bulk work likewise
 *
 * A task's identity is a number, not the address of its thread_data: a description has no address that lasts, and HPX uses
 * a thread_data for one task after the other. It is drawn when the task is first recorded, kept in what was padding
 * in thread_data, and travels in a description's function object, never in a byte that HPX would have to add.
 *
 * In a TU of a program only futures, continuations and locks are inline; everything else is in libhpx_core. Each of the
 * two has gates and rings of its own, as always with points.
 */
#pragma once

#include <hpx/tracing/backends/tracer_detail.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpx::tracing {

	using enable_parent_task_handler_type = bool (*)();

	struct [[maybe_unused]] annotation_handle
	{
	};

	constexpr annotation_handle create_annotation_handle(char const*) noexcept
	{
		return {};
	}

	////////////////////////////////////////////////////////////////////////
	// life of tasks

	/* asked before a description is computed; also keeps the wrappers of tracing.hpp constexpr */
	HPX_FORCEINLINE bool tasks_recorded() noexcept
	{
		HPX_TRACER_TASK(return HPX_UNLIKELY(TRACER_ENABLED(task));)
		return false;
	}

	/* the interface's form has no task: see description_staged() */
	inline void task_staged(char const*, void const* = nullptr) noexcept {}

	inline void task_created([[maybe_unused]] char const* description, [[maybe_unused]] void const* task,
	    [[maybe_unused]] void const* parent = nullptr) noexcept
	{
		if (tasks_recorded())
			detail::record_created(detail::task_id(task), detail::known(description), detail::task_id(parent));
	}

	/*
	 * thread_created() - a thread_data came to life
	 * @number: its own; of its former life until now
	 * @self: gives the task that runs here, or nullptr; the parent, unless a description says another
	 */
	template <typename ThreadData, typename InitData>
	HPX_NOINLINE void thread_created_recorded(ThreadData const* task, InitData const& data,
	    std::atomic<std::uint32_t>& number, void const* self) noexcept
	{
		auto& notes = detail::notes();
		bool const described = notes.described == &data;
		std::uint32_t const mine = described ? notes.number : detail::next_number();
		std::uint64_t const id = detail::id_of_number(mine);
		std::uint64_t const parent = described ? detail::id_of_number(notes.parent) : detail::task_id(self);
		char const* name =
		    detail::known(ThreadData::get_safe_description(task->get_description(), "thread"));

		if (!name)
			name = notes.name;
		if (!name)
			name = data.func.empty() ? "spare thread_data" : data.func.get_type_name();
		notes.described = nullptr;
		notes.name = nullptr;
		notes.converted = id;
		number.store(mine, std::memory_order_relaxed);
		detail::record_created(id, name, parent);
		if (std::decay_t<decltype(data.initial_state)>::suspended == data.initial_state)
			detail::created_suspended(task);
	}

	template <typename ThreadData, typename InitData, typename Self>
	HPX_FORCEINLINE void thread_created(ThreadData const* task, InitData const& data,
	    std::atomic<std::uint32_t>& number, Self&& self) noexcept
	{
		number.store(0, std::memory_order_relaxed);
		if (tasks_recorded())
			thread_created_recorded(task, data, number, self());
	}

	/*
	 * next_task_runs() - the callable of the task that this thread is about to make
	 * Where HPX hides it (async runs a shared state) the task would go by HPX's name.
	 */
	template <typename Callable>
	void next_task_runs(char const* annotation) noexcept
	{
		if (tasks_recorded())
		{
			/* what HPX gives to all whose program gave nothing */
			bool const own = detail::known(annotation) &&
			    std::string_view(annotation) != "futures_factory::post";
			detail::notes().name = own ? annotation : detail::type_name<Callable>::value.chars;
		}
	}

	inline void task_executing(void const* task, char const*, std::size_t) noexcept
	{
		if (tasks_recorded())
			detail::record_begin(task);
	}

	inline void task_yielded(void const* task, char const*) noexcept
	{
		if (tasks_recorded())
			detail::record_yielded(task);
	}

	inline void task_suspended(void const* task, char const*, char const* reason = nullptr) noexcept
	{
		if (tasks_recorded())
			detail::record_suspended(task, detail::known(reason));
	}

	/* for HPX without HPX_WITH_THREAD_DESCRIPTION, whose this_thread::suspend() does not get its reason */
	inline void suspends_for(char const* reason) noexcept
	{
		if (tasks_recorded())
			detail::notes().reason = reason;
	}

	/* said by the woken task; the waker said it before: task_woken() */
	inline void task_resumed(void const*, char const*, char const* = nullptr) noexcept {}

	inline void task_woken(void const* task, char const* state) noexcept
	{
		if (tasks_recorded())
			detail::record_woken(task, state);
	}

	inline void task_completed(void const* task, char const*) noexcept
	{
		if (tasks_recorded())
			detail::record_completed(task);
	}

	inline void task_deleted(void const* task) noexcept
	{
		if (tasks_recorded())
			detail::record_destroyed(task);
	}

	inline void task_renamed(void const* task, char const* name) noexcept
	{
		if (tasks_recorded() && name)
			detail::record_renamed(task, name);
	}

	/* the interface's form has no task: see task_renamed() */
	inline char const* rename_region(char const*) noexcept
	{
		return nullptr;
	}

	/* to ask a thread_data takes its lock: only done while somebody records */
	struct region_init_data
	{
		void const* task;
		bool (*is_stackless)(void const* task) noexcept;
	};

	/* said once by each worker: its number among all */
	HPX_CORE_EXPORT void worker_is(std::size_t number) noexcept;

	/* the scheduling loop of a worker */
	struct [[maybe_unused]] loop_context
	{
		explicit loop_context() noexcept
		{
			HPX_TRACER_WORKER(detail::worker_started();)
		}
		~loop_context()
		{
			HPX_TRACER_WORKER(detail::worker_stopped();)
		}
		loop_context(loop_context const&) = delete;
		loop_context& operator=(loop_context const&) = delete;
	};

	/* a stay; begun by task_executing(), ended by who knows why. A stackless task does not say when it only yields. */
	struct [[maybe_unused]] region
	{
		explicit region(loop_context&, region_init_data const& data, std::size_t) noexcept
		  : data_(data)
		{
		}
		~region()
		{
			if (tasks_recorded() && data_.is_stackless(data_.task))
				detail::record_end(data_.task);
		}
		region(region const&) = delete;
		region& operator=(region const&) = delete;

	private:
		region_init_data data_;
	};

	struct fiber_region_init_data
	{
	};

	struct [[maybe_unused]] fiber_region
	{
		constexpr explicit fiber_region(fiber_region_init_data const&, std::size_t) noexcept {}
	};

	struct [[maybe_unused]] fiber_suspend_region
	{
		constexpr explicit fiber_suspend_region(char const*) noexcept {}
	};

	////////////////////////////////////////////////////////////////////////
	// descriptions: work that is not a task yet

	/*
	 * described_task - takes the place of a description's function while somebody records, and knows which task it will
	 * be and who described it (the thread_data is made later, by whatever worker finds the description)
	 */
	template <typename Function>
	struct described_task
	{
		Function function;
		char const* name;
		std::uint32_t number;
		std::uint32_t parent;

		template <typename State>
		decltype(auto) operator()(State state)
		{
			return function(state);
		}
	};

	template <typename InitData>
	HPX_NOINLINE void description_staged_recorded(InitData& data, void const* self)
	{
		using function = std::decay_t<decltype(data.func)>;
		auto& notes = detail::notes();
		char const* name = notes.name ? notes.name : data.func.get_type_name();
		std::uint32_t const number = detail::next_number();
		std::uint64_t const parent = detail::task_id(self);

		notes.name = nullptr;
		data.func = described_task<function>{std::move(data.func), name, number, detail::number_of_id(parent)};
		detail::record_staged(detail::id_of_number(number), name, parent);
	}

	/* @self: as for thread_created() */
	template <typename InitData, typename Self>
	HPX_FORCEINLINE void description_staged(InitData& data, Self&& self)
	{
		if (tasks_recorded() && !data.func.empty())
			description_staged_recorded(data, self());
	}

	template <typename InitData, typename Described>
	HPX_NOINLINE void description_unwraps(InitData& data, Described& described)
	{
		auto& notes = detail::notes();
		auto inner = std::move(described.function);

		notes.described = &data;
		notes.number = described.number;
		notes.parent = described.parent;
		notes.name = described.name;
		data.func = std::move(inner);
	}

	template <typename InitData>
	inline void description_converts(InitData& data)
	{
		using function = std::decay_t<decltype(data.func)>;
		/* also when nobody records any more: what was wrapped is to be unwrapped */
		if (auto* described = data.func.template target<described_task<function>>(); HPX_UNLIKELY(described))
			description_unwraps(data, *described);
	}

	////////////////////////////////////////////////////////////////////////
	// futures

	inline bool futures_recorded() noexcept
	{
		HPX_TRACER_FUTURE(return TRACER_ENABLED(future) || TRACER_ENABLED(task);)
		return tasks_recorded();
	}

	inline void future_fulfilled([[maybe_unused]] void const* future, char const* = nullptr) noexcept
	{
		if (futures_recorded())
		{
			HPX_TRACER_FUTURE(TRACER_FUTURE_SET(future);)
			detail::notes().fulfils = future;
		}
	}

	inline void future_exception_set([[maybe_unused]] void const* future, char const* = nullptr) noexcept
	{
		if (futures_recorded())
		{
			HPX_TRACER_FUTURE(TRACER_FUTURE_EXCEPTION(future);)
			detail::notes().fulfils = future;
		}
	}

	/* its waiters are awake, its callbacks were called */
	inline void future_done() noexcept
	{
		if (futures_recorded())
			detail::notes().fulfils = nullptr;
	}

	/* a callback is about to be called for a future that is ready already */
	inline void future_ready(void const* future) noexcept
	{
		if (futures_recorded())
			detail::notes().fulfils = future;
	}

	/* @self: as for thread_created() */
	template <typename Self>
	HPX_FORCEINLINE void future_wait([[maybe_unused]] void const* future, Self&& self) noexcept
	{
		if (futures_recorded())
		{
			[[maybe_unused]] void const* task = self();
			detail::notes().waits_for = future;
			HPX_TRACER_FUTURE(if (task) TRACER_FUTURE_WAIT(future, detail::task_id(task));)
		}
	}

	/* as future_wait(), for what is no future: conditions, latches, ... */
	inline void waits_on(void const* object) noexcept
	{
		if (tasks_recorded() && !detail::notes().waits_for)
			detail::notes().waits_for = object;
	}

	struct [[maybe_unused]] notifies
	{
		explicit notifies(void const* object) noexcept
		  : set_(false)
		{
			if (tasks_recorded() && !detail::notes().fulfils)
			{
				detail::notes().fulfils = object;
				set_ = true;
			}
		}
		~notifies()
		{
			if (set_)
				detail::notes().fulfils = nullptr;
		}
		notifies(notifies const&) = delete;
		notifies& operator=(notifies const&) = delete;

	private:
		bool set_;
	};

	inline void continuation_attached(
	    [[maybe_unused]] void const* future, [[maybe_unused]] void const* continuation) noexcept
	{
		HPX_TRACER_FUTURE(TRACER_CONTINUATION_ATTACHED(future, continuation);)
	}

	/*
	 * HPX's performance counters /continuations/count/... need numbers also when nobody records: counted from when
	 * the first of these counters is created, so that nobody else pays for it.
	 */
	namespace detail {
		HPX_CORE_EXPORT extern std::atomic<bool> continuations_counted;
		HPX_CORE_EXPORT void continuation_begun() noexcept;
		HPX_CORE_EXPORT void continuation_ended() noexcept;
	}    // namespace detail
	HPX_CORE_EXPORT void count_continuations() noexcept;
	HPX_CORE_EXPORT std::int64_t active_continuations() noexcept;
	HPX_CORE_EXPORT std::int64_t cumulative_continuations(bool reset) noexcept;

	/*
	 * The interface's forms do not name the continuation; its own state stands for it.
	 * continuation_run() tells whether it was counted: then so must be its end.
	 */
	inline bool continuation_run([[maybe_unused]] void const* future = nullptr,
	    [[maybe_unused]] void const* continuation = nullptr) noexcept
	{
		HPX_TRACER_FUTURE(TRACER_CONTINUATION_BEGIN(future, continuation ? continuation : future);)
		bool const counted = detail::continuations_counted.load(std::memory_order_relaxed);
		if (HPX_UNLIKELY(counted))
			detail::continuation_begun();
		return counted;
	}

	inline void continuation_finished([[maybe_unused]] void const* future = nullptr,
	    [[maybe_unused]] void const* continuation = nullptr, bool counted = false) noexcept
	{
		HPX_TRACER_FUTURE(TRACER_CONTINUATION_END(future, continuation ? continuation : future);)
		if (HPX_UNLIKELY(counted))
			detail::continuation_ended();
	}

	inline void handle_on_completed_fired([[maybe_unused]] void const* future = nullptr) noexcept
	{
		HPX_TRACER_FUTURE(if (TRACER_ENABLED(future)) {
			void const* fired = future ? future : detail::notes().fulfils;
			if (fired)
				TRACER_FUTURE_CALLBACK(fired);
		})
	}

	////////////////////////////////////////////////////////////////////////
	// locks: an empty member tells its lock's address by its own

	struct [[maybe_unused]] lock_context
	{
		constexpr explicit lock_context(char const* = nullptr, void const* = nullptr) noexcept {}
		constexpr explicit lock_context(char const*, char const*, void const* = nullptr) noexcept {}

		/* true: say how it ended with after_lock() or after_try_lock() */
		bool before_lock([[maybe_unused]] char const* name = "hpx::mutex") const noexcept
		{
			HPX_TRACER_LOCK(if (TRACER_ENABLED(lock)) {
				TRACER_LOCK_WAIT(this, name);
				return true;
			})
			return false;
		}
		/* an attempt does not wait */
		bool before_try_lock() const noexcept
		{
			HPX_TRACER_LOCK(return TRACER_ENABLED(lock);)
			return false;
		}
		void after_lock() const noexcept
		{
			HPX_TRACER_LOCK(TRACER_LOCK_ACQUIRED(this);)
		}
		void after_try_lock([[maybe_unused]] bool success) const noexcept
		{
			HPX_TRACER_LOCK(if (success) TRACER_LOCK_ACQUIRED(this);)
		}
		void before_unlock() const noexcept
		{
			HPX_TRACER_LOCK(TRACER_LOCK_RELEASED(this);)
		}
		constexpr void after_unlock() const noexcept {}
	};

	/* spinlocks guard each future of HPX's own: their points are an option of their own */
	struct [[maybe_unused]] spinlock_context
	{
		constexpr explicit spinlock_context(char const* = nullptr, void const* = nullptr) noexcept {}
		constexpr explicit spinlock_context(char const*, char const*, void const* = nullptr) noexcept {}

		bool before_lock() const noexcept
		{
			HPX_TRACER_SPINLOCK(if (TRACER_ENABLED(lock)) {
				TRACER_LOCK_WAIT(this, "hpx::spinlock");
				return true;
			})
			return false;
		}
		void after_lock() const noexcept
		{
			HPX_TRACER_SPINLOCK(TRACER_LOCK_ACQUIRED(this);)
		}
		void after_try_lock([[maybe_unused]] bool success) const noexcept
		{
			HPX_TRACER_SPINLOCK(if (success) TRACER_LOCK_ACQUIRED(this);)
		}
		void before_unlock() const noexcept
		{
			HPX_TRACER_SPINLOCK(TRACER_LOCK_RELEASED(this);)
		}
		constexpr void after_unlock() const noexcept {}
	};

	namespace detail {

		/* the lock of a global id is a spinlock, one in each id */
		inline void sync_prepare([[maybe_unused]] void const* lock) noexcept
		{
			HPX_TRACER_SPINLOCK(TRACER_LOCK_WAIT(lock, "hpx::naming::gid_type");)
		}
		inline void sync_acquired([[maybe_unused]] void const* lock) noexcept
		{
			HPX_TRACER_SPINLOCK(TRACER_LOCK_ACQUIRED(lock);)
		}
		constexpr void sync_cancel(void const*) noexcept {}
		inline void sync_releasing([[maybe_unused]] void const* lock) noexcept
		{
			HPX_TRACER_SPINLOCK(TRACER_LOCK_RELEASED(lock);)
		}
		constexpr void sync_released(void const*) noexcept {}
	}    // namespace detail

	////////////////////////////////////////////////////////////////////////
	// workers

	inline bool steals_recorded() noexcept
	{
		HPX_TRACER_STEAL(return TRACER_ENABLED(steal);)
		return false;
	}

	/*
	 * stolen() - the worker that calls took a task of another's queue
	 * @thief, @victim: numbers in their pool
	 * @depth: tells how many are left; called only if somebody records
	 */
	template <typename Depth>
	inline void stolen([[maybe_unused]] std::size_t thief, [[maybe_unused]] std::size_t victim,
	    [[maybe_unused]] void const* task, [[maybe_unused]] Depth&& depth) noexcept
	{
		if (steals_recorded() && thief != victim)
			detail::record_steal(thief, victim, detail::task_id(task), static_cast<std::uint64_t>(depth()));
	}

	/* a task may be gone by then, its number not */
	struct converted_task
	{
		std::uint64_t id;
	};

	template <typename Depth>
	inline void stolen([[maybe_unused]] std::size_t thief, [[maybe_unused]] std::size_t victim,
	    [[maybe_unused]] converted_task task, [[maybe_unused]] Depth&& depth) noexcept
	{
		if (steals_recorded() && thief != victim)
			detail::record_steal(thief, victim, task.id, static_cast<std::uint64_t>(depth()));
	}

	inline converted_task last_converted() noexcept
	{
		return {steals_recorded() ? detail::notes().converted : 0};
	}

	struct [[maybe_unused]] worker_sleeps
	{
		explicit worker_sleeps([[maybe_unused]] char const* reason) noexcept
		{
			HPX_TRACER_WORKER(TRACER_WORKER_SLEEP_BEGIN(detail::this_worker(), reason);)
		}
		void notified() noexcept
		{
			cause_ = "notified";
		}
		~worker_sleeps()
		{
			HPX_TRACER_WORKER(TRACER_WORKER_SLEEP_END(detail::this_worker(), cause_);)
		}
		worker_sleeps(worker_sleeps const&) = delete;
		worker_sleeps& operator=(worker_sleeps const&) = delete;

	private:
		char const* cause_ = "timeout";
	};

	struct [[maybe_unused]] background_work
	{
		explicit background_work([[maybe_unused]] char const* name) noexcept
		{
			HPX_TRACER_WORKER(TRACER_WORKER_BACKGROUND_BEGIN(detail::this_worker(), name);)
		}
		~background_work()
		{
			HPX_TRACER_WORKER(TRACER_WORKER_BACKGROUND_END(detail::this_worker());)
		}
		background_work(background_work const&) = delete;
		background_work& operator=(background_work const&) = delete;
	};

	struct [[maybe_unused]] bulk_work
	{
		explicit bulk_work([[maybe_unused]] char const* name) noexcept
		{
			HPX_TRACER_WORKER(TRACER_WORKER_BULK_BEGIN(detail::this_worker(), name);)
		}
		~bulk_work()
		{
			HPX_TRACER_WORKER(TRACER_WORKER_BULK_END(detail::this_worker());)
		}
		bulk_work(bulk_work const&) = delete;
		bulk_work& operator=(bulk_work const&) = delete;
	};

	/*
	 * HPX_TRACING_MARK_EVENT stands at the begin of what it names, so it can be a zone
	 * @where: "file:line" by the macros; who declares one without them has the file at least
	 */
	struct [[maybe_unused]] mark_event
	{
		explicit mark_event([[maybe_unused]] char const* name,
		    [[maybe_unused]] char const* function = __builtin_FUNCTION(),
		    [[maybe_unused]] char const* where = __builtin_FILE()) noexcept
		{
			HPX_TRACER_ZONE(TRACER_ZONE_BEGIN_AT(name, function, where);)
		}
		~mark_event()
		{
			HPX_TRACER_ZONE(TRACER_ZONE_END();)
		}
		mark_event(mark_event const&) = delete;
		mark_event& operator=(mark_event const&) = delete;
	};

	/* worker_sleeps tells these two better, and they are far too many */
	constexpr bool is_told_otherwise(std::string_view name) noexcept
	{
		return name == "idle_callback" || name == "do_some_work" || name == "send_parcel" ||
		    name == "recv_parcel";
	}

	struct [[maybe_unused]] no_event
	{
		constexpr explicit no_event(char const*, char const*, char const*) noexcept {}
	};

	////////////////////////////////////////////////////////////////////////
	// the rest

	inline void frame_mark([[maybe_unused]] char const* name = nullptr) noexcept
	{
		HPX_TRACER_FRAME(TRACER_FRAME(name);)
	}

	/* @name: as HPX prints it, without the prefix that some have inside */
	inline void sample_counter(std::string const&, [[maybe_unused]] std::string const& name,
	    [[maybe_unused]] double value) noexcept
	{
		HPX_TRACER_COUNTER(TRACER_COUNTER(name.c_str(), value);)
	}

	/* each locality counts its parcels from 1; the upper half of the other word says which locality it is */
	template <typename Gid>
	inline std::uint64_t parcel_number(Gid const& id) noexcept
	{
		return (id.get_msb() & 0xffffffff00000000ULL) | (id.get_lsb() & 0xffffffffULL);
	}

	inline bool messages_recorded() noexcept
	{
		HPX_TRACER_MESSAGE(return TRACER_ENABLED(message);)
		return false;
	}

	/*
	 * bytes_beside() - what a parcel has in large arrays, which are sent from where they are (zero-copy)
	 * @first: the first chunk that may be the parcel's; those of its stream have no pointer
	 */
	template <typename Chunks>
	std::size_t bytes_beside(Chunks const& chunks, std::size_t first) noexcept
	{
		std::size_t bytes = 0;

		if (!messages_recorded())
			return 0;
		for (std::size_t i = first; i < chunks.size(); ++i)
		{
			using type = decltype(chunks[i].type_);
			bytes += chunks[i].type_ == type::chunk_type_index ? 0 : chunks[i].size_;
		}
		return bytes;
	}

	inline void send_parcel([[maybe_unused]] std::uint64_t tag, [[maybe_unused]] std::uint64_t size,
	    [[maybe_unused]] std::uint64_t destination) noexcept
	{
		HPX_TRACER_MESSAGE(TRACER_SENT(tag, destination, size);)
	}

	inline void recv_parcel([[maybe_unused]] std::uint64_t tag, [[maybe_unused]] std::uint64_t size,
	    [[maybe_unused]] std::uint64_t source, std::uint64_t) noexcept
	{
		HPX_TRACER_MESSAGE(TRACER_RECEIVED(tag, source, size);)
	}

	/* the system's own name for a thread has room for 15 characters: less than HPX's names on many localities */
	HPX_CORE_EXPORT void set_thread_name(char const* name) noexcept;
	inline void register_thread(char const* name) noexcept
	{
		set_thread_name(name);
	}

	constexpr void tracing_init(char const*, int, char**, std::uint32_t = 0, std::uint32_t = 1) noexcept {}
	constexpr void tracing_finalize() noexcept {}
	inline void create_counter(std::string const&, std::string const&) noexcept {}
	constexpr void set_enable_parent_task_handler(enable_parent_task_handler_type) noexcept {}

	/* timers of tasks are APEX's: stays say the same */
	struct [[maybe_unused]] task_timer_data
	{
		constexpr static bool valid() noexcept
		{
			return false;
		}
	};

	constexpr task_timer_data create_task_timer(
	    threads::thread_description const&, std::uint32_t, threads::thread_id const&) noexcept
	{
		return {};
	}

	constexpr void update_task_timer(task_timer_data&, char const*) noexcept {}

	struct [[maybe_unused]] scoped_task_timer
	{
		constexpr explicit scoped_task_timer(task_timer_data) noexcept {}
		constexpr void stop() noexcept {}
		constexpr void yield() noexcept {}
		template <typename ThreadData, typename State>
		constexpr void handle_post_execution(ThreadData*, State) noexcept
		{
		}
	};
}    // namespace hpx::tracing
