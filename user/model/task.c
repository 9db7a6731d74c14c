/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an event means for its task: the state diagram of model.h, and the repairs.
 *
 * Taken as they come, without an anomaly, because honest runtimes do it:
 *
 * - A task is first seen in the middle of its life by any event: it was alive before the capture. A
 *   stop without a BEGIN is one of these as long as its thread may run something begun before
 *   (thread->unseen); a thread does not once it said WORKER_START, or its process's exec was seen.
 * - A further END after the stop: the scheduler's, after the task said why. It may come when the
 *   task already runs elsewhere, or lives anew: the thread remembers whom it stopped last.
 * - READY of a task that runs or is ready: the point behind the push, overtaken by the pop.
 * - RESUMED of a task that runs: kept for its next SUSPENDED or END. By the task itself, after a
 *   suspension that ended without one: it was meant for that one.
 * - DESTROYED by the running task itself (it deletes itself): ends its stay.
 */
#include <errno.h>
#include "private.h"

#define BIT(event) (1U << (EV_##event - EV_task_staged))
#define STOPS (BIT(task_end) | BIT(task_yielded) | BIT(task_suspended) | BIT(task_completed))
#define BIRTHS (BIT(task_staged) | BIT(task_created))

static void instant(struct model *m, struct task *task, enum model_instant kind,
		    struct thread *thread)
{
	TELL(m, task_instant, &task->t, kind, &thread->t, m->now);
}

static void repair(struct model *m, const struct task *task, enum model_anomaly kind)
{
	model__repair(m, process_of(&task->t), kind, task->confirmed);
}

static bool runs_elsewhere(const struct task *task, const struct event *event)
{
	return task->stay && task->stay->s.thread->tid != event->tid;
}

/* which events would have to come before this one: the table at the top of model.c */
static uint32_t awaited(const struct task *task, const struct event *event)
{
	enum task_state state = task ? task->t.state : TASK_COMPLETED;

	switch (event->type) {
	case EV_task_begin:
		if (state == TASK_RUNNING)
			return runs_elsewhere(task, event) ? STOPS : 0;
		if (state == TASK_SUSPENDED)
			return BIT(task_resumed);
		if (state == TASK_STOPPED)
			return BIT(task_ready) | BIT(task_resumed);
		if (state == TASK_CREATED || state == TASK_STAGED)
			return BIT(task_ready) | (state == TASK_STAGED ? BIT(task_created) : 0);
		return state == TASK_COMPLETED ? BIRTHS : 0;
	case EV_task_ready:
		return task ? 0 : BIRTHS;
	case EV_task_staged:
	case EV_task_created:
		if (!task || state == TASK_STAGED)
			return 0;
		return BIT(task_destroyed) | (state != TASK_COMPLETED ? BIT(task_completed) : 0);
	case EV_task_destroyed:
		if (state == TASK_RUNNING)
			return runs_elsewhere(task, event) ? STOPS : 0;
		return state != TASK_COMPLETED ? BIT(task_completed) : 0;
	case EV_task_resumed:
		return state == TASK_READY ? BIT(task_begin) : 0;
	default:
		return 0;
	}
}

/* the event's task, after the events that have to come first */
static struct task *settle(struct model *m, const struct event *event, struct process *process)
{
	struct task *task = task__find(m, process, event->args[0].u);

	for (int i = 0; m->queue_count && i < 4; i++) {
		uint32_t types = awaited(task, event);

		if (!types || !model__pull(m, event->args[0].u, types))
			break;
		task = task__find(m, process, event->args[0].u);
	}
	return task;
}

/* --- births --- */

static void become_ready(struct model *m, struct task *task)
{
	gap__end(m, task);
	task__set_state(m, task, TASK_READY);
	gap__begin(m, task, GAP_READY);
}

static struct task *born(struct model *m, struct process *process, uint64_t identity,
			 const char *name)
{
	struct task *task = task__new(m, process, identity, name);

	if (task) {
		task->zones_unseen = true;
		TELL(m, task_born, &task->t, m->now);
	}
	return task;
}

static void set_parent(struct model *m, struct task *task, uint64_t parent)
{
	struct task *found;

	if (!parent)
		return;
	found = task__find(m, process_of(&task->t), parent);
	task->t.parent = parent;
	task->t.parent_serial = found && found != task ? found->t.serial : 0;
}

