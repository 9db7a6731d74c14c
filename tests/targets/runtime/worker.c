/* SPDX-License-Identifier: BSD-2-Clause */
/* Workers: find a task, run it until it leaves, see to how it left; steal; sleep. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "internal.h"

#define INJECTED_EVERY 61 /* tasks: injected ones must not wait for ever behind a worker's own */
#define STEAL_ROUNDS 2

static _Thread_local struct worker *self;

/*
 * Out of line, with something that the compiler must not merge or move: a fiber may go on on
 * another thread at any switch, and the address of a thread-local kept from before would be the old
 * thread's.
 */
__attribute__((noinline)) struct worker *worker__self(void)
{
	__asm__ volatile("" ::: "memory");
	return self;
}

__attribute__((noinline)) void worker__set_self(struct worker *worker)
{
	__asm__ volatile("" ::: "memory");
	self = worker;
}

struct task *worker__task(void)
{
	struct worker *worker = worker__self();

	return worker && worker->current ? worker->current->top : NULL;
}

static void end_plainly(struct worker *worker, struct task *task)
{
	if (worker->runtime->options.plain_ends)
		POINT1(TASK_END, task_end, task);
}

static void say_yielded(struct worker *worker, struct context *context)
{
	for (struct task *task = context->top; task; task = task->outer) {
		POINT1(TASK_YIELDED, task_yielded, task);
		end_plainly(worker, task);
	}
}

/* A task that runs another inline can't go on while that one waits: it is suspended for its sake.
 */
static void say_suspended(struct worker *worker, struct context *context, struct parking *parking)
{
	const char *reason = parking->reason;
	const void *object = parking->object;

	for (struct task *task = context->top; task; task = task->outer) {
		POINT3(TASK_SUSPENDED, task_suspended, task, reason, object);
		end_plainly(worker, task);
		reason = "inline task";
		object = task;
	}
}

void worker__leave(enum leave leave, struct parking *parking)
{
	struct worker *worker = worker__self();
	struct context *context = worker->current;

	/* here, on its own stack, where a tracer that takes call stacks sees who waits */
	if (leave == LEAVE_YIELD)
		say_yielded(worker, context);
	else if (leave == LEAVE_PARK)
		say_suspended(worker, context, parking);
	worker->leave = leave;
	worker->parking = parking;
	fiber__switch(&context->fiber, &worker->fiber);
	/* another worker, perhaps: `worker` must not be used any more */
}

static void begin_stays(struct worker *worker, struct task *task)
{
	if (task->outer)
		begin_stays(worker, task->outer);
	task__say_begin(task, worker->index);
}

static void worker__after(struct worker *worker, struct context *context)
{
	struct parking *parking = worker->parking;

	switch (worker->leave) {
	case LEAVE_YIELD:
		/* behind the others: on the worker's own deque it would be the next to run again */
		runtime__inject(worker->runtime, context->root);
		break;
	case LEAVE_PARK:
		/* once parked, it may be running elsewhere: nothing of
		 * it may be touched after that */
		if (!parking->park(parking, context))
			context__resume(context, parking->cause, parking->object);
		break;
	case LEAVE_DONE:
		task__destroy(context->root);
		context->root = context->top = NULL;
		context__put(context);
		break;
	case LEAVE_NOTHING:
		runtime__fatal("a fiber came back without saying why", 0);
	}
}

