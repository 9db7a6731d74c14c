// SPDX-License-Identifier: BSD-2-Clause
/* Threads and what runs on them, tasks: into the spool of the Paraver export. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "paraver.h"

/* Records */

static uint64_t spool__put(struct paraver *prv, const struct prv_row *row, enum prv_kind kind,
			   uint64_t time, uint64_t a, uint64_t b)
{
	const struct prv_record record = {
		.time = time,
		.a = a,
		.b = b,
		.row = row->number,
		.cpu = row->is_channel ? 0 : row->cpu,
		.kind = (uint8_t)kind,
	};

	prv->last = time;
	if (prv->spool.err && !prv->err)
		prv->err = prv->spool.err;
	return spool__add(&prv->spool, &record);
}

void prv__event(struct paraver *prv, const struct prv_row *row, uint64_t type, uint64_t value,
		uint64_t time)
{
	spool__put(prv, row, PRV_EVENT, time, type, value);
}

uint64_t prv__send(struct paraver *prv, const struct prv_row *row, enum prv_tag tag, uint64_t bytes,
		   uint64_t time)
{
	spool__put(prv, row, PRV_SEND, time, tag, bytes);
	return spool__put(prv, row, PRV_RECEIVE, time, PRV_NEVER, 0);
}

void prv__receive(struct paraver *prv, uint64_t sent, const struct prv_row *row, uint64_t time)
{
	const struct prv_record record = {
		.time = time,
		.row = row->number,
		.cpu = row->is_channel ? 0 : row->cpu,
		.kind = PRV_RECEIVE,
	};

	if (sent)
		spool__set_arrival(&prv->spool, sent, &record);
}

/* Processes and rows */

struct prv_process *prv_process__get(struct paraver *prv, struct model_process *model)
{
	struct prv_process *process = model->priv[prv->slot];
	const struct trace_process *info;

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process) {
		prv->err = -ENOMEM;
		return NULL;
	}
	info = trace__process(prv->trace, model->index);
	process->model = model;
	process->host = info && info->host ? info->host : "host";
	process->index = model->index;
	process->pid = model->pid;
	*prv->processes_end = process;
	prv->processes_end = &process->next;
	model->priv[prv->slot] = process;
	return process;
}

static struct prv_row *row__new(struct paraver *prv, struct prv_process *process)
{
	struct prv_row *row;

	if (prv->row_count == prv->row_size) {
		uint32_t size = prv->row_size ? prv->row_size * 2 : 64;
		struct prv_row **rows = realloc(prv->rows, size * sizeof(*rows));

		if (!rows) {
			prv->err = -ENOMEM;
			return NULL;
		}
		prv->rows = rows;
		prv->row_size = size;
	}
	row = pool__take(&prv->row_pool);
	if (!row) {
		prv->err = -ENOMEM;
		return NULL;
	}
	row->number = prv->row_count;
	row->worker = MODEL_NO_WORKER;
	row->state = -1;
	row->process = process;
	row->next = process->rows;
	process->rows = row;
	process->row_count++;
	prv->rows[prv->row_count++] = row;
	return row;
}

/* the row of a thread that has ended, and was no worker */
static struct prv_row *row__idle(struct prv_process *process)
{
	struct prv_row *row = process->rows;

	while (row && (row->in_use || row->is_channel || row->worker != MODEL_NO_WORKER))
		row = row->next;
	return row;
}

struct prv_row *prv_row__of(struct paraver *prv, struct model_thread *thread)
{
	struct prv_row *row = thread->priv[prv->slot];
	struct prv_process *process;

	if (row)
		return row;
	process = prv_process__get(prv, thread->process);
	if (!process)
		return NULL;
	/* a worker that another thread was before goes on in its row */
	row = thread->worker != MODEL_NO_WORKER ? map__get(&process->workers, thread->worker, 0)
						: NULL;
	if (!row || row->in_use)
		row = row__idle(process);
	if (!row)
		row = row__new(prv, process);
	if (!row)
		return NULL;
	row->in_use = true;
	row->cpu = 0;
	if (row->worker == MODEL_NO_WORKER)
		row->tid = thread->tid;
	thread->priv[prv->slot] = row;
	return row;
}

