// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the kernel does with the targets' threads: running, runnable, blocked, and by whom.
 *
 *	            on_cpu                    off_cpu, state 0 (preempted by `next`)
 *	RUNNABLE -----------> RUNNING --------------------------------------------> RUNNABLE
 *	    ^                    | off_cpu, any other state
 *	    |      waking        v
 *	    +---------------- BLOCKED
 *
 * A thread is UNKNOWN until its first event. As none is missed since its process is a target and
 * the first event of any thread came (or since something was lost), that event also tells what it
 * did since then: it ran if it leaves a CPU, and was blocked if it is woken.
 *
 * A waker does its work while the thread it wakes may still be on its way to sleep: then WAKING has
 * the smaller time, and no other will come. So a waking of a running thread is kept; if the thread
 * gets a CPU again without another, it was that one, and the thread was never blocked but waited
 * for a CPU. Which of the two it was is known at the end of the stretch, when it is told.
 *
 * CPUs: who runs there, foreign threads included as far as they are known. No thread is on two
 * CPUs, and no CPU has two: if a loss makes it seem so, the earlier one is UNKNOWN from then on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "private.h"

#define STATE_DEAD 0xb0U /* TASK_DEAD, EXIT_ZOMBIE, EXIT_DEAD */
#define STATE_STOPPED 0x0cU
#define STATE_UNINTERRUPTIBLE 0x02U

static void tell(struct model *m, const struct sched_cpu *who, const struct sched_thread *of,
		 enum kernel_state state, uint32_t bits, uint64_t since)
{
	struct model_sched change = {
		.process = of ? &of->process->p : NULL,
		.thread = of && of->thread ? &of->thread->t : NULL,
		.pid = who->pid,
		.tid = who->tid,
		.cpu = who->cpu,
		.comm = who->comm,
		.prio = who->prio,
		.state = state,
		.uninterruptible = bits & STATE_UNINTERRUPTIBLE,
		.stopped = bits & STATE_STOPPED,
		.since = since,
	};

	TELL(m, sched, &change, m->now);
}

static struct sched_cpu *cpu__get(struct model *m, uint32_t number)
{
	struct sched_cpu *cpus;
	size_t count = m->sched_cpu_count ? m->sched_cpu_count : 8;

	if (number < m->sched_cpu_count)
		return &m->sched_cpus[number];
	while (count <= number)
		count *= 2;
	/* numbers have 16 bits in records */
	cpus = number < 1U << 16 ? realloc(m->sched_cpus, count * sizeof(*cpus)) : NULL;
	if (!cpus) {
		m->err = -ENOMEM;
		return NULL;
	}
	memset(cpus + m->sched_cpu_count, 0, (count - m->sched_cpu_count) * sizeof(*cpus));
	m->sched_cpus = cpus;
	m->sched_cpu_count = count;
	return &cpus[number];
}

static void cpu__clear(struct model *m, struct sched_cpu *cpu)
{
	map__remove(&m->sched_running, cpu->tid, 0);
	cpu->busy = false;
	cpu->left = m->now;
}

/* who runs there leaves, as is known or as has to be concluded (UNKNOWN) */
static void cpu__leave(struct model *m, struct sched_cpu *cpu, enum kernel_state state,
		       uint32_t bits)
{
	if (!cpu->busy)
		return;
	tell(m, cpu, cpu->thread, state, bits, m->now);
	cpu__clear(m, cpu);
}

/* ends the present stretch; the next begins now */
static void stretch__end(struct model *m, struct sched_thread *st)
{
	struct model_kernel *k = &st->k;
	struct thread *by;

	if (st->thread && k->state != KERNEL_UNKNOWN && k->begin < m->now) {
		by = k->by_tid ? map__get(&m->threads, st->process->p.index, k->by_tid) : NULL;
		k->by_thread = by ? &by->t : NULL;
		TELL(m, kernel, &st->thread->t, k, m->now);
	}
	k->begin = m->now;
}

static void stretch__begin(struct model *m, struct sched_thread *st, enum kernel_state state)
{
	st->k = (struct model_kernel){.state = state, .begin = m->now, .cpu = st->k.cpu};
}

static void stretch__forget(struct model *m, struct sched_thread *st)
{
	stretch__end(m, st);
	stretch__begin(m, st, KERNEL_UNKNOWN);
	st->k.cpu = MODEL_NO_CPU;
	st->early.tid = 0;
	st->woken_early = false;
}

/* what ran on a CPU is no longer known to */
static void cpu__forget(struct model *m, struct sched_cpu *cpu)
{
	if (!cpu->busy)
		return;
	if (cpu->thread)
		stretch__forget(m, cpu->thread);
	cpu__leave(m, cpu, KERNEL_UNKNOWN, 0);
}

