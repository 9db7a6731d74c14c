/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path: from the last end of a run back to what made that run possible, and so on.
 *
 *	A run begins because its task was created, woken (RESUMED), made ready, or had stopped
 *	without waiting for anybody. What did that is a run too, up to that moment; in between the
 *	task waited. So the path is runs, or their first parts, and waits, without a hole.
 *
 * It is found forwards: each run is a node that holds on to the one before it. Nodes that no
 * present or possible run leads back to are freed, so what is kept is the history of what is alive.
 * That may still be all of it, so beyond PATH_NODES_MAX nodes let go of their past: then the steps
 * are not known any more, but the sums, which each node carries, are.
 */
#include <errno.h>
#include <stdlib.h>
#include "figures.h"

#define PATH_NODES_MAX 131072U

struct path_node {		/* a run */
	struct path_node *prev; /* the run that caused it; NULL: none, or forgotten */
	uint32_t refs;
	uint32_t pid;
	uint8_t via; /* enum path_via */
	uint64_t identity;
	const char *name;
	uint64_t cause; /* time: the part of `prev` on the path ends there */
	uint64_t begin;
	/* of the path up to `begin` */
	uint64_t start, run_ns, wait_ns;
};

struct path_task { /* what a task's next run will follow from */
	struct path_node *node;
	uint64_t time;
	uint8_t via;
};

static struct path_node *node__hold(struct path_node *node)
{
	if (node)
		node->refs++;
	return node;
}

static void node__drop(struct report *report, struct path_node *node)
{
	while (node && !--node->refs) {
		struct path_node *prev = node->prev;

		pool__give(&report->path.nodes, node);
		report->path.count--;
		node = prev;
	}
}

static struct path_task *path_task__get(struct report *report, struct model_task *model)
{
	void **slot = &model->priv[report->path.slot];

	if (!*slot) {
		*slot = pool__take(&report->path.tasks);
		if (!*slot)
			report->err = -ENOMEM;
	}
	return *slot;
}

/* the task's next run follows from @node, at that time */
static void path_task__follows(struct report *report, struct path_task *task,
			       struct path_node *node, enum path_via via, uint64_t time)
{
	node__hold(node);
	node__drop(report, task->node);
	task->node = node;
	task->via = (uint8_t)via;
	task->time = time;
}

static struct path_node *node__on(const struct report *report, const struct model_thread *thread)
{
	return thread && thread->top ? thread->top->priv[report->path.slot] : NULL;
}

static void on_instant(void *ctx, struct model_task *model, enum model_instant kind,
		       struct model_thread *thread, uint64_t time)
{
	struct report *report = ctx;
	struct path_task *task;
	struct path_node *by;

	if (kind != INSTANT_CREATED && kind != INSTANT_READY && kind != INSTANT_RESUMED)
		return;
	task = path_task__get(report, model);
	by = node__on(report, thread);
	if (!task)
		return;
	if (kind == INSTANT_CREATED)
		path_task__follows(report, task, by, PATH_CREATED, time);
	else if (!by || model->wake_late)
		return; /* by no task, or by the one itself: it follows from its own run before */
	else if (kind == INSTANT_RESUMED)
		path_task__follows(report, task, by, PATH_RESUMED, time);
	else if (task->via == PATH_CREATED)
		path_task__follows(report, task, by, by == task->node ? PATH_CREATED : PATH_READY,
				   time);
}

static void on_stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct report *report = ctx;
	struct path_task *task = path_task__get(report, stay->task);
	struct path_node *node = pool__take(&report->path.nodes), *prev;

	if (!task || !node) {
		report->err = -ENOMEM;
		return;
	}
	if (++report->path.count > PATH_NODES_MAX)
		report->path.severed = true;
	prev = task->node;
	*node = (struct path_node){
		.refs = 1,
		.pid = stay->task->process->pid,
		.via = task->via,
		.identity = stay->task->identity,
		.name = stay->task->name,
		.cause = task->via == PATH_START ? time : task->time,
		.begin = time,
	};
	node->start = prev ? prev->start : node->cause;
	if (prev) {
		node->run_ns = prev->run_ns + (node->cause - prev->begin);
		node->wait_ns = prev->wait_ns;
	}
	node->wait_ns += time - node->cause;
	if (!report->path.severed)
		node->prev = node__hold(prev);
	stay->priv[report->path.slot] = node;
	path_task__follows(report, task, NULL, PATH_START, time);
}

