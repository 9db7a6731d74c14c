/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Futures and continuations.
 *
 * A continuation is *active* from its BEGIN to its END, both seen: the gauge counts those that are
 * known to run. So it is never negative and never off for good. An END whose BEGIN was before the
 * capture, or lost, takes nothing from it: what had begun before the capture is missing from the
 * gauge until its own end, and from then on is right to leave out. A BEGIN whose END was lost is
 * taken back when the task in which it began ends (or the process).
 *
 * A continuation is *inline* if it begins on the thread
 * that set its future, before the next stop of the task that set it; outside of tasks: before a
 * task begins or has run there. Who set which future is remembered in a table of fixed size: an
 * inline continuation follows its set at once, so what thousands of later sets push out was not
 * one.
 */
#include <errno.h>
#include <stdlib.h>
#include "private.h"

#define SET_WAYS 4U
#define SET_ROWS 8192U
/* a program that never ends its continuations must not fill the memory */
#define CONTINUATIONS_MAX 1000000U

static struct future_set *row_of(struct model *m, const struct thread *thread, uint64_t future)
{
	uint64_t h = (future ^ (uint64_t)thread->t.process->index << 48) * 0x9e3779b97f4a7c15ULL;

	return &m->sets[(h >> 40) % SET_ROWS * SET_WAYS];
}

static bool is_entry(const struct future_set *set, const struct thread *thread, uint64_t future)
{
	return set->age && set->future == future && set->process == thread->t.process->index;
}

static uint64_t top_serial(const struct thread *thread)
{
	return thread->t.top ? ((struct stay *)thread->t.top)->serial : 0;
}

static void remember_set(struct model *m, const struct thread *thread, uint64_t future)
{
	struct future_set *row, *at;

	if (!m->sets) {
		m->sets = calloc((size_t)SET_ROWS * SET_WAYS, sizeof(*m->sets));
		if (!m->sets) {
			m->err = -ENOMEM;
			return;
		}
	}
	at = row = row_of(m, thread, future);
	for (unsigned int i = 0; i < SET_WAYS; i++) {
		if (is_entry(&row[i], thread, future)) {
			at = &row[i];
			break;
		}
		if (row[i].age < at->age)
			at = &row[i];
	}
	*at = (struct future_set){
		.process = thread->t.process->index,
		.future = future,
		.stay = top_serial(thread),
		.epoch = thread->base_epoch,
		.tid = thread->t.tid,
		.age = ++m->set_age ? m->set_age : 1,
	};
}

static bool is_inline(struct model *m, const struct thread *thread, uint64_t future)
{
	struct future_set *row = m->sets ? row_of(m, thread, future) : NULL, *set = NULL;

	for (unsigned int i = 0; row && i < SET_WAYS; i++)
		if (is_entry(&row[i], thread, future))
			set = &row[i];
	if (!set || set->tid != thread->t.tid)
		return false;
	if (!set->stay)
		return set->epoch == thread->base_epoch;
	for (const struct model_stay *stay = thread->t.top; stay; stay = stay->outer)
		if (((const struct stay *)stay)->serial == set->stay)
			return true;
	return false;
}

/* one word for the pair; a pair that shares it with another is improbable, and harmless */
static uint64_t key_of(uint64_t future, uint64_t continuation)
{
	return (future * 0xff51afd7ed558ccdULL ^ future >> 29) + continuation;
}

static void join_task(struct continuation *c, struct task *task)
{
	c->task = task;
	c->task_prev = NULL;
	c->task_next = task ? task->continuations : NULL;
	if (c->task_next)
		c->task_next->task_prev = c;
	if (task)
		task->continuations = c;
}

static void leave_task(struct continuation *c)
{
	if (!c->task)
		return;
	if (c->task_next)
		c->task_next->task_prev = c->task_prev;
	if (c->task_prev)
		c->task_prev->task_next = c->task_next;
	else
		c->task->continuations = c->task_next;
	c->task = NULL;
}