/* does this CREATED or STAGED belong to the lifetime that is there? */
static bool same_life(const struct task *task, bool created)
{
	if (task->t.state == TASK_COMPLETED)
		return false;
	if (created)
		return !task->t.seen_created && (task->t.seen_staged || !task->t.stays);
	return !task->t.seen_staged && !task->t.stays;
}

static void replace(struct model *m, struct task *task)
{
	bool finished = task->t.state == TASK_COMPLETED;

	if (!finished && !task->uncertain)
		repair(m, task, ANOMALY_CREATED_TWICE);
	task->t.replaced = true;
	task__gone(m, task, finished);
}

static void on_birth(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	bool created = event->type == EV_task_created;
	struct task *task = settle(m, event, process);
	const char *name = event->args[1].s;

	if (task && !same_life(task, created)) {
		replace(m, task);
		task = NULL;
	}
	if (!task) {
		task = task__new(m, process, event->args[0].u, name);
		if (!task)
			return;
		*(created ? &task->t.seen_created : &task->t.seen_staged) = true;
		set_parent(m, task, event->args[2].u);
		TELL(m, task_born, &task->t, m->now);
	} else {
		*(created ? &task->t.seen_created : &task->t.seen_staged) = true;
		set_parent(m, task, event->args[2].u);
		if (name)
			task->t.name = name;
	}
	instant(m, task, created ? INSTANT_CREATED : INSTANT_STAGED, thread);
	if (created && task->t.state == TASK_STAGED) {
		task__set_state(m, task, TASK_CREATED);
		task->gap.presumed = true;
		gap__begin(m, task, GAP_READY);
	}
}

/* --- ready, begin --- */

static void on_ready(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = settle(m, event, process);

	if (task && task->t.state == TASK_COMPLETED) {
		repair(m, task, ANOMALY_RUN_AFTER_COMPLETED);
		task->t.replaced = true;
		task__gone(m, task, true);
		task = NULL;
	}
	if (!task)
		task = born(m, process, event->args[0].u, NULL);
	if (!task)
		return;
	instant(m, task, INSTANT_READY, thread);
	if (task->t.state == TASK_RUNNING || task->t.state == TASK_READY)
		return;
	task->gap.superseded = task->gap.presumed;
	if (task->t.state == TASK_SUSPENDED) {
		become_ready(m, task);
		task->ready_unasked = true;
	} else {
		become_ready(m, task);
	}
}

static void end_wait(struct model *m, struct task *task)
{
	task->unresumed = task->t.state == TASK_SUSPENDED;
	task->gap.self_resumed |= task->unresumed;
	gap__end(m, task);
}

static void on_begin(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	uint32_t worker = (uint32_t)event->args[1].u;
	struct task *task = settle(m, event, process);

	if (thread->t.worker == MODEL_NO_WORKER && worker != MODEL_NO_WORKER)
		thread__is_worker(m, thread, worker);
	if (task && task->stay) {
		repair(m, task, ANOMALY_BEGIN_WHILE_RUNNING);
		stay__end(m, task->stay, STAY_CUT);
	} else if (task && task->t.state == TASK_COMPLETED) {
		repair(m, task, ANOMALY_RUN_AFTER_COMPLETED);
		task->t.replaced = true;
		task__gone(m, task, true);
		task = NULL;
	}
	if (!task)
		task = born(m, process, event->args[0].u, NULL);
	if (!task)
		return;
	end_wait(m, task);
	task__set_state(m, task, TASK_RUNNING);
	stay__begin(m, task, thread, worker);
}

/* --- stops --- */

static void resume(struct model *m, struct task *task, const struct early_resume *by, bool self)
{
	struct model_gap gap = {
		.resumed = true,
		.cause = by->cause,
		.cause_object = by->object,
		.waker_serial = by->waker_serial,
		.waker_tid = by->waker_tid,
		.self_resumed = self,
	};

	if (task->gap_open) {
		gap.kind = task->gap.kind;
		gap.begin = task->gap.begin;
		gap.reason = task->gap.reason;
		gap.object = task->gap.object;
		gap.stack = task->gap.stack;
		task->gap = gap;
	}
	gap__end(m, task);
	task__set_state(m, task, TASK_READY);
	gap.reason = NULL;
	gap.object = 0;
	gap.stack = 0;
	task->gap = gap;
	gap__begin(m, task, GAP_READY);
}

