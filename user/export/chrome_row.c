// SPDX-License-Identifier: BSD-2-Clause
/* Events of the Chrome trace, rows, and the slices that are open on them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "chrome.h"

/* an event but for its arguments' texts, which ask for room themselves */
#define EVENT_ROOM (EMIT_JSON_MAX + 1024)
#define ARG_ROOM (EMIT_JSON_MAX + 256)

/* Events */

/* the prefix, which has nothing to escape, comes where the string's opening quote was */
static void put_prefixed(struct emit *out, const char *prefix, const char *name)
{
	size_t size = strlen(prefix);
	char *start = out->at;

	out->at += size;
	emit__json(out, name);
	*start = '"';
	memcpy(start + 1, prefix, size);
}

static void event__open(struct chrome *ch, char ph)
{
	struct emit *out = &ch->out;

	emit__room(out, EVENT_ROOM);
	if (ch->events++)
		emit__lit(out, ",\n{\"ph\":\"");
	else
		emit__lit(out, "{\"ph\":\"");
	emit__char(out, ph);
}

static void put_place(struct chrome *ch, const struct chrome_row *row, uint64_t time)
{
	/* all of it, which needs no look at how much of it there is */
	memcpy(ch->out.at, row->ids, sizeof(row->ids));
	ch->out.at += row->ids_size;
	emit__us(&ch->out, &ch->last, time);
	ch->in_args = false;
}

void chrome_event__begin(struct chrome *ch, char ph, const char *category, const char *prefix,
			 const char *name, const struct chrome_row *row, uint64_t time)
{
	struct emit *out = &ch->out;

	event__open(ch, ph);
	if (category) {
		emit__lit(out, "\",\"cat\":\"");
		emit__short(out, category, strlen(category));
	}
	emit__lit(out, "\",\"name\":");
	if (prefix)
		put_prefixed(out, prefix, name);
	else
		emit__json(out, name);
	put_place(ch, row, time);
}

/* an event whose name is its category */
static void event__of(struct chrome *ch, char ph, const char *category, size_t size,
		      const struct chrome_row *row, uint64_t time)
{
	struct emit *out = &ch->out;

	event__open(ch, ph);
	emit__lit(out, "\",\"cat\":\"");
	emit__short(out, category, size);
	emit__lit(out, "\",\"name\":\"");
	emit__short(out, category, size);
	emit__char(out, '"');
	put_place(ch, row, time);
}

void chrome_event__finish(struct chrome *ch)
{
	if (ch->in_args)
		emit__lit(&ch->out, "}}");
	else
		emit__char(&ch->out, '}');
	if (ch->out.err && !ch->err)
		ch->err = ch->out.err;
}

static void arg__next(struct chrome *ch)
{
	struct emit *out = &ch->out;

	emit__room(out, 2 * ARG_ROOM);
	if (ch->in_args)
		emit__char(out, ',');
	else
		emit__lit(out, ",\"args\":{");
	ch->in_args = true;
}

static inline void key__put(struct chrome *ch, const char *name, size_t size)
{
	struct emit *out = &ch->out;

	emit__room(out, 2 * ARG_ROOM);
	if (ch->in_args)
		emit__lit(out, ",\"");
	else
		emit__lit(out, ",\"args\":{\"");
	ch->in_args = true;
	emit__short(out, name, size);
	emit__lit(out, "\":");
}

void chrome_key__hex(struct chrome *ch, const char *name, size_t size, uint64_t value)
{
	key__put(ch, name, size);
	emit__char(&ch->out, '"');
	emit__hex(&ch->out, value);
	emit__char(&ch->out, '"');
}

void chrome_key__uint(struct chrome *ch, const char *name, size_t size, uint64_t value)
{
	key__put(ch, name, size);
	/* beyond that, readers that take numbers as doubles round them */
	if (value > 1ULL << 53)
		emit__char(&ch->out, '"');
	emit__u64(&ch->out, value);
	if (value > 1ULL << 53)
		emit__char(&ch->out, '"');
}

void chrome_arg__int(struct chrome *ch, const char *name, int64_t value)
{
	key__put(ch, name, strlen(name));
	emit__i64(&ch->out, value);
}

void chrome_arg__double(struct chrome *ch, const char *name, double value)
{
	key__put(ch, name, strlen(name));
	emit__double(&ch->out, value);
}

void chrome_key__text(struct chrome *ch, const char *name, size_t size, const char *text)
{
	key__put(ch, name, size);
	emit__json(&ch->out, text);
}

void chrome_arg__bool(struct chrome *ch, const char *name, bool value)
{
	key__put(ch, name, strlen(name));
	emit__text(&ch->out, value ? "true" : "false");
}

void chrome_arg__color(struct chrome *ch, uint32_t rgb)
{
	uint64_t digits = emit__hex_digits(rgb << 8);

	key__put(ch, "color", 5);
	emit__lit(&ch->out, "\"#");
	memcpy(ch->out.at, &digits, sizeof(digits));
	ch->out.at += 6;
	emit__char(&ch->out, '"');
}

