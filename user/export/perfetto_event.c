// SPDX-License-Identifier: BSD-2-Clause
/* Worker states, steals, futures, zones, markers, arrows, counters, and messages. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "perfetto.h"

void instant__open(struct perfetto *px, const struct row *row, enum perfetto_category category,
		   uint64_t time)
{
	event__open(px, row, EVENT_INSTANT, time);
	event__title(px, category, category + 1, FORM_PLAIN, NULL);
	px->tally.instants[category]++;
}

/* Worker states */

void op__span_begin(void *ctx, struct model_thread *model, enum span_kind kind, const char *name,
		    uint64_t time)
{
	static const struct {
		enum perfetto_category category;
		enum perfetto_form form;
		uint32_t unnamed;
	} kinds[] = {
		[SPAN_SLEEP] = {CATEGORY_WORKER_SLEEP, FORM_SLEEP, NAME_SLEEP},
		[SPAN_BACKGROUND] = {CATEGORY_WORKER_BACKGROUND, FORM_PLAIN, NAME_BACKGROUND},
		[SPAN_BULK] = {CATEGORY_WORKER_BULK, FORM_PLAIN, NAME_BULK},
	};
	struct perfetto *px = ctx;
	struct drawn_thread *thread = drawn_thread__get(px, model);
	struct slice *slice;

	if (!thread)
		return;
	if (thread->spans[kind])
		op__span_end(px, model, kind, NULL, 0, time);
	if (name && !*name)
		name = NULL;
	slice = slice__new(px, SLICE_SPAN, kinds[kind].category, kinds[kind].form, name,
			   name ? 0 : kinds[kind].unnamed);
	if (!slice)
		return;
	slice->thread = thread;
	slice->span = (uint8_t)kind;
	slice->stack = model->stack;
	if (kind == SPAN_SLEEP) {
		slice->function = name;
		slice->function_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, name);
	}
	thread->spans[kind] = slice;
	row__push(px, &thread->row, slice, time, NULL);
}

void op__span_end(void *ctx, struct model_thread *model, enum span_kind kind, const char *cause,
		  uint64_t begin, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_thread *thread = model->priv[px->slot];
	struct slice *slice = thread ? thread->spans[kind] : NULL;

	(void)begin;
	if (!slice)
		return;
	thread->spans[kind] = NULL;
	row__remove(px, slice, NULL, NULL, cause, time);
}

void op__span_cut(void *ctx, struct model_thread *model, enum span_kind kind, uint64_t time)
{
	struct drawn_thread *thread = model->priv[((struct perfetto *)ctx)->slot];

	(void)time;
	if (thread && thread->spans[kind])
		thread->spans[kind]->cut = true;
}

/* declares the row of a counter; rank orders the counters of a process */
static void counter__declare(struct perfetto *px, struct drawn_process *process, struct row *row,
			     const char *name, int32_t rank)
{
	struct descriptor d = {
		.uuid = row->uuid,
		.parent = row__group(px, process, ROW_COUNTERS)->uuid,
		.name = name,
		.kind = TRACK_COUNTER,
		.no_merge = true,
		.rank = rank,
	};

	row->declared = true;
	descriptor__write(px, &d);
}

void op__queue_depth(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
		     uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_process *process = drawn_process__get(px, thread->process);
	struct row *row = process ? row__thing(px, process, ROW_QUEUE_DEPTH, worker) : NULL;
	char name[40];

	if (!row)
		return;
	if (!row->declared) {
		snprintf(name, sizeof(name), "queue depth %u", worker);
		counter__declare(px, process, row, name, (int32_t)(COUNTS + worker % 100000));
	}
	counter__write(px, row, time, (int64_t)depth);
}

static void steal__annotate(struct perfetto *px, uint32_t thief, uint32_t victim)
{
	annotate__uint(px, ANNOTATION_THIEF, thief);
	annotate__uint(px, ANNOTATION_VICTIM, victim);
}

