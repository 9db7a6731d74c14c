// SPDX-License-Identifier: BSD-2-Clause
/* Processes, threads, and the lives of tasks: runs, gaps, states, and the arrows that start and
 * resume. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "perfetto.h"

/* with the bit above it seven bytes as a varint, as a task's row has: a compressor likes that */
#define THREAD_HASH_MASK ((1ULL << 48) - 1)

/* Processes and threads */

static void process__declare(struct perfetto *px, struct drawn_process *process,
			     const struct model_process *model)
{
	struct descriptor d = {
		.kind = TRACK_PROCESS,
		.name = model->name,
		.cmdline = model->cmdline,
		.pid = model->pid,
		.start_time = process->start_time,
		.ordered = true,
		.rank = -1,
	};

	row__name(px, &process->row, perfetto__hash(process->seed, ROW_PROCESS, 0));
	d.uuid = process->row.uuid;
	process->row.declared = true;
	descriptor__write(px, &d);
}

struct drawn_process *drawn_process__get(struct perfetto *px, struct model_process *model)
{
	struct drawn_process *process = model->priv[px->slot], *other;

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process) {
		px->error = -ENOMEM;
		return NULL;
	}
	process->index = model->index;
	process->pid = model->pid;
	if (px->info.start_time)
		process->start_time = px->info.start_time(px->info.ctx, model->index);
	/* exec makes a new process of the same pid and start time */
	for (other = px->processes; other; other = other->next) {
		if (other->pid == process->pid && other->start_time == process->start_time)
			process->generation++;
	}
	process->seed = perfetto__hash(px->boot_seed, model->pid, process->start_time);
	process->seed = perfetto__hash(process->seed, ROW_PROCESS, process->generation);
	for (int i = 0; i < COUNTS; i++)
		process->counted[i] = -1;
	process->crowded =
		(uintptr_t)map__get(&px->lives_ahead, model->index, 0) > PERFETTO_TASK_ROWS;
	process->next = px->processes;
	px->processes = process;
	model->priv[px->slot] = process;
	process__declare(px, process, model);
	return process;
}

static void thread__declare(struct perfetto *px, struct drawn_thread *thread,
			    const struct model_thread *model)
{
	struct drawn_process *process = thread->process;
	bool worker = model->worker != MODEL_NO_WORKER;
	struct descriptor d = {
		.uuid = thread->row.uuid,
		.kind = TRACK_THREAD,
		.pid = process->pid,
		.tid = thread->tid,
		.rank = -1,
	};
	char text[32];

	if (thread->row.declared && thread->named_worker == model->worker &&
	    thread->named == model->name)
		return;
	/* a row can get another name, not another parent */
	if (!thread->row.declared)
		thread->in_workers =
			worker || map__get(&px->workers_ahead, process->index, thread->tid);
	d.parent =
		thread->in_workers ? row__group(px, process, ROW_WORKERS)->uuid : process->row.uuid;
	d.name = model->name;
	if (worker) {
		snprintf(text, sizeof(text), "worker %u", model->worker);
		if (!d.name)
			d.name = text;
		if (thread->in_workers)
			d.rank = worker__rank(model->worker);
	}
	thread->row.declared = true;
	thread->label_iid = 0;
	thread->named_worker = model->worker;
	thread->named = model->name;
	descriptor__write(px, &d);
}

struct drawn_thread *drawn_thread__get(struct perfetto *px, struct model_thread *model)
{
	struct drawn_thread *thread = model->priv[px->slot];
	struct drawn_process *process;
	uint64_t id;

	if (thread) {
		if (!thread->row.declared)
			thread__declare(px, thread, model);
		return thread;
	}
	process = drawn_process__get(px, model->process);
	thread = process ? pool__take(&px->threads) : NULL;
	if (!thread || map__put(&px->tids, process->index, model->tid, thread)) {
		px->error = -ENOMEM;
		return NULL;
	}
	thread->process = process;
	thread->tid = model->tid;
	/* a tid used again by a thread of the other sort would declare its row with
	 * another parent */
	id = model->tid | (uint64_t)(model->worker != MODEL_NO_WORKER) << 32;
	row__name(px, &thread->row,
		  (perfetto__hash(process->seed, ROW_THREAD, id) & THREAD_HASH_MASK) |
			  (THREAD_HASH_MASK + 1));
	model->priv[px->slot] = thread;
	thread__declare(px, thread, model);
	return thread;
}

void op__process(void *ctx, struct model_process *process, uint64_t time)
{
	(void)time;
	drawn_process__get(ctx, process);
}

