/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a filter (trace/filter.h) tells of a task whose events it left out: that it was alive
 * before, and what became of it where it is not shown. No event of the task's, so no instant, no
 * anomaly and no figure comes from it; only stays, gaps and ends.
 */
#include "private.h"

static void known(struct model *m, const struct event *event, struct process *process)
{
	struct task *task = task__find(m, process, event->args[0].u), *parent;

	if (!task) {
		task = task__new(m, process, event->args[0].u, event->args[1].s);
		if (!task)
			return;
		parent = event->args[2].u ? task__find(m, process, event->args[2].u) : NULL;
		task->t.parent = event->args[2].u;
		task->t.parent_serial = parent && parent != task ? parent->t.serial : 0;
		task->zones_unseen = true;
		TELL(m, task_born, &task->t, m->now);
	}
	if (!task->stay)
		task__unknown(m, task);
}

/* what was open in it ends where it is lost sight of */
static void leave_sight(struct model *m, struct task *task)
{
	if (task->stay)
		stay__end(m, task->stay, STAY_CUT);
	zone__close_all(m, &task->zones, NULL);
	task->zones_unseen = true;
	task__unknown(m, task);
}

static void wait(struct model *m, struct task *task, enum task_state state, enum gap_kind kind,
		 const struct event *event)
{
	task__set_state(m, task, state);
	if (kind == GAP_SUSPENDED) {
		task->t.reason = task->gap.reason = event->args[2].s;
		task->t.object = task->gap.object = event->args[3].u;
	}
	gap__begin(m, task, kind);
}

void task__told(struct model *m, const struct event *event, struct process *process)
{
	struct task *task;

	if (event->type == EV_task_known) {
		known(m, event, process);
		return;
	}
	task = task__find(m, process, event->args[0].u);
	if (!task || task->t.state == TASK_COMPLETED) {
		if (task && event->args[1].u == EVENT_TASK_GONE)
			task__gone(m, task, true);
		return;
	}
	switch (event->args[1].u) {
	case EVENT_TASK_READY:
		gap__end(m, task);
		wait(m, task, TASK_READY, GAP_READY, event);
		break;
	case EVENT_TASK_SUSPENDED:
		gap__end(m, task);
		wait(m, task, TASK_SUSPENDED, GAP_SUSPENDED, event);
		break;
	case EVENT_TASK_STOPPED:
		gap__end(m, task);
		wait(m, task, TASK_STOPPED, GAP_STOPPED, event);
		break;
	case EVENT_TASK_COMPLETED:
		leave_sight(m, task);
		task__done(m, task);
		break;
	case EVENT_TASK_GONE:
		leave_sight(m, task);
		task__gone(m, task, true);
		break;
	case EVENT_TASK_STAGED:
		task__set_state(m, task, TASK_STAGED);
		break;
	default:
		leave_sight(m, task);
	}
}
