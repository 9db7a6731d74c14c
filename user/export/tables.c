// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the model tells, as rows: processes, threads, tasks. tables_event.c has the rest.
 *
 * Memory: live threads and what is open on them, and the capture's processes; see tables.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "tables_private.h"

#define COLUMN(table, type, name, doc) #name,
#define TABLE(name, doc) NULL,
static const char *const column_names[] = {
#include "tables.def"
	NULL};
#define COLUMN(table, type, name, doc) #type,
#define TABLE(name, doc) NULL,
static const char *const column_types[] = {
#include "tables.def"
	NULL};

/* where a table's columns stand in the two lists: behind its NULL */
enum {
#define TABLE(name, doc) BEFORE_##name,
#define COLUMN(table, type, name, doc) AT_##table##_##name,
#include "tables.def"
};

const struct table_info table_infos[TABLES] = {
#define TABLE(name, doc)                                               \
	{#name, TABLE_COLUMNS(name), column_names + BEFORE_##name + 1, \
	 column_types + BEFORE_##name + 1},
#include "tables.def"
};

struct cell cell__text(const char *text)
{
	return text ? (struct cell){CELL_TEXT, {.s = text}} : (struct cell){0};
}

/* Processes and threads */

struct table_process *table_process__get(struct tables *t, struct model_process *model)
{
	struct table_process *process = model->priv[t->slot];
	const struct trace_process *info;

	if (process)
		return process;
	process = pool__take(&t->processes);
	if (!process) {
		t->err = -ENOMEM;
		return NULL;
	}
	info = t->trace ? trace__process(t->trace, model->index) : NULL;
	*process = (struct table_process){
		.next = t->first_process,
		.model = model,
		.index = model->index,
		.pid = model->pid,
		.host = info ? info->host : NULL,
	};
	t->first_process = process;
	model->priv[t->slot] = process;
	return process;
}

static void op__process(void *ctx, struct model_process *model, uint64_t time)
{
	struct table_process *process = table_process__get(ctx, model);

	if (process && !process->first)
		process->first = time;
}

static void op__process_exit(void *ctx, struct model_process *model, uint64_t time, int status)
{
	struct table_process *process = table_process__get(ctx, model);

	if (!process)
		return;
	process->end = time;
	process->status = status;
}

static void process__row(struct tables *t, const struct table_process *process)
{
	/* of names, the last is the one that an exec gave it */
	const struct cell cells[] = {
		cell__uint(process->index),
		cell__uint(process->pid),
		cell__text(process->model->name),
		cell__text(process->model->cmdline),
		cell__text(process->host),
		cell__uint(process->first),
		cell__some(process->end),
		process->end && process->status >= 0 ? cell__int(process->status) : cell__null(),
	};

	TABLES_ROW(t, processes, cells);
}

struct table_thread *table_thread__get(struct tables *t, struct model_thread *model)
{
	struct table_thread *thread = model->priv[t->slot];

	if (thread)
		return thread;
	thread = pool__take(&t->threads);
	if (!thread) {
		t->err = -ENOMEM;
		return NULL;
	}
	thread->id = ++t->next_thread;
	thread->worker = MODEL_NO_WORKER;
	model->priv[t->slot] = thread;
	return thread;
}

static void op__thread(void *ctx, struct model_thread *model, uint64_t time)
{
	struct table_thread *thread = table_thread__get(ctx, model);

	(void)time;
	if (!thread || model->worker == MODEL_NO_WORKER)
		return;
	thread->worker = model->worker;
	if (model->name)
		thread->name = model->name;
}

static void op__thread_gone(void *ctx, struct model_thread *model, uint64_t time)
{
	struct tables *t = ctx;
	struct table_thread *thread = table_thread__get(t, model);

	if (!thread)
		return;
	{
		const struct cell cells[] = {
			cell__uint(thread->id),	  cell__uint(model->process->index),
			cell__uint(model->tid),	  cell__number(thread->worker),
			cell__text(thread->name), cell__uint(model->first_time),
			cell__uint(time),
		};

		TABLES_ROW(t, threads, cells);
	}
	pool__give(&t->threads, thread);
	model->priv[t->slot] = NULL;
}

static void op__kernel(void *ctx, struct model_thread *thread, const struct model_kernel *stretch,
		       uint64_t time)
{
	static const char *const states[] = {
		[KERNEL_UNKNOWN] = "unknown",	[KERNEL_RUNNING] = "running",
		[KERNEL_RUNNABLE] = "runnable", [KERNEL_BLOCKED] = "blocked",
		[KERNEL_GONE] = "gone",
	};
	const struct cell cells[] = {
		cell__thread(ctx, thread),	  cell__text(states[stretch->state]),
		cell__uint(stretch->begin),	  cell__uint(time),
		cell__number(stretch->cpu),	  cell__bool(stretch->preempted),
		cell__some(stretch->by_tid),	  cell__text(stretch->by),
		cell__some(stretch->task_serial),
	};

	TABLES_ROW(ctx, kernel, cells);
}

/* Tasks */

static const char *const task_states[] = {"staged",    "created", "ready",    "running",
					  "suspended", "stopped", "completed"};

static void op__task_instant(void *ctx, struct model_task *task, enum model_instant kind,
			     struct model_thread *thread, uint64_t time)
{
	static const char *const names[] = {
		[INSTANT_STAGED] = "staged",	   [INSTANT_CREATED] = "created",
		[INSTANT_READY] = "ready",	   [INSTANT_YIELDED] = "yielded",
		[INSTANT_RESUMED] = "resumed",	   [INSTANT_COMPLETED] = "completed",
		[INSTANT_DESTROYED] = "destroyed", [INSTANT_RENAMED] = "renamed",
	};
	bool resumed = kind == INSTANT_RESUMED;
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(names[kind]),
		cell__uint(task->serial),
		cell__thread(ctx, thread),
		cell__text(kind == INSTANT_RENAMED ? task->name
			   : resumed		   ? task->wake_cause
						   : NULL),
		cell__hex(resumed ? task->wake_object : 0),
	};

	TABLES_ROW(ctx, task_events, cells);
}

