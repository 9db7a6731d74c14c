// SPDX-License-Identifier: BSD-2-Clause
//
// Boost.Fiber with its algorithms traced: a known number of everything; prints what it did as JSON. For
// tests/e2e/hooks_fiber.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>
#include <vector>
#include <boost/fiber/all.hpp>
#include <sys/syscall.h>
#include <unistd.h>
#include "boost-fiber/tracer_fiber.hpp"

namespace fibers = boost::fibers;

static const int threads = 3, posted = 60, yields = 5, dispatched = 4, sleepers = 6, in_barrier = 3, shifts = 8;

static std::mutex counting;
static std::map<long, int> ends; /* fibers that ended, by thread */
static std::map<std::pair<long, int>, int> steals; /* by the thief's thread and the victim */
static std::atomic<int> stolen{0};

static long thread_id()
{
	return syscall(SYS_gettid);
}

static void ended()
{
	std::lock_guard<std::mutex> guard(counting);
	ends[thread_id()]++;
}

/* what it is asked to steal, counted apart from the trace */
class Stealing : public fibers::algo::work_stealing
{
public:
	using work_stealing::work_stealing;
	fibers::context *steal() noexcept override
	{
		fibers::context *fiber = work_stealing::steal();

		if (fiber) {
			std::lock_guard<std::mutex> guard(counting);
			steals[std::make_pair(thread_id(), number)]++;
			stolen++;
		}
		return fiber;
	}

private:
	long number = thread_id();
};

/* an algorithm with properties: fibers of higher priority first */
class Priority : public tracer::named_properties
{
public:
	explicit Priority(fibers::context *context) : named_properties(context) {}
	int value = 0;
};

class By_priority : public fibers::algo::algorithm_with_properties<Priority>
{
public:
	void awakened(fibers::context *fiber, Priority &properties) noexcept override
	{
		queue.insert(std::make_pair(-properties.value, fiber));
	}
	fibers::context *pick_next() noexcept override
	{
		fibers::context *first = nullptr;

		if (!queue.empty()) {
			first = queue.begin()->second;
			queue.erase(queue.begin());
		}
		return first;
	}
	bool has_ready_fibers() const noexcept override { return !queue.empty(); }
	void suspend_until(std::chrono::steady_clock::time_point const &time) noexcept override
	{
		std::this_thread::sleep_until(std::min(time, std::chrono::steady_clock::now() +
								     std::chrono::milliseconds(1)));
	}
	void notify() noexcept override {}

private:
	std::multimap<int, fibers::context *> queue;
};

static void work()
{
	volatile int x = 0;

	for (int i = 0; i < 20000; i++)
		x = x + i;
}

struct Posted {
	void operator()() const
	{
		for (int i = 0; i < yields; i++) {
			work();
			boost::this_fiber::yield();
		}
		ended();
	}
};

struct Dispatched {
	void operator()() const { ended(); }
};

struct Sleeper {
	void operator()() const
	{
		boost::this_fiber::sleep_for(std::chrono::milliseconds(2));
		ended();
	}
};

static void all_of_it()
{
	std::vector<fibers::fiber> many;

	for (int i = 0; i < posted; i++)
		many.emplace_back(Posted());
	for (auto &fiber : many)
		fiber.join();
	many.clear();
	for (int i = 0; i < dispatched; i++)
		many.emplace_back(fibers::launch::dispatch, Dispatched());
	for (int i = 0; i < sleepers; i++)
		many.emplace_back(Sleeper());
	fibers::barrier barrier(in_barrier);
	for (int i = 0; i < in_barrier; i++)
		many.emplace_back([&barrier] {
			barrier.wait();
			ended();
		});
	for (auto &fiber : many)
		fiber.join();

	/* the mutex is held while the others come for it */
	fibers::mutex mutex;
	many.clear();
	for (int i = 0; i < shifts; i++) {
		many.emplace_back([&mutex, i] {
			tracer::fiber_name(i % 2 ? "odd" : "even");
			mutex.lock();
			boost::this_fiber::yield();
			mutex.unlock();
			ended();
		});
	}
	for (auto &fiber : many)
		fiber.join();
}

static std::vector<int> with_properties()
{
	std::vector<int> order;

	std::thread([&order] {
		fibers::use_scheduling_algorithm<tracer::traced<By_priority>>();
		std::vector<fibers::fiber> some;
		for (int i = 0; i < 3; i++) {
			some.emplace_back([&order, i] { order.push_back(i); });
			some.back().properties<Priority>().value = i;
			some.back().properties<Priority>().name("prioritised");
		}
		/* queued again with their priorities, behind this one */
		for (auto &fiber : some)
			fiber.join();
	}).join();
	return order;
}

int main()
{
	std::vector<std::thread> others;
	fibers::mutex mutex;
	fibers::condition_variable condition;
	bool over = false;
	long main_tid = thread_id();

	for (int i = 1; i < threads; i++) {
		others.emplace_back([&] {
			fibers::use_scheduling_algorithm<tracer::traced<Stealing>>(threads, true);
			std::unique_lock<fibers::mutex> lock(mutex);
			condition.wait(lock, [&] { return over; });
		});
	}
	fibers::use_scheduling_algorithm<tracer::traced<Stealing>>(threads, true);
	all_of_it();
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		over = true;
	}
	condition.notify_all();
	for (auto &thread : others)
		thread.join();
	std::vector<int> order = with_properties();
	std::printf("{\"threads\": %d, \"posted\": %d, \"yields\": %d, \"dispatched\": %d, \"sleepers\": %d, "
		    "\"in_barrier\": %d, \"shifts\": %d, \"main\": %ld, \"prioritised\": %zu, \"ends\": {",
		    threads, posted, yields, dispatched, sleepers, in_barrier, shifts, main_tid, order.size());
	const char *comma = "";
	for (auto &row : ends) {
		std::printf("%s\"%ld\": %d", comma, row.first, row.second);
		comma = ", ";
	}
	std::printf("}, \"steals\": [");
	comma = "";
	for (auto &row : steals) {
		std::printf("%s[%ld, %d, %d]", comma, row.first.first, row.first.second, row.second);
		comma = ", ";
	}
	std::printf("]}\n");
	return 0;
}
