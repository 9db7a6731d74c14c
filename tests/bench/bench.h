/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs that are measured have in common: CPU time, medians, and the wait for whoever
 * attaches to them. They print one line of JSON.
 *
 * With --wait a program says "ready PID" and goes on when it reads a line: run.py attaches in
 * between, so nothing has to guess how long that takes.
 */
#ifndef TRACER_TESTS_BENCH_H
#define TRACER_TESTS_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BENCH_REPEAT_MAX 201

struct bench_options {
	int repeat;
	long pairs;
};

/* user and system time of the thread: what hits and drains cost it is in there */
static inline uint64_t bench__cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static inline int bench__compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double bench__median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), bench__compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* --repeat N, --pairs N, --wait */
static inline void bench__options(struct bench_options *options, int argc, char **argv)
{
	char line[16];
	int i, wait = 0;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--wait"))
			wait = 1;
		else if (!strcmp(argv[i], "--repeat") && i + 1 < argc)
			options->repeat = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--pairs") && i + 1 < argc)
			options->pairs = atol(argv[++i]);
		else
			options->repeat = 0;
	}
	if (options->repeat < 1 || options->repeat > BENCH_REPEAT_MAX || options->pairs < 1) {
		fprintf(stderr, "usage: %s [--repeat 1..%d] [--pairs N] [--wait]\n", argv[0],
			BENCH_REPEAT_MAX);
		exit(2);
	}
	if (!wait)
		return;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		exit(1);
}

/* a loop that does nothing @pairs times: what a measured loop's own turns cost */
static inline double bench__empty_ns(long pairs)
{
	uint64_t begin = bench__cpu_ns();
	long i;

	for (i = 0; i < pairs; i++)
		__asm__ __volatile__("" : : "r"(i) : "memory");
	return (double)(bench__cpu_ns() - begin) / (double)pairs;
}

#if defined(__x86_64__)
#define BENCH_STAMP() __builtin_ia32_rdtsc()
#else
static inline uint64_t bench__stamp(void)
{
	uint64_t value;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}
#define BENCH_STAMP() bench__stamp()
#endif

/* two readings of the counter, used by nobody: the floor */
static inline double bench__two_reads_ns(long pairs)
{
	uint64_t begin = bench__cpu_ns(), a, b;
	long i;

	for (i = 0; i < pairs; i++) {
		a = BENCH_STAMP();
		b = BENCH_STAMP();
		__asm__ __volatile__("" : : "r"(a), "r"(b));
	}
	return (double)(bench__cpu_ns() - begin) / (double)pairs;
}

/* what every program of a pair prints: a pair's cost, beside the floor's in the same run */
static inline int bench__print_pair(const struct bench_options *options, double (*pair)(long pairs),
				    int enabled)
{
	static double reads[BENCH_REPEAT_MAX], pairs[BENCH_REPEAT_MAX], empty[BENCH_REPEAT_MAX];
	static double ratio[BENCH_REPEAT_MAX], added[BENCH_REPEAT_MAX];
	int i;

	/* the first turns make rings and fault pages in; a
	 * capture has them once, not once a pair */
	pair(options->pairs / 10 + 1);
	for (i = 0; i < options->repeat; i++) {
		empty[i] = bench__empty_ns(options->pairs);
		reads[i] = bench__two_reads_ns(options->pairs);
		pairs[i] = pair(options->pairs);
		/* of neighbours in time: what else the machine does takes its share of both */
		ratio[i] = pairs[i] / reads[i];
		added[i] = pairs[i] - empty[i];
	}
	printf("{\"enabled\":%d,\"pairs\":%ld,\"two_reads_ns\":%.3f,\"pair_ns\":%.3f,"
	       "\"ratio\":%.4f,\"point_ns\":%.4f}\n",
	       enabled, options->pairs, bench__median(reads, options->repeat),
	       bench__median(pairs, options->repeat), bench__median(ratio, options->repeat),
	       bench__median(added, options->repeat) / 2);
	return 0;
}

#endif /* TRACER_TESTS_BENCH_H */