void op__steal(void *ctx, struct model_thread *thief_thread, struct model_thread *victim_thread,
	       uint32_t thief, uint32_t victim, struct model_task *task, uint64_t victim_depth,
	       uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_thread *to = drawn_thread__get(px, thief_thread);
	struct drawn_thread *from = victim_thread ? drawn_thread__get(px, victim_thread) : NULL;
	uint64_t arrow = from ? flow__new(px) : 0;

	if (!to)
		return;
	steals__count(px, to->process, time);
	if (from) {
		instant__open(px, &from->row, CATEGORY_STOLEN, time);
		steal__annotate(px, thief, victim);
		event__flow(px, arrow);
		event__close(px);
	}
	stack__next(px, thief_thread->stack);
	instant__open(px, &to->row, CATEGORY_STEAL, time);
	steal__annotate(px, thief, victim);
	if (task)
		annotate__hex(px, ANNOTATION_TASK, task->identity);
	if (victim_depth != UINT64_MAX)
		annotate__uint(px, ANNOTATION_VICTIM_DEPTH, victim_depth);
	if (arrow)
		event__flow_end(px, arrow);
	event__close(px);
}

void op__steal_failed(void *ctx, struct model_thread *model, uint32_t thief, uint32_t victim,
		      uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_thread *thread = drawn_thread__get(px, model);

	if (!thread)
		return;
	instant__open(px, &thread->row, CATEGORY_STEAL_FAILED, time);
	steal__annotate(px, thief, victim);
	event__close(px);
}

/* Futures */

/*
 * Arrows from a set to the tasks that it wakes. Readers draw an id as a chain of all events that
 * have it, so each wake needs one of its own, and the set has to have them all before the wakes are
 * known. What is known is who waits: each has an id, and a last one is for those that came too late
 * to be counted. Ids that nobody takes do no harm, and neither does a set that so many others
 * followed that it has lost its place.
 */
uint64_t future__wakes(const struct perfetto *px, const struct drawn_task *task, uint64_t object,
		       uint64_t *shared)
{
	struct future_set *set = map__get(&px->sets.map, task->process->seed, object);
	uint64_t flow = set ? set->flow : 0;

	*shared = 0;
	if (!set)
		return 0;
	/* who waits since after the set must not take the arrow of one that the set was for */
	if (!set->waiters || task->waits_for != object ||
	    (int32_t)(task->waits_since - set->number) > 0) {
		*shared = set->shared;
		return 0;
	}
	set->waiters--;
	set->flow = flow__next(flow);
	return flow;
}

static uint32_t future__waiting(const struct perfetto *px, const struct drawn_process *process,
				uint64_t object)
{
	return (uint32_t)(uintptr_t)map__get(&px->sets.waiting, process->seed, object);
}

static void future__count_waiting(struct perfetto *px, const struct drawn_process *process,
				  uint64_t object, uint32_t count)
{
	if (!count)
		map__remove(&px->sets.waiting, process->seed, object);
	else if (map__put(&px->sets.waiting, process->seed, object, (void *)(uintptr_t)count))
		px->error = -ENOMEM;
}

void future__no_waiter(struct perfetto *px, struct drawn_task *task)
{
	uint32_t count;

	if (!task->waits_for)
		return;
	count = future__waiting(px, task->process, task->waits_for);
	if (count)
		future__count_waiting(px, task->process, task->waits_for, count - 1);
	task->waits_for = 0;
}

void future__waiter(struct perfetto *px, struct drawn_task *task, uint64_t object)
{
	if (task->waits_for == object)
		return;
	future__no_waiter(px, task);
	if (!object)
		return;
	task->waits_for = object;
	task->waits_since = px->sets.next;
	future__count_waiting(px, task->process, object,
			      future__waiting(px, task->process, object) + 1);
}

/* another future may live at its address from here on */
static void future__forget_set(struct perfetto *px, const struct drawn_process *process,
			       uint64_t object)
{
	struct future_set *set = map__remove(&px->sets.map, process->seed, object);

	if (set)
		set->flow = 0;
}

