// SPDX-License-Identifier: BSD-2-Clause
/*
 * Triggers. Times are those of the points, so a task is caught however late its records come, and
 * one that never stops is caught while it runs. Memory: tasks that run, and if it is asked for,
 * those that are ready or suspended, up to a bound.
 */
#include "trigger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/event_type.h"
#include "../base/map.h"
#include "../base/pool.h"
#include "../base/say.h"

#define WAITING_MAX (1U << 20)

/* a task in a state that is watched, since when */
struct waiting {
	uint32_t pid, tid;
	uint64_t identity, stamp;
	bool monotonic, told;
};

struct triggers {
	const struct capture_trigger *all;
	size_t count;
	uint64_t limit[CAPTURE_TRIGGERS]; /* ns by kind, the smallest; UINT64_MAX: none */
	const char *text[CAPTURE_TRIGGERS];
	struct map states[CAPTURE_TRIGGERS]; /* pid, identity: struct waiting */
	struct pool pool;
	double cycles; /* in a ns */
	void (*fire)(void *ctx, const char *what);
	void *ctx;
};

static const char *const words[CAPTURE_TRIGGERS] = {
	[CAPTURE_TRIGGER_RAN] = "ran",
	[CAPTURE_TRIGGER_READY] = "was ready",
	[CAPTURE_TRIGGER_SUSPENDED] = "was suspended",
};

static uint64_t stamp__ns(const struct triggers *triggers, uint64_t from, uint64_t to,
			  bool monotonic)
{
	/* stamps have 56 bits */
	int64_t distance = (int64_t)((to - from) << 8) >> 8;

	if (distance <= 0)
		return 0;
	return monotonic ? (uint64_t)distance : (uint64_t)((double)distance / triggers->cycles);
}

static void triggers__check(struct triggers *triggers, enum capture_trigger_kind kind,
			    struct waiting *waiting, uint64_t stamp, bool still)
{
	uint64_t ns = stamp__ns(triggers, waiting->stamp, stamp, waiting->monotonic);
	char *what;

	if (waiting->told || ns <= triggers->limit[kind])
		return;
	waiting->told = true;
	what = sentence__new("%s: task 0x%llx of process %u %s for %.1f ms%s", triggers->text[kind],
			     (unsigned long long)waiting->identity, waiting->pid, words[kind],
			     (double)ns / 1e6, still ? " so far" : "");
	triggers->fire(triggers->ctx, what ? what : triggers->text[kind]);
	free(what);
}

static void triggers__enter(struct triggers *triggers, enum capture_trigger_kind kind,
			    const struct follow_event *event)
{
	struct map *map = &triggers->states[kind];
	struct waiting *waiting;

	if (triggers->limit[kind] == UINT64_MAX || map->count >= WAITING_MAX)
		return;
	waiting = map__get(map, event->pid, event->identity);
	if (!waiting) {
		waiting = pool__take(&triggers->pool);
		if (!waiting || map__put(map, event->pid, event->identity, waiting))
			return;
	}
	*waiting = (struct waiting){event->pid,	  event->tid,	    event->identity,
				    event->stamp, event->monotonic, false};
}

/* it leaves the state, at the event's time */
static void triggers__leave(struct triggers *triggers, enum capture_trigger_kind kind,
			    const struct follow_event *event)
{
	struct waiting *waiting = map__get(&triggers->states[kind], event->pid, event->identity);

	/* another thread's record that was followed later tells of what was before */
	if (!waiting || (waiting->monotonic == event->monotonic &&
			 (int64_t)((event->stamp - waiting->stamp) << 8) < 0))
		return;
	map__remove(&triggers->states[kind], event->pid, event->identity);
	if (waiting->monotonic == event->monotonic)
		triggers__check(triggers, kind, waiting, event->stamp, false);
	pool__give(&triggers->pool, waiting);
}

/* what the thread ran, nobody knows any more; tid 0: of a process that is gone, nothing counts */
static void triggers__forget_of(struct triggers *triggers, struct map *map,
				const struct follow_event *event)
{
	struct waiting **gone = calloc(map->count + 1, sizeof(struct waiting *));
	struct map_entry *entry = NULL;
	struct waiting *waiting;
	size_t count = 0;

	while (gone && (entry = map__next(map, entry))) {
		waiting = entry->value;
		if (waiting->pid == event->pid && (!event->tid || waiting->tid == event->tid))
			gone[count++] = waiting;
	}
	while (count) {
		waiting = gone[--count];
		map__remove(map, waiting->pid, waiting->identity);
		pool__give(&triggers->pool, waiting);
	}
	free(gone);
}

