// SPDX-License-Identifier: BSD-2-Clause
/* What HPX's tracing backend for tracer keeps for a thread: see backends/tracer.hpp. */
#include <hpx/config.hpp>

#if defined(HPX_HAVE_TRACER)
#include <hpx/tracing/tracing.hpp>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>

namespace hpx::tracing::detail {

	thread_notes& notes() noexcept
	{
		static thread_local thread_notes notes{};
		return notes;
	}

	namespace {

		/* numbers go to threads by the block, so that they seldom meet */
		constexpr std::uint32_t block = 256;
		std::atomic<std::uint32_t> blocks{0};
	}    // namespace

	std::uint32_t next_number() noexcept
	{
		auto& mine = notes();

		if (mine.next == mine.end)
		{
			mine.next = blocks.fetch_add(block, std::memory_order_relaxed);
			mine.end = mine.next + block;
		}
		/* 0 is none; after four thousand million tasks the first numbers are free again */
		std::uint32_t const number = mine.next++;
		return number ? number : mine.next++;
	}

	/* a waker and the task itself may both be the first to ask */
	std::uint64_t task_id(void const* task) noexcept
	{
		if (!task)
			return 0;
		auto& number = threads::detail::tracer_number(task);
		std::uint32_t mine = number.load(std::memory_order_relaxed);
		if (!mine)
		{
			std::uint32_t const drawn = next_number();
			if (number.compare_exchange_strong(mine, drawn, std::memory_order_relaxed))
				mine = drawn;
		}
		return id_of_number(mine);
	}

	namespace {

		/* one a running timer, and one a worker for its background task */
		constexpr std::size_t slots = 256;
		std::atomic<void const*> suspended[slots];
		std::atomic<std::size_t> used{0};    /* slots that ever were */
	}    // namespace

	void created_suspended(void const* task) noexcept
	{
		for (std::size_t i = 0; i != slots; ++i)
		{
			void const* none = nullptr;
			if (!suspended[i].compare_exchange_strong(none, task))
				continue;
			std::size_t before = used.load();
			while (before <= i && !used.compare_exchange_weak(before, i + 1))
				;
			return;
		}
	}

	bool first_wake(void const* task) noexcept
	{
		std::size_t const end = used.load(std::memory_order_acquire);

		for (std::size_t i = 0; i != end; ++i)
		{
			void const* found = task;
			if (suspended[i].load(std::memory_order_relaxed) == task &&
			    suspended[i].compare_exchange_strong(found, nullptr))
				return true;
		}
		return false;
	}

