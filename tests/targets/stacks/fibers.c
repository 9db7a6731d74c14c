// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks that wait on stacks of their own (swapcontext), each in functions whose names say where:
 * the object of a suspension is 1 if leaf_one() waits, 2 if leaf_two() does, which run in turn. No
 * function is called last in another, and nothing needs a frame pointer.
 *
 *	fibers COUNT
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tracer/tracer.h>
#include <ucontext.h>

#define STACK (32U << 10)
#define APART __attribute__((noinline, noclone))
#define NOT_LAST() __asm__ volatile("" ::: "memory")

static ucontext_t outside, fiber;
static int count;
static volatile int seed;

static APART void leaf_one(uint64_t task)
{
	volatile char room[300];

	room[seed & 255] = 1;
	TRACER_TASK_SUSPENDED(task, "leaf", 1);
	swapcontext(&fiber, &outside);
	NOT_LAST();
}

static APART void leaf_two(uint64_t task)
{
	TRACER_TASK_SUSPENDED(task, "leaf", 2);
	swapcontext(&fiber, &outside);
	NOT_LAST();
}

/* a frame whose size is known at run time only */
static APART void middle(uint64_t task, int which)
{
	volatile char *room = __builtin_alloca((size_t)(seed + which * 64 + 16));

	room[0] = 1;
	if (which == 1)
		leaf_one(task);
	else
		leaf_two(task);
	NOT_LAST();
}

static APART void outer(uint64_t task, int which)
{
	middle(task, which);
	NOT_LAST();
}

static APART void fiber_main(void)
{
	for (int i = 0;; i++)
		outer(0x1000, i % 2 + 1);
}

static APART void thief(int i)
{
	TRACER_STEAL(0, 1, 0x1000, (uint64_t)i);
	NOT_LAST();
}

static APART void speaker(int i)
{
	TRACER_MESSAGE(i % 2 ? "odd" : "even");
	NOT_LAST();
}

int main(int argc, char **argv)
{
	char *stack = malloc(STACK);

	count = argc > 1 ? atoi(argv[1]) : 10;
	if (!stack || getcontext(&fiber))
		return 1;
	fiber.uc_stack.ss_sp = stack;
	fiber.uc_stack.ss_size = STACK;
	makecontext(&fiber, fiber_main, 0);
	/* before this thread has a ring */
	speaker(0);
	TRACER_WORKER_START(0, "worker");
	TRACER_TASK_CREATED(0x1000, "waits", NULL);
	for (int i = 0; i < count; i++) {
		TRACER_TASK_BEGIN(0x1000, 0);
		swapcontext(&outside, &fiber);
		TRACER_TASK_RESUMED(0x1000, "main", i % 2 + 1);
		thief(i);
		speaker(i);
	}
	return 0;
}