void chrome_event__instant(struct chrome *ch, const struct chrome_row *row, const char *category,
			   size_t size, uint64_t time)
{
	event__of(ch, 'i', category, size, row, time);
	emit__lit(&ch->out, ",\"s\":\"t\"");
}

void chrome__instant_named(struct chrome *ch, const struct chrome_row *row, const char *category,
			   const char *name, uint64_t time)
{
	chrome_event__begin(ch, 'i', category, NULL, name && *name ? name : category, row, time);
	emit__lit(&ch->out, ",\"s\":\"t\"");
}

void chrome__flow(struct chrome *ch, char ph, const char *category, uint64_t id,
		  const struct chrome_row *row, uint64_t time)
{
	event__of(ch, ph, category, strlen(category), row, time);
	emit__lit(&ch->out, ",\"id\":\"");
	emit__hex(&ch->out, id);
	emit__char(&ch->out, '"');
	if (ph == 'f')
		emit__lit(&ch->out, ",\"bp\":\"e\"");
	chrome_event__finish(ch);
}

void chrome__counter(struct chrome *ch, const struct chrome_process *process, const char *name,
		     const struct event *sample, int64_t value, uint64_t time)
{
	chrome_event__begin(ch, 'C', NULL, NULL, name, &process->counters, time);
	if (sample && sample->real)
		chrome_arg__double(ch, "value", sample->args[1].d);
	else
		chrome_arg__int(ch, "value", sample ? sample->args[1].i : value);
	chrome_event__finish(ch);
}

/* Rows */

static void row__metadata(struct chrome *ch, const struct chrome_row *row, const char *what,
			  const char *name, int64_t rank)
{
	chrome_event__begin(ch, 'M', NULL, NULL, what, row, 0);
	if (name)
		chrome_arg__text(ch, "name", name);
	else
		chrome_arg__int(ch, "sort_index", rank);
	chrome_event__finish(ch);
}

void chrome_row__init(struct chrome *ch, struct chrome_row *row, uint32_t pid, uint32_t tid,
		      const char *name, int64_t rank)
{
	row->ids_size =
		(uint8_t)(tid ? snprintf(row->ids, sizeof(row->ids),
					 ",\"pid\":%u,\"tid\":%u,\"ts\":", pid, tid)
			      : snprintf(row->ids, sizeof(row->ids), ",\"pid\":%u,\"ts\":", pid));
	if (!name)
		return;
	row->named = true;
	row__metadata(ch, row, "thread_name", name, 0);
	row__metadata(ch, row, "thread_sort_index", NULL, rank);
}

/* Slices */

struct chrome_slice *chrome_slice__new(struct chrome *ch, enum chrome_slice_kind kind,
				       const char *category, const char *prefix, const char *name)
{
	struct chrome_slice *slice = pool__take(&ch->slices);

	if (!slice) {
		ch->err = -ENOMEM;
		return NULL;
	}
	slice->kind = kind;
	slice->category = category;
	slice->prefix = prefix;
	slice->name = name;
	slice->worker = MODEL_NO_WORKER;
	slice->notes_end = &slice->notes;
	return slice;
}

static void notes__free(struct chrome *ch, struct chrome_slice *slice)
{
	while (slice->notes) {
		struct chrome_note *note = slice->notes;

		slice->notes = note->next;
		pool__give(&ch->notes, note);
	}
	slice->notes_end = &slice->notes;
	slice->note_count = 0;
}

void chrome_slice__free(struct chrome *ch, struct chrome_slice *slice)
{
	notes__free(ch, slice);
	pool__give(&ch->slices, slice);
}

static void zone__args(struct chrome *ch, const struct chrome_slice *slice)
{
	const char *colon = slice->where ? strrchr(slice->where, ':') : NULL;
	char file[512];

	if (slice->function)
		chrome_arg__text(ch, "function", slice->function);
	if (colon) {
		snprintf(file, sizeof(file), "%.*s", (int)(colon - slice->where), slice->where);
		chrome_arg__text(ch, "file", file);
		chrome_arg__uint(ch, "line", strtoul(colon + 1, NULL, 10));
	}
	/* the same in all of its parts, of which there is mostly one */
	chrome_arg__uint(ch, "zone_id", slice->key);
	if (slice->part)
		chrome_arg__uint(ch, "part", slice->part);
}

static void slice__args(struct chrome *ch, const struct chrome_slice *slice)
{
	switch (slice->kind) {
	case SLICE_RUN:
		chrome_arg__hex(ch, "task", slice->object);
		if (slice->worker != MODEL_NO_WORKER)
			chrome_arg__uint(ch, "worker", slice->worker);
		break;
	case SLICE_GAP:
		chrome_arg__hex(ch, "task", slice->key);
		if (slice->object)
			chrome_arg__hex(ch, "object", slice->object);
		break;
	case SLICE_SPAN:
		chrome_arg__text(ch, "reason", slice->function);
		break;
	case SLICE_ZONE:
		zone__args(ch, slice);
		break;
	case SLICE_CONTINUATION:
		chrome_arg__hex(ch, "object", slice->object);
		chrome_arg__hex(ch, "continuation", slice->key);
		chrome_arg__bool(ch, "inline", slice->is_inline);
		break;
	case SLICE_ASIO_RUN:
		if (slice->object)
			chrome_arg__hex(ch, "object", slice->object);
		break;
	case SLICE_LANE:
		/* all ones: there is none (TRACER_UNKNOWN) */
		if (slice->object != UINT64_MAX)
			chrome_arg__uint(ch, "extra", slice->object);
		if (slice->has_color)
			chrome_arg__color(ch, slice->color);
		break;
	}
}

