// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fibers that two threads hand to each other: every call of pass() returns on the other thread. A record
 * says which thread it was written on.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <tracer/tracer.h>

#define FIBERS 2
#define TURNS 500

struct fiber {
	ucontext_t context;
	ucontext_t *home;
	int done;
};

static struct fiber fibers[FIBERS];
static pthread_barrier_t barrier;
static __thread ucontext_t home;

/* what a thread calls itself, asked for anew each time */
__attribute__((noinline)) static uint64_t self(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

__attribute__((noinline)) static void pass(struct fiber *fiber)
{
	swapcontext(&fiber->context, fiber->home);
}

/* all in one function, so that a compiler that may keep a thread-local's address does */
static void body(unsigned number)
{
	struct fiber *fiber = &fibers[number];

	for (int i = 0; i < TURNS; i++) {
		TRACER_QUEUE_DEPTH(number, self());
		pass(fiber);
		TRACER_QUEUE_DEPTH(number, self());
		TRACER_TASK_BEGIN(self(), number);
		pass(fiber);
		TRACER_TASK_BEGIN(self(), number);
		pass(fiber);
		TRACER_TASK_BEGIN(self(), number);
		TRACER_TASK_END(self());
	}
	fiber->done = 1;
	pass(fiber);
}

static void *thread(void *argument)
{
	unsigned turn = (unsigned)(uintptr_t)argument;

	while (!fibers[0].done || !fibers[1].done) {
		struct fiber *fiber = &fibers[turn++ % FIBERS];

		if (!fiber->done) {
			fiber->home = &home;
			swapcontext(&home, &fiber->context);
		}
		/* nobody runs a fiber that the other thread has not left */
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int fibers_run(void);
int fibers_run(void)
{
	pthread_t threads[2];

	pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned i = 0; i < FIBERS; i++) {
		getcontext(&fibers[i].context);
		fibers[i].context.uc_stack.ss_sp = malloc(1 << 16);
		fibers[i].context.uc_stack.ss_size = 1 << 16;
		makecontext(&fibers[i].context, (void (*)(void))body, 1, i);
	}
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
