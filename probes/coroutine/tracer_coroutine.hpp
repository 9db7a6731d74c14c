// SPDX-License-Identifier: BSD-2-Clause
//
// C++20 coroutines as tasks: a base class for promise types.
//
//	#include <tracer/tracer_coroutine.hpp>
//
//	struct job {
//		struct promise_type : tracer::coroutine_promise<promise_type> {
//			job get_return_object();
//			void return_void() {}
//			void unhandled_exception() { std::terminate(); }
//		};
//	};
//
// Each coroutine becomes a task: identity its frame's address, name its function, parent the coroutine that called
// it. Each co_await that does not complete at once is a suspension: the reason is the awaitable's type, the object
// what is awaited. Each resumption has its resumer. Nested resume(), symmetric transfer, several threads, exceptions, and
// coroutines destroyed before their end are as they are.
//
//	coroutine_promise<promise_type, Initial, Final>
//		Initial, Final	awaitables of initial_suspend() and final_suspend(), default std::suspend_always. The
//				base class has both functions. A promise type with its own wraps what it returns:
//					auto final_suspend() noexcept { return this->traced_final(my_awaiter{}); }
//					auto initial_suspend(std::source_location where = std::source_location::current())
//					{ return this->traced_initial(my_awaiter{}, where); }
//		await_transform	the base class has it. A promise type with its own wraps what it returns:
//					return this->traced_await(my_awaitable);
//		co_yield	auto yield_value(T v) { ...; return this->traced_yield(std::suspend_always{}); }
//		unhandled_exception	calls traced_exception() if it keeps the exception, and
//				traced_exception_leaves() if it throws it again: then the coroutine is over
//		constructor	coroutine_promise("name") gives another name than the function's
//
// What is awaited. The object of a suspension is the awaitable's address, unless its awaiter (or the awaitable) says
// better:		const void *tracer_object() const;		e.g. the frame of the coroutine awaited
//			const char *tracer_reason() const;		instead of the type's name; a literal
//
// Wakes. Whoever calls handle.resume() is told as the resumer: the coroutine that runs there, or the thread. A runtime
// with a queue calls tracer::coroutine_ready(handle, "cause", object), or a tracer::coroutine_wake, where it makes a
// coroutine ready: then the wake is there, and the time to the resumption is time in the queue.
//
// Workers. A thread that resumes a coroutine is a worker; tracer::coroutine_worker(number, "name") says which.
//
// Costs: closed points, and two words written per resumption. With TRACER_DISABLE the base class is empty and
// awaits are not wrapped. Needs C++20: gcc 11, clang 15 or newer.
#ifndef TRACER_COROUTINE_HPP
#define TRACER_COROUTINE_HPP

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#if __has_include(<tracer/tracer.h>)
#include <tracer/tracer.h>
#else
#include "tracer.h"
#endif