static void note__arg(struct chrome *ch, const struct chrome_note *note)
{
	/* the name may be the program's own */
	arg__next(ch);
	emit__json(&ch->out, note->name);
	emit__char(&ch->out, ':');
	switch (note->kind) {
	case CHROME_NOTE_INT:
		emit__i64(&ch->out, note->value.i);
		break;
	case CHROME_NOTE_REAL:
		emit__double(&ch->out, note->value.d);
		break;
	case CHROME_NOTE_TEXT:
		emit__json(&ch->out, note->value.s ? note->value.s : "");
		break;
	case CHROME_NOTE_TRUE:
		emit__lit(&ch->out, "true");
		break;
	}
}

/* what is only known when it ends */
static void slice__late_args(struct chrome *ch, const struct chrome_slice *slice)
{
	chrome_arg__text(ch, "cause", slice->cause);
	if (slice->waker)
		chrome_arg__uint(ch, "waker", slice->waker);
	if (slice->kind == SLICE_ZONE && slice->has_color)
		chrome_arg__color(ch, slice->color);
	for (const struct chrome_note *note = slice->notes; note; note = note->next)
		note__arg(ch, note);
	if (slice->cut)
		chrome_arg__bool(ch, "cut", true);
}

/*
 * A begin and an end, not one event with a duration: readers add that to the begin, and as numbers
 * with decimals are not exact the sum may lie beyond the begin of the next slice.
 */
static void slice__begin(struct chrome *ch, const struct chrome_slice *slice)
{
	chrome_event__begin(ch, 'B', slice->category, slice->prefix, slice->name, slice->row,
			    slice->begin);
	slice__args(ch, slice);
	chrome_event__finish(ch);
}

/* speedscope finds the begin of the same time, which there is for a slice without length, by all
 * its arguments */
static void slice__end(struct chrome *ch, const struct chrome_slice *slice, uint64_t time)
{
	chrome_event__begin(ch, 'E', NULL, slice->prefix, slice->name, slice->row, time);
	if (time <= slice->begin)
		slice__args(ch, slice);
	else
		slice__late_args(ch, slice);
	chrome_event__finish(ch);
}

void chrome_row__push(struct chrome *ch, struct chrome_row *row, struct chrome_slice *slice,
		      uint64_t time)
{
	slice->row = row;
	slice->begin = time;
	slice->below = row->top;
	row->top = slice;
	slice__begin(ch, slice);
}

/* what is parked keeps its order: outermost first */
static void task__park(struct chrome_task *task, struct chrome_slice *slice)
{
	slice->row = NULL;
	slice->below = task->parked;
	task->parked = slice;
}

void chrome_row__remove(struct chrome *ch, struct chrome_slice *slice, struct chrome_task *park,
			uint64_t time)
{
	struct chrome_row *row = slice->row;
	struct chrome_slice *inside = NULL, *open;

	/* from the top down to the one that ends; the list turns round on the way */
	while (row->top != slice) {
		open = row->top;
		row->top = open->below;
		slice__end(ch, open, time);
		open->part++;
		notes__free(ch, open);
		if (park && open->owner == park &&
		    (open->kind == SLICE_ZONE || open->kind == SLICE_CONTINUATION)) {
			task__park(park, open);
			continue;
		}
		open->below = inside;
		inside = open;
	}
	row->top = slice->below;
	slice__end(ch, slice, time);
	chrome_slice__free(ch, slice);
	while (inside) {
		open = inside;
		inside = open->below;
		chrome_row__push(ch, row, open, time);
	}
}

void chrome_row__unpark(struct chrome *ch, struct chrome_row *row, struct chrome_task *task,
			uint64_t time)
{
	while (task->parked) {
		struct chrome_slice *slice = task->parked;

		task->parked = slice->below;
		chrome_row__push(ch, row, slice, time);
	}
}

void chrome_row__unlink_parked(struct chrome_task *task, struct chrome_slice *slice)
{
	struct chrome_slice **at = &task->parked;

	while (*at && *at != slice)
		at = &(*at)->below;
	if (*at)
		*at = slice->below;
}

void chrome_row__close(struct chrome *ch, struct chrome_row *row, uint64_t time)
{
	while (row->top) {
		struct chrome_slice *slice = row->top;

		row->top = slice->below;
		slice->cut = true;
		slice__end(ch, slice, time);
		chrome_slice__free(ch, slice);
	}
}
