/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of workers. A worker is a number that a thread goes by, from its WORKER_START (or, if
 * that was before the capture, from the first event of the thread) to its WORKER_STOP, or the
 * thread's end.
 *
 * idle is the part of that life in which it is at nothing: no task, no background or bulk work, no
 * sleep. These may overlap one another (a task that sleeps), so idle is not their sum's complement.
 */
#include <errno.h>
#include <stdlib.h>
#include "figures.h"

static struct worker *worker_of(const struct report *report, const struct model_thread *thread)
{
	return thread ? thread->priv[report->sink] : NULL;
}

static void enter(struct worker *worker, enum activity activity, uint64_t time)
{
	if (!worker->at[activity].open++)
		worker->at[activity].since = time;
}

static void leave(struct worker *worker, enum activity activity, uint64_t time)
{
	/* what began before it was a worker is not its time */
	if (!worker->at[activity].open)
		return;
	if (!--worker->at[activity].open)
		worker->at[activity].total += time - worker->at[activity].since;
}

static void leave_work(struct worker *worker, enum activity activity, uint64_t time)
{
	if (!worker->at[activity].open)
		return;
	leave(worker, activity, time);
	leave(worker, AT_ANY, time);
}

static void retire(struct worker *worker, uint64_t time)
{
	if (!worker->alive)
		return;
	for (int i = 0; i < AT_ANY; i++)
		while (worker->at[i].open)
			leave_work(worker, (enum activity)i, time);
	worker->life_ns += time - worker->start;
	worker->alive = false;
}

static struct worker *add(struct report *report, const struct model_thread *thread)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (report->worker_count == report->worker_size) {
		size_t size = report->worker_size ? report->worker_size * 2 : 16;
		struct worker **list = realloc(report->workers, size * sizeof(struct worker *));

		if (!list) {
			free(worker);
			worker = NULL;
		} else {
			report->workers = list;
			report->worker_size = size;
		}
	}
	if (!worker) {
		report->err = -ENOMEM;
		return NULL;
	}
	report->workers[report->worker_count++] = worker;
	worker->process = thread->process->index;
	worker->index = thread->worker;
	worker->tid = thread->tid;
	worker->max_queue_depth = -1;
	return worker;
}

static void on_thread(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct report *report = ctx;
	struct worker *worker = worker_of(report, thread);
	uint64_t place = (uint64_t)thread->process->index << 32 | thread->tid;

	if (worker)
		retire(worker, time);
	thread->priv[report->sink] = NULL;
	if (thread->worker == MODEL_NO_WORKER || report->worker_count >= FIGURES_GROUPS_MAX)
		return;
	worker = map__get(&report->workers_by_thread, place, thread->worker);
	if (!worker) {
		worker = add(report, thread);
		if (!worker)
			return;
		worker->start = thread->first_time;
		if (map__put(&report->workers_by_thread, place, thread->worker, worker))
			report->err = -ENOMEM;
	} else {
		worker->start = time;
	}
	worker->alive = true;
	if (!worker->name)
		worker->name = report__copy(report, thread->name);
	if (map__put(&report->workers_by_index, thread->process->index, thread->worker, worker))
		report->err = -ENOMEM;
	thread->priv[report->sink] = worker;
}

static void on_worker_start(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct worker *worker = worker_of(ctx, thread);

	if (worker && !worker->life_ns)
		worker->start = time;
}

static void on_thread_gone(void *ctx, struct model_thread *thread, uint64_t time)
{
	struct worker *worker = worker_of(ctx, thread);

	if (worker)
		retire(worker, time);
}

/*
 * A task counts once on each worker that ran it. Which did, for workers below 64, is a bit mask in
 * the task's slot; above, a stay counts when it is not on the worker of the stay before.
 */
static bool is_new_here(struct model_stay *stay, void **slot)
{
	uintptr_t mask = (uintptr_t)*slot, bit;

	if (stay->worker >= 8 * sizeof(mask))
		return !stay->number || stay->migrated;
	bit = (uintptr_t)1 << stay->worker;
	*slot = (void *)(mask | bit);
	return !(mask & bit);
}

static void on_stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct report *report = ctx;
	struct worker *worker = worker_of(report, stay->thread);

	if (!worker)
		return;
	worker->tasks += is_new_here(stay, &stay->task->priv[report->sink]);
	enter(worker, AT_TASK, time);
	enter(worker, AT_ANY, time);
}