/* the task no longer runs: the gap or the end that follows */
static void leave(struct model *m, struct task *task, const struct event *event,
		  struct thread *thread)
{
	task->stop_seen = true;
	gap__end(m, task);
	switch (event->type) {
	case EV_task_completed:
		instant(m, task, INSTANT_COMPLETED, thread);
		task__done(m, task);
		return;
	case EV_task_yielded:
		instant(m, task, INSTANT_YIELDED, thread);
		gap__end(m, task);
		task__set_state(m, task, TASK_READY);
		task->gap.stack = event->stack;
		gap__begin(m, task, GAP_READY);
		return;
	case EV_task_suspended:
		task__set_state(m, task, TASK_SUSPENDED);
		task->t.reason = task->gap.reason = event->args[1].s;
		task->t.object = task->gap.object = event->args[2].u;
		task->gap.stack = event->stack;
		gap__begin(m, task, GAP_SUSPENDED);
		break;
	default:
		task__set_state(m, task, TASK_STOPPED);
		task->gap.stack = event->stack;
		gap__begin(m, task, GAP_STOPPED);
	}
	if (task->early.kept) {
		struct early_resume by = task->early;

		task->early.kept = false;
		resume(m, task, &by, false);
	}
}

static enum stay_end end_of(const struct event *event)
{
	switch (event->type) {
	case EV_task_completed:
		return STAY_COMPLETED;
	case EV_task_yielded:
		return STAY_YIELDED;
	case EV_task_suspended:
		return STAY_SUSPENDED;
	default:
		return STAY_ENDED;
	}
}

/* stays nested in the one that stops end with it; they can't go on without what they stand on */
static void cut_inner(struct model *m, struct stay *stay)
{
	struct thread *thread = (struct thread *)stay->s.thread;

	if (thread->t.top == &stay->s)
		return;
	repair(m, task_of(stay->s.task), ANOMALY_STOP_NOT_INNERMOST);
	while (thread->t.top != &stay->s) {
		struct task *inner = running_on(thread);

		stay__end(m, inner->stay, STAY_CUT);
		task__set_state(m, inner, TASK_STOPPED);
		inner->uncertain = true;
		gap__begin(m, inner, GAP_STOPPED);
	}
}

/* a stop of a task that has no stay: true if it is to be taken as one whose BEGIN was not seen */
static bool stop_of_unseen(struct model *m, struct task *task, const struct event *event,
			   struct thread *thread)
{
	bool ran = task->t.stays || task->stop_seen;

	if (task->uncertain)
		return true;
	if (event->type == EV_task_end && ran)
		return false;
	if (thread->unseen && !ran && !task->t.seen_created && !task->t.seen_staged)
		return true;
	/* its BEGIN, at least, may be among what was lost */
	if (event->type != EV_task_end && model__explained(process_of(&task->t), task->confirmed))
		return true;
	if (event->type == EV_task_completed && task->t.state != TASK_COMPLETED) {
		if (!ran)
			repair(m, task, ANOMALY_STOP_WITHOUT_BEGIN);
		return true;
	}
	repair(m, task, ANOMALY_STOP_WITHOUT_BEGIN);
	return false;
}

static bool was_stopped_here(const struct thread *thread, const struct event *event)
{
	return thread->stopped == event->args[0].u &&
	       (thread->stopped_by_force || event->type == EV_task_end);
}

static struct task *stop_of_unknown(struct model *m, const struct event *event,
				    struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;

	if (!thread->unseen) {
		model__repair(m, process, ANOMALY_STOP_WITHOUT_BEGIN, thread->t.first_time);
		return NULL;
	}
	/* any number of them may have been nested there, so the next may be another */
	thread->stopped = event->args[0].u;
	thread->stopped_by_force = false;
	return born(m, process, event->args[0].u, NULL);
}

static void on_stop(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = task__find(m, process, event->args[0].u);
	struct stay *stay = task ? stay__on(thread, task) : NULL;

	if (!stay && was_stopped_here(thread, event)) {
		bool done = task && task->t.state == TASK_STOPPED && task->uncertain;

		/* unless nothing else told what became of the stay that was ended by force */
		if (!done) {
			thread->stopped_by_force = false;
			return;
		}
	}
	if (!task) {
		task = stop_of_unknown(m, event, thread);
		if (task)
			leave(m, task, event, thread);
		return;
	}
	if (!stay && task->stay) {
		repair(m, task, ANOMALY_STOP_ON_OTHER_THREAD);
		stay = task->stay;
	}
	if (stay) {
		cut_inner(m, stay);
		stay__end(m, stay, end_of(event));
	} else if (!stop_of_unseen(m, task, event, thread)) {
		return;
	}
	leave(m, task, event, thread);
}