struct prv_row *prv_row__channel(struct paraver *prv, struct prv_process *process, uint32_t channel,
				 uint64_t time)
{
	struct prv_row *row;

	if (channel < 64 && process->low_channels[channel])
		return process->low_channels[channel];
	row = map__get(&process->channels, channel, 0);
	if (row || process->channel_count >= PRV_CHANNELS_MAX)
		return row;
	row = row__new(prv, process);
	if (!row)
		return NULL;
	if (map__put(&process->channels, channel, 0, row))
		prv->err = -ENOMEM;
	process->channel_count++;
	row->is_channel = row->in_use = true;
	row->channel = channel;
	if (channel < 64)
		process->low_channels[channel] = row;
	prv_row__update(prv, row, time);
	return row;
}

static int row__state(const struct prv_row *row)
{
	/* where there is no state readers take it as 0, which is idle */
	if (row->is_channel)
		return row->marker ? PRV_STATE_MARKER : -1;
	return row->stays		     ? PRV_STATE_RUNNING
	       : row->spans[SPAN_BULK]	     ? PRV_STATE_BULK
	       : row->spans[SPAN_SLEEP]	     ? PRV_STATE_SLEEP
	       : row->spans[SPAN_BACKGROUND] ? PRV_STATE_BACKGROUND
					     : PRV_STATE_IDLE;
}

void prv_row__update(struct paraver *prv, struct prv_row *row, uint64_t time)
{
	int state = row__state(row);

	if (state == row->state)
		return;
	prv_row__end(prv, row, time);
	if (state < 0)
		return;
	row->state = state;
	row->state_record = spool__put(prv, row, PRV_STATE, time, PRV_NEVER, (uint64_t)row->state);
}

void prv_row__end(struct paraver *prv, struct prv_row *row, uint64_t time)
{
	if (row->state >= 0)
		spool__set_end(&prv->spool, row->state_record, time);
	row->state = -1;
}

static void op__process(void *ctx, struct model_process *process, uint64_t time)
{
	(void)time;
	prv_process__get(ctx, process);
}

/* a row is a worker's from when its thread is known to be one, if no other row is */
static void op__thread(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_process *process = prv_process__get(prv, thread->process);
	struct prv_row *row = thread->priv[prv->slot];

	if (thread->worker == MODEL_NO_WORKER || !process)
		return;
	if (!row)
		row = prv_row__of(prv, thread);
	if (!row)
		return;
	if (row->worker == MODEL_NO_WORKER) {
		row->worker = thread->worker;
		if (!map__get(&process->workers, thread->worker, 0) &&
		    map__put(&process->workers, thread->worker, 0, row))
			prv->err = -ENOMEM;
	}
	if (thread->name)
		row->name = thread->name;
	prv_row__update(prv, row, time);
}

static void op__thread_gone(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *row = thread->priv[prv->slot];

	if (!row)
		return;
	prv_row__end(prv, row, time);
	row->in_use = false;
	row->stays = 0;
	memset(row->spans, 0, sizeof(row->spans));
	thread->priv[prv->slot] = NULL;
}

static void op__sched(void *ctx, const struct model_sched *change, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *row = change->thread ? change->thread->priv[prv->slot] : NULL;

	/* what the kernel does with a thread before its first point is no event of a row */
	if (!row)
		return;
	if (change->state == KERNEL_RUNNING && change->cpu < UINT16_MAX - 1)
		row->cpu = (uint16_t)(change->cpu + 1);
	if (row->cpu > row->process->cpus)
		row->process->cpus = row->cpu;
	prv__event(prv, row, PRV_KERNEL, change->state, time);
}

/* Tasks */

static struct prv_task *task__get(struct paraver *prv, struct model_task *model)
{
	struct prv_task *task = model->priv[prv->slot];

	if (task)
		return task;
	task = pool__take(&prv->task_pool);
	if (!task)
		prv->err = -ENOMEM;
	model->priv[prv->slot] = task;
	return task;
}

