// SPDX-License-Identifier: BSD-2-Clause
/*
 * What backends/tracer.hpp is made of, and nobody else needs: categories, what a thread keeps for its next
 * records, the names of types, and the records themselves, which are written out of line.
 */
#pragma once

#include <hpx/config.hpp>
#include <tracer/tracer.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hpx::threads::detail {

	/* a thread_data's number, 0: none yet */
	HPX_CXX_CORE_EXPORT HPX_CORE_EXPORT std::atomic<std::uint32_t>& tracer_number(void const* thread) noexcept;
}    // namespace hpx::threads::detail

namespace hpx::tracing {

	/*
	 * Categories are configuration options (HPX_WITH_TRACER_CATEGORIES): what is not compiled in costs nothing
	 * at all.
	 */
#if defined(HPX_HAVE_TRACER_TASK)
#define HPX_TRACER_TASK(...) __VA_ARGS__
#else
#define HPX_TRACER_TASK(...)
#endif
#if defined(HPX_HAVE_TRACER_WORKER)
#define HPX_TRACER_WORKER(...) __VA_ARGS__
#else
#define HPX_TRACER_WORKER(...)
#endif
#if defined(HPX_HAVE_TRACER_STEAL)
#define HPX_TRACER_STEAL(...) __VA_ARGS__
#else
#define HPX_TRACER_STEAL(...)
#endif
#if defined(HPX_HAVE_TRACER_FUTURE)
#define HPX_TRACER_FUTURE(...) __VA_ARGS__
#else
#define HPX_TRACER_FUTURE(...)
#endif
#if defined(HPX_HAVE_TRACER_LOCK)
#define HPX_TRACER_LOCK(...) __VA_ARGS__
#else
#define HPX_TRACER_LOCK(...)
#endif
#if defined(HPX_HAVE_TRACER_SPINLOCK)
#define HPX_TRACER_SPINLOCK(...) __VA_ARGS__
#else
#define HPX_TRACER_SPINLOCK(...)
#endif
#if defined(HPX_HAVE_TRACER_ZONE)
#define HPX_TRACER_ZONE(...) __VA_ARGS__
#else
#define HPX_TRACER_ZONE(...)
#endif
#if defined(HPX_HAVE_TRACER_COUNTER)
#define HPX_TRACER_COUNTER(...) __VA_ARGS__
#else
#define HPX_TRACER_COUNTER(...)
#endif
#if defined(HPX_HAVE_TRACER_MESSAGE)
#define HPX_TRACER_MESSAGE(...) __VA_ARGS__
#else
#define HPX_TRACER_MESSAGE(...)
#endif
#if defined(HPX_HAVE_TRACER_FRAME)
#define HPX_TRACER_FRAME(...) __VA_ARGS__
#else
#define HPX_TRACER_FRAME(...)
#endif

	namespace detail {

		/* What the present thread's next records need to know; only kept while somebody records. */
		struct thread_notes
		{
			void const* waits_for; /* the object of the next suspension */
			char const* reason;    /* of the next suspension, if HPX drops it on the way */
			void const* fulfils;   /* the future, or condition, whose waiters are being woken */
			char const* name;      /* of the task that is made next, if what HPX runs does not tell */
			/* the description that a task is being made of, and what it knew: number, parent's number, name */
			void const* described;
			std::uint32_t number;
			std::uint32_t parent;
			std::uint64_t converted; /* identity of the last task that was made here */
			std::uint32_t next, end; /* numbers of this thread's own to give */
			void const* completed;   /* the task that ran here last, if its end was recorded already */
		};

		/*
		 * notes() - of the thread that calls; not to be kept across anything that may suspend
		 * Out of line, since the compiler may keep the address of a thread-local of an inline function while the task
		 * changes threads.
		 */
		HPX_CORE_EXPORT thread_notes& notes() noexcept;
		/* identity of a task that may not have been recorded before; 0 of none */
		HPX_CORE_EXPORT std::uint64_t task_id(void const* task) noexcept;
		HPX_CORE_EXPORT std::uint32_t next_number() noexcept;