static void triggers__forget(struct triggers *triggers, const struct follow_event *event)
{
	int kind;

	triggers__forget_of(triggers, &triggers->states[CAPTURE_TRIGGER_RAN], event);
	for (kind = 0; kind < CAPTURE_TRIGGERS && !event->tid; kind++)
		triggers__forget_of(triggers, &triggers->states[kind], event);
}

static void triggers__take(void *ctx, const struct follow_event *event)
{
	struct triggers *triggers = ctx;

	switch (event->type) {
	case 0:
		triggers__forget(triggers, event);
		break;
	case EV_task_begin:
		triggers__leave(triggers, CAPTURE_TRIGGER_READY, event);
		triggers__leave(triggers, CAPTURE_TRIGGER_SUSPENDED, event);
		triggers__enter(triggers, CAPTURE_TRIGGER_RAN, event);
		break;
	case EV_task_created:
	case EV_task_ready:
	case EV_task_resumed:
		triggers__leave(triggers, CAPTURE_TRIGGER_SUSPENDED, event);
		triggers__enter(triggers, CAPTURE_TRIGGER_READY, event);
		break;
	case EV_task_yielded:
		triggers__leave(triggers, CAPTURE_TRIGGER_RAN, event);
		triggers__enter(triggers, CAPTURE_TRIGGER_READY, event);
		break;
	case EV_task_suspended:
		triggers__leave(triggers, CAPTURE_TRIGGER_RAN, event);
		triggers__enter(triggers, CAPTURE_TRIGGER_SUSPENDED, event);
		break;
	case EV_task_end:
		triggers__leave(triggers, CAPTURE_TRIGGER_RAN, event);
		break;
	default: /* completed, destroyed */
		triggers__leave(triggers, CAPTURE_TRIGGER_RAN, event);
		triggers__leave(triggers, CAPTURE_TRIGGER_READY, event);
		triggers__leave(triggers, CAPTURE_TRIGGER_SUSPENDED, event);
	}
}

struct triggers *triggers__new(const struct capture_trigger *all, size_t count,
			       struct follow *follow, void (*fire)(void *ctx, const char *what),
			       void *ctx)
{
	struct triggers *triggers = calloc(1, sizeof(*triggers));
	size_t i;

	if (!triggers)
		return NULL;
	triggers->all = all;
	triggers->count = count;
	triggers->pool.size = sizeof(struct waiting);
	triggers->cycles = 1;
	triggers->fire = fire;
	triggers->ctx = ctx;
	for (i = 0; i < CAPTURE_TRIGGERS; i++)
		triggers->limit[i] = UINT64_MAX;
	for (i = 0; i < count; i++) {
		if (all[i].ns >= triggers->limit[all[i].kind])
			continue;
		triggers->limit[all[i].kind] = all[i].ns;
		triggers->text[all[i].kind] = all[i].text;
	}
	follow__watch(follow, triggers__take, triggers);
	return triggers;
}

void triggers__set_rate(struct triggers *triggers, double cycles)
{
	if (cycles > 0)
		triggers->cycles = cycles;
}

void triggers__look(struct triggers *triggers, const struct moment *moment)
{
	struct map_entry *entry;
	struct waiting *waiting;
	int kind;

	for (kind = 0; kind < CAPTURE_TRIGGERS; kind++) {
		entry = NULL;
		while ((entry = map__next(&triggers->states[kind], entry))) {
			waiting = entry->value;
			triggers__check(triggers, (enum capture_trigger_kind)kind, waiting,
					waiting->monotonic ? moment->monotonic : moment->cycles,
					true);
		}
	}
}

void triggers__free(struct triggers *triggers)
{
	int kind;

	if (!triggers)
		return;
	for (kind = 0; kind < CAPTURE_TRIGGERS; kind++)
		map__free(&triggers->states[kind]);
	pool__free(&triggers->pool);
	free(triggers);
}
