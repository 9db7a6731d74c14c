// SPDX-License-Identifier: BSD-2-Clause
/*
 * Short tasks, with names of run time, and now and then one that runs for 20 ms: planted, for a trigger to
 * find. A second process comes and goes with --children. Runs for as long as it is told: planted SECONDS [AT]...,
 * AT in milliseconds from the start.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <tracer/tracer.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void run(uint64_t task, const char *name, uint64_t ns)
{
	uint64_t until;

	TRACER_TASK_CREATED(task, name, 0);
	TRACER_TASK_READY(task);
	TRACER_TASK_BEGIN(task, 0);
	for (until = now_ns() + ns; now_ns() < until;)
		;
	TRACER_TASK_COMPLETED(task);
	TRACER_TASK_DESTROYED(task);
}

int main(int argc, char **argv)
{
	uint64_t start = now_ns(), task, due;
	const struct timespec pause = {0, 50000};
	char name[40];
	int next = 2;

	if (argc < 2)
		return 2;
	TRACER_WORKER_START(0, "planter");
	TRACER_TASK_CREATED(7, "lives on", 0);
	for (task = 1000; now_ns() < start + (uint64_t)(atof(argv[1]) * 1e9); task++) {
		due = next < argc ? start + (uint64_t)(atof(argv[next]) * 1e6) : UINT64_MAX;
		if (now_ns() >= due) {
			run(task, "planted", 20000000);
			next++;
			continue;
		}
		snprintf(name, sizeof(name), "short %u", (unsigned int)(task % 10));
		run(task, name, 2000);
		if (task % 32 == 0)
			nanosleep(&pause, NULL);
	}
	TRACER_TASK_DESTROYED(7);
	return 0;
}
