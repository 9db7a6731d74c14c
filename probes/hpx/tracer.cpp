// SPDX-License-Identifier: BSD-2-Clause
/* What HPX's tracing backend for tracer keeps for a thread: see backends/tracer.hpp. */
#include <hpx/config.hpp>

#if defined(HPX_HAVE_TRACER)
#include <hpx/tracing/tracing.hpp>

#include <atomic>
#include <pthread.h>

namespace hpx::tracing::detail {

	thread_notes& notes() noexcept
	{
		static thread_local thread_notes notes{};
		return notes;
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

	void record_created([[maybe_unused]] void const* task, [[maybe_unused]] char const* name,
	    [[maybe_unused]] void const* parent) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_CREATED(task, name, parent);)
	}

	void record_begin([[maybe_unused]] void const* task) noexcept
	{
		auto& mine = notes();

		mine.waits_for = mine.fulfils = nullptr;
		HPX_TRACER_TASK(TRACER_TASK_BEGIN(task, this_worker());)
	}

	void record_end([[maybe_unused]] void const* task) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_END(task);)
	}

	void record_yielded([[maybe_unused]] void const* task) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_YIELDED(task);)
	}

	void record_suspended([[maybe_unused]] void const* task, [[maybe_unused]] char const* reason) noexcept
	{
		auto& mine = notes();
		[[maybe_unused]] void const* object = mine.waits_for;

		mine.waits_for = nullptr;
		HPX_TRACER_TASK(TRACER_TASK_SUSPENDED(task, reason ? reason : "suspend", object);)
	}

	void record_woken([[maybe_unused]] void const* task, [[maybe_unused]] char const* state) noexcept
	{
		[[maybe_unused]] void const* object = notes().fulfils;

		HPX_TRACER_TASK(if (first_wake(task)) TRACER_TASK_READY(task);
				else TRACER_TASK_RESUMED(task, state, object);)
	}

	void record_completed([[maybe_unused]] void const* task) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_COMPLETED(task);)
	}

	void record_destroyed([[maybe_unused]] void const* task) noexcept
	{
		first_wake(task);
		HPX_TRACER_TASK(TRACER_TASK_DESTROYED(task);)
	}

	void record_renamed([[maybe_unused]] void const* task, [[maybe_unused]] char const* name) noexcept
	{
		HPX_TRACER_TASK(TRACER_TASK_RENAMED(task, name);)
	}

	void record_steal([[maybe_unused]] std::size_t thief, [[maybe_unused]] std::size_t victim,
	    [[maybe_unused]] void const* task, [[maybe_unused]] std::uint64_t depth) noexcept
	{
		/* workers of a pool are numbered in one go */
		HPX_TRACER_STEAL(std::uint32_t const self = this_worker();
				 TRACER_STEAL(self, static_cast<std::uint32_t>(self + victim - thief), task, depth);)
	}

	void worker_started() noexcept
	{
		char name[16] = "";

		if (!TRACER_ENABLED(worker))
			return;
		pthread_getname_np(pthread_self(), name, sizeof(name));
		TRACER_WORKER_START(this_worker(), name[0] ? name : "worker");
	}

	void worker_stopped() noexcept
	{
		TRACER_WORKER_STOP(this_worker());
	}
}    // namespace hpx::tracing::detail
#endif
