// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's view: a row beside each worker's, and the CPUs.
 *
 * "<worker> kernel" has a slice for each stretch in which the thread was running, runnable or
 * blocked, written when the stretch is over: only then is it known what ended it. So a worker that
 * is idle (blocked, or asleep on its own row) looks different from one that is starved (runnable).
 *
 * CPUs are drawn by the viewer from packets of "generic task state": thread T does S from now on.
 * These say nothing of times in which nothing is known, and unlike ftrace's switches each stands
 * for itself: the capture knows a foreign thread only where it took over from a target's, so
 * neither the one before it on its CPU nor the one after need be there.
 */
#include <errno.h>
#include <stdio.h>
#include "perfetto.h"

#define LABEL_MAX 128

/* a thread as people call it: a worker by its name, others by the kernel's */
static const char *thread__label(const struct model_thread *thread, const char *comm, char *buffer)
{
	if (!thread || thread->worker == MODEL_NO_WORKER)
		return comm;
	if (thread->name)
		return thread->name;
	snprintf(buffer, LABEL_MAX, "worker %u", thread->worker);
	return buffer;
}

static struct row *kernel__row(struct perfetto *px, struct drawn_thread *thread,
			       const struct model_thread *model)
{
	struct row *row = &thread->kernel;
	struct descriptor d = {
		.parent = row__group(px, thread->process, ROW_WORKERS)->uuid,
		.rank = worker__rank(model->worker) + 1,
		.no_merge = true,
	};
	char worker[LABEL_MAX], name[LABEL_MAX + 16];

	if (row->declared && thread->kernel_named == model->name &&
	    thread->kernel_worker == model->worker)
		return row;
	if (!row->declared)
		row__name(px, row, perfetto__hash(thread->process->seed, ROW_KERNEL, thread->tid));
	snprintf(name, sizeof(name), "%.100s kernel", thread__label(model, "", worker));
	d.uuid = row->uuid;
	d.name = name;
	row->declared = true;
	thread->kernel_named = model->name;
	thread->kernel_worker = model->worker;
	descriptor__write(px, &d);
	return row;
}

static void kernel__title(struct perfetto *px, const struct model_kernel *stretch, const char *by)
{
	char text[LABEL_MAX + 32];
	enum perfetto_name name = NAME_RUNNING;

	if (stretch->state == KERNEL_RUNNABLE && stretch->preempted && by) {
		snprintf(text, sizeof(text), "preempted by %.100s", by);
		event__title(px, CATEGORY_KERNEL, 0, FORM_PLAIN, text);
		return;
	}
	if (stretch->state == KERNEL_RUNNABLE)
		name = NAME_WAITS_FOR_CPU;
	else if (stretch->state == KERNEL_BLOCKED)
		name = NAME_BLOCKED;
	event__title(px, CATEGORY_KERNEL, name, FORM_PLAIN, NULL);
}

static void kernel__annotate(struct perfetto *px, const struct model_kernel *stretch,
			     const char *by)
{
	if (stretch->cpu != MODEL_NO_CPU)
		annotate__uint(px, ANNOTATION_CPU, stretch->cpu);
	if (stretch->state == KERNEL_RUNNING)
		return;
	if (stretch->interrupt) {
		annotate__text(px, ANNOTATION_WAKER, 0, "interrupt");
		return;
	}
	if (!by)
		return;
	annotate__text(px, stretch->preempted ? ANNOTATION_BY : ANNOTATION_WAKER, 0, by);
	annotate__uint(px, ANNOTATION_TID, stretch->by_tid);
	if (stretch->task)
		annotate__hex(px, ANNOTATION_TASK, stretch->task);
}

void op__kernel(void *ctx, struct model_thread *model, const struct model_kernel *stretch,
		uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_thread *thread = model->priv[px->slot];
	char label[LABEL_MAX];
	const char *by = thread__label(stretch->by_thread, stretch->by, label);
	struct row *row;

	if (!thread || !thread->in_workers || model->worker == MODEL_NO_WORKER)
		return;
	row = kernel__row(px, thread, model);
	if (time <= row->last)
		return;
	event__open_at(px, row, EVENT_BEGIN,
		       stretch->begin > row->last ? stretch->begin : row->last);
	kernel__title(px, stretch, by);
	kernel__annotate(px, stretch, by);
	event__close(px);
	event__open_at(px, row, EVENT_END, time);
	event__close(px);
	row->last = time;
	px->tally.begins[CATEGORY_KERNEL]++;
	px->tally.ends++;
}

void op__sched(void *ctx, const struct model_sched *change, uint64_t time)
{
	enum { RUNNABLE = 2, RUNNING, SLEEPS, SLEEPS_DEEPLY, STOPPED, DESTROYED = 8 };
	struct perfetto *px = ctx;
	char label[LABEL_MAX];
	int state = RUNNABLE; /* also if not known: it has to be something else than running */

	(void)time;
	if (px->info.piece && change->state != KERNEL_RUNNING)
		map__remove(&px->on_cpu, change->tid, 0);
	else if (px->info.piece &&
		 map__put(&px->on_cpu, change->tid, 0, (void *)(uintptr_t)(change->cpu + 1)))
		px->error = -ENOMEM;
	if (change->state == KERNEL_RUNNING)
		state = RUNNING;
	else if (change->state == KERNEL_BLOCKED)
		state = change->stopped		  ? STOPPED
			: change->uninterruptible ? SLEEPS_DEEPLY
						  : SLEEPS;
	else if (change->state == KERNEL_GONE)
		state = DESTROYED;
	task_state__write(px, change->cpu == MODEL_NO_CPU ? 0 : change->cpu,
			  thread__label(change->thread, change->comm, label), change->tid, state,
			  change->state == KERNEL_RUNNING ? change->prio : 0, change->since);
}

/* what runs where a piece ends begins to run anew in the next, when that is read behind this one */
void sched__end_piece(struct perfetto *px)
{
	for (struct map_entry *e = NULL; (e = map__next(&px->on_cpu, e));)
		task_state__write(px, (uint32_t)((uintptr_t)e->value - 1), NULL, (uint32_t)e->a, 2,
				  0, px->time);
}