static void on_stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct worker *worker = worker_of(ctx, stay->thread);

	(void)how;
	if (worker)
		leave_work(worker, AT_TASK, time);
}

static enum activity activity_of(enum span_kind kind)
{
	return kind == SPAN_SLEEP ? AT_SLEEP : kind == SPAN_BULK ? AT_BULK : AT_BACKGROUND;
}

static void on_span_begin(void *ctx, struct model_thread *thread, enum span_kind kind,
			  const char *name, uint64_t time)
{
	struct worker *worker = worker_of(ctx, thread);

	(void)name;
	if (!worker)
		return;
	enter(worker, activity_of(kind), time);
	enter(worker, AT_ANY, time);
}

static void on_span_end(void *ctx, struct model_thread *thread, enum span_kind kind,
			const char *cause, uint64_t begin, uint64_t time)
{
	struct worker *worker = worker_of(ctx, thread);

	(void)cause, (void)begin;
	if (worker)
		leave_work(worker, activity_of(kind), time);
}

static const char *preemptor(const struct model_kernel *stretch)
{
	const struct model_thread *thread = stretch->by_thread;

	if (thread && thread->worker != MODEL_NO_WORKER && thread->name)
		return thread->name;
	return stretch->by;
}

static void on_kernel(void *ctx, struct model_thread *thread, const struct model_kernel *stretch,
		      uint64_t time)
{
	struct report *report = ctx;
	struct worker *worker = worker_of(report, thread);
	uint64_t begin = stretch->begin;
	struct group *group;

	if (!worker || stretch->state != KERNEL_RUNNABLE)
		return;
	if (begin < worker->start)
		begin = worker->start;
	if (begin >= time)
		return;
	worker->preempted_ns += time - begin;
	if (!stretch->preempted)
		return;
	group = groups__get(report, &report->preemptions, preemptor(stretch), stretch->task_name,
			    NULL);
	if (!group)
		return;
	group->count++;
	group->total_ns += time - begin;
	group__add(report, group, time - begin);
}

static void on_queue_depth(void *ctx, struct model_thread *thread, uint32_t index, uint64_t depth,
			   uint64_t time)
{
	struct report *report = ctx;
	struct worker *worker = map__get(&report->workers_by_index, thread->process->index, index);

	(void)time;
	if (worker && depth <= INT64_MAX && (int64_t)depth > worker->max_queue_depth)
		worker->max_queue_depth = (int64_t)depth;
}

static void on_steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
		     uint32_t thief, uint32_t victim, struct model_task *task,
		     uint64_t victim_depth, uint64_t time)
{
	struct report *report = ctx;
	uint32_t process = thread->process->index;
	struct worker *by = map__get(&report->workers_by_index, process, thief);
	struct worker *from = map__get(&report->workers_by_index, process, victim);
	struct steal_pair *pair = map__get(&report->pairs, thief, victim);

	(void)victim_thread, (void)task, (void)time;
	report->steals++;
	if (by)
		by->steals++;
	if (from)
		from->stolen_from++;
	if (!pair) {
		if (report->pairs.count >= FIGURES_GROUPS_MAX)
			return;
		pair = calloc(1, sizeof(*pair));
		if (!pair || map__put(&report->pairs, thief, victim, pair)) {
			free(pair);
			report->err = -ENOMEM;
			return;
		}
		pair->thief = thief;
		pair->victim = victim;
	}
	pair->count++;
	if (victim_depth != UINT64_MAX) {
		pair->depth_sum += victim_depth;
		pair->depth_count++;
	}
}

static void on_steal_failed(void *ctx, struct model_thread *thread, uint32_t thief, uint32_t victim,
			    uint64_t time)
{
	(void)thread, (void)thief, (void)victim, (void)time;
	((struct report *)ctx)->steals_failed++;
}

void workers__finish(struct report *report, uint64_t time)
{
	for (size_t i = 0; i < report->worker_count; i++)
		retire(report->workers[i], time);
}

const struct model_ops report_worker_ops = {
	.thread = on_thread,
	.worker_start = on_worker_start,
	.thread_gone = on_thread_gone,
	.stay_begin = on_stay_begin,
	.stay_end = on_stay_end,
	.span_begin = on_span_begin,
	.span_end = on_span_end,
	.kernel = on_kernel,
	.queue_depth = on_queue_depth,
	.steal = on_steal,
	.steal_failed = on_steal_failed,
};
