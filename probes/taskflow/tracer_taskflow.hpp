// SPDX-License-Identifier: BSD-2-Clause
//
// Taskflow: an observer that shows what an executor runs.
//
//	#include <taskflow/taskflow.hpp>
//	#include <tracer/tracer_taskflow.hpp>
//
//	tf::Executor executor(4);
//	executor.make_observer<tracer::taskflow_observer>();
//
// Each execution of a task is a task of the trace, with the name that the task graph gives it, and each worker of the
// executor a worker. An observer is told when a task begins and ends; the graph tells the rest: when the last of a task's
// strong dependencies ends, the task becomes ready, by that one, in that worker's queue. Beginning elsewhere is a steal.
//
// Several executors may have one each; their workers are numbered one after the other. The executor keeps the observer
// alive. C++17, Taskflow 3.7 and newer.
#ifndef TRACER_TASKFLOW_HPP
#define TRACER_TASKFLOW_HPP

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#include <taskflow/taskflow.hpp>
#if __has_include(<tracer/tracer.h>)
#include <tracer/tracer.h>
#else
#include "tracer.h"
#endif

namespace tracer
{

#ifdef TRACER_DISABLE

class taskflow_observer : public tf::ObserverInterface
{
public:
	void set_up(std::size_t) override {}
	void on_entry(tf::WorkerView, tf::TaskView) override {}
	void on_exit(tf::WorkerView, tf::TaskView) override {}
};

#else

namespace detail
{

// Taskflow 4 calls them dependencies and predecessors, 3 dependents.
template <class View> auto strong_count(const View &view, int) -> decltype(view.num_strong_dependencies())
{
	return view.num_strong_dependencies();
}
template <class View> auto strong_count(const View &view, long) -> decltype(view.num_strong_dependents())
{
	return view.num_strong_dependents();
}
template <class View> auto any_count(const View &view, int) -> decltype(view.num_predecessors())
{
	return view.num_predecessors();
}
template <class View> auto any_count(const View &view, long) -> decltype(view.num_dependents())
{
	return view.num_dependents();
}

} // namespace detail

class taskflow_observer : public tf::ObserverInterface
{
public:
	void set_up(std::size_t count) override
	{
		static std::atomic<std::uint32_t> workers{0};

		first = workers.fetch_add(static_cast<std::uint32_t>(count));
		stacks.resize(count);
	}

	void on_entry(tf::WorkerView worker, tf::TaskView task) override
	{
		execution one = begin(task);
		std::uint32_t number = first + static_cast<std::uint32_t>(worker.id());
		thread_is(number);
		if (!one.id) {
			one.id = new_id();
			if (TRACER_ENABLED(task))
				TRACER_TASK_CREATED(one.id, name_of(task), one.parent);
		} else if (one.home != number) {
			TRACER_STEAL(number, one.home, one.id, TRACER_UNKNOWN);
		}
		stacks[worker.id()].open.push_back(one.id);
		TRACER_TASK_BEGIN(one.id, number);
	}

	void on_exit(tf::WorkerView worker, tf::TaskView task) override
	{
		std::vector<std::uint64_t> &open = stacks[worker.id()].open;

		// entered before this observer was there
		if (open.empty())
			return;
		std::uint64_t id = open.back();
		open.pop_back();
		bool condition = task.type() == tf::TaskType::CONDITION;
		task.for_each_successor([&](auto successor) {
			release(successor, id, first + static_cast<std::uint32_t>(worker.id()), condition);
		});
		TRACER_TASK_COMPLETED(id);
		TRACER_TASK_DESTROYED(id);
	}

private:
	struct execution {
		std::uint64_t id = 0; // 0: not told of yet
		std::uint64_t parent = 0;
		std::uint32_t home = 0;
	};
	struct node { // of the graph, what is known of its next execution
		execution next;
		std::size_t arrived = 0; // strong dependencies that ended
	};
	struct alignas(64) shard {
		std::mutex mutex;
		std::unordered_map<std::size_t, node> nodes;
	};
	struct alignas(64) stack {
		std::vector<std::uint64_t> open; // tasks run inside tasks: innermost last
	};

