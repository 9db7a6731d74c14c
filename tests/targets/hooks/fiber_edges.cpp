// SPDX-License-Identifier: BSD-2-Clause
//
// Boost.Fiber at its edges: threads that end before their fibers, an algorithm that is replaced, steals that are no virtual
// functions. Prints what it did as JSON. For tests/e2e/hooks_fiber.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>
#include <boost/fiber/all.hpp>
#include "boost-fiber/tracer_fiber.hpp"

namespace fibers = boost::fibers;

static const int left_ready = 20, in_replaced = 5, yields = 3, thieves = 3, prey = 300;

/* each with a queue of its own, and a steal() that only this class can call */
class Plain : public fibers::algo::algorithm
{
public:
	Plain()
	{
		std::lock_guard<std::mutex> guard(lock);
		all.push_back(this);
	}
	void awakened(fibers::context *fiber) noexcept override
	{
		std::lock_guard<std::mutex> guard(lock);
		queue.push_back(fiber);
		if (!fiber->is_context(fibers::type::pinned_context))
			fiber->detach();
	}
	fibers::context *pick_next() noexcept override
	{
		std::lock_guard<std::mutex> guard(lock);
		fibers::context *next = nullptr;

		if (!queue.empty()) {
			next = queue.front();
			queue.pop_front();
		}
		for (Plain *victim : all)
			if (!next && victim != this)
				next = victim->steal();
		if (next && !next->is_context(fibers::type::pinned_context))
			fibers::context::active()->attach(next);
		return next;
	}
	bool has_ready_fibers() const noexcept override
	{
		std::lock_guard<std::mutex> guard(lock);
		return !queue.empty();
	}
	void suspend_until(std::chrono::steady_clock::time_point const &) noexcept override
	{
		std::this_thread::sleep_for(std::chrono::microseconds(100));
	}
	void notify() noexcept override {}

	static int stolen;

private:
	fibers::context *steal() noexcept
	{
		for (auto at = queue.begin(); at != queue.end(); ++at) {
			fibers::context *fiber = *at;

			if (fiber->is_context(fibers::type::pinned_context))
				continue;
			queue.erase(at);
			stolen++;
			return fiber;
		}
		return nullptr;
	}
	std::deque<fibers::context *> queue;
	static std::mutex lock;
	static std::vector<Plain *> all;
};

std::mutex Plain::lock;
std::vector<Plain *> Plain::all;
int Plain::stolen;

struct Left {
	void operator()() const
	{
		boost::this_fiber::yield();
		boost::this_fiber::sleep_for(std::chrono::milliseconds(1));
	}
};

struct Kept {
	void operator()() const
	{
		for (int i = 0; i < yields; i++)
			boost::this_fiber::yield();
	}
};

static std::atomic<int> prey_left{prey};

struct Prey {
	void operator()() const
	{
		for (int i = 0; i < yields; i++)
			boost::this_fiber::yield();
		prey_left--;
	}
};

static void ends_early()
{
	fibers::use_scheduling_algorithm<tracer::traced<fibers::algo::round_robin>>();
	for (int i = 0; i < left_ready; i++)
		fibers::fiber(Left()).detach();
}

static void replaces()
{
	std::vector<fibers::fiber> some;

	fibers::use_scheduling_algorithm<tracer::traced<fibers::algo::round_robin>>();
	for (int i = 0; i < in_replaced; i++)
		some.emplace_back(Kept());
	boost::this_fiber::yield();
	fibers::use_scheduling_algorithm<tracer::traced<fibers::algo::round_robin>>();
	for (auto &fiber : some)
		fiber.join();
}

static void steals(bool with_prey)
{
	fibers::use_scheduling_algorithm<tracer::traced<Plain>>();
	for (int i = 0; with_prey && i < prey; i++)
		fibers::fiber(Prey()).detach();
	while (prey_left)
		boost::this_fiber::sleep_for(std::chrono::milliseconds(1));
}

int main()
{
	std::vector<std::thread> threads;

	std::thread(ends_early).join();
	std::thread(replaces).join();
	for (int i = 0; i < thieves; i++)
		threads.emplace_back(steals, !i);
	for (auto &thread : threads)
		thread.join();
	std::printf("{\"left\": %d, \"replaced\": %d, \"yields\": %d, \"prey\": %d, \"stolen\": %d, \"threads\": %d}\n", left_ready,
		    in_replaced, yields, prey, Plain::stolen, 2 + thieves);
	return 0;
}
