// SPDX-License-Identifier: BSD-2-Clause
//
// What the collector shows of oneTBB, a known number of times; prints what it did as JSON. For
// tests/e2e/hooks_tbb.py.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
#include <sys/syscall.h>
#include <tbb/tbb.h>
#include <unistd.h>

static const int depth = 7, suspended = 12, leaves = 64, enqueued = 10, thrown = 20;
static std::mutex counting;
static std::map<long, int> bodies; /* of tree, by thread */

static long thread_id()
{
	return syscall(SYS_gettid);
}

static int tree(int level)
{
	int left = 0, right = 0;

	{
		std::lock_guard<std::mutex> guard(counting);
		bodies[thread_id()]++;
	}
	if (!level)
		return 1;
	tbb::task_group group;
	group.run([&left, level] { left = tree(level - 1); });
	group.run([&right, level] { right = tree(level - 1); });
	group.wait();
	return left + right;
}

/* resumes what it is given, on a thread that is none of oneTBB's */
class Waker {
public:
	Waker() : thread([this] { run(); }) {}
	~Waker()
	{
		{
			std::lock_guard<std::mutex> guard(mutex);
			ended = true;
		}
		condition.notify_one();
		thread.join();
	}
	void give(tbb::task::suspend_point point)
	{
		std::lock_guard<std::mutex> guard(mutex);
		points.push_back(point);
		condition.notify_one();
	}
	std::atomic<long> tid{0};

private:
	void run()
	{
		std::unique_lock<std::mutex> lock(mutex);

		tid = thread_id();
		while (!ended || !points.empty()) {
			condition.wait(lock, [this] { return ended || !points.empty(); });
			std::vector<tbb::task::suspend_point> taken;
			taken.swap(points);
			lock.unlock();
			for (auto point : taken)
				tbb::task::resume(point);
			lock.lock();
		}
	}
	std::mutex mutex;
	std::condition_variable condition;
	std::vector<tbb::task::suspend_point> points;
	bool ended = false;
	std::thread thread;
};

int main()
{
	tbb::global_control threads(tbb::global_control::max_allowed_parallelism, 3);
	std::atomic<int> ran{0}, gone_on{0}, caught{0}, queued{0};
	long main_tid = thread_id(), waker_tid;
	int count = tree(depth);

	tbb::parallel_for(
		tbb::blocked_range<int>(0, leaves), [&](const tbb::blocked_range<int> &) { ran++; },
		tbb::simple_partitioner());
	{
		Waker waker;
		tbb::task_group group;

		for (int i = 0; i < suspended; i++)
			group.run([&] {
				tbb::task::suspend([&](tbb::task::suspend_point point) { waker.give(point); });
				gone_on++;
			});
		group.wait();
		waker_tid = waker.tid;
	}
	for (int i = 0; i < thrown; i++) {
		tbb::task_group group;

		group.run([] { throw std::runtime_error("expected"); });
		try {
			group.wait();
		} catch (const std::runtime_error &) {
			caught++;
		}
	}
	{
		tbb::task_arena arena(2);

		for (int i = 0; i < enqueued; i++)
			arena.enqueue([&] { queued++; });
		while (queued != enqueued)
			std::this_thread::yield();
	}
	std::printf("{\"depth\": %d, \"leaves\": %d, \"ran\": %d, \"suspended\": %d, \"gone_on\": %d, "
		    "\"thrown\": %d, \"caught\": %d, \"enqueued\": %d, \"main\": %ld, \"waker\": %ld, "
		    "\"sum\": %d, \"bodies\": {",
		    depth, leaves, ran.load(), suspended, gone_on.load(), thrown, caught.load(), queued.load(),
		    main_tid, waker_tid, count);
	const char *comma = "";
	for (auto &row : bodies) {
		std::printf("%s\"%ld\": %d", comma, row.first, row.second);
		comma = ", ";
	}
	std::printf("}}\n");
	return 0;
}
