// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program of HPX that knows what it does, to be traced with probes/hpx:	example [ROUNDS]
 *
 * Each round: 10 tasks wait for promises and then for a mutex, one inline and one scheduled continuation, a task that
 * ends with an exception, a posted task; then a Fibonacci tree, a for_each on the fork-join executor, and a sleep.
 * Its last line is what a trace of it must have.
 */
#include <hpx/algorithm.hpp>
#include <hpx/execution.hpp>
#include <hpx/executors/fork_join_executor.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/latch.hpp>
#include <hpx/mutex.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <vector>

static std::atomic<long> asyncs{0}, sets{0}, exceptions{0}, continuations{0}, posts{0};

static int fibonacci(int n)
{
	if (n < 2)
		return n;
	++asyncs;
	hpx::future<int> left = hpx::async(&fibonacci, n - 1);
	int const right = fibonacci(n - 2);
	return left.get() + right;
}

static void wait_for_each_other(hpx::mutex& mutex, long& sum)
{
	std::vector<hpx::promise<int>> promises(10);
	std::vector<hpx::future<void>> done;

	for (auto& promise : promises)
	{
		++asyncs;
		done.push_back(hpx::async([future = promise.get_future(), &mutex, &sum]() mutable {
			int const value = future.get();
			std::lock_guard<hpx::mutex> lock(mutex);
			sum += value;
			hpx::this_thread::yield();
		}));
	}
	for (auto& promise : promises)
	{
		promise.set_value(1);
		++sets;
	}
	hpx::wait_all(done);
}

static void continue_and_fail()
{
	hpx::promise<int> promise;
	hpx::future<int> inline_one = promise.get_future().then(
	    hpx::launch::sync, [](hpx::future<int> value) { return value.get() + 1; });
	hpx::future<int> scheduled =
	    inline_one.then(hpx::launch::async, [](hpx::future<int> value) { return value.get() + 1; });

	continuations += 2;
	promise.set_value(1);
	++sets;
	scheduled.get();

	++asyncs;
	++exceptions;
	hpx::future<void> fails = hpx::async([] { throw std::runtime_error("expected"); });
	try
	{
		fails.get();
	}
	catch (std::runtime_error const&)
	{
	}

	hpx::latch latch(2);
	++posts;
	hpx::post([&latch] { latch.arrive_and_wait(); });
	latch.arrive_and_wait();
}

int hpx_main(int argc, char** argv)
{
	int const rounds = argc > 1 ? std::atoi(argv[1]) : 100;
	hpx::mutex mutex;
	long sum = 0;

	for (int i = 0; i < rounds; i++)
	{
		wait_for_each_other(mutex, sum);
		continue_and_fail();
	}
	fibonacci(12);
	{
		hpx::execution::experimental::fork_join_executor executor;
		std::vector<double> values(10000, 1.0);
		hpx::for_each(hpx::execution::par.on(executor), values.begin(), values.end(),
		    [](double& value) { value += 1; });
	}
	hpx::this_thread::sleep_for(std::chrono::milliseconds(5));
	std::printf("asyncs %ld posts %ld sets %ld exceptions %ld continuations %ld locks %ld\n", asyncs.load(),
	    posts.load(), sets.load(), exceptions.load(), continuations.load(), sum);
	return hpx::local::finalize();
}

int main(int argc, char** argv)
{
	hpx::local::init_params params;
	return hpx::local::init(hpx_main, argc, argv, params);
}
