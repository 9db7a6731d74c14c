// SPDX-License-Identifier: BSD-2-Clause
/* The Chrome export as a whole; processes, threads, and tasks. See chrome.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/say.h"
#include "chrome.h"

/* sort_index: workers by number, then other threads, then tasks */
enum { RANK_OTHER_THREADS = 100000, RANK_LANES = 200000, RANK_CAPTURE = 900000 };

/* Processes and threads */

static void process__metadata(struct chrome *ch, struct chrome_process *process,
			      const struct model_process *model)
{
	chrome_event__begin(ch, 'M', NULL, NULL, "process_name", &process->own, 0);
	chrome_arg__text(ch, "name", model->name && *model->name ? model->name : "process");
	chrome_event__finish(ch);
	if (!model->cmdline || !*model->cmdline)
		return;
	chrome_event__begin(ch, 'M', NULL, NULL, "process_labels", &process->own, 0);
	chrome_arg__text(ch, "labels", model->cmdline);
	chrome_event__finish(ch);
}

struct chrome_process *chrome_process__get(struct chrome *ch, struct model_process *model)
{
	struct chrome_process *process = model->priv[ch->slot];
	uint32_t again = 0;

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process) {
		ch->err = -ENOMEM;
		return NULL;
	}
	/* a pid that is used again must not continue the rows of the first */
	for (struct chrome_process *other = ch->processes; other; other = other->next)
		again += other->pid % (1U << 22) == model->pid % (1U << 22);
	process->index = model->index;
	process->pid = model->pid + (again << 22);
	process->next = ch->processes;
	ch->processes = process;
	model->priv[ch->slot] = process;
	chrome_row__init(ch, &process->own, process->pid, model->pid, NULL, 0);
	chrome_row__init(ch, &process->counters, process->pid, 0, NULL, 0);
	process__metadata(ch, process, model);
	return process;
}

static void op__process(void *ctx, struct model_process *model, uint64_t time)
{
	struct chrome *ch = ctx;
	bool known = model->priv[ch->slot] != NULL;
	struct chrome_process *process = chrome_process__get(ch, model);

	(void)time;
	/* told again: an exec has given it another name */
	if (process && known)
		process__metadata(ch, process, model);
}

struct chrome_thread *chrome_thread__get(struct chrome *ch, struct model_thread *model)
{
	struct chrome_thread *thread = model->priv[ch->slot];

	if (thread)
		return thread;
	thread = pool__take(&ch->threads);
	if (!thread) {
		ch->err = -ENOMEM;
		return NULL;
	}
	thread->process = chrome_process__get(ch, model->process);
	if (!thread->process)
		return NULL;
	thread->named_worker = MODEL_NO_WORKER;
	model->priv[ch->slot] = thread;
	chrome_row__init(ch, &thread->row, thread->process->pid, model->tid, NULL, 0);
	return thread;
}

/* a thread has a row from its first event on; it is named again when it becomes a worker */
static void op__thread(void *ctx, struct model_thread *model, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_thread *thread = chrome_thread__get(ch, model);
	bool worker = model->worker != MODEL_NO_WORKER;
	uint32_t tid = model->tid, pid;
	char name[80], kernel[96];

	(void)time;
	if (!thread || (thread->row.named && !worker))
		return;
	if (worker && thread->named_worker == model->worker && thread->named == model->name)
		return;
	pid = thread->process->pid;
	thread->named_worker = model->worker;
	thread->named = model->name;
	if (!worker)
		snprintf(name, sizeof(name), "thread %u", tid);
	else if (model->name && *model->name)
		snprintf(name, sizeof(name), "%s", model->name);
	else
		snprintf(name, sizeof(name), "worker %u", model->worker);
	chrome_row__init(ch, &thread->row, pid, tid, name,
			 worker ? (int64_t)(model->worker % 50000) * 2
				: RANK_OTHER_THREADS + tid % 50000);
	if (!worker)
		return;
	snprintf(kernel, sizeof(kernel), "%s kernel", name);
	chrome_row__init(ch, &thread->kernel, pid, TID_KERNEL + tid, kernel,
			 (int64_t)(model->worker % 50000) * 2 + 1);
}

static void op__thread_gone(void *ctx, struct model_thread *model, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_thread *thread = model->priv[ch->slot];

	if (!thread)
		return;
	chrome_row__close(ch, &thread->row, time);
	pool__give(&ch->threads, thread);
	model->priv[ch->slot] = NULL;
}