namespace tracer
{

#ifdef TRACER_DISABLE

template <class Promise, class Initial = std::suspend_always, class Final = std::suspend_always>
class coroutine_promise
{
public:
	coroutine_promise() noexcept = default;
	explicit coroutine_promise(const char *) noexcept {}
	Initial initial_suspend() noexcept(noexcept(Initial{})) { return {}; }
	Final final_suspend() noexcept { return {}; }

protected:
	template <class A> A traced_initial(A a, std::source_location = {}) { return a; }
	template <class A> A traced_final(A a) noexcept { return a; }
	template <class A>
	std::conditional_t<std::is_move_constructible_v<A> && !std::is_reference_v<A>, A, A &&> traced_await(A &&a)
	{
		return static_cast<A &&>(a);
	}
	template <class A> A traced_yield(A a) { return a; }
	void traced_exception() noexcept {}
	void traced_exception_leaves() noexcept {}
};
class coroutine_wake
{
public:
	coroutine_wake() noexcept = default;
	template <class Promise> explicit coroutine_wake(std::coroutine_handle<Promise>) noexcept {}
	void operator()(const char *, const void *) const {}
};
template <class Promise> void coroutine_ready(std::coroutine_handle<Promise>, const char *, const void *) {}
inline void coroutine_worker(std::uint32_t, const char *) {}

#else

// of DSOs with hidden symbols, too, there is one
#define TRACER__COROUTINE_SHARED [[gnu::visibility("default")]]

namespace detail
{

// What a coroutine remembers. Apart from the promise's type, so that any handle's can be found by its frame.
struct coroutine_state {
	const void *frame = nullptr;	// none yet: not told of
	const char *name = nullptr;	// given by the program
	const void *outer = nullptr;	// what the thread ran when this one began or was resumed
	std::atomic<bool> woken{false}; // somebody called coroutine_ready()
	bool suspended = false;
	bool completed = false;
	bool threw = false;
};

struct coroutine_thread {
	const void *running; // frame of the innermost coroutine, or null
	// symmetric transfer: who goes on next, and who said so
	const void *target, *from;
	std::uint32_t worker; // number + 1
};

TRACER__COROUTINE_SHARED inline thread_local coroutine_thread this_coroutine_thread = {};

// Not inlined, not foreseeable: a coroutine goes on on another thread in the middle of a function, and compilers keep
// addresses of thread-locals.
TRACER__COROUTINE_SHARED [[gnu::noinline]] inline coroutine_thread &coroutine_thread_now() noexcept
{
	coroutine_thread *thread = &this_coroutine_thread;

	__asm__ volatile("" : "+r"(thread)::"memory");
	return *thread;
}

TRACER__COROUTINE_SHARED inline std::atomic<std::uint32_t> coroutine_workers{0}; // numbers that are taken

inline std::uint32_t coroutine_worker_now(coroutine_thread &thread) noexcept
{
	if (!thread.worker) {
		thread.worker = ++coroutine_workers;
		TRACER_WORKER_START(thread.worker - 1, "thread");
	}
	return thread.worker - 1;
}

// "ns::fetch" for "task ns::fetch(int)" or "void ns::fetch(ns::fetch(int)::....Frame*)", as compilers write functions
inline std::string plain_function(std::string_view name)
{
	int depth = 0;
	std::size_t end = name.size();

	// of a template: its arguments stand behind, in brackets
	if (std::size_t with = name.rfind(" [with "); with != name.npos && name.back() == ']')
		end = with;
	// the last parenthesis and what belongs to it
	if (end && name[end - 1] == ')') {
		for (std::size_t i = end; i-- > 0;) {
			depth += (name[i] == ')') - (name[i] == '(');
			if (!depth) {
				end = i;
				break;
			}
		}
	}
	name = name.substr(0, end ? end : name.size());
	// behind the return type: the last blank that is in no brackets
	depth = 0;
	for (std::size_t i = name.size(); i-- > 0;) {
		depth += (name[i] == ')' || name[i] == '>') - (name[i] == '(' || name[i] == '<');
		if (name[i] == ' ' && !depth) {
			name.remove_prefix(i + 1);
			break;
		}
	}
	constexpr std::string_view call = "::operator()";
	if (name.size() > call.size() && name.substr(name.size() - call.size()) == call)
		name.remove_suffix(call.size());
	return std::string(name);
}

// the same, kept: there are as many as coroutine functions
TRACER__COROUTINE_SHARED inline const char *function_name(const char *full)
{
	struct entry {
		const char *full, *plain;
	};
	static std::array<std::atomic<const entry *>, 256> known{};
	std::size_t slot = reinterpret_cast<std::uintptr_t>(full) * 0x9e3779b97f4a7c15ULL >> 56;

	for (std::size_t tried = 0; tried < known.size(); tried++, slot = (slot + 1) % known.size()) {
		const entry *found = known[slot].load(std::memory_order_acquire);

		if (!found) {
			std::string plain = plain_function(full);
			char *kept = new char[plain.size() + 1];
			const entry *made = new entry{full, kept};

			std::memcpy(kept, plain.c_str(), plain.size() + 1);
			if (known[slot].compare_exchange_strong(found, made, std::memory_order_acq_rel))
				return kept;
			delete made;
			delete[] kept;
		}
		if (found->full == full)
			return found->plain;
	}
	return full;
}

// where the parenthesis that opens at @from closes, if it holds the arguments of a function that a type is local to:
// "f(int)::awaitable", but not "(anonymous namespace)::awaitable" or "function<void(int)>"; else @from
constexpr std::size_t arguments_end(std::string_view text, std::size_t from) noexcept
{
	int depth = 0;

	if (text[from] != '(' || !from || std::string_view(": <,").find(text[from - 1]) != std::string_view::npos)
		return from;
	for (std::size_t i = from; i < text.size(); i++) {
		depth += (text[i] == '(') - (text[i] == ')');
		if (!depth)
			return text.substr(i + 1, 2) == "::" ? i + 1 : from;
	}
	return from;
}

// a type's name as a literal, without anything at run time
template <class T> constexpr auto type_text() noexcept
{
	constexpr std::string_view text = __PRETTY_FUNCTION__;
	constexpr std::size_t from = text.find("T = ") + 4;
	constexpr std::size_t semicolon = text.find(';', from);
	constexpr std::size_t to = semicolon != text.npos ? semicolon : text.rfind(']');
	constexpr std::string_view full = text.substr(from, to - from);
	std::array<char, full.size() + 1> name{};
	std::size_t used = 0;

	for (std::size_t i = 0; i < full.size(); i++) {
		if (std::size_t behind = arguments_end(full, i); behind != i)
			i = behind;
		name[used++] = full[i];
	}
	return name;
}
template <class T> inline constexpr auto type_name = type_text<T>();

template <class A>
concept has_member_await = requires(A &&a) { static_cast<A &&>(a).operator co_await(); };
template <class A>
concept has_free_await = requires(A &&a) { operator co_await(static_cast<A &&>(a)); };
template <class A>
concept tells_object = requires(const A &a) { static_cast<const void *>(a.tracer_object()); };
template <class A>
concept tells_reason = requires(const A &a) { static_cast<const char *>(a.tracer_reason()); };

template <class A> decltype(auto) awaiter_of(A &&a)
{
	if constexpr (has_member_await<A>)
		return static_cast<A &&>(a).operator co_await();
	else if constexpr (has_free_await<A>)
		return operator co_await(static_cast<A &&>(a));
	else
		return static_cast<A &&>(a);
}

inline void coroutine_stops(coroutine_state &state) noexcept
{
	coroutine_thread_now().running = state.outer;
}

inline void coroutine_goes_on(coroutine_state &state) noexcept
{
	coroutine_thread &thread = coroutine_thread_now();
	const void *from = thread.target == state.frame ? thread.from : nullptr;

	thread.target = nullptr;
	if (state.suspended && !state.woken.exchange(false, std::memory_order_acq_rel)) {
		if (from)
			TRACER_TASK_RESUMED(state.frame, "symmetric transfer", from);
		else
			TRACER_TASK_RESUMED(state.frame, "resume", thread.running);
	}
	state.suspended = false;
	state.outer = thread.running;
	thread.running = state.frame;
	TRACER_TASK_BEGIN(state.frame, coroutine_worker_now(thread));
}

// calls the awaiter's await_suspend(); whatever it does, the coroutine may be gone behind it unless it says "go on"
template <class Awaiter, class Promise>
auto suspend_through(Awaiter &awaiter, std::coroutine_handle<Promise> handle, const void *frame)
{
	using Result = decltype(awaiter.await_suspend(handle));

	if constexpr (std::is_void_v<Result> || std::is_same_v<Result, bool>) {
		(void)frame;
		return awaiter.await_suspend(handle);
	} else {
		std::coroutine_handle<> next = awaiter.await_suspend(handle);
		coroutine_thread &thread = coroutine_thread_now();

		thread.target = next.address();
		thread.from = frame;
		return next;
	}
}

struct wrap_awaitable {
};
struct wrap_yield {
};

// @Awaiter is a reference where the awaitable is its own awaiter: it lives as long as the expression
template <class Awaiter> class traced_awaiter
{
public:
	template <class A>
	traced_awaiter(wrap_awaitable, coroutine_state &s, A &&awaitable)
		: state(s), awaiter(awaiter_of(static_cast<A &&>(awaitable))),
		  reason(type_name<std::remove_cvref_t<A>>.data()), object(std::addressof(awaitable))
	{
		using Plain = std::remove_cvref_t<A>;
		using Its = std::remove_cvref_t<Awaiter>;

		if constexpr (tells_reason<Plain>)
			reason = awaitable.tracer_reason();
		else if constexpr (tells_reason<Its>)
			reason = awaiter.tracer_reason();
		if constexpr (tells_object<Plain>)
			object = awaitable.tracer_object();
		else if constexpr (tells_object<Its>)
			object = awaiter.tracer_object();
	}
	traced_awaiter(wrap_yield, coroutine_state &s, Awaiter a)
		: state(s), awaiter(std::move(a)), reason("co_yield"), object(s.frame)
	{
		if constexpr (tells_reason<Awaiter>)
			reason = awaiter.tracer_reason();
		if constexpr (tells_object<Awaiter>)
			object = awaiter.tracer_object();
	}
	bool await_ready()
	{
		// another co_await of the same expression is over; gcc calls await_resume() of both when both are
		if (state.suspended)
			coroutine_goes_on(state);
		return static_cast<bool>(awaiter.await_ready());
	}
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
	{
		using Result = decltype(awaiter.await_suspend(handle));

		state.suspended = true;
		TRACER_TASK_SUSPENDED(state.frame, reason, object);
		coroutine_stops(state);
#ifdef __cpp_exceptions
		try {
#endif
			if constexpr (std::is_same_v<Result, bool>) {
				if (awaiter.await_suspend(handle))
					return true;
				goes_on_after_all("await_suspend: false");
				return false;
			} else {
				return suspend_through(awaiter, handle, handle.address());
			}
#ifdef __cpp_exceptions
		} catch (...) {
			goes_on_after_all("await_suspend: exception");
			throw;
		}
#endif
	}
	decltype(auto) await_resume()
	{
		if (state.suspended)
			coroutine_goes_on(state);
		return awaiter.await_resume();
	}

private:
	void goes_on_after_all(const char *cause)
	{
		if (!state.woken.exchange(true, std::memory_order_acq_rel))
			TRACER_TASK_RESUMED(state.frame, cause, object);
		coroutine_goes_on(state);
	}
	coroutine_state &state;
	Awaiter awaiter;
	const char *reason;
	const void *object;
};

// for what would be gone when an await_transform() of the program returns
template <class A> class traced_owner
{
public:
	traced_owner(coroutine_state &state, A &&a)
		: awaitable(std::move(a)), awaiter(wrap_awaitable(), state, std::move(awaitable))
	{
	}
	bool await_ready() { return awaiter.await_ready(); }
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
	{
		return awaiter.await_suspend(handle);
	}
	decltype(auto) await_resume() { return awaiter.await_resume(); }

private:
	A awaitable;
	traced_awaiter<decltype(awaiter_of(std::declval<A>()))> awaiter;
};

template <class Awaiter> class traced_start
{
public:
	traced_start(coroutine_state &s, Awaiter a) : state(s), awaiter(std::move(a)) {}
	bool await_ready() { return static_cast<bool>(awaiter.await_ready()); }
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
	{
		return suspend_through(awaiter, handle, handle.address());
	}
	decltype(auto) await_resume()
	{
		coroutine_goes_on(state);
		return awaiter.await_resume();
	}

private:
	coroutine_state &state;
	Awaiter awaiter;
};

template <class Awaiter> class traced_end
{
public:
	traced_end(coroutine_state &s, Awaiter a) noexcept : state(s), awaiter(std::move(a)) {}
	bool await_ready() noexcept
	{
		// it runs for the last time here: what follows may be its destruction
		state.completed = true;
		if (!state.threw)
			TRACER_FUTURE_SET(state.frame);
		TRACER_TASK_COMPLETED(state.frame);
		coroutine_stops(state);
		return static_cast<bool>(awaiter.await_ready());
	}
	template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle) noexcept
	{
		return suspend_through(awaiter, handle, handle.address());
	}
	void await_resume() noexcept { awaiter.await_resume(); }

private:
	coroutine_state &state;
	Awaiter awaiter;
};

struct coroutine_access;

} // namespace detail

