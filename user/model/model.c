/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model: events in, what they mean out. This file takes events in and hands them to the objects
 * they are about (place.c, task.c, work.c, future.c, zone.c).
 *
 * Two threads' clocks, and what a waker does late.
 *
 * The points' clock reads are not serialised, so along a causal edge from thread A to thread B the
 * effect can carry the smaller stamp, by up to a quarter of a microsecond (design, section 3). An
 * event therefore waits here until one that is MODEL_INVERSION_NS younger has come. If then the
 * state machine finds that it can't be yet, because its cause is missing, the cause is looked for
 * among the waiting events of *other* threads, and that thread's events up to and including it are
 * taken first (a thread's own order is never changed), at the effect's time. So these are not
 * anomalies:
 *
 *	effect				awaited cause
 *	BEGIN while it runs elsewhere	a stop there
 *	BEGIN while suspended		RESUMED
 *	BEGIN while stopped or created	READY, RESUMED
 *	BEGIN of an unknown or completed task	CREATED, STAGED
 *	READY of an unknown task	CREATED, STAGED
 *	CREATED, STAGED while alive	COMPLETED, DESTROYED of the life before
 *	CREATED, STAGED once completed	DESTROYED of the life before (it would end the new one)
 *	DESTROYED before completed	a stop, COMPLETED
 *	RESUMED while ready		BEGIN (then it overtakes the next SUSPENDED)
 *
 * A cause that only follows a BEGIN, CREATED or STAGED of the same task on its thread belongs to a
 * later part of the story and is left where it is.
 *
 * Beyond a microsecond, runtimes still call their points in orders that are no mistakes; the state
 * machine takes these as they come (task.c): RESUMED before its SUSPENDED; READY after the BEGIN it
 * led to; the scheduler's END after the task went on elsewhere.
 *
 * Losses. EV_lost says that a thread did something unseen: what runs there is cut, and until the
 * end of the gap, and for what was last certain before it, repairs are counted as AFTER_LOSS. It is
 * told when the thread is heard of again, so repairs since the gap's beginning are counted anew
 * then.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "private.h"

#define QUEUE_MIN 256U
#define QUEUE_MAX 65536U /* more than can happen in a microsecond: stamps that do not move */
#define SCAN_MAX 4096U
#define PULL_DEPTH_MAX 4
#define EVENT_TAKEN UINT16_MAX /* type of a waiting event that has been pulled */

static const char *const anomaly_names[] = {
#define X(id, name, doc) name,
	MODEL_ANOMALIES(X)
#undef X
};

struct model *model__new(void)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->task_pool.size = sizeof(struct task);
	m->thread_pool.size = sizeof(struct thread);
	m->stay_pool.size = sizeof(struct stay);
	m->zone_pool.size = sizeof(struct zone);
	m->continuation_pool.size = sizeof(struct continuation);
	m->sched_pool.size = sizeof(struct sched_thread);
	return m;
}

int model__add_sink(struct model *m, const struct model_ops *ops, void *ctx)
{
	if (m->sink_count == MODEL_SINKS)
		return -ENOSPC;
	m->sinks[m->sink_count] = (struct sink){ops, ctx};
	return m->sink_count++;
}

bool model__explained(const struct process *process, uint64_t confirmed)
{
	return process && process->lossy && confirmed <= process->loss_until;
}

static void keep_repair(struct model *m, struct process *process, enum model_anomaly kind)
{
	if (!process->repairs) {
		process->repairs = malloc(REPAIRS_KEPT * sizeof(struct repair));
		if (!process->repairs) {
			m->err = -ENOMEM;
			return;
		}
		for (uint32_t i = 0; i < REPAIRS_KEPT; i++)
			process->repairs[i].kind = ANOMALY_KINDS;
	}
	process->repairs[process->repair_next++ % REPAIRS_KEPT] = (struct repair){m->now, kind};
}

/* repairs since @from had their reason in a loss that is known only now */
static void explain_repairs(struct model *m, struct process *process, uint64_t from)
{
	for (uint32_t i = 0; process->repairs && i < REPAIRS_KEPT; i++) {
		struct repair *repair = &process->repairs[i];

		if (repair->kind == ANOMALY_KINDS || repair->time < from)
			continue;
		m->anomalies[repair->kind]--;
		m->anomalies[ANOMALY_AFTER_LOSS]++;
		repair->kind = ANOMALY_KINDS;
	}
}

void model__repair(struct model *m, struct process *process, enum model_anomaly kind,
		   uint64_t confirmed)
{
	if (model__explained(process, confirmed))
		kind = ANOMALY_AFTER_LOSS;
	else if (process)
		keep_repair(m, process, kind);
	m->anomalies[kind]++;
	TELL(m, anomaly, kind, m->event);
}

