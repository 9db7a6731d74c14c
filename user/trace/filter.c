// SPDX-License-Identifier: BSD-2-Clause
/*
 * What comes out of a filter.
 *
 * Every event goes through the filter's memory (filter_state.c), shown or not; so whatever is shown
 * next can be told with what it stands on. Two things follow from it:
 *
 * - An end is shown if and only if its begin was (`told` of zones, spans, continuations).
 * - A task that the output does not know yet is told (EV_task_known) before the first event of it
 *   that is shown, and one that the output knows is followed where it is not shown, by its states
 *   (EV_task_state), so that no gap is longer than it was.
 */
#include "filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "filter_state.h"

struct filter {
	struct trace_filter what;
	struct state state;
	struct event *out; /* what waits to be given */
	size_t out_count, out_next, out_room;
	uint64_t first, from, to; /* ns, CLOCK_BOOTTIME */
	bool begun;		  /* the trace's first event is known */
	bool open;		  /* inside the window */
};

enum category {
#define TRACER_CATEGORY(number, name, doc) CATEGORY_##name = (number),
#include "../../usdt/tracer/events.def"
};

static const uint8_t categories[256] = {
#define ROW(number, category) [number] = CATEGORY_##category + 1
#define TRACER_EVENT0(n, name, category, ...) ROW(n, category),
#define TRACER_EVENT1(n, name, category, ...) ROW(n, category),
#define TRACER_EVENT2(n, name, category, ...) ROW(n, category),
#define TRACER_EVENT3(n, name, category, ...) ROW(n, category),
#define TRACER_EVENT4(n, name, category, ...) ROW(n, category),
#include "../../usdt/tracer/events.def"
#undef ROW
};

struct filter *filter__new(const struct trace_filter *what)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	if (filter)
		filter->what = *what;
	return filter;
}

void filter__free(struct filter *filter)
{
	if (!filter)
		return;
	state__free(&filter->state);
	free(filter->out);
	free(filter);
}

/* --- what is wanted --- */

static bool filter__wants_type(const struct filter *filter, uint16_t type)
{
	uint32_t wanted = filter->what.categories;

	if (!wanted)
		return true;
	if (type == EV_task_known || type == EV_task_state)
		return wanted & 1U << CATEGORY_task;
	/* who switches his capture off means it; what the capture itself saw has no category */
	if (type >= 256 || !categories[type] || categories[type] == CATEGORY_capture + 1)
		return true;
	return wanted & 1U << (categories[type] - 1);
}

static bool filter__wants_name(const struct filter *filter, const char *name)
{
	for (size_t i = 0; i < filter->what.task_count; i++)
		if (!fnmatch(filter->what.tasks[i], name ? name : "task", 0))
			return true;
	return !filter->what.task_count;
}

static bool filter__wants_worker(const struct filter *filter, uint32_t worker)
{
	for (size_t i = 0; i < filter->what.worker_count; i++)
		if (worker >= filter->what.workers[i].first &&
		    worker <= filter->what.workers[i].last)
			return true;
	return !filter->what.worker_count;
}

static bool filter__wants_place(const struct filter *filter, const struct place *place)
{
	return !filter->what.worker_count ||
	       (place->is_worker && filter__wants_worker(filter, place->worker));
}

/* --- giving --- */

static void filter__put(struct filter *filter, const struct event *event)
{
	struct event *out;
	size_t room;

	if (!filter->open || !filter__wants_type(filter, event->type))
		return;
	if (filter->out_count == filter->out_room) {
		room = filter->out_room ? filter->out_room * 2 : 64;
		out = reallocarray(filter->out, room, sizeof(*out));
		if (!out) {
			filter->state.no_memory = true;
			return;
		}
		filter->out = out;
		filter->out_room = room;
	}
	filter->out[filter->out_count++] = *event;
}