struct chrome_row *chrome__host(struct chrome *ch, struct model_thread *thread,
				struct model_task *task)
{
	struct chrome_task *drawn = task ? task->priv[ch->slot] : NULL;
	struct chrome_thread *on;

	if (drawn && drawn->host)
		return drawn->host;
	on = thread ? chrome_thread__get(ch, thread) : NULL;
	return on ? &on->row : NULL;
}

/* Lanes */

static void lane__take(struct chrome *ch, struct chrome_task *task, const struct model_task *model,
		       uint64_t time)
{
	struct chrome_process *process = task->process;
	bool own = ch->tracks == EXPORT_TASK;
	struct chrome_lane *lane = process->free_lanes;
	char name[160];

	if (ch->tracks == EXPORT_WORKERS)
		return;
	if (lane) {
		process->free_lanes = lane->next;
	} else if (own || process->lanes < CHROME_LANES_MAX) {
		lane = pool__take(&ch->lanes);
		if (!lane) {
			ch->err = -ENOMEM;
			return;
		}
		if (own)
			snprintf(name, sizeof(name), "%.100s 0x%" PRIx64, model->name,
				 model->identity);
		else
			snprintf(name, sizeof(name), "tasks %u", process->lanes);
		process->lanes++;
		chrome_row__init(ch, &lane->row, process->pid,
				 TID_LANES + (uint32_t)((own ? model->serial : process->lanes) %
							(TID_CHANNELS - TID_LANES)),
				 name,
				 RANK_LANES + (int64_t)(own ? model->serial : process->lanes));
	}
	task->lane = lane;
	task->lane_since = time;
}

static void lane__give(struct chrome *ch, struct chrome_task *task)
{
	struct chrome_lane *lane = task->lane;

	task->lane = NULL;
	if (!lane)
		return;
	/* with a row for each task, nobody else gets this one */
	if (ch->tracks == EXPORT_TASK) {
		pool__give(&ch->lanes, lane);
		return;
	}
	lane->next = task->process->free_lanes;
	task->process->free_lanes = lane;
}

/* Tasks */

static struct chrome_task *chrome_task__get(struct chrome *ch, struct model_task *model,
					    uint64_t time)
{
	struct chrome_task *task = model->priv[ch->slot];

	if (task)
		return task;
	task = pool__take(&ch->tasks);
	if (!task) {
		ch->err = -ENOMEM;
		return NULL;
	}
	task->process = chrome_process__get(ch, model->process);
	if (!task->process)
		return NULL;
	task->identity = model->identity;
	model->priv[ch->slot] = task;
	lane__take(ch, task, model, time);
	return task;
}

static void op__task_born(void *ctx, struct model_task *task, uint64_t time)
{
	chrome_task__get(ctx, task, time);
}

static void task__state(struct chrome *ch, const struct chrome_task *task, const char *category,
			const struct model_task *birth, uint64_t time)
{
	if (ch->tracks == EXPORT_WORKERS)
		return;
	chrome__instant(ch, task->lane ? &task->lane->row : &task->process->own, category, time);
	chrome_arg__hex(ch, "task", task->identity);
	if (birth)
		chrome_arg__text(ch, "name", birth->name);
	if (birth && birth->parent)
		chrome_arg__hex(ch, "parent", birth->parent);
	chrome_event__finish(ch);
}

/* an instant inside whoever caused a later run, and the start of the arrow to it */
static void task__arrow(struct chrome *ch, const struct chrome_task *task,
			const struct model_task *wake, struct model_thread *thread, uint64_t flow,
			uint64_t time)
{
	struct model_task *by = thread && thread->top ? thread->top->task : NULL;
	struct chrome_row *row = chrome__host(ch, thread, by);
	uint64_t object = wake && wake->wake_object ? wake->wake_object : wake ? task->object : 0;
	const char *category = wake ? "task.wake" : "task.spawn";
	bool handler;

	if (!row)
		return;
	handler = !wake && chrome_asio__is_next(ch, task->identity);
	chrome__instant_named(ch, row, category, handler ? ch->asio.operation : category, time);
	chrome_arg__hex(ch, "task", task->identity);
	if (handler)
		chrome_asio__created_args(ch);
	if (object)
		chrome_arg__hex(ch, "object", object);
	if (wake)
		chrome_arg__text(ch, "cause", wake->wake_cause);
	chrome_event__finish(ch);
	if (flow)
		chrome__flow(ch, 's', category, flow, row, time);
}