static void forget(struct model *m, struct continuation *c)
{
	struct process *process = c->process;

	map__remove(&m->continuations, process->p.index, c->key);
	leave_task(c);
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		process->continuations = c->next;
	pool__give(&m->continuation_pool, c);
}

static void tell_active(struct model *m, struct process *process, int change)
{
	process->active_continuations += change;
	TELL(m, active_continuations, &process->p, process->active_continuations, m->now);
}

static void on_continuation_begin(struct model *m, const struct event *event, struct thread *thread)
{
	uint64_t future = event->args[0].u, identity = event->args[1].u;
	struct process *process = (struct process *)thread->t.process;
	struct task *task = running_on(thread);
	struct continuation *c;

	TELL(m, continuation_begin, future, identity, task ? &task->t : NULL, &thread->t,
	     is_inline(m, thread, future), m->now);
	c = map__get(&m->continuations, process->p.index, key_of(future, identity));
	if (c) {
		/* it begins anew, so the end of the time before was not told */
		c->begin = m->now;
		leave_task(c);
		join_task(c, task);
		return;
	}
	if (m->continuations.count == CONTINUATIONS_MAX)
		return;
	c = pool__take(&m->continuation_pool);
	if (!c) {
		m->err = -ENOMEM;
		return;
	}
	*c = (struct continuation){
		.future = future,
		.identity = identity,
		.key = key_of(future, identity),
		.begin = m->now,
		.process = process,
		.next = process->continuations,
	};
	if (c->next)
		c->next->prev = c;
	process->continuations = c;
	join_task(c, task);
	if (map__put(&m->continuations, process->p.index, c->key, c))
		m->err = -ENOMEM;
	tell_active(m, process, 1);
}

static void on_continuation_end(struct model *m, const struct event *event, struct thread *thread)
{
	uint64_t future = event->args[0].u, identity = event->args[1].u;
	struct process *process = (struct process *)thread->t.process;
	struct task *task = running_on(thread);
	struct continuation *c =
		map__get(&m->continuations, process->p.index, key_of(future, identity));

	if (!c) {
		/* it may have begun before the capture, where zones may have, too */
		if (!(task ? task->zones_unseen : thread->zones_unseen) &&
		    (task ? task->t.born : thread->t.first_time) >= process->first_future &&
		    m->continuations.count < CONTINUATIONS_MAX)
			model__repair(m, process, ANOMALY_CONTINUATION_END_WITHOUT_BEGIN,
				      task ? task->t.born : thread->t.first_time);
		return;
	}
	TELL(m, continuation_end, future, identity, task ? &task->t : NULL, &thread->t, c->begin,
	     m->now);
	forget(m, c);
	tell_active(m, process, -1);
}

/*
 * What began in the task and has not ended: its END was lost, if something was; else another may
 * still tell it.
 */
void future__task_end(struct model *m, struct task *task)
{
	struct process *process = process_of(&task->t);

	while (task->continuations) {
		struct continuation *c = task->continuations;

		leave_task(c);
		if (!model__explained(process, c->begin))
			continue;
		forget(m, c);
		tell_active(m, process, -1);
	}
}

void future__process_end(struct model *m, struct process *process)
{
	if (!process->continuations)
		return;
	while (process->continuations)
		forget(m, process->continuations);
	tell_active(m, process, (int)-process->active_continuations);
}

void future__event(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = running_on(thread);
	uint64_t continuation = 0;

	switch (event->type) {
	case EV_continuation_begin:
		on_continuation_begin(m, event, thread);
		return;
	case EV_continuation_end:
		on_continuation_end(m, event, thread);
		return;
	case EV_continuation_attached:
		continuation = event->args[1].u;
		break;
	case EV_future_wait:
		if (event->args[1].u)
			task = task__find(m, process, event->args[1].u);
		break;
	case EV_future_set:
	case EV_future_exception:
		remember_set(m, thread, event->args[0].u);
		break;
	}
	TELL(m, future, (enum event_type)event->type, event->args[0].u, continuation,
	     task ? &task->t : NULL, &thread->t, m->now);
}