void op__thread(void *ctx, struct model_thread *model, uint64_t time)
{
	struct drawn_thread *thread = model->priv[((struct perfetto *)ctx)->slot];

	(void)time;
	/* a thread that is no worker has a row once something happens on it */
	if (thread)
		thread__declare(ctx, thread, model);
	else if (model->worker != MODEL_NO_WORKER)
		drawn_thread__get(ctx, model);
}

static void worker__instant(struct perfetto *px, struct model_thread *model,
			    enum perfetto_category category, uint64_t time)
{
	struct drawn_thread *thread = drawn_thread__get(px, model);

	if (!thread)
		return;
	instant__open(px, &thread->row, category, time);
	if (model->worker != MODEL_NO_WORKER)
		annotate__uint(px, ANNOTATION_WORKER, model->worker);
	event__close(px);
}

void op__worker_start(void *ctx, struct model_thread *model, uint64_t time)
{
	op__thread(ctx, model, time);
	worker__instant(ctx, model, CATEGORY_WORKER_START, time);
}

void op__worker_stop(void *ctx, struct model_thread *model, uint64_t time)
{
	worker__instant(ctx, model, CATEGORY_WORKER_STOP, time);
}

void op__thread_gone(void *ctx, struct model_thread *model, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_thread *thread = model->priv[px->slot];

	if (!thread)
		return;
	row__close(px, &thread->row, time);
	row__forget(px, &thread->row);
	if (thread->kernel.declared)
		row__forget(px, &thread->kernel);
	if (map__get(&px->tids, thread->process->index, thread->tid) == thread)
		map__remove(&px->tids, thread->process->index, thread->tid);
	pool__give(&px->threads, thread);
	model->priv[px->slot] = NULL;
}

struct row *thread__host(struct perfetto *px, struct model_thread *thread, struct model_task *task)
{
	struct drawn_task *drawn = task ? task->priv[px->slot] : NULL;
	struct drawn_thread *on;

	if (drawn && drawn->host)
		return drawn->host;
	if (!thread)
		return NULL;
	on = drawn_thread__get(px, thread);
	return on ? &on->row : NULL;
}

/* Tasks */

struct drawn_task *drawn_task__get(struct perfetto *px, struct model_task *model, uint64_t time)
{
	struct drawn_task *task = model->priv[px->slot];

	if (task)
		return task;
	task = pool__take(&px->tasks);
	if (!task) {
		px->error = -ENOMEM;
		return NULL;
	}
	task->process = drawn_process__get(px, model->process);
	if (!task->process) {
		pool__give(&px->tasks, task);
		return NULL;
	}
	task->serial = model->serial;
	task->identity = model->identity;
	task->name = model->name;
	model->priv[px->slot] = task;
	row__assign(px, task, false, time);
	return task;
}

void op__task_born(void *ctx, struct model_task *task, uint64_t time)
{
	drawn_task__get(ctx, task, time);
}

/* an instant on the task's row, or on its group's if it has none now */
static void task__state_instant(struct perfetto *px, struct drawn_task *task,
				enum perfetto_category category, const struct model_task *birth,
				uint64_t time)
{
	const char *name = birth ? birth->name : NULL;
	struct row *row = task->row;
	uint32_t name_iid;

	if (px->info.tracks == EXPORT_WORKERS)
		return;
	if (!row)
		row = row__group(px, task->process, ROW_TASKS);
	name_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, name);
	instant__open(px, row, category, time);
	annotate__task(px, task);
	annotate__text(px, ANNOTATION_NAME, name_iid, name);
	if (birth && birth->parent && category != CATEGORY_TASK_RENAMED)
		annotate__hex(px, ANNOTATION_PARENT, birth->parent);
	event__close(px);
}

/*
 * Where the arrow to a later run starts: viewers draw from a slice's end, so from an instant inside
 * whoever caused it, not from that slice itself. The row of that instant:
 */
static struct row *task__cause_row(struct perfetto *px, struct model_thread *thread)
{
	return thread__host(px, thread, thread && thread->top ? thread->top->task : NULL);
}

static void task__spawned(struct perfetto *px, struct drawn_task *task, struct model_thread *thread,
			  uint64_t time)
{
	struct row *row = task__cause_row(px, thread);
	uint32_t title_iid = 0;
	const char *title;

	task->create_flow = flow__new(px);
	if (!row)
		return;
	title = asio__created_title(px, task->identity, &title_iid);
	event__open(px, row, EVENT_INSTANT, time);
	event__title(px, CATEGORY_TASK_SPAWN, title ? title_iid : CATEGORY_TASK_SPAWN + 1,
		     FORM_PLAIN, title);
	px->tally.instants[CATEGORY_TASK_SPAWN]++;
	annotate__task(px, task);
	asio__annotate_created(px, task->identity);
	event__flow(px, task->create_flow);
	event__close(px);
}

