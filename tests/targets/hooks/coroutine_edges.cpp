// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines at their edges: two co_awaits in one expression, awaitables that an await_transform() makes. Prints what it
// computed as JSON. For tests/e2e/hooks_coroutine.py.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <thread>
#include <utility>
#include "coroutine/tracer_coroutine.hpp"

static const int depth = 8, asked = 4;

struct Sum {
	struct promise_type;
	using Handle = std::coroutine_handle<promise_type>;
	struct Back {
		bool await_ready() noexcept { return false; }
		std::coroutine_handle<> await_suspend(Handle handle) noexcept;
		void await_resume() noexcept {}
	};
	struct promise_type : tracer::coroutine_promise<promise_type, std::suspend_always, Back> {
		Sum get_return_object() { return Sum(Handle::from_promise(*this)); }
		void return_value(int v) { value = v; }
		void unhandled_exception() { std::terminate(); }
		std::coroutine_handle<> waiting = std::noop_coroutine();
		int value = 0;
	};
	explicit Sum(Handle h) : handle(h) {}
	Sum(Sum &&other) noexcept : handle(std::exchange(other.handle, {})) {}
	~Sum()
	{
		if (handle)
			handle.destroy();
	}
	bool await_ready() const { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> other)
	{
		handle.promise().waiting = other;
		return handle;
	}
	int await_resume() { return handle.promise().value; }
	const void *tracer_object() const { return handle.address(); }
	Handle handle;
};

std::coroutine_handle<> Sum::Back::await_suspend(Handle handle) noexcept
{
	return handle.promise().waiting;
}

static Sum fibonacci(int n)
{
	if (n < 2)
		co_return n;
	co_return co_await fibonacci(n - 1) + co_await fibonacci(n - 2);
}

/* awaits numbers; what is awaited is made by its promise */
struct Asks {
	struct Answer {
		bool await_ready() { return false; }
		bool await_suspend(std::coroutine_handle<>) { return false; }
		int await_resume() { return words[0] + words[7]; }
		int words[8];
	};
	struct Kept {
		Kept() = default;
		Kept(const Kept &) = delete;
		bool await_ready() { return false; }
		bool await_suspend(std::coroutine_handle<>) { return false; }
		const Kept *await_resume() { return this; }
	};
	struct promise_type : tracer::coroutine_promise<promise_type, std::suspend_never, std::suspend_never> {
		Asks get_return_object() { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
		decltype(auto) await_transform(int n) { return traced_await(Answer{{n, 0, 0, 0, 0, 0, 0, 1}}); }
		/* one that cannot be moved stays where it is */
		decltype(auto) await_transform(Kept &&kept) { return traced_await(std::move(kept)); }
		template <class A> decltype(auto) await_transform(A local) { return traced_await(std::move(local)); }
		struct Told : std::suspend_always {
			bool await_suspend(std::coroutine_handle<>) { return false; }
			const void *tracer_object() const { return this->object; }
			const void *object = nullptr;
		};
		auto yield_value(const void *object) { return traced_yield(Told{{}, object}); }
	};
};

static Asks asks(int *sum)
{
	struct Local : std::suspend_always {
		bool await_suspend(std::coroutine_handle<>) { return false; }
	};

	for (int i = 0; i < asked; i++)
		*sum += co_await i;
#ifndef TRACER_DISABLE /* gcc copies what such a function returns by reference */
	if (!co_await Asks::Kept())
		*sum = 0;
#endif
	co_await Local();
	co_yield reinterpret_cast<const void *>(0x1234);
}

int main()
{
	int sum = 0;
	Sum top = fibonacci(depth);

	top.handle.resume();
	asks(&sum);
	/* numbered by the program: the first thread took 0 before */
	std::thread([] {
		tracer::coroutine_worker(5, "numbered");
		fibonacci(1).handle.resume();
	}).join();
	std::thread([] { fibonacci(1).handle.resume(); }).join();
	std::printf("{\"depth\": %d, \"fibonacci\": %d, \"asked\": %d, \"sum\": %d}\n", depth, top.handle.promise().value, asked,
		    sum);
	return 0;
}