		/* "HPX" and the number: no pointer, and no small integer that another runtime of the process may use */
		constexpr std::uint64_t id_of_number(std::uint32_t number) noexcept
		{
			return number ? 0x4850580000000000ULL | number : 0;
		}
		constexpr std::uint32_t number_of_id(std::uint64_t id) noexcept
		{
			return static_cast<std::uint32_t>(id);
		}

		/*
		 * Tasks that are created suspended (timers) have not stopped when they are woken for the first time: they
		 * become ready. first_wake() is true once for each that created_suspended() was told of.
		 */
		HPX_CORE_EXPORT void created_suspended(void const* task) noexcept;
		HPX_CORE_EXPORT bool first_wake(void const* task) noexcept;
		/*
		 * What a call records, out of line: a scheduler's loop is too hot for more than the test of a gate.
		 */
		HPX_CORE_EXPORT void record_staged(std::uint64_t id, char const* name, std::uint64_t parent) noexcept;
		HPX_CORE_EXPORT void record_created(std::uint64_t id, char const* name, std::uint64_t parent) noexcept;
		HPX_CORE_EXPORT void record_begin(void const* task) noexcept;
		HPX_CORE_EXPORT void record_end(void const* task) noexcept;
		HPX_CORE_EXPORT void record_yielded(void const* task) noexcept;
		HPX_CORE_EXPORT void record_suspended(void const* task, char const* reason) noexcept;
		HPX_CORE_EXPORT void record_woken(void const* task, char const* state) noexcept;
		HPX_CORE_EXPORT void record_completed(void const* task) noexcept;
		HPX_CORE_EXPORT void record_destroyed(void const* task) noexcept;
		HPX_CORE_EXPORT void record_renamed(void const* task, char const* name) noexcept;
		HPX_CORE_EXPORT void record_steal(
		    std::size_t thief, std::size_t victim, std::uint64_t id, std::uint64_t depth) noexcept;
		HPX_CORE_EXPORT void worker_started() noexcept;
		HPX_CORE_EXPORT void worker_stopped() noexcept;

		/*
		 * this_worker() - number of the thread that calls, among the workers of all pools
		 * HPX's own get_worker_thread_num() starts from 0 in each pool.
		 */
		HPX_CORE_EXPORT std::uint32_t this_worker() noexcept;

		inline char const* known(char const* description) noexcept
		{
			return description && description[0] == '<' ? nullptr : description;
		}

		/* "static constexpr ... [with T = X; ...]" (gcc), "... [T = X]" (clang): where X stands */
		template <typename T>
		constexpr std::string_view type_text() noexcept
		{
			std::string_view text = __PRETTY_FUNCTION__;
			auto const begin = text.find("T = ") + 4;
			auto const end = text.find("; std::string_view", begin);
			text = text.substr(begin, (end == text.npos ? text.size() - 1 : end) - begin);
			/* what HPX wraps a callable in says nothing of the program */
			constexpr std::string_view wrappers[] = {"hpx::threads::detail::thread_function_nullary<",
			    "hpx::threads::detail::thread_function<", "hpx::util::detail::deferred<",
			    "hpx::detail::post_policy_dispatch<"};
			for (bool again = true; again;)
			{
				again = false;
				for (auto wrapper : wrappers)
				{
					if (text.substr(0, wrapper.size()) != wrapper)
						continue;
					text.remove_prefix(wrapper.size());
					/* up to its end, or to the arguments that are bound to it */
					auto const rest = text.find(", hpx::util::pack_c<");
					text = text.substr(0, rest == text.npos ? text.size() - 1 : rest);
					again = true;
				}
			}
			return text;
		}

		/* the same as a literal of this DSO, so that a record holds its address and no more */
		template <typename T>
		struct type_name
		{
			static constexpr auto text = type_text<T>();
			struct literal
			{
				char chars[text.size() + 1];
				constexpr literal() noexcept
				  : chars()
				{
					for (std::size_t i = 0; i != text.size(); ++i)
						chars[i] = text[i];
				}
			};
			static constexpr literal value{};
		};
	}    // namespace detail
}    // namespace hpx::tracing