static void op__task_instant(void *ctx, struct model_task *model, enum model_instant kind,
			     struct model_thread *thread, uint64_t time)
{
	static const uint32_t types[] = {
		[INSTANT_STAGED] = PRV_STAGED,	     [INSTANT_CREATED] = PRV_CREATED,
		[INSTANT_READY] = PRV_READY,	     [INSTANT_YIELDED] = 0,
		[INSTANT_RESUMED] = PRV_RESUMED,     [INSTANT_COMPLETED] = PRV_COMPLETED,
		[INSTANT_DESTROYED] = PRV_DESTROYED, [INSTANT_RENAMED] = PRV_RENAMED,
	};
	struct paraver *prv = ctx;
	struct prv_row *row = thread ? prv_row__of(prv, thread) : NULL;
	struct prv_task *task;

	/* that a task yielded is said by the end of its stay */
	if (!row || !types[kind])
		return;
	prv__event(prv, row, types[kind],
		   kind == INSTANT_RESUMED ? label__number(prv, GROUP_CAUSE, model->wake_cause)
					   : label__number(prv, GROUP_TASK, model->name),
		   time);
	task = kind == INSTANT_CREATED || kind == INSTANT_RESUMED ? task__get(prv, model) : NULL;
	if (!task)
		return;
	if (kind == INSTANT_CREATED && model->stays == 0)
		task->create = prv__send(prv, row, TAG_SPAWN, 0, time);
	else if (kind == INSTANT_RESUMED && !model->wake_late)
		task->wake = prv__send(prv, row, TAG_WAKE, 0, time);
}

static void stay__tell(struct paraver *prv, const struct prv_row *row,
		       const struct model_stay *stay, uint64_t time)
{
	prv__event(prv, row, PRV_TASK, stay ? label__number(prv, GROUP_TASK, stay->task->name) : 0,
		   time);
	prv__event(prv, row, PRV_TASK_NUMBER, stay ? stay->task->serial : 0, time);
}

static void op__stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *row = prv_row__of(prv, stay->thread);
	struct prv_task *task = task__get(prv, stay->task);

	if (!row || !task)
		return;
	task->row = row;
	row->stays++;
	prv_row__update(prv, row, time);
	stay__tell(prv, row, stay, time);
	prv__event(prv, row, PRV_STAY, (uint64_t)stay->number + 1, time);
	prv__receive(prv, task->create, row, time);
	prv__receive(prv, task->wake, row, time);
	task->create = task->wake = 0;
}

static void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct paraver *prv = ctx;
	struct prv_row *row = prv_row__of(prv, stay->thread);

	if (!row)
		return;
	if (row->stays)
		row->stays--;
	stay__tell(prv, row, stay->thread->top, time);
	prv__event(prv, row, PRV_STOP, (uint64_t)how + 1, time);
	prv_row__update(prv, row, time);
}

static void op__gap_begin(void *ctx, struct model_task *task, const struct model_gap *gap,
			  uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_task *own = task->priv[prv->slot];
	struct prv_process *process = prv_process__get(prv, task->process);
	struct prv_row *row = own && own->row ? own->row : process ? process->rows : NULL;

	if (gap->kind != GAP_SUSPENDED || !row)
		return;
	prv__event(prv, row, PRV_SUSPENDED, label__number(prv, GROUP_REASON, gap->reason), time);
	if (gap->object)
		prv__event(prv, row, PRV_OBJECT, gap->object, time);
}

static void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	struct paraver *prv = ctx;

	(void)time;
	(void)finished;
	if (task->priv[prv->slot])
		pool__give(&prv->task_pool, task->priv[prv->slot]);
	task->priv[prv->slot] = NULL;
}

void paraver__add_task_ops(struct model_ops *ops)
{
	ops->process = op__process;
	ops->thread = op__thread;
	ops->thread_gone = op__thread_gone;
	ops->sched = op__sched;
	ops->task_instant = op__task_instant;
	ops->stay_begin = op__stay_begin;
	ops->stay_end = op__stay_end;
	ops->gap_begin = op__gap_begin;
	ops->task_gone = op__task_gone;
}
