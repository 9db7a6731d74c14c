// SPDX-License-Identifier: BSD-2-Clause
//
// A word count with oneTBB: a task for each part of a text, and a task that waits for a device without holding
// its thread. In the trace each is a row of its own, with who made it, where it ran, and what it waited for.
//
//	g++ -O2 example.cpp -o example -ltbb
//	lib=$PWD/build/libtracer_itt.so
//	build/tracer -o example.pftrace -- env LD_PRELOAD=$lib INTEL_LIBITTNOTIFY64=$lib ./example
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <tbb/tbb.h>

static long count(const std::string &text, size_t from, size_t to)
{
	if (to - from > 50000) {
		size_t middle = from + (to - from) / 2;
		long left = 0, right = 0;
		tbb::task_group halves;

		halves.run([&] { left = count(text, from, middle); });
		halves.run([&] { right = count(text, middle, to); });
		halves.wait();
		return left + right;
	}
	long words = 0;
	for (size_t i = from; i < to; i++)
		words += text[i] == ' ';
	return words;
}

int main()
{
	std::string text;
	for (int i = 0; i < 100000; i++)
		text += "word ";

	std::thread device;
	std::atomic<bool> answered{false};
	tbb::task_group group;
	group.run([&] {
		tbb::task::suspend([&](tbb::task::suspend_point point) {
			device = std::thread([&, point] {
				std::this_thread::sleep_for(std::chrono::milliseconds(5));
				answered = true;
				tbb::task::resume(point);
			});
		});
	});
	long words = count(text, 0, text.size());
	group.wait();
	device.join();
	std::printf("%ld words, device %s\n", words, answered ? "answered" : "silent");
	return words != 100000;
}
