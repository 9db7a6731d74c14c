/* SPDX-License-Identifier: BSD-2-Clause */
/* Zones: a stack on each task, and one on each thread for what is outside tasks. */
#include <errno.h>
#include "private.h"

static struct zone **stack_of(struct thread *thread)
{
	struct task *task = running_on(thread);

	return task ? &task->zones : &thread->zones;
}

struct zone *zone__innermost(const struct thread *thread)
{
	const struct task *task = running_on(thread);

	return task ? task->zones : thread->zones;
}

/*
 * Recursion comes back to a call site within a few levels. A program that forgets to end its zones
 * must not make each further one slower.
 */
#define RECURSION_MAX 1024

/* same call site: strings are interned, so pointers tell */
static bool is_recursive(const struct model_zone *zone)
{
	int levels = 0;

	for (const struct model_zone *z = zone->outer; z && levels < RECURSION_MAX;
	     z = z->outer, levels++)
		if (z->name == zone->name && z->where == zone->where &&
		    z->function == zone->function)
			return true;
	return false;
}

void zone__begin(struct model *m, const struct event *event, struct thread *thread)
{
	struct zone **stack = stack_of(thread), *zone = pool__take(&m->zone_pool);
	struct task *task = running_on(thread);

	if (!zone) {
		m->err = -ENOMEM;
		return;
	}
	zone->z = (struct model_zone){
		.id = ++m->zone_serial,
		.task = task ? &task->t : NULL,
		.thread = &thread->t,
		.outer = *stack ? &(*stack)->z : NULL,
		.name = event->args[0].s,
		.function = event->args[1].s,
		.where = event->args[2].s,
		.begin = m->now,
		.depth = *stack ? (*stack)->z.depth + 1 : 0,
	};
	zone->z.recursive = is_recursive(&zone->z);
	zone->gap_before = task ? task->gap_total : 0;
	thread->zone_refs += task != NULL;
	*stack = zone;
	TELL(m, zone_begin, &zone->z, m->now);
}

static void close(struct model *m, struct zone **stack, struct thread *thread, bool left_open)
{
	struct zone *zone = *stack;
	struct thread *began_on = (struct thread *)zone->z.thread;
	uint64_t length = m->now - zone->z.begin;

	if (zone->z.task) {
		struct task *task = task_of(zone->z.task);

		zone->z.gap_ns = task->gap_total - zone->gap_before;
		/* left open and not running: the gap that began at its last stop goes on */
		if (!task->stay && task->t.stays)
			zone->z.gap_ns += m->now - task->stopped_at;
	}
	if (zone->z.outer)
		zone->z.outer->inner_ns += length - zone->z.gap_ns;
	*stack = (struct zone *)zone->z.outer;
	TELL(m, zone_end, &zone->z, thread ? &thread->t : &began_on->t, m->now, left_open);
	if (zone->z.task) {
		began_on->zone_refs--;
		thread__put(m, began_on);
	}
	pool__give(&m->zone_pool, zone);
}

/* how many zones of the stack are inside the innermost one that began at @where; -1: there is none
 */
static int depth_of(const struct zone *stack, const char *where)
{
	const struct model_zone *zone = stack ? &stack->z : NULL;

	for (int depth = 0; zone && depth < RECURSION_MAX; zone = zone->outer, depth++)
		if (zone->where == where)
			return depth;
	return -1;
}

/*
 * The end of a scope. What is open inside its zone was left without an end: by longjmp, by an
 * exception in C, by a BEGIN that was forgotten.
 */
static bool end_scope(struct model *m, struct zone **stack, struct thread *thread,
		      const char *where)
{
	struct process *process = (struct process *)thread->t.process;
	int inside = depth_of(*stack, where);

	if (inside < 0)
		return false;
	for (; inside; inside--) {
		model__repair(m, process, ANOMALY_ZONE_LEFT_OPEN, (*stack)->z.begin);
		close(m, stack, thread, true);
	}
	close(m, stack, thread, false);
	return true;
}

void zone__end(struct model *m, struct thread *thread, const char *where)
{
	struct process *process = (struct process *)thread->t.process;
	const struct task *task = running_on(thread);
	struct zone **stack = stack_of(thread);

	/* a scope outside of tasks can end while one runs */
	if (where) {
		if (end_scope(m, stack, thread, where) ||
		    (task && end_scope(m, &thread->zones, thread, where)))
			return;
	} else if (*stack) {
		close(m, stack, thread, false);
		return;
	}
	if (task ? task->zones_unseen : thread->zones_unseen)
		return;
	if ((task ? task->t.born : thread->t.first_time) < process->first_zone)
		return;
	model__repair(m, process, ANOMALY_ZONE_END_WITHOUT_BEGIN,
		      task ? task->t.born : thread->t.first_time);
}

uint64_t zone__close_all(struct model *m, struct zone **stack, struct thread *thread)
{
	uint64_t count = 0;

	for (; *stack; count++)
		close(m, stack, thread, true);
	return count;
}
