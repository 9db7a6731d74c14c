// SPDX-License-Identifier: BSD-2-Clause
//
// A build in the shape of a diamond, repeated until a condition says so, and some asynchronous tasks. In the trace each
// execution is a row: which task made it ready, where it waited, who stole it.
//
//	g++ -std=c++20 -O2 -I usdt -I probes/taskflow -I $TASKFLOW_DIR example.cpp -o example -pthread
//	build/tracer -o example.pftrace -- ./example
#include <atomic>
#include <cstdio>
#include <string>
#include <taskflow/taskflow.hpp>
#include <tracer_taskflow.hpp>

static std::atomic<int> runs{0};

static void work()
{
	volatile int x = 0;

	for (int i = 0; i < 20000; i++)
		x = x + i;
	runs++;
}

int main()
{
	tf::Executor executor(3);
	tf::Taskflow graph("build");
	int rounds = 0;

	executor.make_observer<tracer::taskflow_observer>();
	tf::Task start = graph.emplace([] { work(); }).name("configure");
	tf::Task prepare = graph.emplace([] { work(); }).name("prepare");
	tf::Task link = graph.emplace([] { work(); }).name("link");
	tf::Task again = graph.emplace([&rounds] { return ++rounds < 5 ? 0 : 1; }).name("again?");
	tf::Task end = graph.emplace([] { work(); }).name("install");
	start.precede(prepare);
	for (int i = 0; i < 8; i++) {
		tf::Task compile = graph.emplace([] { work(); }).name("compile " + std::to_string(i));

		prepare.precede(compile);
		compile.precede(link);
	}
	link.precede(again);
	again.precede(prepare, end); /* 0 and 1 */
	executor.run(graph).wait();
	for (int i = 0; i < 10; i++)
		executor.silent_async([] { work(); });
	executor.wait_for_all();
	std::printf("%d tasks ran, %d rounds\n", runs.load(), rounds);
	return 0;
}
