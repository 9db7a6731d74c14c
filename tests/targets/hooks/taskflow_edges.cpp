// SPDX-License-Identifier: BSD-2-Clause
//
// Taskflow at its edges: what runs no function, what an exception leaves out, asynchronous tasks that depend on others. Prints
// what it ran as JSON. For tests/e2e/hooks_taskflow.py.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <taskflow/taskflow.hpp>
#include "taskflow/tracer_taskflow.hpp"

static const int rounds = 4;
static std::atomic<int> inner{0}, outer{0}, dependent{0};

static void with_module(tf::Executor &executor)
{
	tf::Taskflow module, flow;

	module.emplace([] { inner++; }).name("inside");
	auto before = flow.emplace([] { outer++; }).name("before");
	auto placed = flow.composed_of(module).name("module");
	auto nothing = flow.placeholder().name("placeholder");
	auto behind = flow.emplace([] { outer++; }).name("behind");
	before.precede(placed, nothing);
	placed.precede(behind);
	nothing.precede(behind);
	executor.run_n(flow, rounds).wait();
}

/* one task becomes ready and is left out; where it was in memory there are others soon */
static void with_exception(tf::Executor &executor)
{
	tf::Taskflow flow;
	auto throws = flow.emplace([] { throw std::runtime_error("expected"); }).name("throws");
	auto left_out = flow.emplace([] {}).name("left out");

	throws.precede(left_out);
	try {
		executor.run(flow).get();
	} catch (const std::runtime_error &) {
	}
}

static void after_exception(tf::Executor &executor)
{
	tf::Taskflow flow;

	for (int i = 0; i < rounds; i++)
		flow.emplace([] { outer++; }).name("after");
	executor.run(flow).wait();
}

int main()
{
	tf::Executor executor(2);

	executor.make_observer<tracer::taskflow_observer>();
	with_module(executor);
	with_exception(executor);
	after_exception(executor);
	for (int i = 0; i < rounds; i++) {
		auto first = executor.silent_dependent_async([] { dependent++; });
		auto left = executor.silent_dependent_async([] { dependent++; }, first);
		auto right = executor.silent_dependent_async([] { dependent++; }, first);
		executor.silent_dependent_async([] { dependent++; }, left, right);
	}
	executor.wait_for_all();
	std::printf("{\"inside\": %d, \"outside\": %d, \"dependent\": %d, \"rounds\": %d}\n", inner.load(), outer.load(),
		    dependent.load(), rounds);
	return 0;
}