/* the CPU, with nobody on it and @tid on no other */
static struct sched_cpu *cpu__take(struct model *m, uint32_t number, uint32_t tid)
{
	struct sched_cpu *cpu = cpu__get(m, number);
	uintptr_t other = (uintptr_t)map__get(&m->sched_running, tid, 0);

	if (!cpu)
		return NULL;
	if (other)
		cpu__forget(m, &m->sched_cpus[other - 1]);
	cpu__forget(m, cpu);
	if (map__put(&m->sched_running, tid, 0, (void *)(uintptr_t)(number + 1))) {
		m->err = -ENOMEM;
		return NULL;
	}
	return cpu;
}

static void cpu__enter(struct model *m, struct sched_thread *st, uint32_t number, uint64_t since)
{
	const struct event *event = m->event;
	struct sched_cpu *cpu = cpu__take(m, number, event->tid);
	bool on = event->type == EV_on_cpu || event->type == EV_foreign_on_cpu;

	if (!cpu)
		return;
	*cpu = (struct sched_cpu){
		.busy = true,
		.left = cpu->left,
		.cpu = number,
		.pid = event->pid,
		.tid = event->tid,
		.thread = st,
		.comm = on   ? event->args[2].s
			: st ? st->comm
			     : NULL,
		.prio = on ? (int)event->args[1].i : 0,
	};
	if (st)
		st->comm = cpu->comm;
	tell(m, cpu, st, KERNEL_RUNNING, 0, since);
}

static struct sched_thread *thread_of(struct model *m, struct process *process, uint32_t tid)
{
	struct sched_thread *st = map__get(&m->sched_threads, process->p.index, tid);

	if (st)
		return st;
	st = pool__take(&m->sched_pool);
	if (!st || map__put(&m->sched_threads, process->p.index, tid, st)) {
		m->err = -ENOMEM;
		return NULL;
	}
	st->process = process;
	st->tid = tid;
	st->k.cpu = MODEL_NO_CPU;
	st->next = process->sched_threads;
	if (st->next)
		st->next->prev = st;
	process->sched_threads = st;
	st->thread = map__get(&m->threads, process->p.index, tid);
	if (st->thread)
		st->thread->sched = st;
	return st;
}

static void drop(struct model *m, struct sched_thread *st)
{
	struct process *process = st->process;
	uintptr_t cpu = (uintptr_t)map__get(&m->sched_running, st->tid, 0);

	stretch__end(m, st);
	if (cpu && m->sched_cpus[cpu - 1].thread == st)
		cpu__leave(m, &m->sched_cpus[cpu - 1], KERNEL_GONE, 0);
	map__remove(&m->sched_threads, process->p.index, st->tid);
	if (st->thread)
		st->thread->sched = NULL;
	if (st->next)
		st->next->prev = st->prev;
	if (st->prev)
		st->prev->next = st->next;
	else
		process->sched_threads = st->next;
	pool__give(&m->sched_pool, st);
}

/* it was woken while it was on its way to sleep: it never did */
static void resolve_early_wake(struct sched_thread *st)
{
	struct model_kernel *k = &st->k;

	if (k->state != KERNEL_BLOCKED || !st->woken_early)
		return;
	k->state = KERNEL_RUNNABLE;
	k->by = st->early.comm;
	k->by_tid = st->early.tid;
	k->interrupt = st->early.interrupt;
}

static void on_cpu(struct model *m, const struct event *event, struct sched_thread *st)
{
	resolve_early_wake(st);
	stretch__end(m, st);
	st->woken_early = false;
	cpu__enter(m, st, (uint32_t)event->args[0].u, m->now);
	stretch__begin(m, st, KERNEL_RUNNING);
	st->k.cpu = (uint32_t)event->args[0].u;
}

static uint64_t known_since(const struct model *m, const struct sched_thread *st)
{
	uint64_t since = st->process->sched_since;

	return since > m->sched_first ? since : m->sched_first;
}

static void off_cpu(struct model *m, const struct event *event, struct sched_thread *st)
{
	uint32_t number = (uint32_t)event->args[0].u, bits = (uint32_t)event->args[1].u;
	uint64_t since = st->k.state == KERNEL_UNKNOWN ? known_since(m, st) : m->now;
	struct task *task = st->thread ? running_on(st->thread) : NULL;
	struct sched_cpu *cpu = cpu__get(m, number);

	if (!cpu)
		return;
	if (st->k.state != KERNEL_RUNNING || st->k.cpu != number) {
		if (cpu->busy)
			since = m->now;
		else if (since < cpu->left)
			since = cpu->left;
		stretch__forget(m, st);
		cpu__enter(m, st, number, since);
		st->k.state = KERNEL_RUNNING;
		st->k.begin = since;
		st->k.cpu = number;
	}
	stretch__end(m, st);
	cpu__leave(m, cpu,
		   !bits	       ? KERNEL_RUNNABLE
		   : bits & STATE_DEAD ? KERNEL_GONE
				       : KERNEL_BLOCKED,
		   bits);
	if (bits & STATE_DEAD) {
		drop(m, st);
		return;
	}
	stretch__begin(m, st, bits ? KERNEL_BLOCKED : KERNEL_RUNNABLE);
	st->k.preempted = !bits;
	if (bits)
		return;
	st->k.by_tid = (uint32_t)event->args[2].u;
	st->k.by = event->args[3].s;
	if (task) {
		st->k.task = task->t.identity;
		st->k.task_serial = task->t.serial;
		st->k.task_name = task->t.name;
	}
}

