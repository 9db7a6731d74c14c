/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of tasks: lifetimes by name, suspensions by reason, wakes by cause, zones. */
#include <errno.h>
#include <stdio.h>
#include "figures.h"

static void on_stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct report *report = ctx;

	(void)time;
	report->begun++;
	report->migrations += stay->migrated;
}

static void on_instant(void *ctx, struct model_task *task, enum model_instant kind,
		       struct model_thread *thread, uint64_t time)
{
	struct report *report = ctx;

	(void)task, (void)thread, (void)time;
	report->tasks_created += kind == INSTANT_CREATED;
}

/*
 * A suspension that the capture's end cuts counts, with its time so far, in count and total; its
 * length is not known, so it is in no percentile. Likewise a wake that led to no run.
 */
static void on_gap_end(void *ctx, struct model_task *task, const struct model_gap *gap,
		       uint64_t time)
{
	uint64_t length = time - gap->begin;
	struct report *report = ctx;
	struct group *group;

	(void)task;
	if (gap->kind == GAP_SUSPENDED)
		report__suspended_at(report, gap->stack, gap->reason, length);
	if (gap->kind == GAP_SUSPENDED)
		group = groups__get(report, &report->suspensions, gap->reason, NULL, NULL);
	else if (gap->kind == GAP_READY && gap->resumed)
		group = groups__get(report, &report->wakes, gap->cause, NULL, NULL);
	else
		return;
	if (!group)
		return;
	group->count++;
	group->total_ns += length;
	if (!gap->cut)
		group__add(report, group, length);
}

static void add_unfinished(struct report *report, const struct model_task *task, uint64_t time)
{
	struct unfinished *row;
	struct model_lock_party holder;
	char text[32];

	report->unfinished_count++;
	if (report->unfinished_kept == FIGURES_UNFINISHED_MAX)
		return;
	row = &report->unfinished[report->unfinished_kept++];
	*row = (struct unfinished){
		.identity = task->identity,
		.age_ns = time - task->born,
		.in_state_ns = time - task->state_since,
		.object = task->object,
		.pid = task->process->pid,
		.name = report__copy(report, task->name),
		.reason = report__copy(report, task->reason),
		.state = task->state,
	};
	/* who waits for whom, in a circle: that is a deadlock */
	if (!model__lock_holder(report->model, task->process, task->object, &holder))
		return;
	snprintf(text, sizeof(text), "thread %u", holder.tid);
	row->holder = report__copy(report, holder.name ? holder.name : text);
	row->holder_task = holder.task;
}

static void on_task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	struct report *report = ctx;
	struct group *group = groups__get(report, &report->names, task->name, NULL, NULL);

	if (!finished && !task->replaced)
		add_unfinished(report, task, time);
	if (!group)
		return;
	group->count++;
	group->total_ns += task->run_ns;
	group->self_ns += task->self_ns;
	group->suspended_ns += task->suspended_ns;
	group->ready_ns += task->ready_ns;
	group__add(report, group, task->run_ns);
}

static void on_zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			uint64_t time, bool left_open)
{
	uint64_t length = time - zone->begin - zone->gap_ns;
	struct report *report = ctx;
	struct group *group =
		groups__get(report, &report->zones, zone->name, zone->function, zone->where);

	(void)thread;
	if (!group)
		return;
	group->count++;
	group->self_ns += length > zone->inner_ns ? length - zone->inner_ns : 0;
	if (!zone->recursive)
		group->total_ns += length;
	if (zone->depth + 1 > group->max_depth)
		group->max_depth = zone->depth + 1;
	if (!left_open)
		group__add(report, group, length);
}

const struct model_ops report_task_ops = {
	.stay_begin = on_stay_begin,
	.task_instant = on_instant,
	.gap_end = on_gap_end,
	.task_gone = on_task_gone,
	.zone_end = on_zone_end,
};