static void op__task_instant(void *ctx, struct model_task *model, enum model_instant kind,
			     struct model_thread *thread, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = chrome_task__get(ch, model, time);

	if (!task)
		return;
	switch (kind) {
	case INSTANT_STAGED:
		task__state(ch, task, "task.staged", model, time);
		break;
	case INSTANT_CREATED:
		if (model->stays == 0 && thread) {
			task->create_flow = ++ch->flows_made;
			task__arrow(ch, task, NULL, thread, task->create_flow, time);
		}
		task__state(ch, task, "task.created", model, time);
		break;
	case INSTANT_YIELDED:
		task__state(ch, task, "task.yielded", NULL, time);
		break;
	case INSTANT_RESUMED:
		/* the run that it led to has begun already: it stands in it, but has no arrow */
		task->wake_flow = model->wake_late ? 0 : ++ch->flows_made;
		task__arrow(ch, task, model, thread, task->wake_flow, time);
		break;
	case INSTANT_COMPLETED:
		task__state(ch, task, "task.completed", NULL, time);
		break;
	case INSTANT_DESTROYED:
		task__state(ch, task, "task.destroyed", NULL, time);
		break;
	case INSTANT_RENAMED:
		task__state(ch, task, "task.renamed", model, time);
		break;
	case INSTANT_READY: /* the gap `ready` begins there */
		break;
	}
}

static struct chrome_slice *stay__slice(struct chrome *ch, const struct model_stay *stay,
					struct chrome_task *task, const char *category)
{
	struct chrome_slice *slice =
		chrome_slice__new(ch, SLICE_RUN, category, NULL, stay->task->name);

	if (!slice)
		return NULL;
	slice->owner = task;
	slice->object = task->identity;
	slice->worker = stay->worker;
	return slice;
}

static void task__arrows_end(struct chrome *ch, struct chrome_task *task,
			     const struct chrome_row *row, uint64_t time)
{
	if (task->create_flow)
		chrome__flow(ch, 'f', "task.spawn", task->create_flow, row, time);
	if (task->wake_flow)
		chrome__flow(ch, 'f', "task.wake", task->wake_flow, row, time);
	task->create_flow = task->wake_flow = 0;
}

static void op__stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = chrome_task__get(ch, stay->task, time);
	struct chrome_thread *thread = chrome_thread__get(ch, stay->thread);

	if (!task || !thread)
		return;
	if (!task->lane)
		lane__take(ch, task, stay->task, time);
	task->host = task->lane ? &task->lane->row : &thread->row;
	task->stay = stay__slice(ch, stay, task, "worker.task");
	if (task->stay)
		chrome_row__push(ch, &thread->row, task->stay, time);
	if (task->lane) {
		task->run = stay__slice(ch, stay, task, "task.run");
		if (task->run)
			chrome_row__push(ch, &task->lane->row, task->run, time);
	}
	/* in the slice that has just begun */
	task__arrows_end(ch, task, task->host, time);
	chrome_row__unpark(ch, task->host, task, time);
}

static void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = stay->task->priv[ch->slot];

	if (!task)
		return;
	if (task->run) {
		task->run->cut = how == STAY_CUT;
		chrome_row__remove(ch, task->run, task, time);
	}
	if (task->stay) {
		task->stay->cut = how == STAY_CUT;
		chrome_row__remove(ch, task->stay, task, time);
	}
	task->run = task->stay = NULL;
	task->host = NULL;
}

static struct chrome_slice *gap__slice(struct chrome *ch, struct chrome_task *task,
				       const struct model_gap *gap)
{
	bool named = gap->kind == GAP_SUSPENDED && gap->reason && *gap->reason;
	struct chrome_slice *slice =
		gap->kind == GAP_READY
			? chrome_slice__new(ch, SLICE_GAP, "task.ready", NULL, "ready")
		: gap->kind == GAP_STOPPED
			? chrome_slice__new(ch, SLICE_GAP, "task.stopped", NULL, "stopped")
			: chrome_slice__new(ch, SLICE_GAP, "task.suspended",
					    named ? "suspended: " : NULL,
					    named ? gap->reason : "suspended");

	if (!slice)
		return NULL;
	slice->owner = task;
	slice->key = task->identity;
	slice->object = gap->kind == GAP_SUSPENDED ? gap->object : 0;
	return slice;
}

