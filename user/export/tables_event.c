// SPDX-License-Identifier: BSD-2-Clause
/* Rows of everything that is no task: worker states, steals, futures, zones, markers, arrows,
 * counters. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tables_private.h"

/* a target may invent any number of channels and names: beyond it colours and open markers are not
 * kept */
#define THINGS_MAX 65536U

/* Workers */

void rows__span_begin(void *ctx, struct model_thread *model, enum span_kind kind, const char *name,
		      uint64_t time)
{
	struct table_thread *thread = table_thread__get(ctx, model);

	(void)time;
	if (thread)
		thread->spans[kind] = name;
}

void rows__span_cut(void *ctx, struct model_thread *model, enum span_kind kind, uint64_t time)
{
	struct table_thread *thread = table_thread__get(ctx, model);

	(void)time;
	if (thread)
		thread->cut[kind] = true;
}

void rows__span_end(void *ctx, struct model_thread *model, enum span_kind kind, const char *cause,
		    uint64_t begin, uint64_t time)
{
	static const char *const kinds[] = {
		[SPAN_SLEEP] = "sleep", [SPAN_BACKGROUND] = "background", [SPAN_BULK] = "bulk"};
	struct table_thread *thread = table_thread__get(ctx, model);

	if (!thread)
		return;
	{
		const struct cell cells[] = {
			cell__uint(thread->id),
			cell__text(kinds[kind]),
			cell__text(thread->spans[kind]),
			cell__text(cause),
			cell__uint(begin),
			cell__uint(time),
			cell__bool(thread->cut[kind]),
		};

		TABLES_ROW(ctx, spans, cells);
	}
	thread->cut[kind] = false;
	thread->spans[kind] = NULL;
}

void rows__steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
		 uint32_t thief, uint32_t victim, struct model_task *task, uint64_t victim_depth,
		 uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),     cell__thread(ctx, thread), cell__number(thief),
		cell__number(victim), cell__task(task),		 cell__number(victim_depth),
		cell__bool(false),
	};

	(void)victim_thread;
	TABLES_ROW(ctx, steals, cells);
}

void rows__steal_failed(void *ctx, struct model_thread *thread, uint32_t thief, uint32_t victim,
			uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),    cell__thread(ctx, thread),
		cell__number(thief), cell__number(victim),
		cell__null(),	     cell__null(),
		cell__bool(true),
	};

	TABLES_ROW(ctx, steals, cells);
}

static void gauge__row(struct tables *t, const struct model_process *process, const char *name,
		       int64_t value, uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),
		cell__uint(process->index),
		cell__text(name),
		cell__int(value),
	};

	TABLES_ROW(t, gauges, cells);
}

void rows__queue_depth(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
		       uint64_t time)
{
	char name[40];

	snprintf(name, sizeof(name), "queue depth %u", worker);
	gauge__row(ctx, thread->process, name, (int64_t)depth, time);
}

/* told when any of the three has changed: only what has is a row */
void rows__task_counts(void *ctx, struct model_process *model, uint32_t running, uint32_t ready,
		       uint32_t suspended, uint64_t time)
{
	static const char *const names[] = {"running tasks", "ready tasks", "suspended tasks"};
	const uint32_t counts[] = {running, ready, suspended};
	struct table_process *process = table_process__get(ctx, model);

	for (int i = 0; process && i < 3; i++) {
		if (process->counts[i] == counts[i])
			continue;
		process->counts[i] = counts[i];
		gauge__row(ctx, model, names[i], counts[i], time);
	}
}

void rows__active_continuations(void *ctx, struct model_process *process, int64_t count,
				uint64_t time)
{
	gauge__row(ctx, process, "active continuations", count, time);
}

/* Futures */

