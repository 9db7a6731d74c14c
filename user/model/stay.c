/* SPDX-License-Identifier: BSD-2-Clause */
/* Stays of tasks on threads, and the gaps between them. */
#include <errno.h>
#include "private.h"

void gap__begin(struct model *m, struct task *task, enum gap_kind kind)
{
	task->gap.kind = kind;
	task->gap.begin = m->now;
	task->gap_open = true;
	TELL(m, gap_begin, &task->t, &task->gap, m->now);
}

static void close(struct model *m, struct task *task)
{
	struct model_gap *gap = &task->gap;

	if (!task->gap_open)
		return;
	if (gap->kind == GAP_SUSPENDED)
		task->t.suspended_ns += m->now - gap->begin;
	else if (gap->kind == GAP_READY && !gap->superseded)
		task->t.ready_ns += m->now - gap->begin;
	task->gap_open = false;
	TELL(m, gap_end, &task->t, gap, m->now);
}

void gap__end(struct model *m, struct task *task)
{
	close(m, task);
	task->gap = (struct model_gap){0};
}

void gap__cut(struct model *m, struct task *task)
{
	task->gap.cut = true;
	gap__end(m, task);
}

struct stay *stay__on(const struct thread *thread, const struct task *task)
{
	/* a task runs at most once, so its one stay is here or nowhere */
	return task->stay && task->stay->s.thread == &thread->t ? task->stay : NULL;
}

void stay__begin(struct model *m, struct task *task, struct thread *thread, uint32_t worker)
{
	struct stay *stay = pool__take(&m->stay_pool);

	if (!stay) {
		m->err = -ENOMEM;
		return;
	}
	stay->serial = ++m->stay_serial;
	stay->s = (struct model_stay){
		.task = &task->t,
		.thread = &thread->t,
		.outer = thread->t.top,
		.worker = worker,
		.begin = m->now,
		.number = task->t.stays,
		.migrated = task->t.stays && worker != task->t.last_worker &&
			    worker != MODEL_NO_WORKER && task->t.last_worker != MODEL_NO_WORKER,
	};
	if (!stay->s.outer)
		thread->base_epoch++;
	if (task->t.stays)
		task->gap_total += m->now - task->stopped_at;
	thread->t.top = &stay->s;
	task->stay = stay;
	task->t.stays++;
	task->t.last_worker = worker;
	TELL(m, stay_begin, &stay->s, m->now);
}

static void unlink_stay(struct stay *stay)
{
	struct model_stay **at = &stay->s.thread->top;

	while (*at && *at != &stay->s)
		at = &(*at)->outer;
	if (*at)
		*at = stay->s.outer;
}

/* time inside counts for the stay that is outside, also if that is ended first by a repair */
void stay__end(struct model *m, struct stay *stay, enum stay_end how)
{
	struct thread *thread = (struct thread *)stay->s.thread;
	struct task *task = task_of(stay->s.task);
	uint64_t run = m->now - stay->s.begin;

	unlink_stay(stay);
	task->t.run_ns += run;
	task->t.self_ns += run > stay->s.inner_ns ? run - stay->s.inner_ns : 0;
	if (stay->s.outer)
		stay->s.outer->inner_ns += run;
	else
		thread->base_epoch++;
	task->stay = NULL;
	task->stopped_at = m->now;
	thread->stopped = task->t.identity;
	thread->stopped_by_force = how == STAY_CUT;
	TELL(m, stay_end, &stay->s, m->now, how);
	pool__give(&m->stay_pool, stay);
}