/* an arrow from a future's set goes through the wake to the run that it leads to */
static void task__woken(struct perfetto *px, struct drawn_task *task, const struct model_task *wake,
			struct model_thread *thread, uint64_t time)
{
	uint64_t object = wake->wake_object ? wake->wake_object : task->object;
	struct row *row = task__cause_row(px, thread);
	uint64_t flow = 0, shared = 0;
	uint32_t cause_iid;

	/* the run that it led to has begun already: it stands in it, but has no arrow */
	if (object && row && !wake->wake_late)
		flow = future__wakes(px, task, object, &shared);
	if (!flow && !wake->wake_late)
		flow = flow__new(px);
	if (flow)
		task->wake_flow = flow;
	if (!row)
		return;
	cause_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, wake->wake_cause);
	instant__open(px, row, CATEGORY_TASK_WAKE, time);
	annotate__task(px, task);
	if (object)
		annotate__hex(px, ANNOTATION_OBJECT, object);
	annotate__text(px, ANNOTATION_CAUSE, cause_iid, wake->wake_cause);
	if (flow)
		event__flow(px, flow);
	if (shared)
		event__flow(px, shared);
	event__close(px);
}

void op__task_instant(void *ctx, struct model_task *model, enum model_instant kind,
		      struct model_thread *thread, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = drawn_task__get(px, model, time);

	if (!task)
		return;
	stack__next(px, thread ? thread->stack : 0);
	switch (kind) {
	case INSTANT_STAGED:
		task__state_instant(px, task, CATEGORY_TASK_STAGED, model, time);
		break;
	case INSTANT_CREATED:
		if (model->stays == 0 && thread)
			task__spawned(px, task, thread, time);
		task__state_instant(px, task, CATEGORY_TASK_CREATED, model, time);
		break;
	case INSTANT_YIELDED:
		task__state_instant(px, task, CATEGORY_TASK_YIELDED, NULL, time);
		break;
	case INSTANT_RESUMED:
		task__woken(px, task, model, thread, time);
		break;
	case INSTANT_COMPLETED:
		task__state_instant(px, task, CATEGORY_TASK_COMPLETED, NULL, time);
		break;
	case INSTANT_DESTROYED:
		task__state_instant(px, task, CATEGORY_TASK_DESTROYED, NULL, time);
		break;
	case INSTANT_RENAMED:
		task->name = model->name;
		task__state_instant(px, task, CATEGORY_TASK_RENAMED, model, time);
		break;
	case INSTANT_READY: /* the gap `ready` begins there */
		break;
	}
	px->stacks.next = 0;
}

static struct slice *stay__slice(struct perfetto *px, const struct model_stay *stay,
				 struct drawn_task *task, enum slice_kind kind)
{
	struct slice *slice =
		slice__new(px, kind, kind == SLICE_RUN ? CATEGORY_TASK_RUN : CATEGORY_WORKER_TASK,
			   FORM_PLAIN, stay->task->name, task->stay ? task->stay->name_iid : 0);

	if (!slice)
		return NULL;
	slice->owner = task;
	slice->key = task->serial;
	slice->object = task->identity;
	slice->worker = stay->worker;
	return slice;
}

void op__stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = drawn_task__get(px, stay->task, time);
	struct drawn_thread *thread = drawn_thread__get(px, stay->thread);
	uint64_t arrows[2];

	if (!task || !thread)
		return;
	if (task->stay)
		op__stay_end(px, stay, time, STAY_CUT);
	if (!task->row)
		row__assign(px, task, true, time);
	future__no_waiter(px, task);
	arrows[0] = task->create_flow;
	arrows[1] = task->wake_flow;
	task->create_flow = 0;
	task->wake_flow = 0;
	task->stay = stay__slice(px, stay, task, SLICE_STAY);
	if (!task->stay)
		return;
	row__push(px, &thread->row, task->stay, time, task->row ? NULL : arrows);
	task->host = &thread->row;
	if (task->row) {
		task->run = stay__slice(px, stay, task, SLICE_RUN);
		if (!task->run)
			return;
		if (px->info.tracks == EXPORT_LANES)
			row__move(task->process, task->row, LIST_NONE);
		row__push(px, task->row, task->run, time, arrows);
		task->host = task->row;
	}
	row__unpark(px, task, time);
}

