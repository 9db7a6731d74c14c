/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of what tasks wait for and tell each other: continuations, locks, messages; and counters.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "figures.h"

#define SAW_SENT ((void *)1)
#define SAW_RECEIVED ((void *)2)

static void on_continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
				  struct model_task *task, struct model_thread *thread,
				  bool is_inline, uint64_t time)
{
	struct report *report = ctx;

	(void)future, (void)continuation, (void)task, (void)thread, (void)time;
	report->continuations_inline += is_inline;
	report->continuations_scheduled += !is_inline;
}

static void on_active_continuations(void *ctx, struct model_process *process, int64_t count,
				    uint64_t time)
{
	struct report *report = ctx;
	void **slot = &process->priv[report->sink];

	(void)time;
	report->active_continuations += count - (int64_t)(intptr_t)*slot;
	*slot = (void *)(intptr_t)count;
	if (report->active_continuations > report->max_active_continuations)
		report->max_active_continuations = report->active_continuations;
}

/* --- locks --- */

static struct lock_figures *new_lock(struct report *report)
{
	struct lock_figures *lock = calloc(1, sizeof(*lock));

	if (!lock)
		report->err = -ENOMEM;
	return lock;
}

static struct lock_figures *lock_of(struct report *report, const struct event *event)
{
	struct lock_figures *lock = map__get(&report->locks, event->process, event->args[0].u);

	if (lock)
		return lock;
	if (report->locks.count >= FIGURES_LOCKS_MAX) {
		if (!report->other_locks) {
			report->other_locks = new_lock(report);
			if (report->other_locks)
				report->other_locks->name = report__copy(report, FIGURES_OTHERS);
		}
		return report->other_locks;
	}
	lock = new_lock(report);
	if (!lock || map__put(&report->locks, event->process, event->args[0].u, lock)) {
		free(lock);
		report->err = -ENOMEM;
		return NULL;
	}
	lock->object = event->args[0].u;
	return lock;
}

static void acquire(struct report *report, struct lock_figures *lock, uint64_t who,
		    const struct event *event, uint64_t time)
{
	struct lock_wait *wait = map__remove(&report->lock_waits, who, event->args[0].u);

	lock->acquisitions++;
	if (!lock->holders++)
		lock->held_since = time;
	if (!wait)
		return;
	lock->contended += wait->contended;
	lock->wait_ns += time - wait->since;
	if (hist__add(&lock->wait, time - wait->since))
		report->err = -ENOMEM;
	free(wait);
}

static void wait_for(struct report *report, struct lock_figures *lock, uint64_t who,
		     const struct event *event, uint64_t time)
{
	struct lock_wait *wait = map__get(&report->lock_waits, who, event->args[0].u);

	if (!lock->name)
		lock->name = report__copy(report, event->args[1].s);
	if (!wait) {
		if (report->lock_waits.count >= FIGURES_GROUPS_MAX)
			return;
		wait = calloc(1, sizeof(*wait));
		if (!wait || map__put(&report->lock_waits, who, event->args[0].u, wait)) {
			free(wait);
			report->err = -ENOMEM;
			return;
		}
	}
	wait->since = time;
	wait->contended = lock->holders > 0;
}

/*
 * Contended: somebody held it when the wait began. Held: from the first holder's ACQUIRED to the
 * last one's RELEASED, so shared holders count once.
 */
static void on_lock(struct report *report, const struct event *event, const struct model_task *task,
		    uint64_t time)
{
	struct lock_figures *lock = lock_of(report, event);
	/* a task may go on elsewhere while it waits; serials and thread numbers are told apart */
	uint64_t who =
		task ? task->serial : 1ULL << 63 | (uint64_t)event->process << 32 | event->tid;

	if (!lock)
		return;
	if (event->type == EV_lock_wait) {
		wait_for(report, lock, who, event, time);
	} else if (event->type == EV_lock_acquired) {
		acquire(report, lock, who, event, time);
	} else if (lock->holders && !--lock->holders) {
		lock->held_ns += time - lock->held_since;
	}
}

/* --- messages: what waits longest for its other end is forgotten first --- */

static void on_message(struct report *report, const struct event *event)
{
	void *mark = event->type == EV_sent ? SAW_SENT : SAW_RECEIVED, *seen;
	uint64_t id = event->args[0].u, *slot;

	seen = map__get(&report->messages, id, 0);
	if (seen) {
		if (seen != mark) {
			report->messages_matched++;
			map__remove(&report->messages, id, 0);
		}
		return;
	}
	if (!report->message_ring) {
		report->message_ring = calloc(FIGURES_MESSAGES_MAX, sizeof(uint64_t));
		if (!report->message_ring) {
			report->err = -ENOMEM;
			return;
		}
	}
	slot = &report->message_ring[report->message_next++ % FIGURES_MESSAGES_MAX];
	if (*slot)
		map__remove(&report->messages, *slot, 0);
	*slot = id;
	if (map__put(&report->messages, id, 0, mark))
		report->err = -ENOMEM;
}

/* --- counters --- */

static double real_of(struct number number)
{
	return number.real ? number.d : (double)number.i;
}

static bool is_less(struct number a, struct number b)
{
	return a.real || b.real ? real_of(a) < real_of(b) : a.i < b.i;
}

static void on_counter(struct report *report, const struct event *event)
{
	uint64_t key = (uint64_t)(uintptr_t)event->args[0].s;
	struct counter_figures *counter = map__get(&report->counters, key, 0);
	struct number value = {.real = event->real};

	if (event->real)
		value.d = event->args[1].d;
	else
		value.i = event->args[1].i;
	if (!counter) {
		if (report->counters.count >= FIGURES_GROUPS_MAX)
			return;
		counter = calloc(1, sizeof(*counter));
		if (!counter || map__put(&report->counters, key, 0, counter)) {
			free(counter);
			report->err = -ENOMEM;
			return;
		}
		counter->name = report__copy(report, event->args[0].s);
	}
	if (!counter->count || is_less(value, counter->min))
		counter->min = value;
	if (!counter->count || is_less(counter->max, value))
		counter->max = value;
	counter->last = value;
	counter->count++;
}

static void on_annotation(void *ctx, const struct event *event, struct model_task *task,
			  struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct report *report = ctx;

	(void)thread, (void)zone;
	switch (event->type) {
	case EV_lock_wait:
	case EV_lock_acquired:
	case EV_lock_released:
		on_lock(report, event, task, time);
		break;
	case EV_sent:
	case EV_received:
		on_message(report, event);
		break;
	case EV_counter:
		on_counter(report, event);
		break;
	}
}

const struct model_ops report_cause_ops = {
	.continuation_begin = on_continuation_begin,
	.active_continuations = on_active_continuations,
	.annotation = on_annotation,
};
