// SPDX-License-Identifier: BSD-2-Clause
/* What a TASK_BEGIN/TASK_END pair costs, beside two readings of the cycle counter, in the same run.
 */
#include "bench.h"
#include <tracer/tracer.h>

static double pair_ns(long pairs)
{
	uint64_t begin = bench__cpu_ns();
	long i;

	for (i = 0; i < pairs; i++) {
		TRACER_TASK_BEGIN(i + 1, 0);
		TRACER_TASK_END(i + 1);
		/* as in the empty loop: a point tells the compiler nothing about memory */
		__asm__ __volatile__("" : : "r"(i) : "memory");
	}
	return (double)(bench__cpu_ns() - begin) / (double)pairs;
}

int main(int argc, char **argv)
{
	struct bench_options options = {.repeat = 31, .pairs = 1000000};

	bench__options(&options, argc, argv);
	return bench__print_pair(&options, pair_ns, TRACER_ENABLED(task) != 0);
}
