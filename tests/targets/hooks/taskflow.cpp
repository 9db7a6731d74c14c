// SPDX-License-Identifier: BSD-2-Clause
//
// Task graphs of several kinds, a known number of times; prints what it did as JSON. For tests/e2e/hooks_taskflow.py.
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <taskflow/taskflow.hpp>
#include "taskflow/tracer_taskflow.hpp"

static std::mutex counting;
static std::map<std::string, int> runs;
static std::map<long, int> threads;

static void count(const std::string &name)
{
	std::lock_guard<std::mutex> guard(counting);
	runs[name]++;
	threads[syscall(SYS_gettid)]++;
}

static void work(const std::string &name)
{
	volatile int x = 0;

	for (int i = 0; i < 5000; i++)
		x = x + i;
	count(name);
}

int main()
{
	const int width = 6, layers = 5, repeats = 10, rounds = 7, asyncs = 25;
	tf::Executor executor(3);
	tf::Taskflow layered("layered"), looping("looping"), nested("nested");
	int round = 0;

	executor.make_observer<tracer::taskflow_observer>();
	/* each of a layer before each of the next */
	std::vector<tf::Task> before;
	for (int layer = 0; layer < layers; layer++) {
		std::vector<tf::Task> now;

		for (int i = 0; i < width; i++) {
			std::string name = "layer " + std::to_string(layer);
			now.push_back(layered.emplace([name] { work(name); }).name(name));
			for (auto &task : before)
				task.precede(now.back());
		}
		before = now;
	}
	executor.run_n(layered, repeats).wait();
	tf::Task first = looping.emplace([] { work("first"); }).name("first");
	tf::Task body = looping.emplace([] { work("body"); }).name("body");
	tf::Task condition = looping.emplace([&round] {
		count("condition");
		return ++round < rounds ? 0 : 1;
	}).name("condition");
	tf::Task last = looping.emplace([] { work("last"); }).name("last");
	first.precede(body);
	body.precede(condition);
	condition.precede(body, last);
	executor.run(looping).wait();
	nested.emplace([](tf::Subflow &flow) {
		count("outer");
		tf::Task a = flow.emplace([] { work("inner a"); }).name("inner a");
		tf::Task b = flow.emplace([] { work("inner b"); }).name("inner b");
		a.precede(b);
		flow.join();
	}).name("outer");
	executor.run_n(nested, repeats).wait();
	for (int i = 0; i < asyncs; i++)
		executor.silent_async([] { work("async"); });
	executor.wait_for_all();

	std::printf("{\"width\": %d, \"layers\": %d, \"repeats\": %d, \"rounds\": %d, \"runs\": {", width, layers,
		    repeats, rounds);
	const char *comma = "";
	for (auto &row : runs) {
		std::printf("%s\"%s\": %d", comma, row.first.c_str(), row.second);
		comma = ", ";
	}
	std::printf("}, \"threads\": {");
	comma = "";
	for (auto &row : threads) {
		std::printf("%s\"%ld\": %d", comma, row.first, row.second);
		comma = ", ";
	}
	std::printf("}}\n");
	return 0;
}
