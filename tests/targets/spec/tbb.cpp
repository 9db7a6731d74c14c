// SPDX-License-Identifier: BSD-2-Clause
// oneTBB's tasks: a group in a group, and a parallel loop.
#include <atomic>
#include <iostream>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

static int fib(int n)
{
	int a, b;

	if (n < 2)
		return n;
	tbb::task_group group;
	group.run([&] { a = fib(n - 1); });
	group.run([&] { b = fib(n - 2); });
	group.wait();
	return a + b;
}

int main()
{
	tbb::task_arena arena(2);
	std::atomic<int> sum{0};
	int result = 0;

	arena.execute([&] { result = fib(8); });
	tbb::parallel_for(0, 100, [&](int i) { sum += i; });
	std::cout << result << " " << sum << "\n";
}
