// SPDX-License-Identifier: BSD-2-Clause
/*
 * Zones in every way in which they can be left. zones WAY: what it does is known beforehand, and
 * tests/e2e/zones.py expects the figures.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <tracer/tracer.h>

#define THREADS 3000
#define AT_ONCE 4

static void work(long us)
{
	struct timespec time = {0, us * 1000};

	nanosleep(&time, NULL);
}

/* 1 + 2 + ... + 2^depth calls, each inside its caller's zone */
static void recurse(int depth)
{
	TRACER_ZONE_FUNCTION();

	if (!depth) {
		work(1000);
		return;
	}
	recurse(depth - 1);
	recurse(depth - 1);
}

static void nested(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		TRACER_ZONE("outer");

		work(2000);
		TRACER_ZONE_TEXT(i % 2 ? "odd" : "even");
		TRACER_ZONE_VALUE("round", i);
		TRACER_ZONE_COLOR(0x0a0b0c);
		{
			TRACER_ZONE("inner");

			work(3000);
		}
		/* two in one scope */
		TRACER_ZONE("second");
		TRACER_ZONE_BEGIN("by hand");
		TRACER_ZONE_VALUE("half", i / 2.0);
		TRACER_ZONE_END();
	}
}

static jmp_buf again;

static void jumps(int left)
{
	TRACER_ZONE("jumped out of");

	if (left)
		longjmp(again, left);
}

static void leave_by_longjmp(void)
{
	volatile int left = 100;
	TRACER_ZONE("around");

	if (setjmp(again))
		left--;
	if (left) {
		TRACER_ZONE("between");

		jumps(left);
	}
	work(1000);
}

/* built without -fexceptions: nothing runs when a thread ends inside */
static void *ends_inside(void *arg)
{
	TRACER_ZONE("thread");

	(void)arg;
	{
		TRACER_ZONE("never left");

		pthread_exit(NULL);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t ids[AT_ONCE];
	int i, k;

	for (i = 0; i < THREADS / AT_ONCE; i++) {
		for (k = 0; k < AT_ONCE; k++)
			if (pthread_create(&ids[k], NULL, ends_inside, NULL))
				exit(1);
		for (k = 0; k < AT_ONCE; k++)
			pthread_join(ids[k], NULL);
	}
	/* a thread's end is told when it has ended: the process must not end with the last one */
	work(500000);
}

/* a task that goes on on another thread in the middle of its zone */
static pthread_barrier_t turn;

static void *other_worker(void *arg)
{
	(void)arg;
	TRACER_WORKER_START(1, "second");
	pthread_barrier_wait(&turn);
	TRACER_TASK_BEGIN(77, 1);
	work(2000);
	TRACER_ZONE_END();
	TRACER_TASK_COMPLETED(77);
	TRACER_TASK_DESTROYED(77);
	return NULL;
}

static void migrate(void)
{
	pthread_t id;

	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&id, NULL, other_worker, NULL))
		exit(1);
	TRACER_WORKER_START(0, "first");
	TRACER_TASK_CREATED(77, "wanders", 0);
	TRACER_TASK_BEGIN(77, 0);
	TRACER_ZONE_BEGIN("across");
	work(2000);
	TRACER_TASK_SUSPENDED(77, "test", 0);
	work(30000);
	TRACER_TASK_RESUMED(77, "test", 0);
	pthread_barrier_wait(&turn);
	pthread_join(id, NULL);
}

/* until it is told to end: figures so far, captures that begin and end in between */
static void on_and_on(void)
{
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		TRACER_ZONE("round");

		work(1000);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "nested"))
		nested();
	else if (!strcmp(way, "recursion"))
		recurse(6);
	else if (!strcmp(way, "longjmp"))
		leave_by_longjmp();
	else if (!strcmp(way, "threads"))
		threads();
	else if (!strcmp(way, "migration"))
		migrate();
	else if (!strcmp(way, "endless"))
		on_and_on();
	else
		return 2;
	return 0;
}
