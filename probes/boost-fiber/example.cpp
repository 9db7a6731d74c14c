// SPDX-License-Identifier: BSD-2-Clause
//
// Producers and consumers on channels, as fibers on three threads that steal from one another. In the trace each fiber is a
// row: why it waits, who wakes it, and on which thread it goes on.
//
//	g++ -O2 -I usdt -I probes/boost-fiber example.cpp -o example -lboost_fiber -lboost_context -pthread
//	build/tracer -o example.pftrace -- ./example
#include <tracer_fiber.hpp>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
#include <boost/fiber/all.hpp>

namespace fibers = boost::fibers;
using stealing = tracer::traced<fibers::algo::work_stealing>;

static const unsigned int thread_count = 3;
static std::atomic<int> items{0};

static void produce(fibers::buffered_channel<int> &channel, int count)
{
	tracer::fiber_name("producer");
	for (int i = 0; i < count; i++)
		channel.push(i);
	channel.close();
}

static void consume(fibers::buffered_channel<int> &channel)
{
	int item;

	tracer::fiber_name("consumer");
	while (channel.pop(item) == fibers::channel_op_status::success) {
		volatile int x = 0;

		for (int i = 0; i < 20000; i++)
			x = x + i;
		items++;
	}
}

int main()
{
	std::vector<std::thread> threads;
	fibers::mutex mutex;
	fibers::condition_variable condition;
	bool over = false;

	for (unsigned int i = 1; i < thread_count; i++) {
		threads.emplace_back([&] {
			fibers::use_scheduling_algorithm<stealing>(thread_count, true);
			std::unique_lock<fibers::mutex> lock(mutex);
			condition.wait(lock, [&] { return over; });
		});
	}
	fibers::use_scheduling_algorithm<stealing>(thread_count, true);
	for (int round = 1; round <= 3; round++) {
		fibers::buffered_channel<int> channel(8);
		fibers::fiber producer([&channel, round] { produce(channel, 55 * round); });
		fibers::fiber consumer([&channel] { consume(channel); });

		producer.join();
		consumer.join();
	}
	{
		std::unique_lock<fibers::mutex> lock(mutex);
		over = true;
	}
	condition.notify_all();
	for (auto &thread : threads)
		thread.join();
	std::printf("%d items\n", items.load());
	return 0;
}