template <class Promise, class Initial = std::suspend_always, class Final = std::suspend_always>
class coroutine_promise
{
public:
	coroutine_promise() noexcept = default;
	explicit coroutine_promise(const char *name) noexcept { state.name = name; }
	coroutine_promise(const coroutine_promise &) = delete;
	coroutine_promise &operator=(const coroutine_promise &) = delete;

	auto initial_suspend(std::source_location where = std::source_location::current())
	{
		return traced_initial(Initial{}, where);
	}
	auto final_suspend() noexcept { return traced_final(Final{}); }
	template <class A> auto await_transform(A &&awaitable)
	{
		using Awaiter = decltype(detail::awaiter_of(static_cast<A &&>(awaitable)));

		return detail::traced_awaiter<Awaiter>(detail::wrap_awaitable(), state,
						       static_cast<A &&>(awaitable));
	}

protected:
	~coroutine_promise()
	{
		if (!state.frame)
			return;
		// destroyed while it runs, by itself or from inside: it is over
		if (detail::coroutine_thread_now().running == state.frame && !state.completed)
			detail::coroutine_stops(state);
		TRACER_TASK_DESTROYED(state.frame);
	}
	template <class A>
	auto traced_initial(A awaiter, std::source_location where = std::source_location::current())
	{
		state.frame = std::coroutine_handle<Promise>::from_promise(static_cast<Promise &>(*this)).address();
		if (TRACER_ENABLED(task))
			TRACER_TASK_CREATED(state.frame,
					    state.name ? state.name : detail::function_name(where.function_name()),
					    detail::coroutine_thread_now().running);
		return detail::traced_start<A>(state, std::move(awaiter));
	}
	template <class A> auto traced_final(A awaiter) noexcept
	{
		return detail::traced_end<A>(state, std::move(awaiter));
	}
	template <class A> auto traced_await(A &&awaitable)
	{
		if constexpr (std::is_move_constructible_v<A> && !std::is_reference_v<A>)
			return detail::traced_owner<A>(state, std::move(awaitable));
		else
			return coroutine_promise::await_transform(static_cast<A &&>(awaitable));
	}
	// what yield_value() returns: a temporary of its own, so it is kept
	template <class A> auto traced_yield(A awaiter)
	{
		return detail::traced_awaiter<A>(detail::wrap_yield(), state, std::move(awaiter));
	}
	void traced_exception() noexcept
	{
		state.threw = true;
		TRACER_FUTURE_EXCEPTION(state.frame);
	}
	void traced_exception_leaves() noexcept
	{
		state.completed = true;
		TRACER_FUTURE_EXCEPTION(state.frame);
		TRACER_TASK_COMPLETED(state.frame);
		detail::coroutine_stops(state);
	}

private:
	friend struct detail::coroutine_access;