static void waking(struct model *m, const struct event *event, struct sched_thread *st)
{
	struct sched_waker waker = {(uint32_t)event->args[0].u, event->args[1].s,
				    event->args[3].u != 0};
	struct sched_cpu who = {.pid = event->pid, .tid = st->tid, .cpu = MODEL_NO_CPU};

	if (st->k.state == KERNEL_RUNNING) {
		st->early = waker;
		st->woken_early = true;
		return;
	}
	if (st->k.state == KERNEL_RUNNABLE)
		return;
	if (st->k.state == KERNEL_UNKNOWN) {
		st->k.begin = known_since(m, st);
		st->k.state = KERNEL_BLOCKED;
	}
	st->k.by = waker.comm;
	st->k.by_tid = waker.tid;
	st->k.interrupt = waker.interrupt;
	stretch__end(m, st);
	stretch__begin(m, st, KERNEL_RUNNABLE);
	st->k.by = waker.comm;
	st->k.by_tid = waker.tid;
	st->k.interrupt = waker.interrupt;
	st->woken_early = false;
	who.comm = st->comm;
	tell(m, &who, st, KERNEL_RUNNABLE, 0, m->now);
}

static void foreign_off(struct model *m, const struct event *event)
{
	struct sched_cpu *cpu = cpu__get(m, (uint32_t)event->args[0].u);
	uint32_t bits = (uint32_t)event->args[1].u;

	/* one that had the CPU before a target's thread was ever there */
	if (!cpu || !cpu->busy || cpu->tid != event->tid)
		return;
	cpu__leave(m, cpu,
		   !bits	       ? KERNEL_RUNNABLE
		   : bits & STATE_DEAD ? KERNEL_GONE
				       : KERNEL_BLOCKED,
		   bits);
}

static void forget_process(struct model *m, struct process *process)
{
	uintptr_t cpu;

	for (struct sched_thread *st = process->sched_threads; st; st = st->next) {
		stretch__forget(m, st);
		cpu = (uintptr_t)map__get(&m->sched_running, st->tid, 0);
		if (cpu && m->sched_cpus[cpu - 1].thread == st)
			cpu__leave(m, &m->sched_cpus[cpu - 1], KERNEL_UNKNOWN, 0);
	}
	process->sched_since = m->now;
}

static void lost(struct model *m)
{
	for (size_t i = 0; i < m->process_slots; i++)
		if (m->processes[i])
			forget_process(m, m->processes[i]);
	for (size_t i = 0; i < m->sched_cpu_count; i++)
		cpu__leave(m, &m->sched_cpus[i], KERNEL_UNKNOWN, 0);
}

void sched__event(struct model *m, const struct event *event, struct process *process)
{
	struct sched_thread *st;

	if (!m->sched_first)
		m->sched_first = m->now;
	switch (event->type) {
	case EV_sched_lost:
		lost(m);
		return;
	case EV_foreign_on_cpu:
		cpu__enter(m, NULL, (uint32_t)event->args[0].u, m->now);
		return;
	case EV_foreign_off_cpu:
		foreign_off(m, event);
		return;
	}
	st = process && !process->muted ? thread_of(m, process, event->tid) : NULL;
	if (!st)
		return;
	if (event->type == EV_on_cpu)
		on_cpu(m, event, st);
	else if (event->type == EV_off_cpu)
		off_cpu(m, event, st);
	else
		waking(m, event, st);
}

void sched__thread_begins(struct model *m, struct thread *thread)
{
	struct sched_thread *st =
		map__get(&m->sched_threads, thread->t.process->index, thread->t.tid);

	thread->sched = st;
	if (st)
		st->thread = thread;
}

void sched__split(struct model *m, struct thread *thread)
{
	if (thread->sched)
		stretch__end(m, thread->sched);
}

void sched__thread_ends(struct model *m, struct thread *thread)
{
	if (!thread->sched)
		return;
	stretch__end(m, thread->sched);
	thread->sched->thread = NULL;
	thread->sched = NULL;
}

void sched__process_ends(struct model *m, struct process *process)
{
	while (process->sched_threads)
		drop(m, process->sched_threads);
}

void sched__mute(struct model *m, struct process *process)
{
	forget_process(m, process);
}