static void future__set_arrows(struct perfetto *px, const struct future_set *set)
{
	uint64_t flow = set->flow;

	for (uint32_t i = 0; i <= set->waiters; i++, flow = flow__next(flow))
		event__flow(px, flow);
}

static const struct future_set *
future__remember_set(struct perfetto *px, const struct drawn_process *process, uint64_t object)
{
	uint32_t waiters = future__waiting(px, process, object);
	struct future_set *set;

	if (!px->sets.ring)
		px->sets.ring = calloc(PERFETTO_SETS, sizeof(*px->sets.ring));
	if (!px->sets.ring) {
		px->error = -ENOMEM;
		return NULL;
	}
	if (waiters > PERFETTO_WAITERS_MAX)
		waiters = PERFETTO_WAITERS_MAX;
	future__forget_set(px, process, object);
	set = &px->sets.ring[px->sets.next % PERFETTO_SETS];
	if (set->flow)
		map__remove(&px->sets.map, set->process, set->object);
	*set = (struct future_set){
		.process = process->seed,
		.object = object,
		.flow = flow__new(px),
		.waiters = waiters,
		.number = px->sets.next++,
	};
	set->shared = set->flow;
	for (; waiters; waiters--)
		set->shared = flow__new(px);
	if (map__put(&px->sets.map, process->seed, object, set))
		px->error = -ENOMEM;
	return set;
}

void op__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		struct model_task *task, struct model_thread *thread, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *waiter =
		task && kind == EV_future_wait ? drawn_task__get(px, task, time) : NULL;
	struct drawn_process *process = drawn_process__get(px, thread->process);
	struct row *row = thread__host(px, thread, task);
	const struct future_set *set = NULL;
	enum perfetto_category category;

	if (!row || !process)
		return;
	if (kind == EV_future_set || kind == EV_future_exception)
		set = future__remember_set(px, process, object);
	switch (kind) {
	case EV_future_created:
		future__forget_set(px, process, object);
		category = CATEGORY_FUTURE_CREATED;
		break;
	case EV_future_wait:
		category = CATEGORY_FUTURE_WAIT;
		break;
	case EV_future_set:
		category = CATEGORY_FUTURE_SET;
		break;
	case EV_future_exception:
		category = CATEGORY_FUTURE_EXCEPTION;
		break;
	case EV_future_callback:
		category = CATEGORY_FUTURE_CALLBACK;
		break;
	case EV_continuation_attached:
		category = CATEGORY_CONTINUATION_ATTACHED;
		break;
	default:
		return;
	}
	stack__next(px, thread->stack);
	instant__open(px, row, category, time);
	annotate__hex(px, ANNOTATION_OBJECT, object);
	if (kind == EV_continuation_attached)
		annotate__hex(px, ANNOTATION_CONTINUATION, continuation);
	if (waiter) {
		annotate__task(px, waiter);
		waiter->object = object;
		future__waiter(px, waiter, object);
	}
	if (set)
		future__set_arrows(px, set);
	event__close(px);
}

void op__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
			    struct model_task *task, struct model_thread *thread, bool is_inline,
			    uint64_t time)
{
	struct perfetto *px = ctx;
	struct row *row = thread__host(px, thread, task);
	struct slice *slice;

	if (!row)
		return;
	slice = slice__new(px, SLICE_CONTINUATION, CATEGORY_CONTINUATION, FORM_PLAIN, NULL,
			   CATEGORY_CONTINUATION + 1);
	if (!slice)
		return;
	slice->owner = task ? task->priv[px->slot] : NULL;
	slice->key = continuation;
	slice->object = future;
	slice->is_inline = is_inline;
	row__push(px, row, slice, time, NULL);
}

static struct slice *continuation__find(struct slice *from, uint64_t future, uint64_t continuation)
{
	while (from && (from->kind != SLICE_CONTINUATION || from->key != continuation ||
			from->object != future))
		from = from->below;
	return from;
}

