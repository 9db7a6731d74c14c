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
