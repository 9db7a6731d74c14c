// SPDX-License-Identifier: BSD-2-Clause
/* The same pair as tracepoints of LTTng. */
#include "bench.h"
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "pair_lttng.h"

static double pair_ns(long pairs)
{
	uint64_t begin = bench__cpu_ns();
	long i;

	for (i = 0; i < pairs; i++) {
		lttng_ust_tracepoint(bench, task_begin, (uint64_t)i + 1, 0);
		lttng_ust_tracepoint(bench, task_end, (uint64_t)i + 1);
	}
	return (double)(bench__cpu_ns() - begin) / (double)pairs;
}

int main(int argc, char **argv)
{
	struct bench_options options = {.repeat = 31, .pairs = 1000000};

	bench__options(&options, argc, argv);
	return bench__print_pair(&options, pair_ns,
				 lttng_ust_tracepoint_enabled(bench, task_begin));
}
