// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a TASK_BEGIN/TASK_END pair costs, beside two readings of the cycle counter, in the same run: user
 * and system time of the thread. Prints one line of JSON: medians over the repetitions, ns.
 *
 *	pair [--repeat N] [--pairs N] [--wait FD-less seconds]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tracer/tracer.h>

#if defined(__x86_64__)
#define STAMP() __builtin_ia32_rdtsc()
#else
static uint64_t stamp(void)
{
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
#define STAMP() stamp()
#endif

#define REPEAT_MAX 101

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

static volatile uint64_t sink;

static double floor_ns(long pairs)
{
	uint64_t begin = cpu_ns();
	long i;

	for (i = 0; i < pairs; i++) {
		sink += STAMP();
		sink += STAMP();
	}
	return (double)(cpu_ns() - begin) / (double)pairs;
}

static double pair_ns(long pairs)
{
	uint64_t begin = cpu_ns();
	long i;

	for (i = 0; i < pairs; i++) {
		TRACER_TASK_BEGIN(i + 1, 0);
		TRACER_TASK_END(i + 1);
	}
	return (double)(cpu_ns() - begin) / (double)pairs;
}

/* the loop alone, for what a closed point adds */
static double empty_ns(long pairs)
{
	uint64_t begin = cpu_ns();
	long i;

	for (i = 0; i < pairs; i++)
		__asm__ __volatile__("" : : "r"(i) : "memory");
	return (double)(cpu_ns() - begin) / (double)pairs;
}

int main(int argc, char **argv)
{
	double floors[REPEAT_MAX], pairs_ns[REPEAT_MAX], empty[REPEAT_MAX], base, pair;
	int repeat = 15, i;
	long pairs = 1000000;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--repeat"))
			repeat = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--pairs"))
			pairs = atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--sleep"))
			sleep((unsigned int)atoi(argv[i + 1]));
	}
	if (repeat < 1 || repeat > REPEAT_MAX || pairs < 1) {
		fprintf(stderr, "usage: pair [--repeat 1..%d] [--pairs N] [--sleep SECONDS]\n",
			REPEAT_MAX);
		return 2;
	}
	for (i = 0; i < repeat; i++) {
		floors[i] = floor_ns(pairs);
		pairs_ns[i] = pair_ns(pairs);
		empty[i] = empty_ns(pairs);
	}
	base = median(floors, repeat);
	pair = median(pairs_ns, repeat);
	printf("{\"enabled\":%d,\"two_reads_ns\":%.2f,\"pair_ns\":%.2f,\"ratio\":%.3f,\"point_ns\":%.3f}\n",
	       TRACER_ENABLED(task), base, pair, pair / base,
	       (pair - median(empty, repeat)) / 2);
	return 0;
}