	shard &shard_of(std::size_t hash)
	{
		return shards[(hash * 0x9e3779b97f4a7c15ULL) >> 58];
	}

	// a task with that name: unnamed ones after their kind
	template <class View> static const char *name_of(const View &task)
	{
		if (!task.name().empty())
			return task.name().c_str();
		switch (task.type()) {
		case tf::TaskType::STATIC:
			return "static";
		case tf::TaskType::SUBFLOW:
			return "subflow";
		case tf::TaskType::CONDITION:
			return "condition";
		case tf::TaskType::ASYNC:
			return "async";
		default:
			return "task";
		}
	}

	// @task is about to run: what was found out about that before; nothing, if a condition or the executor chose it
	execution begin(const tf::TaskView &task)
	{
		std::size_t hash = task.hash_value();
		shard &place = shard_of(hash);
		std::lock_guard<std::mutex> guard(place.mutex);
		auto found = place.nodes.find(hash);

		if (found == place.nodes.end())
			return execution();
		execution one = found->second.next;
		found->second.arrived = 0; // as the executor does
		found->second.next = execution();
		if (one.id && !detail::strong_count(task, 0)) {
			// of another graph, cancelled, that was at this place in memory
			TRACER_TASK_DESTROYED(one.id);
			one = execution();
		}
		// its place in memory may become another's
		if (!detail::any_count(task, 0))
			place.nodes.erase(found);
		return one;
	}

	// a dependency of @task has ended
	template <class View>
	void release(const View &task, std::uint64_t by, std::uint32_t worker, bool condition)
	{
		std::size_t hash = task.hash_value();
		shard &place = shard_of(hash);
		std::lock_guard<std::mutex> guard(place.mutex);
		node &its = place.nodes[hash];

		if (condition) {
			// it may have chosen this one, or another
			if (!its.next.id)
				its.next.parent = by;
			return;
		}
		std::size_t strong = detail::strong_count(task, 0);
		if (!strong) {
			// an asynchronous task of Taskflow 3, which does not tell how many it depends on: the last one's
			its.next.parent = by;
			return;
		}
		if (++its.arrived < strong)
			return;
		its.arrived = 0;
		// made ready, and never run: cancelled
		if (its.next.id)
			TRACER_TASK_DESTROYED(its.next.id);
		its.next = execution();
		its.next.parent = by;
		// without a function it never begins
		if (task.type() == tf::TaskType::MODULE || task.type() == tf::TaskType::PLACEHOLDER)
			return;
		its.next.id = new_id();
		its.next.home = worker;
		if (TRACER_ENABLED(task))
			TRACER_TASK_CREATED(its.next.id, name_of(task), by);
	}

	static std::uint64_t new_id()
	{
		static std::atomic<std::uint64_t> taken{1};
		static thread_local std::uint64_t next = 0, end = 0;

		if (next == end) {
			next = taken.fetch_add(1) << 20;
			end = next + (1 << 20);
		}
		return next++;
	}

	// the first time for a thread: it is that worker
	static void thread_is(std::uint32_t number)
	{
		static thread_local struct ending {
			std::uint32_t worker = 0; // number + 1
			~ending()
			{
				if (worker)
					TRACER_WORKER_STOP(worker - 1);
			}
		} now;

		if (now.worker == number + 1)
			return;
		now.worker = number + 1;
		TRACER_WORKER_START(number, "taskflow");
	}

	std::uint32_t first = 0; // number of the executor's worker 0
	std::vector<stack> stacks;
	std::array<shard, 64> shards;
};

#endif // TRACER_DISABLE

} // namespace tracer

#endif // TRACER_TASKFLOW_HPP