void rows__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		  struct model_task *task, struct model_thread *thread, uint64_t time)
{
	const char *name = kind == EV_future_created	      ? "created"
			   : kind == EV_future_wait	      ? "wait"
			   : kind == EV_future_set	      ? "set"
			   : kind == EV_future_exception      ? "exception"
			   : kind == EV_future_callback	      ? "callback"
			   : kind == EV_continuation_attached ? "attached"
							      : NULL;
	const struct cell cells[] = {
		cell__uint(time),	 cell__text(name), cell__hex(object),
		cell__hex(continuation), cell__task(task), cell__thread(ctx, thread),
	};

	if (name)
		TABLES_ROW(ctx, futures, cells);
}

static void continuation__row(struct tables *t, const struct table_continuation *c, uint64_t end)
{
	const struct cell cells[] = {
		cell__hex(c->future),	  cell__hex(c->continuation), cell__some(c->task),
		cell__some(c->thread),	  cell__some(c->begin),	      cell__some(end),
		cell__bool(c->is_inline),
	};

	TABLES_ROW(t, continuations, cells);
}

void rows__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
			      struct model_task *task, struct model_thread *thread, bool is_inline,
			      uint64_t time)
{
	struct tables *t = ctx;
	struct table_thread *on = table_thread__get(t, thread);
	struct table_continuation *open = map__remove(&t->open_continuations, future, continuation);

	/* begun again without an end in between */
	if (open)
		continuation__row(t, open, 0);
	else
		open = pool__take(&t->continuations);
	if (!open || map__put(&t->open_continuations, future, continuation, open)) {
		t->err = -ENOMEM;
		return;
	}
	*open = (struct table_continuation){
		.is_inline = is_inline,
		.begin = time,
		.task = task ? task->serial : 0,
		.thread = on ? on->id : 0,
		.future = future,
		.continuation = continuation,
	};
}

void rows__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
			    struct model_task *task, struct model_thread *thread, uint64_t begin,
			    uint64_t time)
{
	struct tables *t = ctx;
	struct table_thread *on = table_thread__get(t, thread);
	struct table_continuation *open = map__remove(&t->open_continuations, future, continuation);
	struct table_continuation row = {
		.begin = begin,
		.task = task ? task->serial : 0,
		.future = future,
		.continuation = continuation,
	};

	if (open) {
		row.is_inline = open->is_inline;
		row.task = open->task;
		pool__give(&t->continuations, open);
	}
	row.thread = on ? on->id : 0;
	continuation__row(t, &row, time);
}

void continuations__finish(struct tables *t)
{
	for (struct map_entry *e = NULL; (e = map__next(&t->open_continuations, e));)
		continuation__row(t, e->value, 0);
}

/* Zones */

void rows__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread, uint64_t time,
		    bool left_open)
{
	const char *colon = zone->where ? strrchr(zone->where, ':') : NULL;
	uint64_t length = time - zone->begin;
	uint64_t covered = zone->gap_ns + zone->inner_ns;
	char file[256];
	const struct cell cells[] = {
		cell__uint(zone->id),
		cell__task(zone->task),
		cell__thread(ctx, zone->thread),
		cell__text(zone->name ? zone->name : zone->function),
		cell__text(zone->function),
		cell__text(colon ? file : zone->where),
		colon ? cell__uint(strtoul(colon + 1, NULL, 10)) : cell__null(),
		cell__uint(zone->begin),
		cell__uint(time),
		cell__uint(zone->gap_ns),
		cell__uint(length > covered ? length - covered : 0),
		cell__uint(zone->depth),
		cell__some(zone->outer ? zone->outer->id : 0),
		cell__bool(left_open),
	};

	(void)thread;
	if (colon)
		snprintf(file, sizeof(file), "%.*s", (int)(colon - zone->where), zone->where);
	TABLES_ROW(ctx, zones, cells);
}

static void zone_note__row(struct tables *t, const struct event *event,
			   const struct model_zone *zone, uint64_t time)
{
	bool is_text = event->type == EV_zone_text, is_value = event->type == EV_zone_value;
	const struct cell cells[] = {
		cell__uint(zone->id),
		cell__uint(time),
		cell__text(is_text    ? "text"
			   : is_value ? "value"
				      : "color"),
		cell__text(is_value ? event->args[0].s : NULL),
		cell__text(is_text ? event->args[0].s : NULL),
		is_text	   ? cell__null()
		: is_value ? cell__num(event, 1)
			   : cell__uint(event->args[0].u),
	};

	TABLES_ROW(t, zone_notes, cells);
}