	detail::coroutine_state state;
};

namespace detail
{
struct coroutine_access {
	template <class P, class I, class F>
	static coroutine_state &state(coroutine_promise<P, I, F> &promise) noexcept
	{
		return promise.state;
	}
};
} // namespace detail

// coroutine_wake - to tell of a wake where only a coroutine_handle<> is at hand: made of the handle that await_suspend()
// gets, called where the coroutine is made ready, before it is queued
class coroutine_wake
{
public:
	coroutine_wake() noexcept = default;
	template <class Promise> explicit coroutine_wake(std::coroutine_handle<Promise> handle) noexcept
	{
		if constexpr (requires { detail::coroutine_access::state(handle.promise()); })
			state = &detail::coroutine_access::state(handle.promise());
	}
	void operator()(const char *cause, const void *object) const
	{
		if (!state)
			return; // a coroutine that is none of ours
		state->woken.store(true, std::memory_order_release);
		TRACER_TASK_RESUMED(state->frame, cause, object);
	}

private:
	detail::coroutine_state *state = nullptr;
};

// coroutine_ready() - the same at once
template <class Promise>
void coroutine_ready(std::coroutine_handle<Promise> handle, const char *cause, const void *object)
{
	coroutine_wake{handle}(cause, object);
}

// coroutine_worker() - this thread is that worker; before it resumes anything
inline void coroutine_worker(std::uint32_t number, const char *name)
{
	std::uint32_t taken = detail::coroutine_workers.load(std::memory_order_relaxed);

	// threads that nobody numbers come after
	while (taken <= number && !detail::coroutine_workers.compare_exchange_weak(taken, number + 1))
		;
	detail::coroutine_thread_now().worker = number + 1;
	TRACER_WORKER_START(number, name);
}

#endif // TRACER_DISABLE

} // namespace tracer

#endif // TRACER_COROUTINE_HPP