bool filter__give(struct filter *filter, struct event *event)
{
	if (filter->out_next == filter->out_count) {
		filter->out_next = filter->out_count = 0;
		return false;
	}
	*event = filter->out[filter->out_next++];
	return true;
}

static void filter__put_at(struct filter *filter, const struct event *event, uint64_t time)
{
	struct event moved = *event;

	moved.time = time;
	moved.stack = 0;
	filter__put(filter, &moved);
}

static void filter__put_state(struct filter *filter, const struct owner *owner,
			      const struct life *life, enum event_task_state state, uint64_t time)
{
	struct event event = {
		.time = time,
		.type = EV_task_state,
		.nargs = 4,
		.process = owner->index,
		.pid = owner->announcement.pid,
		.tid = owner->announcement.pid,
		.args = {{.u = life->identity}, {.u = state}, {.u = 0}, {.u = 0}},
	};

	if (state == EVENT_TASK_SUSPENDED) {
		event.args[2].s = life->reason;
		event.args[3].u = life->object;
	}
	filter__put(filter, &event);
}

static void filter__tell_life(struct filter *filter, const struct owner *owner, struct life *life,
			      uint64_t time)
{
	struct event event = {
		.time = time,
		.type = EV_task_known,
		.nargs = 3,
		.process = owner->index,
		.pid = owner->announcement.pid,
		.tid = owner->announcement.pid,
		.args = {{.u = life->identity}, {.s = life->name}, {.u = life->parent}},
	};

	if (life->told || !filter->open)
		return;
	life->told = true;
	filter__put(filter, &event);
}

/* --- where the window begins --- */

/* those below first, on thread @tid; @all: also those that were not told before */
static void filter__retell(struct filter *filter, struct kept *kept, uint32_t tid, bool all,
			   uint64_t time)
{
	struct kept *above = NULL, *below;
	struct event event;

	/* turned over and back again, as a stack may be deeper than ours */
	for (; kept; kept = below) {
		below = kept->below;
		kept->below = above;
		above = kept;
	}
	for (; above; above = below) {
		below = above->below;
		above->below = kept;
		kept = above;
		kept->told |= all;
		event = kept->event;
		event.tid = tid;
		if (kept->told)
			filter__put_at(filter, &event, time);
	}
}

static void filter__retell_stays(struct filter *filter, struct life *top, uint64_t time)
{
	struct life *lives[256], *life;
	size_t count = 0;

	for (life = top; life && count < sizeof(lives) / sizeof(*lives); life = life->outer)
		lives[count++] = life;
	while (count) {
		life = lives[--count];
		if (!life->told)
			continue;
		filter__put_at(filter, &life->begin, time);
		filter__retell(filter, life->zones, life->place->tid, true, time);
	}
}

static void filter__retell_place(struct filter *filter, struct place *place, uint64_t time)
{
	if (!filter__wants_place(filter, place))
		return;
	if (place->started)
		filter__put_at(filter, &place->start, time);
	/* sleep is inside background work, which is inside bulk work, if at all */
	for (int span = 2; span >= 0; span--) {
		if (!place->span_open[span])
			continue;
		place->spans[span].told = true;
		filter__put_at(filter, &place->spans[span].event, time);
	}
	filter__retell(filter, place->zones, place->tid, true, time);
	filter__retell_stays(filter, place->top, time);
}

static void filter__retell_owner(struct filter *filter, struct owner *owner, uint64_t time)
{
	struct event event;

	if (!owner->present)
		return;
	filter__put_at(filter, &owner->announcement, time);
	for (struct life *life = owner->first; life; life = life->next) {
		if (!life->wanted || life->state == EVENT_TASK_COMPLETED ||
		    (filter->what.worker_count && !life->was_there))
			continue;
		filter__tell_life(filter, owner, life, time);
		if (!life->place && life->state != EVENT_TASK_AWAY)
			filter__put_state(filter, owner, life, life->state, time);
	}
	for (struct place *place = owner->places; place; place = place->next)
		filter__retell_place(filter, place, time);
	for (struct kept *thing = owner->things; thing; thing = thing->below) {
		struct place *place;

		event = thing->event;
		place = state__place(&filter->state, &event);
		if (event.nargs && place && filter__wants_place(filter, place))
			filter__put_at(filter, &event, time);
	}
}