/* --- resumed, destroyed, renamed --- */

static void on_resumed(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = settle(m, event, process);
	struct task *waker = running_on(thread);
	struct early_resume by = {
		.kept = true,
		.cause = event->args[1].s,
		.object = event->args[2].u,
		.waker_serial = waker && waker != task ? waker->t.serial : 0,
		.waker_tid = thread->t.tid,
	};
	bool self = waker == task;

	if (!task) {
		task = born(m, process, event->args[0].u, NULL);
		if (task)
			task__unknown(m, task);
	}
	if (!task)
		return;
	task->t.wake_cause = by.cause;
	task->t.wake_object = by.object;
	task->t.wake_late = task->t.state == TASK_RUNNING && self && task->unresumed;
	if (task->t.state == TASK_SUSPENDED || task->t.state == TASK_STOPPED) {
		self = !waker && model__next_on_thread_is(m, EV_task_begin, task->t.identity);
		instant(m, task, INSTANT_RESUMED, thread);
		resume(m, task, &by, self);
	} else if (task->t.wake_late) {
		instant(m, task, INSTANT_RESUMED, thread);
		task->unresumed = false;
	} else if (task->t.state == TASK_RUNNING && !task->early.kept) {
		instant(m, task, INSTANT_RESUMED, thread);
		task->early = by;
	} else if (task->ready_unasked) {
		instant(m, task, INSTANT_RESUMED, thread);
		task->ready_unasked = false;
	} else {
		repair(m, task, ANOMALY_RESUMED_NOT_SUSPENDED);
	}
}

static void on_destroyed(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = settle(m, event, process);

	if (!task)
		return;
	if (task->stay) {
		struct thread *on = (struct thread *)task->stay->s.thread;

		if (on != thread)
			repair(m, task, ANOMALY_STOP_ON_OTHER_THREAD);
		cut_inner(m, task->stay);
		stay__end(m, task->stay, STAY_ENDED);
		/* whatever it still says of its stop comes too late */
		on->stopped_by_force = true;
	}
	/* it waited for nothing since its creation: told first, as it began before */
	if (task->gap_open && task->gap.presumed)
		gap__end(m, task);
	instant(m, task, INSTANT_DESTROYED, thread);
	task__gone(m, task, true);
}

static void on_renamed(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	struct task *task = settle(m, event, process);

	if (!task) {
		task = born(m, process, event->args[0].u, event->args[1].s);
		if (task)
			task__unknown(m, task);
	}
	if (!task)
		return;
	if (event->args[1].s)
		task->t.name = event->args[1].s;
	instant(m, task, INSTANT_RENAMED, thread);
}

/*
 * Of a task that never ran: it was created for what it waits for, so nothing stops. Too late if it
 * has been resumed or begun by then.
 */
void task__waits(struct model *m, const struct event *event, struct thread *thread)
{
	struct task *task = task__find(m, (struct process *)thread->t.process, event->args[0].u);

	if (!task || task->t.stays || task->t.state != TASK_CREATED)
		return;
	task->gap.superseded = task->gap.presumed;
	gap__end(m, task);
	task__set_state(m, task, TASK_SUSPENDED);
	task->t.reason = task->gap.reason = event->args[1].s;
	task->t.object = task->gap.object = event->args[2].u;
	gap__begin(m, task, GAP_SUSPENDED);
}

void task__event(struct model *m, const struct event *event, struct thread *thread)
{
	switch (event->type) {
	case EV_task_staged:
	case EV_task_created:
		on_birth(m, event, thread);
		break;
	case EV_task_ready:
		on_ready(m, event, thread);
		break;
	case EV_task_begin:
		on_begin(m, event, thread);
		break;
	case EV_task_resumed:
		on_resumed(m, event, thread);
		break;
	case EV_task_destroyed:
		on_destroyed(m, event, thread);
		break;
	case EV_task_renamed:
		on_renamed(m, event, thread);
		break;
	default:
		on_stop(m, event, thread);
	}
}