void op__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
			  struct model_task *task, struct model_thread *thread, uint64_t begin,
			  uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_task *drawn = task ? task->priv[px->slot] : NULL;
	struct row *row = thread__host(px, thread, task);
	struct slice *slice = row ? continuation__find(row->top, future, continuation) : NULL;

	(void)begin;
	if (slice) {
		row__remove(px, slice, NULL, NULL, NULL, time);
		return;
	}
	/* its task does not run: the last part has ended with the run */
	slice = drawn ? continuation__find(drawn->parked, future, continuation) : NULL;
	if (slice) {
		row__unlink_parked(slice);
		slice__free(px, slice);
	}
}

/* Zones */

static void zone__place(struct perfetto *px, struct slice *slice, const struct model_zone *zone)
{
	const char *colon = zone->where ? strrchr(zone->where, ':') : NULL;

	slice->function = zone->function;
	slice->function_iid = intern__text(px, TABLE_STRINGS, FORM_PLAIN, zone->function);
	if (!zone->where || !*zone->where)
		return;
	slice->file = zone->where;
	slice->file_iid = intern__text(px, TABLE_STRINGS, FORM_FILE, zone->where);
	slice->line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
}

void op__zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	struct perfetto *px = ctx;
	struct row *row = thread__host(px, zone->thread, zone->task);
	const char *name = zone->name ? zone->name : zone->function;
	struct slice *slice;

	if (!row)
		return;
	slice = slice__new(px, SLICE_ZONE, CATEGORY_ZONE, FORM_PLAIN, name,
			   name ? 0 : CATEGORY_ZONE + 1);
	if (!slice)
		return;
	slice->owner = zone->task ? zone->task->priv[px->slot] : NULL;
	slice->key = zone->id;
	slice->stack = zone->thread->stack;
	zone__place(px, slice, zone);
	zone->priv[px->slot] = slice;
	row__push(px, row, slice, time, NULL);
}

void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread, uint64_t time,
		  bool left_open)
{
	struct perfetto *px = ctx;
	struct slice *slice = zone->priv[px->slot];

	(void)thread;
	if (!slice)
		return;
	zone->priv[px->slot] = NULL;
	slice->cut = left_open;
	if (slice->row) {
		row__remove(px, slice, NULL, NULL, NULL, time);
		return;
	}
	row__unlink_parked(slice);
	slice__free(px, slice);
}

static void zone__note(struct perfetto *px, const struct event *event, struct model_zone *zone)
{
	struct slice *slice = zone ? zone->priv[px->slot] : NULL;
	struct note note = {.annotation = ANNOTATION_TEXT, .kind = NOTE_TEXT};

	if (!slice)
		return;
	if (event->type == EV_zone_text) {
		note.value.s = event->args[0].s;
	} else if (event->type == EV_zone_value) {
		note.name = event->args[0].s ? event->args[0].s : "value";
		note.kind = event->real ? NOTE_DOUBLE : NOTE_INT;
		note.value = event->args[1];
	} else {
		note.annotation = ANNOTATION_COLOR;
		note.kind = NOTE_COLOR;
		note.value = event->args[0];
	}
	slice__note(px, slice, &note);
}

static void message__draw(struct perfetto *px, const struct event *event, struct row *row,
			  uint64_t time)
{
	const char *text = event->args[0].s && *event->args[0].s ? event->args[0].s : NULL;
	uint32_t iid =
		text ? intern__text(px, TABLE_NAMES, FORM_PLAIN, text) : CATEGORY_MESSAGE + 1;

	event__open(px, row, EVENT_INSTANT, time);
	event__title(px, CATEGORY_MESSAGE, iid, FORM_PLAIN, text);
	if (event->type == EV_message_color)
		annotate__color(px, (uint32_t)event->args[1].u);
	event__close(px);
	px->tally.instants[CATEGORY_MESSAGE]++;
}

/* Markers and frames: rows of their own, with one slice open at a time */