static struct event *waiting(const struct model *m, size_t i)
{
	return &m->queue[(m->queue_head + i) & (m->queue_size - 1)];
}

static bool is_task_event(const struct event *event)
{
	return event->type >= EV_task_staged && event->type <= EV_task_renamed;
}

#define TYPE_BIT(type) (1U << ((type)-EV_task_staged))

static void note_queued(struct model *m, const struct event *event, int by)
{
	if (is_task_event(event))
		m->queued[event->type - EV_task_staged] += (uint32_t)by;
}

/* is one of these types waiting at all? mostly not, and then nothing has to be looked through */
static bool any_queued(const struct model *m, uint32_t types)
{
	for (; types; types &= types - 1)
		if (m->queued[__builtin_ctz(types)])
			return true;
	return false;
}

/* waiting event @at comes after a new part of the task's story on its thread: see the top */
static bool is_later_story(const struct model *m, size_t at, uint64_t identity)
{
	const uint32_t starts =
		TYPE_BIT(EV_task_begin) | TYPE_BIT(EV_task_created) | TYPE_BIT(EV_task_staged);
	const struct event *cause = waiting(m, at);

	for (size_t i = 0; i < at; i++) {
		const struct event *e = waiting(m, i);

		if (e->process != cause->process)
			continue;
		/* these end the objects that whoever pulls has in his hands */
		if (e->type == EV_exec || e->type == EV_process_exit || e->type == EV_capture_off)
			return true;
		if (is_task_event(e) && e->tid == cause->tid && e->args[0].u == identity &&
		    (TYPE_BIT(e->type) & starts))
			return true;
	}
	return false;
}

static void take(struct model *m, const struct event *event);

/* takes the waiting events of a thread up to and including number @last */
static void take_thread_until(struct model *m, size_t last)
{
	const struct event cause = *waiting(m, last), *effect = m->event;

	for (size_t i = 0; i <= last; i++) {
		struct event *e = waiting(m, i), copy;

		if (e->type == EVENT_TAKEN || e->tid != cause.tid || e->process != cause.process)
			continue;
		copy = *e;
		note_queued(m, e, -1);
		e->type = EVENT_TAKEN;
		take(m, &copy);
	}
	m->event = effect;
}

bool model__pull(struct model *m, uint64_t identity, uint32_t types)
{
	const struct event *effect = m->event;

	if (m->pull_depth == PULL_DEPTH_MAX || !any_queued(m, types))
		return false;
	for (size_t i = 0; i < m->queue_count && i < SCAN_MAX; i++) {
		const struct event *e = waiting(m, i);

		if (e->time > effect->time + MODEL_INVERSION_NS)
			break;
		if (!is_task_event(e) || e->args[0].u != identity || e->tid == effect->tid ||
		    e->process != effect->process || !(TYPE_BIT(e->type) & types) ||
		    is_later_story(m, i, identity))
			continue;
		m->pull_depth++;
		take_thread_until(m, i);
		m->pull_depth--;
		return true;
	}
	return false;
}

bool model__next_on_thread_is(const struct model *m, enum event_type type, uint64_t identity)
{
	for (size_t i = 0; i < m->queue_count && i < SCAN_MAX; i++) {
		const struct event *e = waiting(m, i);

		if (e->type != EVENT_TAKEN && !event_type__is_sched(e->type) &&
		    e->tid == m->event->tid && e->process == m->event->process)
			return e->type == type && e->args[0].u == identity;
	}
	return false;
}

static void take_lost(struct model *m, const struct event *event, struct process *process,
		      struct thread *thread)
{
	struct model_loss loss = {
		.tid = event->tid,
		.records = event->args[0].u,
		.from = event->args[1].u,
		.to = event->args[2].u,
		.cause = (enum event_loss)event->args[3].u,
	};
	uint64_t until = loss.to > m->now ? loss.to : m->now;

	process->lossy = true;
	if (until > process->loss_until)
		process->loss_until = until;
	explain_repairs(m, process, loss.from);
	thread__lost(m, thread);
	TELL(m, lost, &process->p, &loss, m->now);
}

