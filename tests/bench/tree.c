// SPDX-License-Identifier: BSD-2-Clause
/*
 * A Fibonacci-like tree of tasks on the bundled runtime (tests/targets/runtime), all points on.
 * Each body does a fixed amount of work, so that what recording takes from it, cache included, shows
 * as time.
 *
 *	tree [--size N] [--turns T] [--bytes B] [--workers N] [--repeat N]
 *
 * A body turns T times through arithmetic of about a nanosecond, or, with --bytes, touches T lines
 * of a buffer of its worker's of B bytes, one after the other, and each body goes on where the one
 * before stopped. Prints JSON: user and system time of the process and time on the wall for each
 * repetition.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include "../targets/runtime/runtime.h"

#define LINE 64U

static struct {
	uint64_t turns, bytes;
} settings;

/* of the thread: a task's body does not leave its worker */
static __thread uint64_t *buffer;
static __thread uint64_t place;

__attribute__((noinline)) static void body(void)
{
	uint64_t value = (uintptr_t)&value, i;

	if (!settings.bytes) {
		for (i = 0; i < settings.turns; i++) {
			value = value * 6364136223846793005U + 1;
			__asm__ __volatile__("" : "+r"(value));
		}
		return;
	}
	if (!buffer) {
		buffer = aligned_alloc(LINE, settings.bytes);
		if (!buffer)
			abort();
		memset(buffer, 1, settings.bytes);
	}
	for (i = 0; i < settings.turns; i++) {
		buffer[place / 8] += i;
		place += LINE;
		if (place >= settings.bytes)
			place = 0;
	}
}

static int tree(void *arg, int64_t *value)
{
	intptr_t n = (intptr_t)arg;
	struct future *left, *right;
	int64_t a = 0, b = 0;

	body();
	*value = 1;
	if (n < 2)
		return 0;
	left = task__spawn(NULL, "tree", tree, (void *)(n - 1));
	right = task__spawn(NULL, "tree", tree, (void *)(n - 2));
	future__wait(right, &b);
	future__wait(left, &a);
	future__release(left);
	future__release(right);
	*value = 1 + a + b;
	return 0;
}

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	struct runtime_options options = {.workers = 1, .stack_size = 65536};
	long size = 20, repeat = 1;
	struct runtime *runtime;
	struct future *future;
	double cpu, wall;
	int64_t bodies = 0;
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--size"))
			size = atol(argv[i + 1]);
		else if (!strcmp(argv[i], "--turns"))
			settings.turns = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--bytes"))
			settings.bytes = strtoull(argv[i + 1], NULL, 0) / LINE * LINE;
		else if (!strcmp(argv[i], "--workers"))
			options.workers = (uint32_t)atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--repeat"))
			repeat = atol(argv[i + 1]);
		else
			break;
	}
	if (i != argc || size < 0 || size > 40 || repeat < 1 || !options.workers) {
		fprintf(stderr, "usage: tree [--size N] [--turns T] [--bytes B] [--workers N] "
				"[--repeat N]\n");
		return 2;
	}
	if (runtime__start(&runtime, &options))
		return 1;
	for (; repeat; repeat--) {
		wall = seconds(CLOCK_MONOTONIC);
		cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
		future = task__spawn(runtime, "root", tree, (void *)(intptr_t)size);
		if (future__wait(future, &bodies))
			return 1;
		future__release(future);
		printf("{\"bodies\":%lld,\"cpu_s\":%.6f,\"wall_s\":%.6f}\n", (long long)bodies,
		       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall);
		fflush(stdout);
	}
	runtime__stop(runtime);
	return 0;
}