static void op__gap_begin(void *ctx, struct model_task *model, const struct model_gap *gap,
			  uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = chrome_task__get(ch, model, time);

	if (!task)
		return;
	if (gap->kind == GAP_SUSPENDED)
		task->object = gap->object;
	task->presumed = gap->presumed;
	if (gap->presumed || ch->tracks == EXPORT_WORKERS)
		return;
	if (!task->lane)
		lane__take(ch, task, model, time);
	if (!task->lane) {
		ch->without_lane++;
		return;
	}
	task->gap = gap__slice(ch, task, gap);
	if (task->gap)
		chrome_row__push(ch, &task->lane->row, task->gap, time);
}

static void op__gap_end(void *ctx, struct model_task *model, const struct model_gap *gap,
			uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = model->priv[ch->slot];

	if (!task)
		return;
	/* one that was only presumed is known to have been one */
	if (!task->gap && task->presumed && !gap->superseded && ch->tracks != EXPORT_WORKERS) {
		if (task->lane)
			task->gap = gap__slice(ch, task, gap);
		else
			ch->without_lane++;
		if (task->gap)
			chrome_row__push(ch, &task->lane->row, task->gap,
					 gap->begin > task->lane_since ? gap->begin
								       : task->lane_since);
	}
	task->presumed = false;
	if (!task->gap)
		return;
	task->gap->cause = gap->cause;
	task->gap->waker = gap->resumed ? gap->waker_tid : 0;
	task->gap->cut = gap->cut;
	chrome_row__remove(ch, task->gap, NULL, time);
	task->gap = NULL;
}

static void op__task_gone(void *ctx, struct model_task *model, uint64_t time, bool finished)
{
	struct chrome *ch = ctx;
	struct chrome_task *task = model->priv[ch->slot];

	(void)finished;
	if (!task)
		return;
	if (task->gap)
		chrome_row__remove(ch, task->gap, NULL, time);
	if (task->run)
		chrome_row__remove(ch, task->run, task, time);
	if (task->stay)
		chrome_row__remove(ch, task->stay, task, time);
	/* the ends of zones come later, and free their slices */
	while (task->parked) {
		struct chrome_slice *slice = task->parked;

		task->parked = slice->below;
		slice->owner = NULL;
		if (slice->kind != SLICE_ZONE)
			chrome_slice__free(ch, slice);
	}
	lane__give(ch, task);
	pool__give(&ch->tasks, task);
	model->priv[ch->slot] = NULL;
}

/* The capture itself */

static void op__kernel(void *ctx, struct model_thread *model, const struct model_kernel *stretch,
		       uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_thread *thread = chrome_thread__get(ch, model);
	const char *name = stretch->state == KERNEL_RUNNING   ? "running"
			   : stretch->state == KERNEL_BLOCKED ? "blocked"
			   : stretch->preempted		      ? "preempted"
							      : "waits for a CPU";

	/* as in the Perfetto trace, workers have such a row, others have not */
	if (!thread || !thread->kernel.named)
		return;
	/* one of no length is known by when the next begins */
	if (time <= stretch->begin)
		return;
	chrome_event__begin(ch, 'B', "kernel.state", NULL, name, &thread->kernel, stretch->begin);
	if (stretch->cpu != MODEL_NO_CPU)
		chrome_arg__uint(ch, "cpu", stretch->cpu);
	chrome_arg__text(ch, "by", stretch->by);
	if (stretch->task)
		chrome_arg__hex(ch, "task", stretch->task);
	chrome_event__finish(ch);
	chrome_event__begin(ch, 'E', NULL, NULL, name, &thread->kernel, time);
	chrome_event__finish(ch);
}

static void op__lost(void *ctx, struct model_process *model, const struct model_loss *loss,
		     uint64_t time)
{
	static const char *const causes[LOSS_KINDS] = {
		[LOSS_RING_FULL] = "ring_full",
		[LOSS_TARGET_OVERRUN] = "target_ring_overrun",
		[LOSS_READ_FAULT] = "read_fault",
	};
	struct chrome *ch = ctx;
	struct chrome_process *process = model ? chrome_process__get(ch, model) : ch->processes;
	uint64_t to = loss->to ? loss->to : time;
	uint64_t from = loss->from && loss->from < to ? loss->from : to;

	if (!process)
		return;
	if (!process->capture.named)
		chrome_row__init(ch, &process->capture, process->pid, TID_CAPTURE, "Capture",
				 RANK_CAPTURE);
	/* two threads' losses may overlap, which slices of one row must not: as async events */
	chrome_event__begin(ch, 'b', "lost", NULL, "lost", &process->capture, from);
	emit__lit(&ch->out, ",\"id\":");
	emit__u64(&ch->out, ++ch->flows_made);
	chrome_arg__uint(ch, "records", loss->records);
	chrome_arg__uint(ch, "tid", loss->tid);
	if ((unsigned int)loss->cause < LOSS_KINDS)
		chrome_arg__text(ch, "cause", causes[loss->cause]);
	chrome_event__finish(ch);
	chrome_event__begin(ch, 'e', "lost", NULL, "lost", &process->capture, to);
	emit__lit(&ch->out, ",\"id\":");
	emit__u64(&ch->out, ch->flows_made);
	chrome_event__finish(ch);
}