/* what the capture saw itself; true if there is nothing more to do with it */
static bool take_capture_event(struct model *m, const struct event *event, struct process *process)
{
	switch (event->type) {
	case EV_process:
		process->p.name = event->args[0].s ? event->args[0].s : process->p.name;
		process->p.cmdline = event->args[1].s;
		TELL(m, process, &process->p, m->now);
		return true;
	case EV_fork:
		return true;
	case EV_exec:
		process__end(m, process);
		process->fresh = true;
		/* from here on nothing is missed, so whatever comes first is not too late */
		process->first_task = process->first_future = process->first_zone = 0;
		return true;
	case EV_process_exit:
		process__end(m, process);
		sched__process_ends(m, process);
		TELL(m, process_exit, &process->p, m->now, (int)event->args[0].i);
		return true;
	case EV_end:
		return true;
	case EV_worker_known:
		worker__known(m, event, process);
		return true;
	case EV_task_known:
	case EV_task_state:
		task__told(m, event, process);
		process__counts(m, process);
		return true;
	case EV_capture_off:
	case EV_capture_on:
		m->events[event->type]++;
		process__mute(m, process, event->type == EV_capture_off);
		return true;
	default:
		return process->muted && event->type != EV_thread_exit && event->type != EV_lost;
	}
}

static void take_annotation(struct model *m, const struct event *event, struct thread *thread)
{
	struct task *task = running_on(thread);
	struct zone *zone = zone__innermost(thread);

	/* these say whom they are about */
	if (event->type >= EV_task_depends && event->type <= EV_task_value)
		task = task__find(m, (struct process *)thread->t.process, event->args[0].u);

	TELL(m, annotation, event, task ? &task->t : NULL, &thread->t, zone ? &zone->z : NULL,
	     m->now);
}

/* about a task that need not be the one that runs */
static void take_handler(struct model *m, const struct event *event, struct thread *thread)
{
	struct task *running = running_on(thread);
	struct task *task = task__find(m, (struct process *)thread->t.process, event->args[0].u);

	TELL(m, handler, event, task ? &task->t : NULL, running ? &running->t : NULL, &thread->t,
	     m->now);
}

static void note_first(struct process *process, uint16_t type, uint64_t now)
{
	uint64_t *first = NULL;

	if (type >= EV_task_staged && type <= EV_task_renamed)
		first = &process->first_task;
	else if (type >= EV_future_created && type <= EV_continuation_end)
		first = &process->first_future;
	else if (type >= EV_zone_begin && type <= EV_message_color)
		first = &process->first_zone;
	if (first && *first == UINT64_MAX)
		*first = now;
}

static void take_thread_event(struct model *m, const struct event *event, struct thread *thread)
{
	switch (event->type) {
	case EV_task_staged ... EV_task_renamed:
		task__event(m, event, thread);
		break;
	case EV_worker_start ... EV_queue_depth:
	case EV_steal:
	case EV_steal_failed:
		work__event(m, event, thread);
		break;
	case EV_future_created ... EV_continuation_end:
		future__event(m, event, thread);
		break;
	case EV_zone_begin:
		zone__begin(m, event, thread);
		break;
	case EV_zone_end:
		zone__end(m, thread, event->nargs ? event->args[0].s : NULL);
		break;
	case EV_lock_wait ... EV_lock_released:
		lock__event(m, event, thread);
		take_annotation(m, event, thread);
		break;
	case EV_zone_text:
	case EV_zone_color:
	case EV_zone_value:
	case EV_message:
	case EV_message_color:
	case EV_marker_set ... EV_marker_color:
	case EV_flow_start ... EV_marker_flow_end:
	case EV_counter:
	case EV_sent:
	case EV_received:
	case EV_frame:
	case EV_task_depends ... EV_task_value:
	case EV_asio_registered ... EV_asio_run_end:
	case EV_handler_operation:
		take_annotation(m, event, thread);
		break;
	case EV_asio_text ... EV_asio_operation:
	case EV_asio_location_begin:
	case EV_asio_location_end:
		break; /* counted; what they mean comes in events of its own (trace/asio.h) */
	case EV_task_waits:
		task__waits(m, event, thread);
		break;
	case EV_handler_created ... EV_handler_syscall:
		take_handler(m, event, thread);
		break;
	default:
		model__repair(m, NULL, ANOMALY_UNKNOWN_EVENT, 0);
	}
}

static void take_with_stack(struct model *m, const struct event *event, struct thread *thread)
{
	thread->t.stack = event->stack;
	take_thread_event(m, event, thread);
	thread->t.stack = 0;
}

