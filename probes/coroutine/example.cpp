// SPDX-License-Identifier: BSD-2-Clause
//
// Coroutines on a small pool: requests that wait for a lookup, which is done by another coroutine on whatever thread
// is free. In the trace each request is a row, with what it awaited and who went on with it.
//
//	g++ -std=c++20 -O2 -I usdt -I probes/coroutine example.cpp -o example -pthread
//	build/tracer -o example.pftrace -- ./example
#include <tracer_coroutine.hpp>
#include <atomic>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

class pool
{
public:
	explicit pool(unsigned int count)
	{
		for (unsigned int i = 0; i < count; i++)
			threads.emplace_back([this, i] { run(i); });
	}
	~pool()
	{
		{
			std::lock_guard guard(mutex);
			ended = true;
		}
		condition.notify_all();
		for (auto &thread : threads)
			thread.join();
	}
	struct hop_awaiter {
		bool await_ready() { return false; }
		template <class Promise> void await_suspend(std::coroutine_handle<Promise> handle)
		{
			tracer::coroutine_ready(handle, "queued", &here);
			here.push(handle);
		}
		void await_resume() {}
		const char *tracer_reason() const { return "pool::hop"; }
		const void *tracer_object() const { return &here; }
		pool &here;
	};
	// co_await here.hop(): goes on on a thread of the pool
	hop_awaiter hop() { return {*this}; }
	void push(std::coroutine_handle<> handle)
	{
		{
			std::lock_guard guard(mutex);
			queue.push_back(handle);
		}
		condition.notify_one();
	}

private:
	void run(unsigned int number)
	{
		tracer::coroutine_worker(number, "pool");
		std::unique_lock lock(mutex);
		while (true) {
			if (queue.empty() && ended)
				return;
			if (queue.empty()) {
				TRACER_WORKER_SLEEP_BEGIN(number, "no coroutine");
				condition.wait(lock);
				TRACER_WORKER_SLEEP_END(number, "notified");
				continue;
			}
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
	std::vector<std::thread> threads;
	bool ended = false;
};

// starts when it is awaited, goes back to who awaits
class task
{
public:
	struct promise_type;
	using handle = std::coroutine_handle<promise_type>;
	struct back {
		bool await_ready() noexcept { return false; }
		std::coroutine_handle<> await_suspend(handle h) noexcept;
		void await_resume() noexcept {}
	};
	struct promise_type : tracer::coroutine_promise<promise_type, std::suspend_always, back> {
		task get_return_object() { return task(handle::from_promise(*this)); }
		void return_value(int v) { value = v; }
		void unhandled_exception() { std::terminate(); }
		std::coroutine_handle<> waiting = std::noop_coroutine();
		int value = 0;
	};

	explicit task(handle h) : coroutine(h) {}
	task(task &&other) noexcept : coroutine(std::exchange(other.coroutine, {})) {}
	~task()
	{
		if (coroutine)
			coroutine.destroy();
	}
	bool await_ready() { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> h)
	{
		coroutine.promise().waiting = h;
		return coroutine;
	}
	int await_resume() { return coroutine.promise().value; }
	const void *tracer_object() const { return coroutine.address(); }

private:
	handle coroutine;
};

std::coroutine_handle<> task::back::await_suspend(handle h) noexcept
{
	return h.promise().waiting;
}

// runs by itself, and destroys itself
struct detached {
	struct promise_type
		: tracer::coroutine_promise<promise_type, std::suspend_never, std::suspend_never> {
		detached get_return_object() { return {}; }
		void return_void() {}
		void unhandled_exception() { std::terminate(); }
	};
};

static std::atomic<int> answered{0};

static task lookup(pool &threads, int key)
{
	co_await threads.hop();
	unsigned int value = key;
	for (int i = 0; i < 100000; i++)
		value = value * 1103515245 + 12345;
	co_return value >> 31;
}

static detached request(pool &threads, int number)
{
	co_await threads.hop();
	int odd = 0;
	for (int i = 0; i < 3; i++)
		odd += co_await lookup(threads, number + i);
	answered += 1 + 0 * odd;
}

int main()
{
	{
		pool threads(3);
		for (int i = 0; i < 20; i++)
			request(threads, i);
		while (answered < 20)
			std::this_thread::yield();
	}
	std::printf("%d answered\n", answered.load());
	return 0;
}
