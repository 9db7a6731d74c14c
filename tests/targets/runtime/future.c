/* SPDX-License-Identifier: BSD-2-Clause */
/* Futures: set once, waited for by tasks and by threads outside, continued inline or in new tasks.
 */
#include <string.h>
#include "internal.h"

struct future *future__new(struct runtime *runtime)
{
	struct future *future;

	if (!runtime)
		runtime = worker__self()->runtime;
	future = pool__get(&runtime->futures);
	memset(future, 0, sizeof(*future));
	future->runtime = runtime;
	atomic_init(&future->references, 2);
	POINT1(FUTURE_CREATED, future_created, future);
	return future;
}

void future__acquire(struct future *future)
{
	atomic_fetch_add_explicit(&future->references, 1, memory_order_relaxed);
}

void future__release(struct future *future)
{
	if (atomic_fetch_sub_explicit(&future->references, 1, memory_order_acq_rel) == 1)
		pool__put(&future->runtime->futures, future);
}

static int future__result(struct future *future, int64_t *value)
{
	if (value)
		*value = future->value;
	return future->error;
}

static bool future__ready(struct future *future)
{
	return atomic_load_explicit(&future->state, memory_order_acquire) != FUTURE_PENDING;
}

void continuation__run(struct continuation *continuation, bool in_line)
{
	struct future *future = continuation->future;
	int64_t in = 0, out = 0;
	int err;

	POINT2(CONTINUATION_BEGIN, continuation_begin, future, continuation);
	journal__total(in_line ? JOURNAL_CONTINUATIONS_INLINE : JOURNAL_CONTINUATIONS_SCHEDULED);
	err = future__result(future, &in);
	err = continuation->fn(continuation->arg, err, in, &out);
	POINT2(CONTINUATION_END, continuation_end, future, continuation);
	if (err)
		future__set_exception(continuation->result, err);
	else
		future__set(continuation->result, out);
	pool__put(&future->runtime->continuations, continuation);
	future__release(future);
}

static void continuation__launch(struct continuation *continuation)
{
	struct runtime *runtime = continuation->future->runtime;
	struct task *task = task__new(runtime, continuation->name, NULL, NULL, true);

	task->continuation = continuation;
	/* a scheduled one must not come to run inside the task that set the future */
	task->no_inline = true;
	task__launch(task);
}

static void future__fulfil(struct future *future, enum future_state state)
{
	struct context *waiters;
	struct continuation *continuations;

	/* told first: once the state is there, others wake up because of it */
	if (state == FUTURE_VALUE)
		POINT1(FUTURE_SET, future_set, future);
	else
		POINT1(FUTURE_EXCEPTION, future_exception, future);
	spin__lock(&future->lock);
	atomic_store(&future->state, state);
	waiters = future->waiters;
	continuations = future->continuations;
	future->waiters = NULL;
	future->continuations = NULL;
	spin__unlock(&future->lock);

	if (atomic_load(&future->outside_waiters))
		runtime__wake_word(&future->state, INT32_MAX);
	while (waiters) {
		struct context *next = waiters->next;

		context__resume(waiters, "future::set", future);
		waiters = next;
	}
	if (continuations)
		POINT1(FUTURE_CALLBACK, future_callback, future);
	while (continuations) {
		struct continuation *next = continuations->next;

		if (continuations->how == CONTINUATION_INLINE)
			continuation__run(continuations, true);
		else
			continuation__launch(continuations);
		continuations = next;
	}
	future__release(future);
}

void future__set(struct future *future, int64_t value)
{
	future->value = value;
	future__fulfil(future, FUTURE_VALUE);
}

void future__set_exception(struct future *future, int error)
{
	future->error = error;
	future__fulfil(future, FUTURE_EXCEPTION);
}

static bool future__park(struct parking *parking, struct context *context)
{
	struct future *future = parking->arg;
	bool parked = false;

	spin__lock(&future->lock);
	if (atomic_load_explicit(&future->state, memory_order_relaxed) == FUTURE_PENDING) {
		context->next = future->waiters;
		future->waiters = context;
		parked = true;
	}
	spin__unlock(&future->lock);
	return parked;
}

int future__wait(struct future *future, int64_t *value)
{
	struct parking parking = {
		.reason = "future::wait",
		.object = future,
		.cause = "future::set",
		.park = future__park,
		.arg = future,
	};

	POINT2(FUTURE_WAIT, future_wait, future, worker__task());
	if (!worker__self()) {
		atomic_fetch_add(&future->outside_waiters, 1);
		while (!future__ready(future))
			runtime__wait_word(future->runtime, &future->state, FUTURE_PENDING);
	} else if (!future__ready(future) && !task__run_inline(future)) {
		task__park(&parking);
	}
	return future__result(future, value);
}

struct future *future__then(struct future *future, const char *name, continuation_fn *fn, void *arg,
			    enum continuation_how how)
{
	struct runtime *runtime = future->runtime;
	struct continuation *continuation = pool__get(&runtime->continuations);
	struct future *result = future__new(runtime);
	bool ready;

	*continuation = (struct continuation){
		.future = future,
		.result = result,
		.name = name,
		.fn = fn,
		.arg = arg,
		.how = how,
	};
	future__acquire(future);
	/* told before it can run */
	POINT2(CONTINUATION_ATTACHED, continuation_attached, future, continuation);
	spin__lock(&future->lock);
	ready = atomic_load_explicit(&future->state, memory_order_relaxed) != FUTURE_PENDING;
	if (!ready) {
		continuation->next = future->continuations;
		future->continuations = continuation;
	}
	spin__unlock(&future->lock);
	if (ready)
		continuation__launch(continuation);
	return result;
}