static void worker__run(struct worker *worker, struct task *task)
{
	struct context *context = task->context;

	if (!context) {
		context = context__get(worker->runtime);
		context->root = context->top = task;
		task->context = context;
	}
	worker->current = context;
	worker->leave = LEAVE_NOTHING;
	atomic_store_explicit(&worker->begun,
			      atomic_load_explicit(&worker->begun, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	begin_stays(worker, context->top);
	fiber__switch(&worker->fiber, &context->fiber);
	worker->current = NULL;
	worker__after(worker, context);
}

void worker__say_depth(struct worker *worker)
{
	/* read once: thieves change it, and the journal must count what the point told */
	uint64_t depth = (uint64_t)deque__depth(&worker->deque);

	POINT2(QUEUE_DEPTH, queue_depth, worker->index, depth);
}

static struct task *take_own(struct worker *worker)
{
	struct task *task = deque__pop(&worker->deque);

	if (task)
		worker__say_depth(worker);
	return task;
}

static struct task *take_injected(struct worker *worker)
{
	struct runtime *runtime = worker->runtime;
	struct task *task;

	if (!atomic_load(&runtime->injected_count))
		return NULL;
	spin__lock(&runtime->injected_lock);
	task = runtime->injected_first;
	if (task) {
		runtime->injected_first = task->next;
		if (!task->next)
			runtime->injected_last = NULL;
		atomic_fetch_sub(&runtime->injected_count, 1);
	}
	spin__unlock(&runtime->injected_lock);
	if (task && task->staged) {
		/* described outside; here it becomes a task that can run */
		task->staged = false;
		task__created(task);
	}
	return task;
}

/* House-keeping of a worker that has nothing of its own: is there work from outside? */
static struct task *poll(struct worker *worker)
{
	struct task *task;

	POINT2(WORKER_BACKGROUND_BEGIN, worker_background_begin, worker->index, "poll");
	task = take_injected(worker);
	POINT1(WORKER_BACKGROUND_END, worker_background_end, worker->index);
	return task;
}

static uint32_t next_random(struct worker *worker)
{
	/* xorshift64 (Marsaglia, 2003) */
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return (uint32_t)(worker->random >> 32);
}

static struct task *steal(struct worker *worker)
{
	struct runtime *runtime = worker->runtime;
	uint32_t count = runtime->options.workers;
	uint32_t first = next_random(worker) % count;

	for (uint32_t i = 0; i < count; i++) {
		struct worker *victim = &runtime->workers[(first + i) % count];
		void *task;

		if (victim == worker)
			continue;
		if (deque__steal(&victim->deque, &task) == DEQUE_TAKEN) {
			uint64_t depth = (uint64_t)deque__depth(&victim->deque);

			POINT4(STEAL, steal, worker->index, victim->index, task, depth);
			return task;
		}
		POINT2(STEAL_FAILED, steal_failed, worker->index, victim->index);
	}
	return NULL;
}

static struct task *find(struct worker *worker)
{
	struct task *task = NULL;

	if (++worker->tick % INJECTED_EVERY == 0)
		task = take_injected(worker);
	if (!task)
		task = take_own(worker);
	if (!task)
		task = poll(worker);
	for (int i = 0; i < STEAL_ROUNDS && !task; i++)
		task = steal(worker);
	return task;
}

static void worker__bulk(struct worker *worker)
{
	struct bulk *bulk = &worker->runtime->bulk;
	uint32_t i;

	if (!atomic_load(&bulk->active))
		return;
	atomic_fetch_add(&bulk->users, 1);
	if (atomic_load(&bulk->active)) {
		i = atomic_fetch_add(&bulk->next, 1);
		if (i < bulk->count) {
			POINT2(WORKER_BULK_BEGIN, worker_bulk_begin, worker->index, bulk->name);
			for (; i < bulk->count; i = atomic_fetch_add(&bulk->next, 1)) {
				bulk->body(bulk->arg, i);
				atomic_fetch_add(&bulk->done, 1);
			}
			POINT1(WORKER_BULK_END, worker_bulk_end, worker->index);
		}
	}
	atomic_fetch_sub(&bulk->users, 1);
}

static bool anything_to_do(struct runtime *runtime)
{
	if (atomic_load(&runtime->injected_count))
		return true;
	if (atomic_load(&runtime->bulk.active) &&
	    atomic_load(&runtime->bulk.next) < atomic_load(&runtime->bulk.count))
		return true;
	for (uint32_t i = 0; i < runtime->options.workers; i++)
		if (deque__depth(&runtime->workers[i].deque))
			return true;
	return false;
}

static void worker__sleep(struct worker *worker)
{
	struct runtime *runtime = worker->runtime;
	uint32_t wakes;

	atomic_fetch_add(&runtime->sleepers, 1);
	wakes = atomic_load(&runtime->wakes);
	if (!anything_to_do(runtime) && !atomic_load(&runtime->stopping)) {
		POINT2(WORKER_SLEEP_BEGIN, worker_sleep_begin, worker->index, "no work");
		runtime__wait_word(NULL, &runtime->wakes, wakes);
		POINT2(WORKER_SLEEP_END, worker_sleep_end, worker->index, "notified");
	}
	atomic_fetch_sub(&runtime->sleepers, 1);
}

void *worker__main(void *arg)
{
	struct worker *worker = arg;
	struct runtime *runtime = worker->runtime;
	struct task *task;
	int err = fiber__adopt(&worker->fiber);

	if (err)
		runtime__fatal("can't find the bounds of a thread's stack", err);
	worker__set_self(worker);
	pthread_setname_np(pthread_self(), worker->name);
	POINT2(WORKER_START, worker_start, worker->index, worker->name);
	for (;;) {
		worker__bulk(worker);
		task = find(worker);
		if (task)
			worker__run(worker, task);
		else if (atomic_load(&runtime->stopping) && !anything_to_do(runtime))
			break;
		else
			worker__sleep(worker);
	}
	POINT1(WORKER_STOP, worker_stop, worker->index);
	return NULL;
}
