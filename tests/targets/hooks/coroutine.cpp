// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines of every kind, a known number of times; prints what it did as JSON. For tests/e2e/hooks_coroutine.py.
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>
#include <sys/syscall.h>
#include <unistd.h>
#include "coroutine/tracer_coroutine.hpp"

static const int depth = 6, threads = 3, yields = 9, failing = 4, ready = 5, refused = 3, dropped = 2;

/* threads that go on with what is pushed */
class Pool
{
public:
	Pool()
	{
		for (int i = 0; i < threads; i++)
			workers.emplace_back([this, i] {
				tracer::coroutine_worker(i, "pool");
				run();
			});
	}
	~Pool()
	{
		{
			std::lock_guard guard(mutex);
			ended = true;
		}
		condition.notify_all();
		for (auto &worker : workers)
			worker.join();
	}
	struct Hop {
		bool await_ready() { return false; }
		void await_suspend(std::coroutine_handle<> handle) { pool.push(handle); }
		void await_resume() {}
		const char *tracer_reason() const { return "hop"; }
		const void *tracer_object() const { return &pool; }
		Pool &pool;
	};
	Hop hop() { return {*this}; }
	void push(std::coroutine_handle<> handle)
	{
		{
			std::lock_guard guard(mutex);
			queue.push_back(handle);
		}
		condition.notify_one();
	}

private:
	void run()
	{
		std::unique_lock lock(mutex);

		for (;;) {
			condition.wait(lock, [this] { return ended || !queue.empty(); });
			if (queue.empty())
				return;
			auto handle = queue.front();
			queue.pop_front();
			lock.unlock();
			handle.resume();
			lock.lock();
		}
	}
	std::mutex mutex;
	std::condition_variable condition;
	std::deque<std::coroutine_handle<>> queue;
	std::vector<std::thread> workers;
	bool ended = false;
};

struct Task {
	struct promise_type;
	using Handle = std::coroutine_handle<promise_type>;
	struct Back {
		bool await_ready() noexcept { return false; }
		std::coroutine_handle<> await_suspend(Handle handle) noexcept;
		void await_resume() noexcept {}
	};
	struct promise_type : tracer::coroutine_promise<promise_type, std::suspend_always, Back> {
		Task get_return_object() { return Task{Handle::from_promise(*this)}; }
		void return_value(int v) { value = v; }
		void unhandled_exception()
		{
			traced_exception();
			error = std::current_exception();
		}
		std::coroutine_handle<> waiting = std::noop_coroutine();
		std::exception_ptr error;
		int value = 0;
	};
	/* awaited through an awaiter of its own */
	struct Awaiter {
		bool await_ready() { return false; }
		std::coroutine_handle<> await_suspend(std::coroutine_handle<> handle)
		{
			child.promise().waiting = handle;
			return child;
		}
		int await_resume()
		{
			if (child.promise().error)
				std::rethrow_exception(child.promise().error);
			return child.promise().value;
		}
		const void *tracer_object() const { return child.address(); }
		Handle child;
	};
	Awaiter operator co_await() && { return {handle}; }
	explicit Task(Handle h) : handle(h) {}
	Task(Task &&other) noexcept : handle(std::exchange(other.handle, {})) {}
	~Task()
	{
		if (handle)
			handle.destroy();
	}
	Handle handle;
};

std::coroutine_handle<> Task::Back::await_suspend(Handle handle) noexcept
{
	return handle.promise().waiting;
}

/* runs where it is called, destroys itself */
struct Detached {
	struct promise_type : tracer::coroutine_promise<promise_type, std::suspend_never, std::suspend_never> {
		promise_type() : coroutine_promise("detached by name") {}
		Detached get_return_object() { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

/* with everything of its own */
struct Numbers {
	struct promise_type : tracer::coroutine_promise<promise_type> {
		Numbers get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		auto initial_suspend(std::source_location where = std::source_location::current())
		{
			return traced_initial(std::suspend_always{}, where);
		}
		auto final_suspend() noexcept { return traced_final(std::suspend_always{}); }
		auto yield_value(int v)
		{
			value = v;
			return traced_yield(std::suspend_always{});
		}
		void return_void() {}
		void unhandled_exception()
		{
			traced_exception_leaves();
			throw;
		}
		int value = 0;
	};
	std::coroutine_handle<promise_type> handle;
};

struct Refuses { /* looks as if it had to be waited for, and then goes on */
	bool await_ready() { return false; }
	bool await_suspend(std::coroutine_handle<>) { return false; }
	void await_resume() {}
};

static std::mutex counting;
static std::map<long, int> ends; /* coroutines of the tree that ended, by thread */
static std::atomic<bool> done{false};

static Task tree(Pool &pool, int level)
{
	int leaves = 1;

	if (level) {
		leaves = co_await tree(pool, level - 1);
		leaves += co_await tree(pool, level - 1);
	} else {
		co_await pool.hop();
	}
	std::lock_guard guard(counting);
	ends[syscall(SYS_gettid)]++;
	co_return leaves;
}

static Task fails(int number)
{
	if (number >= 0)
		throw std::runtime_error("expected");
	co_return 0;
}

static Task unused(Pool &pool)
{
	co_await pool.hop();
	co_return 0;
}

static Detached root(Pool &pool, int *leaves, int *caught)
{
	*leaves = co_await tree(pool, depth);
	for (int i = 0; i < failing; i++) {
		try {
			co_await fails(i);
		} catch (const std::runtime_error &) {
			++*caught;
		}
	}
	for (int i = 0; i < ready; i++)
		co_await std::suspend_never();
	for (int i = 0; i < refused; i++)
		co_await Refuses();
	for (int i = 0; i < dropped; i++)
		unused(pool);
	done = true;
}

static Numbers count(int n)
{
	for (int i = 0; i < n; i++)
		co_yield i;
	throw std::runtime_error("expected");
}

int main()
{
	int leaves = 0, caught = 0, sum = 0, left = 0;

	{
		Pool pool;

		root(pool, &leaves, &caught);
		while (!done)
			std::this_thread::yield();
	}
	Numbers numbers = count(yields);
	try {
		for (;;) {
			numbers.handle.resume();
			sum += numbers.handle.promise().value;
		}
	} catch (const std::runtime_error &) {
		left++;
	}
	numbers.handle.destroy();
	/* destroyed at its second yield */
	Numbers partly = count(yields);
	partly.handle.resume();
	partly.handle.resume();
	partly.handle.destroy();
	std::printf("{\"depth\": %d, \"leaves\": %d, \"yields\": %d, \"sum\": %d, \"failing\": %d, \"caught\": %d, "
		    "\"refused\": %d, \"dropped\": %d, \"left\": %d, \"main\": %ld, \"ends\": {",
		    depth, leaves, yields, sum, failing, caught, refused, dropped, left, syscall(SYS_gettid));
	const char *comma = "";
	for (auto &row : ends) {
		std::printf("%s\"%ld\": %d", comma, row.first, row.second);
		comma = ", ";
	}
	std::printf("}}\n");
	return 0;
}