/* Markers */

static void marker__row(struct tables *t, uint64_t process, uint64_t channel,
			const struct table_marker *marker, uint64_t time, bool cut)
{
	void *color = marker->name ? map__get(&t->colors, (uintptr_t)marker->name, 0) : NULL;
	const struct cell cells[] = {
		cell__uint(process),
		cell__uint(channel),
		cell__text(marker->name),
		/* all ones: there is none (TRACER_UNKNOWN) */
		marker->extra == UINT64_MAX ? cell__null() : cell__uint(marker->extra),
		color ? cell__uint((uintptr_t)color & 0xffffffff) : cell__null(),
		cell__some(marker->thread),
		cell__uint(marker->begin),
		cell__uint(time),
		cell__bool(cut),
	};

	TABLES_ROW(t, markers, cells);
}

static void marker__end(struct tables *t, uint64_t process, uint64_t channel, uint64_t time)
{
	struct table_marker *marker = map__remove(&t->open_markers, process, channel);

	if (!marker)
		return;
	marker__row(t, process, channel, marker, time, false);
	pool__give(&t->markers, marker);
}

static void marker__begin(struct tables *t, const struct event *event, uint64_t thread,
			  uint64_t time)
{
	struct table_marker *marker = pool__take(&t->markers);

	if (!marker || map__put(&t->open_markers, event->process, event->args[0].u, marker)) {
		t->err = -ENOMEM;
		return;
	}
	marker->begin = time;
	marker->name = event->args[1].s;
	marker->extra = event->args[2].u;
	marker->thread = thread;
}

/* the markers of an ended process ended with it */
void markers__finish(struct tables *t, uint64_t time)
{
	const struct table_process *process;

	for (struct map_entry *e = NULL; (e = map__next(&t->open_markers, e));) {
		process = t->first_process;
		while (process && process->index != e->a)
			process = process->next;
		marker__row(t, e->a, e->b, e->value, process && process->end ? process->end : time,
			    true);
	}
}

static void marker__event(struct tables *t, const struct event *event, uint64_t thread,
			  uint64_t time)
{
	const union event_arg *args = event->args;

	switch (event->type) {
	case EV_marker_set:
		marker__end(t, event->process, args[0].u, time);
		marker__begin(t, event, thread, time);
		break;
	case EV_marker_reset:
		marker__end(t, event->process, args[0].u, time);
		break;
	case EV_marker_color:
		/* bit 32: black is a colour too, but no pointer */
		if (args[0].s && t->colors.count < THINGS_MAX &&
		    map__put(&t->colors, (uintptr_t)args[0].s, 0,
			     (void *)(uintptr_t)(args[1].u | 1ULL << 32)))
			t->err = -ENOMEM;
		break;
	default: {
		const struct cell cells[] = {
			cell__uint(event->process),
			cell__uint(args[0].u),
			cell__text(args[1].s),
		};

		TABLES_ROW(t, channels, cells);
	}
	}
}

/* Arrows, counters, and what else a program tells */

static void flow__row(struct tables *t, const struct event *event, const struct cell *where,
		      uint64_t time)
{
	bool marker = event->type == EV_marker_flow_start || event->type == EV_marker_flow_end;
	bool shared = event->type == EV_flow_shared_start || event->type == EV_flow_shared_end;
	const char *point = event->type == EV_flow_step ? "step"
			    : event->type == EV_flow_start || event->type == EV_flow_shared_start ||
					    event->type == EV_marker_flow_start
				    ? "start"
				    : "end";
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(point),
		cell__text(marker   ? "marker"
			   : shared ? "shared"
				    : "own"),
		(struct cell){CELL_HEX, {.u = event->args[marker].u}},
		marker ? cell__uint(event->args[0].u) : cell__null(),
		where[0],
		where[1],
	};

	TABLES_ROW(t, flows, cells);
}

