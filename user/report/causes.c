/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Figures of what tasks wait for and tell each other: continuations, messages; and counters.
 */
#include <errno.h>
#include <math.h>
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

/* is neither the least nor the most, as long as there are numbers */
static bool is_no_number(struct number number)
{
	return number.real && isnan(number.d);
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
	if (!counter->count || is_no_number(counter->min) || is_less(value, counter->min))
		counter->min = value;
	if (!counter->count || is_no_number(counter->max) || is_less(counter->max, value))
		counter->max = value;
	counter->last = value;
	counter->count++;
}

static void on_annotation(void *ctx, const struct event *event, struct model_task *task,
			  struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct report *report = ctx;

	(void)task, (void)thread, (void)zone, (void)time;
	switch (event->type) {
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
	.lock = report__lock,
	.annotation = on_annotation,
};
