// SPDX-License-Identifier: BSD-2-Clause
// Fibers of Boost that wait for one another, sleep and yield.
#include <boost/fiber/all.hpp>
#include <chrono>
#include <iostream>
#include <mutex>

int main()
{
	boost::fibers::buffered_channel<int> channel(4);
	boost::fibers::mutex mutex;
	int total = 0;

	boost::fibers::fiber producer([&] {
		for (int i = 0; i < 20; i++)
			channel.push(i);
		channel.close();
	});
	boost::fibers::fiber consumer([&] {
		int value;

		while (channel.pop(value) == boost::fibers::channel_op_status::success)
			total += value;
	});
	boost::fibers::fiber sleeper([&] {
		boost::this_fiber::sleep_for(std::chrono::milliseconds(3));
		boost::this_fiber::yield();
		std::lock_guard<boost::fibers::mutex> lock(mutex);
		total++;
	});
	producer.join();
	consumer.join();
	sleeper.join();
	std::cout << total << "\n";
}