static void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	static const char *const hows[] = {
		[STAY_ENDED] = "ended",
		[STAY_YIELDED] = "yielded",
		[STAY_SUSPENDED] = "suspended",
		[STAY_COMPLETED] = "completed",
		[STAY_CUT] = "cut",
	};
	uint64_t run = time - stay->begin;
	const struct cell cells[] = {
		cell__uint(stay->task->serial),
		cell__uint(stay->number),
		cell__thread(ctx, stay->thread),
		cell__number(stay->worker),
		cell__uint(stay->begin),
		cell__uint(time),
		cell__uint(run > stay->inner_ns ? run - stay->inner_ns : 0),
		cell__text(hows[how]),
		cell__bool(stay->migrated),
		cell__task(stay->outer ? stay->outer->task : NULL),
	};

	TABLES_ROW(ctx, stays, cells);
}

static void op__gap_end(void *ctx, struct model_task *task, const struct model_gap *gap,
			uint64_t time)
{
	static const char *const kinds[] = {
		[GAP_READY] = "ready", [GAP_SUSPENDED] = "suspended", [GAP_STOPPED] = "stopped"};
	bool suspended = gap->kind == GAP_SUSPENDED;
	const struct cell cells[] = {
		cell__uint(task->serial),
		cell__text(kinds[gap->kind]),
		cell__uint(gap->begin),
		cell__uint(time),
		cell__text(suspended ? gap->reason : NULL),
		cell__hex(suspended ? gap->object : 0),
		cell__bool(gap->resumed),
		cell__text(gap->cause),
		cell__hex(gap->cause_object),
		cell__some(gap->waker_serial),
		cell__some(gap->waker_tid),
		cell__bool(gap->cut),
	};

	/* it was none after all */
	if (!gap->superseded)
		TABLES_ROW(ctx, gaps, cells);
}

static void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	const struct cell cells[] = {
		cell__uint(task->serial),      cell__uint(task->process->index),
		cell__hex(task->identity),     cell__text(task->name),
		cell__hex(task->parent),       cell__some(task->parent_serial),
		cell__uint(task->born),	       cell__uint(time),
		cell__bool(task->seen_staged), cell__bool(task->seen_created),
		cell__bool(finished),	       cell__text(task_states[task->state]),
		cell__uint(task->stays),       cell__uint(task->run_ns),
		cell__uint(task->self_ns),     cell__uint(task->suspended_ns),
		cell__uint(task->ready_ns),
	};

	TABLES_ROW(ctx, tasks, cells);
}

