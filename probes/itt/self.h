/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads, and what runs on them, as collector.c (ITT) and tbb.c (oneTBB) tell it.
 *
 * A frame is a task that runs, or stands still in a wait, on a stack. The frames of a stack are
 * linked from the innermost outwards. oneTBB changes stacks in the middle of functions when a task
 * suspends, so what is innermost on a thread is put right wherever it is known: when a task is
 * entered or left, and behind each call that may come back on another thread.
 */
#ifndef TRACER_ITT_SELF_H
#define TRACER_ITT_SELF_H

#include <stdbool.h>
#include <stdint.h>

enum frame_kind { FRAME_TBB, FRAME_RESUME, FRAME_ITT };

/*
 * Memory of frames is used for frames again and for nothing else: oneTBB has moves of stacks that
 * are told to nobody, after which a thread may still hold a frame that another one has ended.
 */
struct frame {
	struct frame *outer;
	bool live;
	uint64_t task; /* identity */
	enum frame_kind kind;
	uintptr_t place;     /* TBB: stack address of the loop that runs it */
	const void *address; /* TBB: of the task */
	const char *reason;  /* the thread's, outside */
};

struct self {
	struct frame *top;
	struct frame *unused;	/* frames */
	struct frame *entering; /* between stack_callee_enter and the task's sync_acquired */
	uint64_t id_next, id_end;
	uint32_t worker; /* number + 1, 0: none yet */
	bool sleeping;
	const char *reason; /* of the innermost wait, or NULL: what the thread does between tasks */
	uintptr_t left_place; /* the task that was left last, and where: it may have returned
				 another */
	uint64_t left_task;
};

/* the calling thread's, read anew at each call: a task may go on elsewhere in the middle of a
 * function */
struct self *self__get(void);
uint64_t self__id(struct self *self);
/* makes the thread a worker, if it is none; @name of the worker then */
uint32_t self__worker(struct self *self, const char *name);
/* gives the worker a name of its own */
void self__rename(struct self *self, const char *name);
static inline uint64_t self__task(const struct self *self)
{
	return self->top ? self->top->task : 0;
}
void self__sleep_begin(struct self *self, const char *reason);
void self__sleep_end(struct self *self, const char *cause);

struct frame *frame__push(struct self *self, enum frame_kind kind);
void frame__pop(struct self *self, struct frame *frame);
/* the same off the stack: for tasks of which it is not told when they change threads */
struct frame *frame__new(struct self *self, enum frame_kind kind);
void frame__free(struct self *self, struct frame *frame);

/*
 * Addresses to what is known of them: tasks in queues, waiters, objects. Any thread at any time.
 */
enum table_kind {
	TABLE_QUEUED,
	TABLE_WAITER,
	TABLE_SUSPENDED,
	TABLE_FRAME,
	TABLE_SYNC,
	TABLE_TYPE
};

struct table_value {
	uint64_t a, b;
};

void table__put(enum table_kind kind, uint64_t key, struct table_value value);
bool table__get(enum table_kind kind, uint64_t key, struct table_value *value);
bool table__take(enum table_kind kind, uint64_t key, struct table_value *value);

/* from tbb.c; @place: stack address of the loop that calls, the same for a task's three calls */
void tbb__enter(uintptr_t place);
void tbb__begin(struct self *self, const void *task);
void tbb__leave(uintptr_t place);

#endif /* TRACER_ITT_SELF_H */