void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = stay->task->priv[px->slot];
	struct slice *slice;

	if (!task)
		return;
	slice = task->run;
	task->run = NULL;
	if (slice) {
		slice->cut = how == STAY_CUT;
		row__remove(px, slice, task, NULL, NULL, time);
	}
	slice = task->stay;
	task->stay = NULL;
	if (slice) {
		slice->cut = how == STAY_CUT;
		row__remove(px, slice, task, NULL, NULL, time);
	}
	task->host = NULL;
	if (task->row && px->info.tracks == EXPORT_LANES)
		row__move(task->process, task->row, LIST_READY);
}

static void gap__name(const struct model_gap *gap, enum perfetto_category *category, uint32_t *name)
{
	switch (gap->kind) {
	case GAP_READY:
		*category = CATEGORY_TASK_READY;
		*name = NAME_READY;
		return;
	case GAP_SUSPENDED:
		*category = CATEGORY_TASK_SUSPENDED;
		*name = gap->reason && *gap->reason ? 0 : NAME_SUSPENDED;
		return;
	case GAP_STOPPED:
		break;
	}
	*category = CATEGORY_TASK_STOPPED;
	*name = NAME_STOPPED;
}

void op__gap_begin(void *ctx, struct model_task *model, const struct model_gap *gap, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = drawn_task__get(px, model, time);
	enum perfetto_category category;
	uint32_t name;

	if (!task)
		return;
	if (gap->kind == GAP_SUSPENDED) {
		task->object = gap->object;
		future__waiter(px, task, gap->object);
	}
	if (px->info.tracks == EXPORT_WORKERS)
		return;
	task->presumed = gap->presumed;
	if (gap->presumed)
		return;
	if (!task->row)
		row__assign(px, task, false, time);
	if (!task->row) {
		px->tally.gaps_without_row++;
		return;
	}
	gap__name(gap, &category, &name);
	task->gap = slice__new(px, SLICE_GAP, category, FORM_SUSPENDED,
			       gap->kind == GAP_SUSPENDED ? gap->reason : NULL, name);
	if (!task->gap)
		return;
	task->gap->owner = task;
	task->gap->stack = gap->stack;
	task->gap->object = gap->kind == GAP_SUSPENDED ? gap->object : 0;
	if (px->info.tracks == EXPORT_LANES)
		row__move(task->process, task->row,
			  gap->kind == GAP_READY ? LIST_READY : LIST_SUSPENDED);
	row__push(px, task->row, task->gap, time, NULL);
}

/* a gap that was only presumed is known to have been one: drawn as a whole, its begin in the past
 */
static void gap__draw_late(struct perfetto *px, struct drawn_task *task,
			   const struct model_gap *gap, uint64_t time)
{
	uint64_t begin = gap->begin > task->row_since ? gap->begin : task->row_since;

	event__open_at(px, task->row, EVENT_BEGIN, begin < time ? begin : time);
	event__title(px, CATEGORY_TASK_READY, NAME_READY, FORM_PLAIN, NULL);
	if (px->info.tracks == EXPORT_LANES)
		annotate__task(px, task);
	event__close(px);
	event__open(px, task->row, EVENT_END, time);
	if (gap->cut)
		annotate__bool(px, ANNOTATION_CUT, true);
	event__close(px);
	px->tally.begins[CATEGORY_TASK_READY]++;
	px->tally.ends++;
}

void op__gap_end(void *ctx, struct model_task *model, const struct model_gap *gap, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = model->priv[px->slot];
	struct slice *slice;

	if (!task)
		return;
	slice = task->gap;
	task->gap = NULL;
	if (slice) {
		row__remove(px, slice, NULL, gap, NULL, time);
	} else if (task->presumed && !gap->superseded) {
		if (task->row)
			gap__draw_late(px, task, gap, time);
		else
			px->tally.gaps_without_row++;
	}
	task->presumed = false;
}

void op__task_gone(void *ctx, struct model_task *model, uint64_t time, bool finished)
{
	struct perfetto *px = ctx;
	struct drawn_task *task = model->priv[px->slot];

	(void)finished;
	if (!task)
		return;
	if (task->gap)
		row__remove(px, task->gap, NULL, NULL, NULL, time);
	if (task->run)
		row__remove(px, task->run, task, NULL, NULL, time);
	if (task->stay)
		row__remove(px, task->stay, task, NULL, NULL, time);
	while (task->parked) {
		struct slice *slice = task->parked;

		task->parked = slice->below;
		slice->below = NULL;
		slice->owner = NULL;
		if (slice->kind != SLICE_ZONE)
			slice__free(px, slice);
	}
	future__no_waiter(px, task);
	if (task->row)
		row__release(px, task->row);
	pool__give(&px->tasks, task);
	model->priv[px->slot] = NULL;
}