static void on_stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	static const enum path_via vias[] = {
		[STAY_ENDED] = PATH_STOPPED,	   [STAY_YIELDED] = PATH_YIELDED,
		[STAY_SUSPENDED] = PATH_SUSPENDED, [STAY_COMPLETED] = PATH_STOPPED,
		[STAY_CUT] = PATH_STOPPED,
	};
	struct report *report = ctx;
	struct path_task *task = path_task__get(report, stay->task);
	struct path_node *node = stay->priv[report->path.slot];
	uint64_t run = time - stay->begin;

	if (!task || !node)
		return;
	report->path.work_ns += run > stay->inner_ns ? run - stay->inner_ns : 0;
	if (time >= report->path.end) {
		node__hold(node);
		node__drop(report, report->path.last);
		report->path.last = node;
		report->path.end = time;
	}
	path_task__follows(report, task, node, vias[how], time);
	stay->priv[report->path.slot] = NULL;
	node__drop(report, node);
}

static void on_task_gone(void *ctx, struct model_task *model, uint64_t time, bool finished)
{
	struct report *report = ctx;
	struct path_task *task = model->priv[report->path.slot];

	(void)time, (void)finished;
	if (!task)
		return;
	node__drop(report, task->node);
	pool__give(&report->path.tasks, task);
	model->priv[report->path.slot] = NULL;
}

static void free_steps(struct report_path *path)
{
	for (size_t i = 0; i < path->step_count; i++)
		free(path->steps[i].name);
	free(path->steps);
	path->steps = NULL;
	path->step_count = 0;
}

/* those of a node, backwards: its run up to @to, then the wait for it; NULL: counts them only */
static size_t node__steps(struct report *report, const struct path_node *node, uint64_t to,
			  struct path_step *step)
{
	struct path_step common = {
		.pid = node->pid,
		.task = node->identity,
		.via = node->via,
	};

	if (step) {
		*step = common;
		step->name = report__copy(report, node->name);
		step->from = node->begin;
		step->to = to;
	}
	if (node->cause >= node->begin)
		return 1;
	if (step) {
		*--step = common;
		step->name = report__copy(report, node->name);
		step->from = node->cause;
		step->to = node->begin;
		step->waits = true;
	}
	return 2;
}

void path__settle(struct report *report)
{
	struct report_path *path = &report->path;
	const struct path_node *node;
	size_t count = 0;
	uint64_t to = path->end;

	free_steps(path);
	if (!path->last)
		return;
	path->start = path->last->start;
	path->run_ns = path->last->run_ns + (path->end - path->last->begin);
	path->wait_ns = path->last->wait_ns;
	if (path->severed)
		return;
	for (node = path->last; node; node = node->prev)
		count += node__steps(report, node, 0, NULL);
	path->steps = calloc(count, sizeof(*path->steps));
	if (!path->steps) {
		report->err = -ENOMEM;
		return;
	}
	path->step_count = count;
	for (node = path->last; node; node = node->prev) {
		count -= node__steps(report, node, to, &path->steps[count - 1]);
		to = node->cause;
	}
}

const char *path__via(enum path_via via)
{
	static const char *const names[] = {
		[PATH_START] = "start",		[PATH_CREATED] = "created",
		[PATH_READY] = "ready",		[PATH_RESUMED] = "resumed",
		[PATH_YIELDED] = "yielded",	[PATH_STOPPED] = "stopped",
		[PATH_SUSPENDED] = "suspended",
	};

	return names[via];
}

void path__init(struct report_path *path)
{
	path->nodes.size = sizeof(struct path_node);
	path->tasks.size = sizeof(struct path_task);
}

void path__free(struct report_path *path)
{
	free_steps(path);
	pool__free(&path->nodes);
	pool__free(&path->tasks);
}

const struct model_ops report_path_ops = {
	.task_instant = on_instant,
	.stay_begin = on_stay_begin,
	.stay_end = on_stay_end,
	.task_gone = on_task_gone,
};