/* The whole */

static void capture__pair(struct tables *t, const char *key, const char *value)
{
	const struct cell cells[] = {cell__text(key), cell__text(value)};

	TABLES_ROW(t, capture, cells);
}

static void capture__number(struct tables *t, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	capture__pair(t, key, text);
}

static void capture__rows(struct tables *t)
{
	const struct trace_totals *totals = trace__totals(t->trace);

	capture__number(t, "schema", 1);
	capture__number(t, "records", totals->records);
	capture__number(t, "lost", totals->lost);
	capture__number(t, "recorded", totals->recorded);
	capture__number(t, "duration_ns", totals->duration_ns);
	capture__number(t, "first_ns", totals->first_time);
	capture__number(t, "last_ns", totals->last_time);
	capture__pair(t, "clock", totals->clock);
	capture__number(t, "clock_error_ns", totals->clock_error_ns);
	capture__pair(t, "complete", totals->complete ? "true" : "false");
	capture__pair(t, "boot_id", trace__boot_id(t->trace));
	capture__pair(t, "sched", totals->sched ? "true" : "false");
	capture__number(t, "sched_lost", totals->sched_lost);
	if (totals->has_target_exit)
		capture__number(t, "target_exit", (uint64_t)totals->target_exit);
}

static void anomalies__rows(struct tables *t)
{
	for (int kind = 0; kind < ANOMALY_KINDS; kind++) {
		uint64_t count = model__anomalies(t->model, kind);
		const struct cell cells[] = {cell__text(model__anomaly_name(kind)),
					     cell__uint(count)};

		if (count)
			TABLES_ROW(t, anomalies, cells);
	}
}

static void op__end(void *ctx, uint64_t time)
{
	struct tables *t = ctx;

	markers__finish(t, time);
	continuations__finish(t);
	for (struct table_process *process = t->first_process; process; process = process->next)
		process__row(t, process);
}

static const struct model_ops ops = {
	.process = op__process,
	.process_exit = op__process_exit,
	.thread = op__thread,
	.thread_gone = op__thread_gone,
	.kernel = op__kernel,
	.task_instant = op__task_instant,
	.stay_end = op__stay_end,
	.gap_end = op__gap_end,
	.task_gone = op__task_gone,
	.span_begin = rows__span_begin,
	.span_end = rows__span_end,
	.span_cut = rows__span_cut,
	.queue_depth = rows__queue_depth,
	.steal = rows__steal,
	.steal_failed = rows__steal_failed,
	.future = rows__future,
	.continuation_begin = rows__continuation_begin,
	.continuation_end = rows__continuation_end,
	.active_continuations = rows__active_continuations,
	.zone_end = rows__zone_end,
	.annotation = rows__annotation,
	.task_counts = rows__task_counts,
	.lost = rows__lost,
	.end = op__end,
};

static void tables__free(struct tables *t)
{
	pool__free(&t->processes);
	pool__free(&t->threads);
	pool__free(&t->markers);
	pool__free(&t->continuations);
	map__free(&t->open_markers);
	map__free(&t->open_continuations);
	map__free(&t->colors);
	model__free(t->model);
}

int tables__run(struct tables *t, struct trace *trace, const struct export_options *options,
		char **why)
{
	struct feed feed = {.trace = trace, .options = options, .err = &t->err};
	int err;

	t->trace = trace;
	t->processes.size = sizeof(struct table_process);
	t->threads.size = sizeof(struct table_thread);
	t->markers.size = sizeof(struct table_marker);
	t->continuations.size = sizeof(struct table_continuation);
	t->model = feed.model = model__new();
	t->slot = t->model ? model__add_sink(t->model, &ops, t) : -ENOMEM;
	err = t->slot < 0 ? t->slot : feed__run(&feed);
	if (!err) {
		anomalies__rows(t);
		capture__rows(t);
		err = t->err;
	}
	if (err)
		*why = feed__error(&feed, options->path, err);
	tables__free(t);
	return err;
}
