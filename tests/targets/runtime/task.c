/* SPDX-License-Identifier: BSD-2-Clause */
/* Tasks: made, launched, run, suspended, resumed, and their objects and stacks used again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* What every fiber runs: its task, then the next that it is given. */
static void context__main(void *arg)
{
	struct context *context = arg;

	for (;;) {
		task__run(context->root);
		worker__leave(LEAVE_DONE, NULL);
	}
}

struct context *context__get(struct runtime *runtime)
{
	struct context *context;
	int err;

	spin__lock(&runtime->idle_lock);
	context = runtime->idle;
	if (context)
		runtime->idle = context->next;
	spin__unlock(&runtime->idle_lock);
	if (context)
		return context;
	context = calloc(1, sizeof(*context));
	if (!context)
		runtime__fatal("no memory for a fiber", 0);
	context->runtime = runtime;
	err = fiber__init(&context->fiber, runtime->options.stack_size, context__main, context);
	if (err)
		runtime__fatal("can't make a fiber's stack", err);
	journal__total(JOURNAL_FIBERS_MADE);
	spin__lock(&runtime->idle_lock);
	context->next_made = runtime->made;
	runtime->made = context;
	spin__unlock(&runtime->idle_lock);
	return context;
}

void context__put(struct context *context)
{
	struct runtime *runtime = context->runtime;

	spin__lock(&runtime->idle_lock);
	context->next = runtime->idle;
	runtime->idle = context;
	spin__unlock(&runtime->idle_lock);
}

void context__resume(struct context *context, const char *cause, const void *object)
{
	/* from the waiting one outwards, as they were suspended */
	for (struct task *task = context->top; task; task = task->outer) {
		POINT3(TASK_RESUMED, task_resumed, task, cause, object);
		cause = "inline task";
		object = task;
	}
	runtime__enqueue(context->runtime, context->root);
}

struct task *task__new(struct runtime *runtime, const char *name, task_fn *fn, void *arg,
		       bool detached)
{
	struct task *task = pool__get(&runtime->tasks);

	memset(task, 0, sizeof(*task));
	task->runtime = runtime;
	task->name = name;
	task->fn = fn;
	task->arg = arg;
	task->last_worker = UINT32_MAX;
	if (!detached)
		task->future = future__new(runtime);
	return task;
}

void task__created(struct task *task)
{
	POINT3(TASK_CREATED, task_created, task, task->name, worker__task());
	POINT1(TASK_READY, task_ready, task);
}

void task__launch(struct task *task)
{
	if (worker__self()) {
		task__created(task);
		runtime__enqueue(task->runtime, task);
		return;
	}
	task->staged = true;
	POINT3(TASK_STAGED, task_staged, task, task->name, NULL);
	runtime__inject(task->runtime, task);
}

static struct runtime *here(struct runtime *runtime)
{
	return runtime ? runtime : worker__self()->runtime;
}

struct future *task__spawn(struct runtime *runtime, const char *name, task_fn *fn, void *arg)
{
	struct task *task = task__new(here(runtime), name, fn, arg, false);
	struct future *future = task->future; /* the task may be gone once it is launched */

	task__launch(task);
	return future;
}

struct future *task__spawn_named(struct runtime *runtime, const char *name, task_fn *fn, void *arg)
{
	struct task *task = task__new(here(runtime), "", fn, arg, false);
	struct future *future = task->future;

	snprintf(task->own_name, sizeof(task->own_name), "%s", name);
	task->name = task->own_name;
	task__launch(task);
	return future;
}

void task__spawn_detached(struct runtime *runtime, const char *name, task_fn *fn, void *arg)
{
	task__launch(task__new(here(runtime), name, fn, arg, true));
}

void task__say_begin(struct task *task, uint32_t worker)
{
	/* one of 64 workers or more has no bit: then a task counts again when it comes back */
	uint64_t bit = worker < 64 ? 1ULL << worker : 0;
	bool elsewhere = task->last_worker != worker;

	POINT2(TASK_BEGIN, task_begin, task, worker);
	if (elsewhere && task->last_worker != UINT32_MAX)
		journal__total(JOURNAL_MIGRATIONS);
	if (bit ? !(task->workers & bit) : elsewhere)
		journal__total(JOURNAL_WORKER_TASKS);
	task->workers |= bit;
	task->last_worker = worker;
}

void task__run(struct task *task)
{
	int64_t value = 0;
	int err;

	if (task->continuation) {
		continuation__run(task->continuation, false);
		err = 0;
	} else {
		err = task->fn(task->arg, &value);
	}
	if (task->future && err)
		future__set_exception(task->future, err);
	else if (task->future)
		future__set(task->future, value);
	if (task->runtime->options.plain_ends)
		POINT1(TASK_END, task_end, task);
	POINT1(TASK_COMPLETED, task_completed, task);
	journal__lifetime(task->name);
}

void task__destroy(struct task *task)
{
	POINT1(TASK_DESTROYED, task_destroyed, task);
	pool__put(&task->runtime->tasks, task);
}

void task__park(struct parking *parking)
{
	worker__leave(LEAVE_PARK, parking);
}

void task__yield(void)
{
	worker__leave(LEAVE_YIELD, NULL);
}

void task__rename(const char *name)
{
	struct task *task = worker__task();

	snprintf(task->own_name, sizeof(task->own_name), "%s", name);
	task->name = task->own_name;
	POINT2(TASK_RENAMED, task_renamed, task, task->own_name);
}

const void *task__self(void)
{
	return worker__task();
}

bool task__run_inline(struct future *future)
{
	struct worker *worker = worker__self();
	struct context *context = worker->current;
	struct task *task;

	if (worker->runtime->options.no_inline)
		return false;
	task = deque__pop(&worker->deque);
	if (!task)
		return false;
	if (task->context || task->no_inline || task->future != future) {
		/* back to where it was: nobody but this thread pushes here */
		if (deque__push(&worker->deque, task))
			runtime__fatal("no memory for a queue", 0);
		return false;
	}
	worker__say_depth(worker);
	task->context = context;
	task->outer = context->top;
	context->top = task;
	task__say_begin(task, worker->index);
	task__run(task);
	/* on another worker now, perhaps, but still on the same fiber */
	context->top = task->outer;
	task__destroy(task);
	return true;
}