	void record_staged([[maybe_unused]] std::uint64_t id, [[maybe_unused]] char const* name,
	    [[maybe_unused]] std::uint64_t parent) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_STAGED(id, name, parent);)
	}

	void record_created([[maybe_unused]] std::uint64_t id, [[maybe_unused]] char const* name,
	    [[maybe_unused]] std::uint64_t parent) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_CREATED(id, name, parent);)
	}

	void record_begin([[maybe_unused]] void const* task) noexcept
	{
		auto& mine = notes();

		mine.waits_for = mine.fulfils = mine.completed = nullptr;
		mine.reason = nullptr;
		HPX_TRACER_TASK(TRACER_TASK_BEGIN(task_id(task), this_worker());)
	}

	void record_end([[maybe_unused]] void const* task) noexcept
	{
		if (notes().completed == task)
			return;
		HPX_TRACER_TASK(TRACER_TASK_END(task_id(task));)
	}

	void record_yielded([[maybe_unused]] void const* task) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_YIELDED(task_id(task));)
	}

	void record_suspended([[maybe_unused]] void const* task, [[maybe_unused]] char const* reason) noexcept
	{
		auto& mine = notes();
		[[maybe_unused]] void const* object = mine.waits_for;

		if (!reason)
			reason = mine.reason;
		mine.waits_for = nullptr;
		mine.reason = nullptr;
		HPX_TRACER_TASK(TRACER_TASK_SUSPENDED(task_id(task), reason ? reason : "suspend", object);)
	}

	void record_woken([[maybe_unused]] void const* task, [[maybe_unused]] char const* state) noexcept
	{
		[[maybe_unused]] void const* object = notes().fulfils;

		HPX_TRACER_TASK(if (first_wake(task)) TRACER_TASK_READY(task_id(task));
				else TRACER_TASK_RESUMED(task_id(task), state, object);)
	}

	void record_completed([[maybe_unused]] void const* task) noexcept
	{
		notes().completed = task;
		HPX_TRACER_TASK(TRACER_TASK_COMPLETED(task_id(task));)
	}

	void record_destroyed([[maybe_unused]] void const* task) noexcept
	{
		first_wake(task);
		HPX_TRACER_TASK(TRACER_TASK_DESTROYED(task_id(task));)
	}

	void record_renamed([[maybe_unused]] void const* task, [[maybe_unused]] char const* name) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_RENAMED(task_id(task), name);)
	}

	void record_steal([[maybe_unused]] std::size_t thief, [[maybe_unused]] std::size_t victim,
	    [[maybe_unused]] std::uint64_t id, [[maybe_unused]] std::uint64_t depth) noexcept
	{
		/* workers of a pool are numbered in one go */
		HPX_TRACER_STEAL(std::uint32_t const self = this_worker();
				 TRACER_STEAL(self, static_cast<std::uint32_t>(self + victim - thief), id, depth);)
	}

	std::atomic<bool> continuations_counted{false};

	namespace {

		/* two words on lines of their own: each continuation adds to both, and nothing else may wait for that */
		struct alignas(64) count
		{
			std::atomic<std::int64_t> value{0};
		};
		count continuations_begun, continuations_ended;
		std::atomic<std::int64_t> continuations_before_reset{0};
	}    // namespace

	void continuation_begun() noexcept
	{
		continuations_begun.value.fetch_add(1, std::memory_order_relaxed);
	}

	void continuation_ended() noexcept
	{
		continuations_ended.value.fetch_add(1, std::memory_order_release);
	}

	namespace {

		thread_local char thread_name[64];
		thread_local std::uint32_t worker_number = TRACER_NO_WORKER;
	}    // namespace

	std::uint32_t this_worker() noexcept
	{
		return worker_number;
	}

	void worker_started() noexcept
	{
		char name[sizeof(thread_name)];

		if (!TRACER_ENABLED(worker))
			return;
		std::memcpy(name, thread_name, sizeof(name));
		if (!name[0])
			pthread_getname_np(pthread_self(), name, sizeof(name));
		TRACER_WORKER_START(this_worker(), name[0] ? name : "worker");
	}

	void worker_stopped() noexcept
	{
		TRACER_WORKER_STOP(this_worker());
	}
}    // namespace hpx::tracing::detail

namespace hpx::tracing {

	void set_thread_name(char const* name) noexcept
	{
		if (name)
			std::snprintf(detail::thread_name, sizeof(detail::thread_name), "%s", name);
	}

	void worker_is(std::size_t number) noexcept
	{
		detail::worker_number = static_cast<std::uint32_t>(number);
	}

	void count_continuations() noexcept
	{
		detail::continuations_counted.store(true, std::memory_order_relaxed);
	}

	/* the ended ones first: one that begins and ends in between must not make it negative */
	std::int64_t active_continuations() noexcept
	{
		std::int64_t const ended = detail::continuations_ended.value.load(std::memory_order_acquire);

		return detail::continuations_begun.value.load(std::memory_order_relaxed) - ended;
	}

	std::int64_t cumulative_continuations(bool reset) noexcept
	{
		std::int64_t const begun = detail::continuations_begun.value.load(std::memory_order_relaxed);
		auto& before = detail::continuations_before_reset;

		return begun - (reset ? before.exchange(begun) : before.load());
	}
}    // namespace hpx::tracing
#endif
