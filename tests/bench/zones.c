// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a zone costs, beside two readings of the cycle counter, in the same run; and with 1 to 64 threads
 * that share out the same number of zones: user and system time of the process, a zone.
 */
#include "bench.h"
#include <pthread.h>
#include <tracer/tracer.h>

#define THREADS_MAX 64
#define THREADS_MORE 4 /* so many more zones, beside which starting 64 threads is little */

static double zone_ns(long zones)
{
	uint64_t begin = bench__cpu_ns();
	long i;

	for (i = 0; i < zones; i++) {
		TRACER_ZONE("zone");
		__asm__ __volatile__("" : : "r"(i) : "memory");
	}
	return (double)(bench__cpu_ns() - begin) / (double)zones;
}

static void *share(void *arg)
{
	zone_ns(*(const long *)arg);
	return NULL;
}

/* of all threads, also those that have ended */
static uint64_t process_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static double threads_ns(int threads, long zones)
{
	pthread_t ids[THREADS_MAX];
	uint64_t begin = process_cpu_ns();
	long each = zones / threads;
	int i;

	for (i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, share, &each))
			exit(1);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return (double)(process_cpu_ns() - begin) / (double)(each * threads);
}

int main(int argc, char **argv)
{
	static double reads[BENCH_REPEAT_MAX], zones[BENCH_REPEAT_MAX], ratio[BENCH_REPEAT_MAX];
	static double shared[7][BENCH_REPEAT_MAX];
	struct bench_options options = {.repeat = 9, .pairs = 1000000};
	int i, k;

	bench__options(&options, argc, argv);
	zone_ns(options.pairs / 10 + 1);
	for (i = 0; i < options.repeat; i++) {
		reads[i] = bench__two_reads_ns(options.pairs);
		zones[i] = zone_ns(options.pairs);
		ratio[i] = zones[i] / reads[i];
		/* in turns, so that what else the machine does takes its share of each */
		for (k = 0; k < 7; k++)
			shared[k][i] = threads_ns(1 << k, THREADS_MORE * options.pairs);
	}
	printf("{\"enabled\":%d,\"pairs\":%ld,\"two_reads_ns\":%.3f,\"zone_ns\":%.3f,\"ratio\":%.4f,"
	       "\"by_threads\":{",
	       TRACER_ENABLED(zone) != 0, options.pairs, bench__median(reads, options.repeat),
	       bench__median(zones, options.repeat), bench__median(ratio, options.repeat));
	for (k = 0; k < 7; k++)
		printf("%s\"%d\":%.3f", k ? "," : "", 1 << k, bench__median(shared[k], options.repeat));
	printf("}}\n");
	return 0;
}
