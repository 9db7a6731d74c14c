/* SPDX-License-Identifier: BSD-2-Clause */
/* Where things happen: processes and their threads, from the first event to their end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "private.h"

/* A thread that leaves zones open did so by mistake only if its process outlives it by this much:
 * exit(3) and signals end threads wherever they are. */
#define EXIT_GRACE_NS 100000000ULL

#define PROCESS_INDEX_MAX (1U << 24)

static int grow_processes(struct model *m, uint32_t index)
{
	size_t slots = m->process_slots ? m->process_slots : 16;
	struct process **processes;

	while (slots <= index)
		slots *= 2;
	processes = realloc(m->processes, slots * sizeof(struct process *));
	if (!processes)
		return -ENOMEM;
	memset(processes + m->process_slots, 0,
	       (slots - m->process_slots) * sizeof(struct process *));
	m->processes = processes;
	m->process_slots = slots;
	return 0;
}

struct process *process__get(struct model *m, uint32_t index, uint32_t pid)
{
	struct process *process;

	if (index < m->process_slots && m->processes[index])
		return m->processes[index];
	if (index >= PROCESS_INDEX_MAX || (index >= m->process_slots && grow_processes(m, index))) {
		m->err = -ENOMEM;
		return NULL;
	}
	process = calloc(1, sizeof(*process));
	if (!process) {
		m->err = -ENOMEM;
		return NULL;
	}
	process->p.index = index;
	process->p.pid = pid;
	process->p.name = "";
	process->first_task = process->first_future = process->first_zone = UINT64_MAX;
	process->sched_since = m->now;
	m->processes[index] = process;
	if (m->event->type != EV_process)
		TELL(m, process, &process->p, m->now);
	return process;
}

void process__counts(struct model *m, struct process *process)
{
	if (!process->counts_changed)
		return;
	process->counts_changed = false;
	TELL(m, task_counts, &process->p, process->running, process->ready, process->suspended,
	     m->now);
}

struct thread *thread__get(struct model *m, struct process *process, uint32_t tid)
{
	struct thread *thread = m->last_thread;

	if (thread && thread->t.process == &process->p && thread->t.tid == tid)
		return thread;
	thread = map__get(&m->threads, process->p.index, tid);
	if (thread) {
		m->last_thread = thread;
		return thread;
	}
	thread = pool__take(&m->thread_pool);
	if (!thread || map__put(&m->threads, process->p.index, tid, thread)) {
		m->err = -ENOMEM;
		return NULL;
	}
	thread->t.process = &process->p;
	thread->t.tid = tid;
	thread->t.worker = MODEL_NO_WORKER;
	thread->t.first_time = m->now;
	thread->unseen = thread->zones_unseen = !process->fresh;
	thread->next = process->threads;
	if (thread->next)
		thread->next->prev = thread;
	process->threads = thread;
	sched__thread_begins(m, thread);
	TELL(m, thread, &thread->t, m->now);
	return thread;
}

void thread__is_worker(struct model *m, struct thread *thread, uint32_t worker)
{
	uint64_t process = thread->t.process->index;

	if (thread->t.worker != MODEL_NO_WORKER &&
	    map__get(&m->workers, process, thread->t.worker) == thread)
		map__remove(&m->workers, process, thread->t.worker);
	thread->t.worker = worker;
	if (worker != MODEL_NO_WORKER && map__put(&m->workers, process, worker, thread))
		m->err = -ENOMEM;
	TELL(m, thread, &thread->t, m->now);
}

/* ends what is open on a thread, innermost first; what its tasks do from now on is not known */
static void cut(struct model *m, struct thread *thread)
{
	work__close_spans(m, thread);
	while (thread->t.top) {
		struct task *task = running_on(thread);
		uint64_t since = task->t.state_since;

		stay__end(m, task->stay, STAY_CUT);
		task__unknown(m, task);
		task->cut_running = true;
		task->running_since = since;
	}
	thread->stopped = 0;
}

