/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What workers do besides running tasks: start and stop, sleep, background and bulk work, steals.
 */
#include <errno.h>
#include "private.h"

static void end_span(struct model *m, struct thread *thread, enum span_kind kind, const char *cause)
{
	struct span *span = &thread->spans[kind];

	span->open = false;
	TELL(m, span_end, &thread->t, kind, cause, span->begin, m->now);
}

void work__close_spans(struct model *m, struct thread *thread)
{
	/* the last ones are inside the first ones if at all: bulk work, background work, sleep */
	for (int kind = 0; kind < 3; kind++)
		if (thread->spans[kind].open) {
			TELL(m, span_cut, &thread->t, (enum span_kind)kind, m->now);
			end_span(m, thread, (enum span_kind)kind, NULL);
		}
}

static void on_span_begin(struct model *m, struct thread *thread, enum span_kind kind,
			  const char *name)
{
	struct process *process = (struct process *)thread->t.process;
	struct span *span = &thread->spans[kind];
	uint32_t worker = (uint32_t)m->event->args[0].u;

	if (thread->t.worker == MODEL_NO_WORKER && worker != MODEL_NO_WORKER)
		thread__is_worker(m, thread, worker);
	if (span->open) {
		model__repair(m, process, ANOMALY_SPAN_BEGIN_TWICE, span->begin);
		end_span(m, thread, kind, NULL);
	}
	*span = (struct span){.open = true, .seen = true, .begin = m->now, .name = name};
	TELL(m, span_begin, &thread->t, kind, name, m->now);
}

static void on_span_end(struct model *m, struct thread *thread, enum span_kind kind,
			const char *cause)
{
	struct process *process = (struct process *)thread->t.process;
	struct span *span = &thread->spans[kind];

	if (span->open)
		end_span(m, thread, kind, cause);
	else if (span->seen || !thread->zones_unseen)
		model__repair(m, process, ANOMALY_SPAN_END_WITHOUT_BEGIN, span->begin);
	span->seen = true;
}

static void on_worker_stop(struct model *m, struct thread *thread)
{
	sched__split(m, thread);
	TELL(m, worker_stop, &thread->t, m->now);
	if (thread->t.worker != MODEL_NO_WORKER)
		thread__is_worker(m, thread, MODEL_NO_WORKER);
}

static void on_worker_start(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	uint32_t worker = (uint32_t)event->args[0].u;

	if (thread->t.worker != MODEL_NO_WORKER && thread->t.worker != worker)
		on_worker_stop(m, thread);
	if (event->args[1].s)
		thread->t.name = event->args[1].s;
	/* nothing that runs on it began before this, and if tasks are seen already, all of it is */
	if (process->first_task <= m->now)
		thread->unseen = false;
	thread->zones_unseen = false;
	sched__split(m, thread);
	thread__is_worker(m, thread, worker);
	TELL(m, worker_start, &thread->t, m->now);
}

void worker__known(struct model *m, const struct event *event, struct process *process)
{
	struct thread *thread = thread__get(m, process, event->tid);

	if (!thread)
		return;
	if (event->args[1].s)
		thread->t.name = event->args[1].s;
	thread__is_worker(m, thread, (uint32_t)event->args[0].u);
}

static void on_steal(struct model *m, const struct event *event, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	uint32_t thief = (uint32_t)event->args[0].u, victim = (uint32_t)event->args[1].u;
	struct thread *from = map__get(&m->workers, process->p.index, victim);
	struct task *task = event->args[2].u ? task__find(m, process, event->args[2].u) : NULL;

	TELL(m, steal, &thread->t, from ? &from->t : NULL, thief, victim, task ? &task->t : NULL,
	     event->args[3].u, m->now);
}

void work__event(struct model *m, const struct event *event, struct thread *thread)
{
	switch (event->type) {
	case EV_worker_start:
		on_worker_start(m, event, thread);
		break;
	case EV_worker_stop:
		on_worker_stop(m, thread);
		break;
	case EV_worker_sleep_begin:
		on_span_begin(m, thread, SPAN_SLEEP, event->args[1].s);
		break;
	case EV_worker_sleep_end:
		on_span_end(m, thread, SPAN_SLEEP, event->args[1].s);
		break;
	case EV_worker_background_begin:
		on_span_begin(m, thread, SPAN_BACKGROUND, event->args[1].s);
		break;
	case EV_worker_background_end:
		on_span_end(m, thread, SPAN_BACKGROUND, NULL);
		break;
	case EV_worker_bulk_begin:
		on_span_begin(m, thread, SPAN_BULK, event->args[1].s);
		break;
	case EV_worker_bulk_end:
		on_span_end(m, thread, SPAN_BULK, NULL);
		break;
	case EV_queue_depth:
		TELL(m, queue_depth, &thread->t, (uint32_t)event->args[0].u, event->args[1].u,
		     m->now);
		break;
	case EV_steal:
		on_steal(m, event, thread);
		break;
	case EV_steal_failed:
		TELL(m, steal_failed, &thread->t, (uint32_t)event->args[0].u,
		     (uint32_t)event->args[1].u, m->now);
		break;
	}
}
