/* SPDX-License-Identifier: BSD-2-Clause */
/* Lifetimes of tasks: from the first event about an identity to the last. */
#include <errno.h>
#include "private.h"

/*
 * Completed tasks wait for their DESTROYED. A runtime that never calls it and never uses an
 * identity again must not fill the memory: beyond this many, the ones that wait longest are let go.
 */
#define DONE_MAX 4096U

struct task *task__find(struct model *m, const struct process *process, uint64_t identity)
{
	return map__get(&m->tasks, process->p.index, identity);
}

struct task *task__new(struct model *m, struct process *process, uint64_t identity,
		       const char *name)
{
	struct task *task = pool__take(&m->task_pool);

	if (!task || map__put(&m->tasks, process->p.index, identity, task)) {
		m->err = -ENOMEM;
		return NULL;
	}
	task->t.serial = ++m->serial;
	task->t.identity = identity;
	task->t.process = &process->p;
	task->t.name = name ? name : "task";
	task->t.born = task->t.state_since = task->confirmed = m->now;
	task->t.state = TASK_STAGED; /* until the event that brought it says more */
	task->t.last_worker = MODEL_NO_WORKER;
	task->next = process->tasks;
	if (task->next)
		task->next->prev = task;
	process->tasks = task;
	return task;
}

/* the count that a state belongs to: a created task is ready unless its runtime says READY later */
static uint32_t *count_of(struct process *process, enum task_state state)
{
	switch (state) {
	case TASK_RUNNING:
		return &process->running;
	case TASK_CREATED:
	case TASK_READY:
		return &process->ready;
	case TASK_SUSPENDED:
		return &process->suspended;
	default:
		return NULL;
	}
}

void task__set_state(struct model *m, struct task *task, enum task_state state)
{
	struct process *process = process_of(&task->t);
	uint32_t *from = count_of(process, task->t.state), *to = count_of(process, state);

	if (from != to) {
		if (from)
			--*from;
		if (to)
			++*to;
		process->counts_changed = true;
	}
	if (task->t.state == TASK_SUSPENDED && state != TASK_SUSPENDED) {
		task->t.reason = NULL;
		task->t.object = 0;
	}
	task->t.state = state;
	task->t.state_since = m->now;
	task->confirmed = m->now;
	task->uncertain = task->cut_running = task->ready_unasked = false;
}

/* not running as far as is known, and whatever comes next is right */
void task__unknown(struct model *m, struct task *task)
{
	gap__cut(m, task);
	task__set_state(m, task, TASK_STOPPED);
	task->early.kept = false;
	task->uncertain = true;
}

static void unlink_done(struct model *m, struct task *task)
{
	if (m->done_oldest != task && !task->done_prev)
		return;
	if (task->done_prev)
		task->done_prev->done_next = task->done_next;
	else
		m->done_oldest = task->done_next;
	if (task->done_next)
		task->done_next->done_prev = task->done_prev;
	else
		m->done_newest = task->done_prev;
	m->done_count--;
}

/*
 * what a life that ends leaves behind is a mistake of the program's, unless it was not seen whole
 */
static void count_leftovers(struct model *m, struct task *task)
{
	struct process *process = process_of(&task->t);
	uint64_t open = zone__close_all(m, &task->zones, NULL);

	for (; open; open--)
		model__repair(m, process, ANOMALY_ZONE_LEFT_OPEN, task->t.born);
	if (task->early.kept)
		model__repair(m, process, ANOMALY_RESUMED_NOT_SUSPENDED, task->confirmed);
	task->early.kept = false;
}

/* COMPLETED: nothing more runs, the identity is still taken */
void task__done(struct model *m, struct task *task)
{
	count_leftovers(m, task);
	future__task_end(m, task);
	task__set_state(m, task, TASK_COMPLETED);
	task->done_prev = m->done_newest;
	if (m->done_newest)
		m->done_newest->done_next = task;
	else
		m->done_oldest = task;
	m->done_newest = task;
	if (++m->done_count > DONE_MAX)
		task__gone(m, m->done_oldest, true);
}

void task__gone(struct model *m, struct task *task, bool finished)
{
	struct process *process = process_of(&task->t);
	enum task_state state = task->t.state;
	uint64_t since = task->t.state_since;
	uint32_t *count;

	if (task->cut_running) {
		state = TASK_RUNNING;
		since = task->running_since;
	}
	if (task->stay)
		stay__end(m, task->stay, finished ? STAY_ENDED : STAY_CUT);
	if (finished && state != TASK_COMPLETED)
		count_leftovers(m, task);
	zone__close_all(m, &task->zones, NULL);
	future__task_end(m, task);
	task->gap.cut = !finished;
	gap__end(m, task);
	count = count_of(process, task->t.state);
	if (count) {
		--*count;
		process->counts_changed = true;
	}
	task->t.state = state;
	task->t.state_since = since;
	TELL(m, task_gone, &task->t, m->now, finished);

	unlink_done(m, task);
	map__remove(&m->tasks, process->p.index, task->t.identity);
	if (task->next)
		task->next->prev = task->prev;
	if (task->prev)
		task->prev->next = task->next;
	else
		process->tasks = task->next;
	pool__give(&m->task_pool, task);
}
