/* SPDX-License-Identifier: BSD-2-Clause */
/* What the runtime's files share. */
#ifndef RUNTIME_INTERNAL_H
#define RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "deque.h"
#include "fiber.h"
#include "points.h"
#include "runtime.h"

#define CACHE_LINE 64
#define TASK_NAME_SIZE 32

/* Held for a few instructions; never across a point, whose flush may take microseconds. */
struct spin {
	_Atomic uint32_t held;
};
void spin__lock(struct spin *spin);
void spin__unlock(struct spin *spin);

/* Free objects of one size, last in, first out. */
struct pool {
	struct spin lock;
	uint32_t size; /* of an object */
	void *free;    /* linked through their first word */
	void *blocks;
	uint32_t made;
};
void pool__init(struct pool *pool, uint32_t size);
void *pool__get(struct pool *pool);
void pool__put(struct pool *pool, void *object);
void pool__free(struct pool *pool);

/* A fiber, and the tasks on it: `root`, and those that run inline inside, innermost last. */
struct context {
	struct context *next; /* in the list of idle ones, or of waiters */
	struct context *next_made;
	struct fiber fiber;
	struct runtime *runtime;
	struct task *root;
	struct task *top;
};

struct task {
	struct task *next; /* in the injection queue */
	struct runtime *runtime;
	const char *name;
	task_fn *fn;
	void *arg;
	struct future *future;	 /* NULL: detached */
	struct context *context; /* NULL: not begun */
	struct task *outer;	 /* runs inline inside that one */
	struct continuation *continuation;
	uint64_t workers; /* that ran it, a bit each */
	uint32_t last_worker;
	bool staged;
	bool no_inline;
	char own_name[TASK_NAME_SIZE];
};

struct continuation {
	struct continuation *next;
	struct future *future;
	struct future *result;
	const char *name;
	continuation_fn *fn;
	void *arg;
	enum continuation_how how;
};

enum future_state { FUTURE_PENDING, FUTURE_VALUE, FUTURE_EXCEPTION };

struct future {
	void *reserved; /* the pool's link: the rest is not touched by it */
	struct runtime *runtime;
	struct spin lock;
	_Atomic uint32_t state;
	_Atomic uint32_t references;
	_Atomic uint32_t outside_waiters;
	int64_t value;
	int error;
	struct context *waiters;
	struct continuation *continuations;
};

/*
 * How a task leaves its worker: it says what it wants, switches to the worker's own stack, and the
 * worker does it there. Only then may another worker go on with the task: its stack is no longer in
 * use.
 */
struct parking {
	const char *reason;
	const void *object;
	const char *cause; /* of the wake, if it need not wait after all */
	/* links the context where a waker finds it, or returns false: nothing to wait
	 * for any more */
	bool (*park)(struct parking *parking, struct context *context);
	void *arg;
};

enum leave { LEAVE_NOTHING, LEAVE_YIELD, LEAVE_PARK, LEAVE_DONE };

struct worker {
	struct deque deque;
	alignas(CACHE_LINE) struct runtime *runtime;
	struct fiber fiber; /* the thread's own stack */
	struct context *current;
	enum leave leave;
	struct parking *parking;
	uint32_t index;
	uint32_t tick;
	uint64_t random;
	_Atomic uint64_t begun;
	pthread_t thread;
	char name[16];
};

/*
 * Lives in the runtime and is used again and again. A worker counts itself in before it looks at
 * `active`; the owner ends the job, then waits until nobody is counted in.
 */
struct bulk {
	const char *name;
	void (*body)(void *arg, uint32_t i);
	void *arg;
	_Atomic uint32_t count;
	_Atomic uint32_t next;
	_Atomic uint32_t done;
	_Atomic uint32_t active;
	_Atomic uint32_t users;
};

struct runtime {
	struct runtime_options options;
	struct worker *workers;
	struct pool tasks, futures, continuations;

	struct spin idle_lock;
	struct context *idle;
	struct context *made;

	struct spin injected_lock;
	struct task *injected_first, *injected_last;
	alignas(CACHE_LINE) _Atomic uint32_t injected_count;

	/* sleepers announce themselves, look once more, then wait for `wakes` to change */
	alignas(CACHE_LINE) _Atomic uint32_t sleepers;
	_Atomic uint32_t wakes;
	_Atomic uint32_t stopping;
	struct bulk bulk;
};

/* the calling thread's, NULL outside; never to be kept across anything that may suspend */
struct worker *worker__self(void);
void worker__set_self(struct worker *worker);
struct task *worker__task(void);
void *worker__main(void *worker);
void worker__say_depth(struct worker *worker);
/* leave the worker; returns when some worker goes on with the calling task */
void worker__leave(enum leave leave, struct parking *parking);
void runtime__enqueue(struct runtime *runtime, struct task *task);
void runtime__inject(struct runtime *runtime, struct task *task);
void runtime__notify(struct runtime *runtime);
void runtime__wait_word(struct runtime *runtime, _Atomic uint32_t *word, uint32_t while_value);
void runtime__wake_word(_Atomic uint32_t *word, int count);
_Noreturn void runtime__fatal(const char *what, int error);

struct context *context__get(struct runtime *runtime);
void context__put(struct context *context);
/* the waker's side: the task, and those around it, may go on */
void context__resume(struct context *context, const char *cause, const void *object);

struct task *task__new(struct runtime *runtime, const char *name, task_fn *fn, void *arg,
		       bool detached);
void task__launch(struct task *task);
void task__created(struct task *task);
void task__say_begin(struct task *task, uint32_t worker);
/* run to its end on the calling fiber; COMPLETED is told, DESTROYED not */
void task__run(struct task *task);
void task__destroy(struct task *task);
void task__park(struct parking *parking);
/* runs the task of @future on the caller's stack if it is the next in the worker's own queue */
bool task__run_inline(struct future *future);
void continuation__run(struct continuation *continuation, bool in_line);

#endif /* RUNTIME_INTERNAL_H */