static void op__end(void *ctx, uint64_t time)
{
	chrome__close_things(ctx, time);
}

/* what is known of the capture stands at the end, where it is known */
static void chrome__finish(struct chrome *ch)
{
	const struct trace_totals *totals = trace__totals(ch->trace);
	struct emit *out = &ch->out;

	emit__room(out, 4096);
	emit__lit(out, "\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"clock\":\"BOOTTIME, ");
	emit__text(out, totals->clock ? totals->clock : "unknown");
	emit__lit(out, "\",\"clock_error_ns\":");
	emit__u64(out, totals->clock_error_ns);
	emit__lit(out, ",\"records\":");
	emit__u64(out, totals->records);
	emit__lit(out, ",\"lost\":");
	emit__u64(out, totals->lost);
	emit__lit(out, ",\"complete\":");
	emit__text(out, totals->complete ? "true" : "false");
	emit__lit(out, "}}\n");
}

static int chrome__run(struct chrome *ch, struct trace *trace, const struct export_options *options,
		       char **why)
{
	struct model_ops ops = {
		.process = op__process,
		.thread = op__thread,
		.thread_gone = op__thread_gone,
		.task_born = op__task_born,
		.task_instant = op__task_instant,
		.stay_begin = op__stay_begin,
		.stay_end = op__stay_end,
		.gap_begin = op__gap_begin,
		.gap_end = op__gap_end,
		.task_gone = op__task_gone,
		.kernel = op__kernel,
		.lost = op__lost,
		.end = op__end,
	};
	struct feed feed = {.trace = trace, .options = options, .err = &ch->err};
	int err;

	chrome__add_event_ops(&ops);
	emit__lit(&ch->out, "{\"traceEvents\":[\n");
	feed.model = model__new();
	ch->slot = feed.model ? model__add_sink(feed.model, &ops, ch) : -ENOMEM;
	err = ch->slot < 0 ? ch->slot : feed__run(&feed);
	if (!err) {
		chrome__finish(ch);
		err = emit__flush(&ch->out);
	}
	model__free(feed.model);
	if (err)
		*why = feed__error(&feed, options->path, err);
	return err;
}

static void chrome__free(struct chrome *ch)
{
	struct pool *pools[] = {&ch->threads, &ch->tasks, &ch->slices,
				&ch->notes,   &ch->rows,  &ch->lanes};

	while (ch->processes) {
		struct chrome_process *process = ch->processes;

		ch->processes = process->next;
		free(process);
	}
	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++)
		pool__free(pools[i]);
	map__free(&ch->things);
	map__free(&ch->flows);
	palette__free(&ch->colors);
}

int export__chrome(struct trace *trace, const struct export_options *options, char **err)
{
	struct chrome ch = {
		.trace = trace,
		.tracks = options->tracks,
		.threads.size = sizeof(struct chrome_thread),
		.tasks.size = sizeof(struct chrome_task),
		.slices.size = sizeof(struct chrome_slice),
		.notes.size = sizeof(struct chrome_note),
		.rows.size = sizeof(struct chrome_row),
		.lanes.size = sizeof(struct chrome_lane),
	};
	char *why = NULL;
	int result = emit__open(&ch.out, options->path, options->compression), closed;

	if (!result)
		result = chrome__run(&ch, trace, options, &why);
	closed = emit__close(&ch.out);
	if (!result)
		result = closed;
	if (result && !why)
		why = sentence__new("%s: cannot write: %s; choose another place with -o",
				    options->path, strerror(-result));
	if (!result && ch.without_lane)
		say__info("%s: more than %u tasks alive at once: %" PRIu64
			  " waits are not drawn (--tracks=task gives each task a row of its own)",
			  options->path, CHROME_LANES_MAX, ch.without_lane);
	if (!result && ch.without_row)
		say__info("%s: more than %u channels and frames: %" PRIu64
			  " events of further ones are not drawn",
			  options->path, CHROME_THINGS_MAX, ch.without_row);
	chrome__free(&ch);
	if (err)
		*err = why;
	else
		free(why);
	return result;
}