static void filter__open(struct filter *filter, uint64_t time)
{
	filter->open = true;
	for (size_t i = 0; i < filter->state.count; i++)
		if (filter->state.owners[i])
			filter__retell_owner(filter, filter->state.owners[i], time);
}

static void life__hide_zones(struct life *life)
{
	for (struct kept *zone = life->zones; zone; zone = zone->below)
		zone->told = false;
}

bool filter__retell_all(struct filter *filter, uint64_t time)
{
	if (!filter->open || filter->out_next != filter->out_count)
		return false;
	for (size_t i = 0; i < filter->state.count; i++) {
		struct owner *owner = filter->state.owners[i];

		for (struct life *life = owner ? owner->first : NULL; life; life = life->next) {
			life->told = false;
			if (!life->place)
				life__hide_zones(life);
		}
	}
	filter__open(filter, time);
	return true;
}

/* --- tasks --- */

static bool is_birth(const struct event *event)
{
	return event->type == EV_task_created || event->type == EV_task_staged;
}

/* the event's lifetime; one that ends because the identity lives anew is told to have ended */
static struct life *filter__life(struct filter *filter, struct owner *owner,
				 const struct event *event)
{
	struct life *life = state__find(&filter->state, owner->index, event->args[0].u);
	bool again = life && is_birth(event) &&
		     !(life->state == EVENT_TASK_STAGED && event->type == EV_task_created);

	if (again) {
		/* the model sees by itself that the name of a shown task is used again */
		if (life->told && !filter__wants_name(filter, event->args[1].s))
			filter__put_state(filter, owner, life, EVENT_TASK_GONE, event->time);
		state__end_life(&filter->state, owner, life);
		life = NULL;
	}
	if (life)
		return life;
	life = state__life(&filter->state, owner, event->args[0].u);
	if (life)
		life->wanted = filter__wants_name(filter, NULL);
	return life;
}

static void life__stopped(struct life *life, enum event_task_state state, const char *reason,
			  uint64_t object)
{
	life__stop(life);
	life->state = life->early && state != EVENT_TASK_COMPLETED ? EVENT_TASK_READY : state;
	life->early = false;
	life->reason = reason;
	life->object = object;
}

/* what the event makes of the task */
static void life__follow(struct life *life, const struct event *event, struct place *place)
{
	switch (event->type) {
	case EV_task_staged:
		life->state = EVENT_TASK_STAGED;
		break;
	case EV_task_created:
		life->state = EVENT_TASK_READY;
		break;
	case EV_task_ready:
		if (!life->place)
			life->state = EVENT_TASK_READY;
		break;
	case EV_task_begin:
		life__run(life, place, event);
		break;
	case EV_task_resumed:
		if (life->place)
			life->early = life->place != place || place->top != life;
		else
			life->state = EVENT_TASK_READY;
		break;
	case EV_task_yielded:
		life__stopped(life, EVENT_TASK_READY, NULL, 0);
		break;
	case EV_task_suspended:
		life__stopped(life, EVENT_TASK_SUSPENDED, event->args[1].s, event->args[2].u);
		break;
	case EV_task_end:
		/* the scheduler's, after the task said why */
		if (life->place)
			life__stopped(life, EVENT_TASK_STOPPED, NULL, 0);
		break;
	case EV_task_completed:
		life__stopped(life, EVENT_TASK_COMPLETED, NULL, 0);
		break;
	}
}

/* a task that the output knows, where it is not shown */
static void filter__follow_hidden(struct filter *filter, const struct owner *owner,
				  struct life *life, const struct event *event)
{
	enum event_task_state state = life->state;