void thread__lost(struct model *m, struct thread *thread)
{
	for (struct model_stay *stay = thread->t.top; stay; stay = stay->outer) {
		zone__close_all(m, &task_of(stay->task)->zones, thread);
		task_of(stay->task)->zones_unseen = true;
	}
	zone__close_all(m, &thread->zones, thread);
	cut(m, thread);
	for (struct span *span = thread->spans; span < thread->spans + 3; span++)
		span->seen = false;
	thread->unseen = thread->zones_unseen = true;
}

/* the object may still be named by zones of tasks that moved on */
void thread__put(struct model *m, struct thread *thread)
{
	if (!thread->gone || thread->zone_refs)
		return;
	if (thread->next)
		thread->next->prev = thread->prev;
	if (thread->prev)
		thread->prev->next = thread->next;
	else
		((struct process *)thread->t.process)->threads = thread->next;
	pool__give(&m->thread_pool, thread);
}

static void count_left_open(struct model *m, struct process *process)
{
	if (!process->left_open || m->now - process->left_open_time < EXIT_GRACE_NS)
		return;
	for (; process->left_open; process->left_open--)
		model__repair(m, process, ANOMALY_ZONE_LEFT_OPEN, process->left_open_time);
}

static void finish_thread(struct model *m, struct thread *thread)
{
	map__remove(&m->threads, thread->t.process->index, thread->t.tid);
	if (m->last_thread == thread)
		m->last_thread = NULL;
	if (map__get(&m->workers, thread->t.process->index, thread->t.worker) == thread)
		map__remove(&m->workers, thread->t.process->index, thread->t.worker);
	sched__thread_ends(m, thread);
	TELL(m, thread_gone, &thread->t, m->now);
	thread->gone = true;
}

void thread__exit(struct model *m, struct thread *thread)
{
	struct process *process = (struct process *)thread->t.process;
	uint64_t open;

	if (thread->gone)
		return;
	count_left_open(m, process);
	cut(m, thread);
	open = zone__close_all(m, &thread->zones, thread);
	if (open && !process->muted) {
		process->left_open += open;
		process->left_open_time = m->now;
	}
	finish_thread(m, thread);
	thread__put(m, thread);
}

static struct task *oldest_task(const struct process *process)
{
	struct task *task = process->tasks;

	while (task && task->next)
		task = task->next;
	return task;
}

/*
 * The process ends, or starts anew by exec. Tasks go last, the oldest first, and go in the state
 * that they were in.
 */
void process__end(struct model *m, struct process *process)
{
	struct task *task, *newer;
	struct thread *thread, *next;

	count_left_open(m, process);
	process->left_open = 0;
	for (thread = process->threads; thread; thread = thread->next) {
		if (thread->gone)
			continue;
		cut(m, thread);
		zone__close_all(m, &thread->zones, thread);
	}
	future__process_end(m, process);
	for (task = oldest_task(process); task; task = newer) {
		newer = task->prev;
		task__gone(m, task, task->t.state == TASK_COMPLETED);
	}
	for (thread = process->threads; thread; thread = next) {
		next = thread->next;
		if (!thread->gone)
			finish_thread(m, thread);
		thread__put(m, thread);
	}
	lock__process_end(m, process);
	process__counts(m, process);
	process->muted = process->lossy = false;
}

/*
 * Between CAPTURE_OFF and CAPTURE_ON the process shows nothing: what is open is cut, and afterwards
 * everything may have changed, as after a loss.
 */
void process__mute(struct model *m, struct process *process, bool on)
{
	if (on == process->muted)
		return;
	process->muted = on;
	process->lossy = true;
	process->loss_until = on ? UINT64_MAX : m->now;
	sched__mute(m, process);
	if (!on)
		return;
	for (struct thread *thread = process->threads; thread; thread = thread->next)
		if (!thread->gone)
			thread__lost(m, thread);
	for (struct task *task = process->tasks; task; task = task->next) {
		zone__close_all(m, &task->zones, NULL);
		task->zones_unseen = true;
		if (task->t.state != TASK_COMPLETED && task->t.state != TASK_STAGED)
			task__unknown(m, task);
	}
	process__counts(m, process);
}