/* one event, at the model's present time or its own, whichever is later */
static void take(struct model *m, const struct event *event)
{
	struct process *process;
	struct thread *thread;

	m->event = event;
	/* what is pulled happens at the time of what needs it */
	if (event->time > m->now && !m->pull_depth)
		m->now = event->time;
	if (event->type == EV_pause) {
		for (size_t i = 0; i < m->process_slots; i++)
			if (m->processes[i])
				process__mute(m, m->processes[i], event->args[0].u);
		return;
	}
	if (event->process == EVENT_NO_PROCESS) {
		if (event_type__is_sched(event->type))
			sched__event(m, event, NULL);
		return;
	}
	process = process__get(m, event->process, event->pid);
	if (process && event_type__is_sched(event->type)) {
		sched__event(m, event, process);
		return;
	}
	if (!process || take_capture_event(m, event, process))
		return;
	if (event->type == EV_thread_exit) {
		thread = map__get(&m->threads, event->process, event->tid);
		if (thread)
			thread__exit(m, thread);
		process__counts(m, process);
		return;
	}
	thread = thread__get(m, process, event->tid);
	if (!thread)
		return;
	if (event->type == EV_lost) {
		take_lost(m, event, process, thread);
	} else {
		bool nameless = is_task_event(event) && !event->args[0].u;

		m->events[event->type & 255] += event->type < 256 && !nameless;
		note_first(process, event->type, m->now);
		if (nameless)
			model__repair(m, NULL, ANOMALY_EVENT_WITHOUT_TASK, 0);
		else
			take_with_stack(m, event, thread);
	}
	process__counts(m, process);
}

static void take_oldest(struct model *m)
{
	struct event event = *waiting(m, 0);

	m->queue_head = (m->queue_head + 1) & (m->queue_size - 1);
	m->queue_count--;
	note_queued(m, &event, -1);
	if (event.type != EVENT_TAKEN)
		take(m, &event);
}

static int grow_queue(struct model *m)
{
	size_t size = m->queue_size ? m->queue_size * 2 : QUEUE_MIN;
	struct event *queue = malloc(size * sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	for (size_t i = 0; i < m->queue_count; i++)
		queue[i] = *waiting(m, i);
	free(m->queue);
	m->queue = queue;
	m->queue_size = size;
	m->queue_head = 0;
	return 0;
}

struct event *model__slot(struct model *m)
{
	while (m->queue_count >= QUEUE_MAX)
		take_oldest(m);
	if (m->queue_count == m->queue_size && grow_queue(m)) {
		m->err = -ENOMEM;
		return NULL;
	}
	return waiting(m, m->queue_count);
}

int model__slot_filled(struct model *m)
{
	struct event *e = waiting(m, m->queue_count);

	/* the slot stays where it is */
	while (m->queue_count && waiting(m, 0)->time + MODEL_INVERSION_NS < e->time)
		take_oldest(m);
	if (e->time < m->pushed) {
		m->event = e;
		model__repair(m, NULL, ANOMALY_LATE_EVENT, 0);
		e->time = m->pushed;
	}
	m->pushed = e->time;
	m->queue_count++;
	note_queued(m, e, 1);
	/* with a million tasks, to find one is to wait for memory: better while it waits itself */
	if (is_task_event(e))
		map__prefetch(&m->tasks, e->process, e->args[0].u);
	else if (e->type >= EV_lock_wait && e->type <= EV_lock_released)
		map__prefetch(&m->locks, e->process, e->args[0].u);
	return m->err;
}

int model__event(struct model *m, const struct event *event)
{
	struct event *slot = model__slot(m);

	if (!slot)
		return m->err;
	*slot = *event;
	return model__slot_filled(m);
}

int model__end(struct model *m, uint64_t time)
{
	while (m->queue_count)
		take_oldest(m);
	m->event = NULL;
	if (time > m->now)
		m->now = time;
	for (size_t i = 0; i < m->process_slots; i++)
		if (m->processes[i])
			process__end(m, m->processes[i]);
	TELL(m, end, m->now);
	return m->err;
}

uint64_t model__events(const struct model *m, enum event_type type)
{
	return (unsigned int)type < 256 ? m->events[type] : 0;
}

uint64_t model__anomalies(const struct model *m, enum model_anomaly kind)
{
	return m->anomalies[kind];
}

const char *model__anomaly_name(enum model_anomaly kind)
{
	return anomaly_names[kind];
}

void model__free(struct model *m)
{
	if (!m)
		return;
	lock__forget_all(m);
	for (size_t i = 0; i < m->process_slots; i++) {
		if (m->processes[i])
			free(m->processes[i]->repairs);
		free(m->processes[i]);
	}
	free(m->processes);
	free(m->queue);
	free(m->sets);
	map__free(&m->tasks);
	map__free(&m->threads);
	map__free(&m->workers);
	map__free(&m->continuations);
	map__free(&m->sched_threads);
	map__free(&m->sched_running);
	free(m->sched_cpus);
	pool__free(&m->task_pool);
	pool__free(&m->thread_pool);
	pool__free(&m->stay_pool);
	pool__free(&m->zone_pool);
	pool__free(&m->continuation_pool);
	pool__free(&m->sched_pool);
	free(m);
}