	if (!life->told || event->type == EV_task_renamed)
		return;
	if (event->type == EV_task_begin)
		life__hide_zones(life);
	else if (life->place)
		return; /* RESUMED or READY too early */
	if (event->type == EV_task_destroyed)
		state = EVENT_TASK_GONE;
	filter__put_state(filter, owner, life, state, event->time);
}

/*
 * Without the tasks a zone is its thread's, which it does not follow to where its task goes on: so
 * it is cut where the task stops, and goes on with it.
 */
static void filter__cut_zones(struct filter *filter, const struct life *life,
			      const struct event *event, const struct place *before)
{
	struct event end = *event;

	if (filter__wants_type(filter, EV_task_begin) || life->place == before)
		return;
	if (life->place) {
		filter__retell(filter, life->zones, event->tid, false, event->time);
		return;
	}
	end.type = EV_zone_end;
	end.nargs = 0;
	end.tid = before->tid;
	for (const struct kept *zone = life->zones; zone; zone = zone->below)
		if (zone->told)
			filter__put(filter, &end);
}

static void filter__take_task(struct filter *filter, const struct event *event, struct owner *owner,
			      struct place *place)
{
	struct life *life = event->args[0].u ? filter__life(filter, owner, event) : NULL;
	const struct place *before = life ? life->place : NULL;
	bool here = filter__wants_place(filter, place);

	if (!life)
		return;
	if (is_birth(event)) {
		life->name = event->args[1].s ? event->args[1].s : life->name;
		life->parent = event->args[2].u;
		if (!life->told)
			life->wanted = filter__wants_name(filter, life->name);
	} else if (event->type == EV_task_renamed) {
		life->name = event->args[1].s ? event->args[1].s : life->name;
		life->wanted |= filter__wants_name(filter, life->name);
	}
	life__follow(life, event, place);
	filter__cut_zones(filter, life, event, before);
	if (life->wanted && here) {
		life->was_there |= event->type == EV_task_begin;
		if (is_birth(event) && filter->open)
			life->told = true;
		filter__tell_life(filter, owner, life, event->time);
		filter__put(filter, event);
	} else if (life->wanted) {
		filter__follow_hidden(filter, owner, life, event);
	}
	if (event->type == EV_task_destroyed)
		state__end_life(&filter->state, owner, life);
}

/* --- what is open: zones, spans, continuations --- */

static void filter__take_zone(struct filter *filter, const struct event *event, struct place *place,
			      bool shown)
{
	struct kept **zones = place->top ? &place->top->zones : &place->zones;

	if (event->type == EV_zone_begin || event->type == EV_zone_begin_at) {
		state__push(&filter->state, zones, event, shown && filter->open);
		if (shown)
			filter__put(filter, event);
		return;
	}
	/* of zones that began before the trace nothing is known */
	if (*zones ? (*zones)->told : shown && !filter->what.from)
		filter__put(filter, event);
	if (event->type == EV_zone_end && *zones)
		kept__pop(zones);
}

static void filter__take_span(struct filter *filter, const struct event *event, struct place *place,
			      unsigned int span, bool begins)
{
	bool shown = filter__wants_place(filter, place);

	if (begins) {
		place->span_open[span] = true;
		place->spans[span] = (struct kept){.event = *event, .told = filter->open && shown};
	} else {
		shown = place->span_open[span] ? place->spans[span].told
					       : shown && !filter->what.from;
		place->span_open[span] = false;
	}
	if (shown)
		filter__put(filter, event);
}

/* marks in the map of continuations */
static char hidden_mark, shown_mark;

static void filter__take_continuation(struct filter *filter, const struct event *event, bool shown)
{
	struct map *open = &filter->state.continuations;
	uint64_t a = event->args[0].u, b = event->args[1].u ^ (uint64_t)event->process << 48;
	char *mark;

	if (event->type == EV_continuation_begin) {
		if (map__put(open, a, b, shown && filter->open ? &shown_mark : &hidden_mark))
			filter->state.no_memory = true;
	} else {
		mark = map__remove(open, a, b);
		shown = mark ? mark == &shown_mark : shown && !filter->what.from;
	}
	if (shown)
		filter__put(filter, event);
}