static struct row *lane__get(struct perfetto *px, struct drawn_process *process, enum row_kind kind,
			     uint64_t id, const char *name)
{
	struct row *row = row__thing(px, process, kind, id);
	struct descriptor d = {.no_merge = true, .rank = 0};
	char text[32];

	/* named anew: readers that know the row already may keep the first name */
	if (!row || (row->declared && !(kind == ROW_CHANNEL && name)))
		return row;
	if (kind == ROW_CHANNEL)
		snprintf(text, sizeof(text), "channel %llu", (unsigned long long)id);
	else
		snprintf(text, sizeof(text), "frames");
	d.uuid = row->uuid;
	d.parent = row__group(px, process, ROW_MARKERS)->uuid;
	d.name = name && *name ? name : text;
	d.rank = (int32_t)(kind == ROW_CHANNEL ? id % (1U << 30) : 1U << 30);
	row->declared = true;
	descriptor__write(px, &d);
	return row;
}

static void lane__end(struct perfetto *px, struct row *row, uint64_t time)
{
	if (row->top)
		row__remove(px, row->top, NULL, NULL, NULL, time);
}

static void lane__begin(struct perfetto *px, struct row *row, enum perfetto_category category,
			const char *name, uint64_t extra, uint64_t time)
{
	struct slice *slice;

	lane__end(px, row, time);
	if (name && !*name)
		name = NULL;
	slice = slice__new(px, SLICE_PLAIN, category, FORM_PLAIN, name, name ? 0 : category + 1);
	if (!slice)
		return;
	slice->object = extra;
	slice->has_color = name && category == CATEGORY_MARKER;
	if (slice->has_color)
		slice->color = palette__get(&px->colors, name, NULL);
	row__push(px, row, slice, time, NULL);
}

static void marker__draw(struct perfetto *px, const struct event *event,
			 struct drawn_process *process, uint64_t time)
{
	const union event_arg *args = event->args;
	struct row *row;

	if (event->type == EV_marker_color) {
		if (args[0].s && palette__set(&px->colors, args[0].s, (uint32_t)args[1].u))
			px->error = -ENOMEM;
		return;
	}
	row = lane__get(px, process, ROW_CHANNEL, args[0].u,
			event->type == EV_channel_name ? args[1].s : NULL);
	if (!row)
		return;
	if (event->type == EV_marker_set)
		lane__begin(px, row, CATEGORY_MARKER, args[1].s, args[2].u, time);
	else if (event->type == EV_marker_reset)
		lane__end(px, row, time);
}

/* Arrows of the program */

/* remembers that an arrow is under way, so that its end can be told from one whose start is missing
 */
static void flow__start(struct perfetto *px, uint64_t id)
{
	if (px->flows.count < PERFETTO_FLOWS_MAX && map__put(&px->flows, id, 0, px))
		px->error = -ENOMEM;
	event__flow(px, id);
}

/*
 * An end whose start is not in this file is written as one more point of the arrow: readers count
 * the former as an error, and the start may be in another file that is read together with this one.
 */
static void flow__end(struct perfetto *px, uint64_t id)
{
	if (map__remove(&px->flows, id, 0))
		event__flow_end(px, id);
	else
		event__flow(px, id);
}

static void flow__draw(struct perfetto *px, const struct event *event,
		       struct drawn_process *process, struct row *row, uint64_t time)
{
	bool on_marker = event->type == EV_marker_flow_start || event->type == EV_marker_flow_end;
	bool shared = on_marker || event->type == EV_flow_shared_start ||
		      event->type == EV_flow_shared_end;
	uint64_t id = event->args[on_marker].u;
	/* shared ids hold in all processes of all machines, so
	 * nothing of this one goes into them */
	enum flow_kind kind = on_marker ? FLOW_MARKER : FLOW_SHARED;
	uint64_t hash = shared ? perfetto__hash(0, kind, id)
			       : perfetto__hash(process->seed ^ px->session, FLOW_OWN, id);

