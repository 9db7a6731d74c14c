/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A work-stealing task runtime: what the tracer's tests trace. Tasks run on fibers, so they may
 * wait, yield and lock in the middle of a function and go on on another worker thread. Task
 * objects, futures and stacks are pooled and handed out again last in, first out, so that addresses
 * are reused as soon as can be.
 *
 * Everything but runtime__*() and the calls that say so is for code inside a task.
 */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#define RUNTIME_MAX_WORKERS 256

struct runtime;
struct future;
struct channel;
struct fiber_mutex;

struct runtime_options {
	uint32_t workers;
	uint32_t stack_size; /* bytes of a fiber's stack */
	uint32_t watchdog_s; /* abort if no task has begun for so long; 0: never */
	bool no_inline;	     /* a task that waits for one not yet begun does not run it itself */
	bool plain_ends;     /* TASK_END beside each YIELDED, SUSPENDED, COMPLETED */
};

/* 0 or -errno */
int runtime__start(struct runtime **runtime, const struct runtime_options *options);
/* runs what is in the queues to its end; nothing may be suspended then */
void runtime__stop(struct runtime *runtime);
/* from outside of tasks: @body(0) to @body(@count - 1), by all workers, past the queues */
void runtime__bulk(struct runtime *runtime, const char *name, void (*body)(void *arg, uint32_t i),
		   void *arg, uint32_t count);

/* Returns 0 with a value, or an error (not 0) that the task's future carries as its exception. */
typedef int task_fn(void *arg, int64_t *value);

/*
 * task__spawn() - a new task, to be run by any worker
 * @runtime: NULL inside a task; one from outside is staged, and created when a worker takes it
 * @name: a literal; task__spawn_named() copies it
 * Returns its future, which the caller releases. Nobody asks for the result of a detached one.
 */
struct future *task__spawn(struct runtime *runtime, const char *name, task_fn *fn, void *arg);
struct future *task__spawn_named(struct runtime *runtime, const char *name, task_fn *fn, void *arg);
void task__spawn_detached(struct runtime *runtime, const char *name, task_fn *fn, void *arg);
void task__yield(void);
/* the calling task goes by another name; copied */
void task__rename(const char *name);
const void *task__self(void);

/* A future is held by its producer and by one consumer; more of them take a reference each. */
struct future *future__new(struct runtime *runtime);
void future__acquire(struct future *future);
void future__release(struct future *future);
/* also from outside of tasks; uses up the producer's reference */
void future__set(struct future *future, int64_t value);
void future__set_exception(struct future *future, int error);
/* also from outside of tasks; 0 or the exception */
int future__wait(struct future *future, int64_t *value);

enum continuation_how { CONTINUATION_INLINE, CONTINUATION_SCHEDULED };
typedef int continuation_fn(void *arg, int error, int64_t in, int64_t *out);
/*
 * future__then() - run @fn when @future is fulfilled: by who fulfils it, there and then, or in a
 * task of its own (always so if it is fulfilled already). Returns the future of @fn's result.
 */
struct future *future__then(struct future *future, const char *name, continuation_fn *fn, void *arg,
			    enum continuation_how how);

struct fiber_mutex *fiber_mutex__new(const char *name);
void fiber_mutex__lock(struct fiber_mutex *mutex);
void fiber_mutex__unlock(struct fiber_mutex *mutex);
void fiber_mutex__free(struct fiber_mutex *mutex);

/* A bounded queue between tasks, closed when its last sender is done. */
struct channel *channel__new(const char *name, uint32_t capacity, uint32_t senders);
void channel__send(struct channel *channel, int64_t value);
/* false: closed and empty */
bool channel__receive(struct channel *channel, int64_t *value);
void channel__sender_done(struct channel *channel);
void channel__free(struct channel *channel);

/* busy for that long; stays on its worker */
void runtime__work(uint64_t ns);

#endif /* RUNTIME_H */