/* --- workers, and the rest --- */

static void place__is_worker(struct place *place, uint32_t worker)
{
	if (worker == UINT32_MAX || place->is_worker)
		return;
	place->is_worker = true;
	place->worker = worker;
}

static void filter__take_worker(struct filter *filter, const struct event *event,
				struct place *place)
{
	bool shown;

	switch (event->type) {
	case EV_worker_start:
		place->is_worker = false;
		place__is_worker(place, (uint32_t)event->args[0].u);
		place->started = true;
		place->start = *event;
		break;
	case EV_worker_sleep_begin:
	case EV_worker_sleep_end:
		filter__take_span(filter, event, place, 0, event->type == EV_worker_sleep_begin);
		return;
	case EV_worker_background_begin:
	case EV_worker_background_end:
		filter__take_span(filter, event, place, 1,
				  event->type == EV_worker_background_begin);
		return;
	case EV_worker_bulk_begin:
	case EV_worker_bulk_end:
		filter__take_span(filter, event, place, 2, event->type == EV_worker_bulk_begin);
		return;
	}
	shown = event->type == EV_queue_depth
			? filter__wants_worker(filter, (uint32_t)event->args[0].u)
			: filter__wants_place(filter, place);
	if (shown)
		filter__put(filter, event);
	if (event->type == EV_worker_stop)
		place->is_worker = place->started = false;
}

static void filter__take_steal(struct filter *filter, const struct event *event,
			       const struct owner *owner, struct place *place)
{
	const struct life *life =
		event->type == EV_steal
			? state__find(&filter->state, owner->index, event->args[2].u)
			: NULL;

	if (filter->what.task_count && !(life && life->wanted))
		return;
	if (filter__wants_place(filter, place))
		filter__put(filter, event);
}

static void filter__take_thing(struct filter *filter, const struct event *event,
			       struct owner *owner, struct place *place)
{
	struct event copy = *event;
	uint64_t key = event->args[0].u; /* channel, or the name: interned */

	/* one thing: what opens a marker, and what closes it (no arguments) */
	if (event->type == EV_marker_reset) {
		copy.type = EV_marker_set;
		copy.nargs = 0;
	}
	if (filter->open) { /* what is told by itself need not be kept */
		if (filter__wants_place(filter, place))
			filter__put(filter, event);
		return;
	}
	state__set_thing(&filter->state, owner, &copy, key);
}

/* what is done by a task, or a thread outside tasks */
static bool filter__wants_doing(const struct filter *filter, const struct place *place)
{
	return filter__wants_place(filter, place) && (!place->top || place->top->wanted);
}

static void filter__take_point(struct filter *filter, const struct event *event,
			       struct owner *owner, struct place *place)
{
	const struct life *life;

	switch (event->type) {
	case EV_task_staged ... EV_task_renamed:
		filter__take_task(filter, event, owner, place);
		break;
	case EV_worker_start ... EV_queue_depth:
		filter__take_worker(filter, event, place);
		break;
	case EV_steal:
	case EV_steal_failed:
		filter__take_steal(filter, event, owner, place);
		break;
	case EV_zone_begin ... EV_zone_value:
	case EV_zone_begin_at:
		filter__take_zone(filter, event, place, filter__wants_doing(filter, place));
		break;
	case EV_handler_created: /* stands before its task_created */
	case EV_task_known:
		if (filter__wants_place(filter, place) && !filter->what.task_count)
			filter__put(filter, event);
		break;
	case EV_task_depends:
	case EV_task_waits:
	case EV_handler_invoked ... EV_handler_syscall:
		life = state__find(&filter->state, owner->index, event->args[0].u);
		if (life && life->told)
			filter__put(filter, event);
		break;
	case EV_continuation_begin:
	case EV_continuation_end:
		filter__take_continuation(filter, event, filter__wants_doing(filter, place));
		break;
	case EV_future_wait:
		life = state__find(&filter->state, owner->index, event->args[1].u);
		if (filter__wants_place(filter, place) &&
		    (life ? life->wanted : filter__wants_doing(filter, place)))
			filter__put(filter, event);
		break;
	case EV_marker_set ... EV_marker_color:
	case EV_counter:
		filter__take_thing(filter, event, owner, place);
		break;
	case EV_frame:
		if (filter__wants_place(filter, place))
			filter__put(filter, event);
		break;
	default:
		if (filter__wants_doing(filter, place))
			filter__put(filter, event);
	}
}