	if (on_marker)
		row = lane__get(px, process, ROW_CHANNEL, event->args[0].u, NULL);
	if (!row)
		return;
	switch (event->type) {
	case EV_flow_start:
	case EV_flow_shared_start:
	case EV_marker_flow_start:
		instant__open(px, row, CATEGORY_FLOW_START, time);
		annotate__hex(px, ANNOTATION_ID, id);
		flow__start(px, hash);
		break;
	case EV_flow_step:
		instant__open(px, row, CATEGORY_FLOW_STEP, time);
		annotate__hex(px, ANNOTATION_ID, id);
		event__flow(px, hash);
		break;
	default:
		instant__open(px, row, CATEGORY_FLOW_END, time);
		annotate__hex(px, ANNOTATION_ID, id);
		flow__end(px, hash);
		break;
	}
	event__close(px);
}

static void message__pass(struct perfetto *px, const struct event *event, struct row *row,
			  uint64_t time)
{
	bool sent = event->type == EV_sent;
	uint64_t hash = perfetto__hash(0, FLOW_MESSAGE, event->args[0].u);

	instant__open(px, row, sent ? CATEGORY_SENT : CATEGORY_RECEIVED, time);
	annotate__hex(px, ANNOTATION_ID, event->args[0].u);
	annotate__hex(px, sent ? ANNOTATION_DESTINATION : ANNOTATION_SOURCE, event->args[1].u);
	annotate__uint(px, ANNOTATION_BYTES, event->args[2].u);
	if (sent)
		flow__start(px, hash);
	else
		flow__end(px, hash);
	event__close(px);
}

/* Counters of the program */

static void counter__draw(struct perfetto *px, const struct event *event,
			  struct drawn_process *process, uint64_t time)
{
	const char *name = event->args[0].s;
	struct row *row = row__thing(px, process, ROW_OWN_COUNTER, (uintptr_t)name);

	if (!row)
		return;
	if (!row->declared)
		counter__declare(px, process, row, name && *name ? name : "counter",
				 (int32_t)(200000 + process->counter_count++));
	if (event->real)
		counter__write_double(px, row, time, event->args[1].d);
	else
		counter__write(px, row, time, event->args[1].i);
}

static void annotation__draw(struct perfetto *px, const struct event *event,
			     struct model_task *task, struct model_thread *thread,
			     struct model_zone *zone, uint64_t time)
{
	struct drawn_process *process = thread ? drawn_process__get(px, thread->process) : NULL;
	struct row *row = NULL;

	if (!process)
		return;
	switch (event->type) {
	case EV_zone_text:
	case EV_zone_color:
	case EV_zone_value:
		zone__note(px, event, zone);
		return;
	case EV_marker_set:
	case EV_marker_reset:
	case EV_channel_name:
	case EV_marker_color:
		marker__draw(px, event, process, time);
		return;
	case EV_counter:
		counter__draw(px, event, process, time);
		return;
	case EV_frame:
		row = lane__get(px, process, ROW_FRAME, (uintptr_t)event->args[0].s,
				event->args[0].s);
		if (row)
			lane__begin(px, row, CATEGORY_FRAME, event->args[0].s, 0, time);
		return;
	case EV_marker_flow_start:
	case EV_marker_flow_end:
		flow__draw(px, event, process, NULL, time);
		return;
	default:
		break;
	}
	row = thread__host(px, thread, task);
	if (!row)
		return;
	if (asio__draw(px, event, thread, row, time))
		return;
	if (event->type == EV_message || event->type == EV_message_color)
		message__draw(px, event, row, time);
	else if (event->type == EV_sent || event->type == EV_received)
		message__pass(px, event, row, time);
	else if (event->type >= EV_flow_start && event->type <= EV_flow_shared_end)
		flow__draw(px, event, process, row, time);
	else if (event->type >= EV_task_depends && event->type <= EV_task_value)
		fact__draw(px, event, task, row, time);
}

void op__annotation(void *ctx, const struct event *event, struct model_task *task,
		    struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct perfetto *px = ctx;

	if (event->type >= EV_lock_wait && event->type <= EV_lock_released)
		return; /* op__lock() */
	stack__next(px, event->stack);
	annotation__draw(px, event, task, thread, zone, time);
	px->stacks.next = 0;
}
