// SPDX-License-Identifier: BSD-2-Clause
/*
 * The same event for tracers of functions: a task begins where task_begin() is entered and ends
 * where task_end() is. perf puts a uprobe on each; uftrace records one function's entry and return
 * for a pair (built with -pg and -DONE_FUNCTION).
 */
#include "bench.h"

/* called by name, by nobody else: the probes' places must be there */
__attribute__((noinline)) void task_begin(uint64_t task, uint32_t worker);
__attribute__((noinline)) void task_end(uint64_t task);

void task_begin(uint64_t task, uint32_t worker)
{
	__asm__ __volatile__("" : : "r"(task), "r"(worker) : "memory");
}

void task_end(uint64_t task)
{
	__asm__ __volatile__("" : : "r"(task) : "memory");
}

#ifdef __x86_64__
#define NOT_TRACED __attribute__((noinline, no_instrument_function))
#else
#define NOT_TRACED __attribute__((no_instrument_function))
#endif

NOT_TRACED static double pair_ns(long pairs)
{
	uint64_t begin = bench__cpu_ns();
	long i;

	for (i = 0; i < pairs; i++) {
		task_begin((uint64_t)i + 1, 0);
#ifndef ONE_FUNCTION
		task_end((uint64_t)i + 1);
#endif
	}
	return (double)(bench__cpu_ns() - begin) / (double)pairs;
}

int main(int argc, char **argv)
{
	struct bench_options options = {.repeat = 31, .pairs = 1000000};

	bench__options(&options, argc, argv);
	return bench__print_pair(&options, pair_ns, 0);
}