/* --- events --- */

static void filter__take_sched(struct filter *filter, const struct event *event)
{
	struct place *place;

	if (!filter->what.worker_count) {
		filter__put(filter, event);
		return;
	}
	/* a CPU's foreign threads stand beside all of its own, or say nothing */
	if (event->process == EVENT_NO_PROCESS)
		return;
	place = map__get(&filter->state.places, event->process, event->tid);
	if (place && filter__wants_place(filter, place))
		filter__put(filter, event);
}

static void filter__take_process(struct filter *filter, const struct event *event,
				 struct owner *owner)
{
	switch (event->type) {
	case EV_process:
		owner->present = true;
		owner->announcement = *event;
		break;
	case EV_exec:
		state__end_owner(&filter->state, owner);
		break;
	case EV_process_exit:
		state__end_owner(&filter->state, owner);
		owner->present = false;
		break;
	}
	filter__put(filter, event);
}

static void filter__take_thread(struct filter *filter, const struct event *event,
				struct owner *owner)
{
	struct place *place = map__get(&filter->state.places, event->process, event->tid);

	if (place ? filter__wants_place(filter, place) : !filter->what.worker_count)
		filter__put(filter, event);
	if (place && event->type == EV_thread_exit)
		state__end_place(&filter->state, owner, place);
}

static void filter__take_any(struct filter *filter, const struct event *event)
{
	struct owner *owner;
	struct place *place;

	if (event_type__is_sched(event->type)) {
		filter__take_sched(filter, event);
		return;
	}
	owner = state__owner(&filter->state, event->process);
	if (!owner)
		return;
	if (event->type == EV_thread_exit || event->type == EV_lost) {
		filter__take_thread(filter, event, owner);
		return;
	}
	if ((event->type >= EV_process && !event->derived) || event->type == EV_capture_off ||
	    event->type == EV_capture_on) {
		filter__take_process(filter, event, owner);
		return;
	}
	place = state__place(&filter->state, event);
	if (!place)
		return;
	if (event->type == EV_task_begin)
		place__is_worker(place, (uint32_t)event->args[1].u);
	filter__take_point(filter, event, owner, place);
}

static void filter__begin(struct filter *filter, const struct event *event)
{
	filter->begun = true;
	filter->first = event->time;
	if (__builtin_add_overflow(filter->first, filter->what.from, &filter->from))
		filter->from = UINT64_MAX;
	if (__builtin_add_overflow(filter->first, filter->what.to, &filter->to))
		filter->to = UINT64_MAX;
}

int filter__take(struct filter *filter, const struct event *event)
{
	struct event end;

	if (!filter->begun)
		filter__begin(filter, event);
	if (!filter->open && (event->time >= filter->from || event->type == EV_end))
		filter__open(filter, event->time < filter->from ? event->time : filter->from);
	if (event->type == EV_end) {
		end = *event;
		if (end.time > filter->to)
			end.time = filter->to;
		filter__put(filter, &end);
	} else if (event->time <= filter->to) {
		filter__take_any(filter, event);
	}
	return filter->state.no_memory ? -ENOMEM : 0;
}