static void lock__row(struct tables *t, const struct event *event, const struct cell *where,
		      uint64_t time)
{
	const char *name = event->type == EV_lock_wait	     ? "wait"
			   : event->type == EV_lock_acquired ? "acquired"
							     : "released";
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(name),
		cell__hex(event->args[0].u),
		cell__text(event->type == EV_lock_wait ? event->args[1].s : NULL),
		where[0],
		where[1],
	};

	TABLES_ROW(t, locks, cells);
}

static void transfer__row(struct tables *t, const struct event *event, const struct cell *where,
			  uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(event->type == EV_sent ? "sent" : "received"),
		(struct cell){CELL_HEX, {.u = event->args[0].u}},
		cell__hex(event->args[1].u),
		cell__uint(event->args[2].u),
		where[0],
		where[1],
	};

	TABLES_ROW(t, transfers, cells);
}

static void counter__row(struct tables *t, const struct event *event, struct cell thread,
			 uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),
		cell__uint(event->process),
		thread,
		cell__text(event->args[0].s),
		cell__num(event, 1),
	};

	TABLES_ROW(t, counters, cells);
}

static void message__row(struct tables *t, const struct event *event, const struct cell *where,
			 uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(event->args[0].s),
		event->type == EV_message_color ? cell__uint(event->args[1].u) : cell__null(),
		where[0],
		where[1],
	};

	TABLES_ROW(t, messages, cells);
}

static void frame__row(struct tables *t, const struct event *event, struct cell thread,
		       uint64_t time)
{
	const struct cell cells[] = {
		cell__uint(time),
		cell__text(event->args[0].s),
		cell__uint(event->process),
		thread,
	};

	TABLES_ROW(t, frames, cells);
}

void rows__annotation(void *ctx, const struct event *event, struct model_task *task,
		      struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct tables *t = ctx;
	const struct cell where[] = {cell__task(task), cell__thread(t, thread)};

	switch (event->type) {
	case EV_zone_text:
	case EV_zone_color:
	case EV_zone_value:
		if (zone)
			zone_note__row(t, event, zone, time);
		break;
	case EV_message:
	case EV_message_color:
		message__row(t, event, where, time);
		break;
	case EV_marker_set:
	case EV_marker_reset:
	case EV_marker_color:
	case EV_channel_name:
		marker__event(t, event, where[1].value.u, time);
		break;
	case EV_flow_start:
	case EV_flow_step:
	case EV_flow_end:
	case EV_flow_shared_start:
	case EV_flow_shared_end:
	case EV_marker_flow_start:
	case EV_marker_flow_end:
		flow__row(t, event, where, time);
		break;
	case EV_lock_wait:
	case EV_lock_acquired:
	case EV_lock_released:
		lock__row(t, event, where, time);
		break;
	case EV_sent:
	case EV_received:
		transfer__row(t, event, where, time);
		break;
	case EV_counter:
		counter__row(t, event, where[1], time);
		break;
	case EV_frame:
		frame__row(t, event, where[1], time);
		break;
	default:
		break;
	}
}

void rows__lost(void *ctx, struct model_process *process, const struct model_loss *loss,
		uint64_t time)
{
	static const char *const causes[LOSS_KINDS] = {
		[LOSS_RING_FULL] = "ring_full",
		[LOSS_TARGET_OVERRUN] = "target_ring_overrun",
		[LOSS_READ_FAULT] = "read_fault",
	};
	const struct cell cells[] = {
		process ? cell__uint(process->index) : cell__null(),
		cell__uint(loss->tid),
		cell__uint(loss->records),
		cell__some(loss->from),
		cell__uint(loss->to ? loss->to : time),
		cell__text((unsigned int)loss->cause < LOSS_KINDS ? causes[loss->cause] : NULL),
	};

	TABLES_ROW(ctx, losses, cells);
}
