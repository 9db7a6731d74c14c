// SPDX-License-Identifier: BSD-2-Clause
/*
 * A stream: one ring while one thread owns it. From chunks in any order to records in theirs.
 *
 * Chunks are kept as they came and decoded one record ahead of what is given out. A record is known
 * by its time only until it is taken: its strings may be explained by blocks that come later in the
 * file.
 *
 * Everything in a chunk's data is the target's word. The ring's head is what the kernel read of it,
 * so it is the target's word too, but it travels outside of the data: where a chunk ends at the
 * head, a record ends, and the head says how many there were. Decoding is checked against that at
 * each such place, and goes on there after something that cannot be. So a target that writes
 * nonsense loses the records of one window and nothing of any other stream.
 *
 * Counting: `records` follows the ring's count. Where bytes are missing, the count behind the gap
 * less the count before it is what was lost: the records of the missing bytes, the one that the
 * gap's beginning cut and the one that its end cut (decoding goes on with a whole one).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/ring_record.h"
#include "stack.h"
#include "stream.h"

/* A chunk that stands further from its place than this in the file is nobody's honest work. */
#define REORDER_MAX 4096
/* Chunks are stamped when they are copied; the outside reader may stamp a little before. */
#define AHEAD_NS 50000000ULL
/* Reads of the counter are not serialised, and CPUs differ a little. */
#define BACKWARD_NS 10000ULL
/* Names that a process may define before all are forgotten: each window repeats those it uses. */
#define NAMES_MAX (1U << 20)
/* How long a record of an unknown type waits for a schema. */
#define SCHEMA_WAIT_NS 1000000000ULL

/* How long after the end of a thread its stream is closed without a LAST chunk. */
#define GONE_NS 1000000000ULL

#define REC_CHUNK_LOST (REC_CHUNK_LOST_FULL | REC_CHUNK_LOST_OVERRUN | REC_CHUNK_LOST_FAULT)

struct chunk {
	struct chunk *next, *before;
	uint64_t start, end;
	uint64_t start_records;
	uint64_t head, head_records;
	uint64_t time;
	uint16_t flags;
	uint8_t data[];
};

static size_t chunk__held(const struct chunk *chunk)
{
	return sizeof(*chunk) + (chunk->end - chunk->start);
}

struct stream *stream__new(struct stream_context *context, const struct rec_chunk *chunk)
{
	struct process *process = processes__at(&context->processes, chunk->pid, chunk->h.time);
	struct stream *stream = process ? calloc(1, sizeof(*stream)) : NULL;

	if (!stream)
		return NULL;
	stream->id = chunk->stream;
	stream->process = process;
	stream->tid = chunk->tid;
	stream->dso_address = chunk->dso;
	stream->map_changes = context->processes.map_changes - 1;
	stream->sizes = context->schema.sizes;
	stream->first_time = chunk->h.time;
	stream->monotonic = context->monotonic;
	return stream;
}

static struct chunk *chunk__new(const struct rec_chunk *from)
{
	struct chunk *chunk = malloc(sizeof(*chunk) + from->len);

	if (!chunk)
		return NULL;
	chunk->start = from->start;
	chunk->end = from->start + from->len;
	chunk->start_records = from->start_records;
	chunk->head = from->head;
	chunk->head_records = from->head_records;
	chunk->time = from->h.time;
	chunk->flags = from->flags;
	memcpy(chunk->data, from->data, from->len);
	return chunk;
}

/* nothing of the stream comes before it */
static bool chunk__opens(const struct chunk *chunk)
{
	return chunk->flags & (REC_CHUNK_FIRST | REC_CHUNK_NAMES);
}

/* the queued chunk that a new one comes after, NULL: it comes first; false: out of all order */
static bool stream__place(const struct stream *stream, const struct chunk *chunk,
			  struct chunk **place)
{
	struct chunk *at = stream->last;
	int steps = 0;

	while (at && (at->start > chunk->start ||
		      (at->start == chunk->start && chunk__opens(chunk) && !chunk__opens(at)))) {
		if (stream->entered && at == stream->first)
			break;
		if (++steps > REORDER_MAX)
			return false;
		at = at->before;
	}
	*place = at;
	return true;
}

int stream__add(struct stream_context *context, struct stream *stream,
		const struct rec_chunk *record)
{
	struct chunk *chunk, *after;

	if (record->start >> 62 || record->head >> 62) {
		context->totals->damaged++;
		return 0;
	}
	chunk = chunk__new(record);
	if (!chunk)
		return -ENOMEM;
	if (!stream__place(stream, chunk, &after)) {
		context->totals->damaged++;
		free(chunk);
		return 0;
	}
	chunk->before = after;
	chunk->next = after ? after->next : stream->first;
	*(chunk->next ? &chunk->next->before : &stream->last) = chunk;
	*(after ? &after->next : &stream->first) = chunk;
	context->held += chunk__held(chunk);
	if (!(chunk->flags & REC_CHUNK_NAMES) && chunk->head >= stream->head) {
		stream->head = chunk->head;
		stream->head_records = chunk->head_records;
	}
	return 0;
}

static void stream__drop(struct stream_context *context, struct stream *stream)
{
	struct chunk *chunk = stream->first;

	stream->first = chunk->next;
	*(stream->first ? &stream->first->before : &stream->last) = NULL;
	stream->entered = false;
	if (chunk->flags & REC_CHUNK_LAST)
		stream->last_seen = true;
	context->held -= chunk__held(chunk);
	free(chunk);
}

void stream__free(struct stream_context *context, struct stream *stream)
{
	while (stream->first)
		stream__drop(context, stream);
	free(stream->carry);
	free(stream);
}

/* its thread, or its program, ended long enough before the last ROUND: no more will come */
static bool stream__gone(const struct stream_context *context, const struct stream *stream,
			 uint64_t slack)
{
	const struct process *process = stream->process;
	uint64_t exited = (uintptr_t)table__get(&context->thread_exits, stream->tid);
	size_t i;

	if (exited >= stream->first_time && exited + slack < context->round && exited)
		return true;
	if (process->exited_at >= stream->first_time &&
	    process->exited_at + slack < context->round && process->exited_at)
		return true;
	for (i = 0; i < process->exec_count; i++) {
		if (process->execs[i] >= stream->first_time &&
		    process->execs[i] + slack < context->round)
			return true;
	}
	return false;
}

bool stream__holds(const struct stream_context *context, const struct stream *stream)
{
	return stream->begun && stream->head > stream->pos && !stream->last_seen &&
	       !stream__gone(context, stream, 0);
}

/* at @position the ring had counted @records: what was decoded less since the last check is lost */
static void stream__check(struct stream_context *context, struct stream *stream, uint64_t records,
			  uint64_t position, enum event_loss cause)
{
	struct trace_totals *totals = context->totals;
	uint64_t lost = 0, most;

	if (stream->counted && records > stream->records) {
		lost = records - stream->records;
		/* no record is shorter than its first word */
		most = position > stream->boundary ? (position - stream->boundary) / 8 : 0;
		if (lost > most) {
			lost = most;
			totals->damaged++;
		}
	}
	if (lost) {
		if (!stream->loss.records) {
			stream->loss.from = stream->hold;
			stream->loss.cause = cause;
		}
		stream->loss.records += lost;
		totals->lost_by[cause] += lost;
	}
	stream->records = records;
	stream->boundary = position;
}

static enum event_loss loss_cause(unsigned int flags)
{
	if (flags & REC_CHUNK_LOST_FULL)
		return LOSS_RING_FULL;
	return flags & REC_CHUNK_LOST_OVERRUN ? LOSS_TARGET_OVERRUN : LOSS_READ_FAULT;
}

/* what @chunk begins with is not known: go on at its head, where a record begins */
static void stream__resume(struct stream *stream, const struct chunk *chunk)
{
	stream->carried = 0;
	stream->skip_to = chunk->head > chunk->end ? chunk->head : chunk->end;
	stream->skip_records = chunk->head_records;
	stream->skip_counts = chunk->head >= chunk->end && !(chunk->flags & REC_CHUNK_NAMES);
}

/* something cannot be: go on at the next place where a record is known to begin */
static void stream__damage(struct stream_context *context, struct stream *stream,
			   const struct chunk *chunk)
{
	context->totals->damaged++;
	stream__resume(stream, chunk);
}

static void stream__set_reference(struct stream_context *context, struct stream *stream,
				  const struct chunk *chunk)
{
	stream->reference = timebase__stamp(&context->timebase, chunk->time, stream->monotonic);
}

/*
 * Can nothing that belongs before @chunk come any more? Where the capture lost something the chunk
 * says so, and the next ROUND settles it. A gap that nobody speaks of is a chunk that stands
 * further down, or it was in a block that could not be unpacked.
 */
static bool chunk__is_final(const struct stream_context *context, const struct chunk *chunk)
{
	if (context->eof || context->force)
		return true;
	return context->round > chunk->time &&
	       (context->blocks_missing || chunk->flags & REC_CHUNK_LOST);
}

/* the stream's first chunk: true, or false if an earlier one may still come */
static bool stream__begin(struct stream_context *context, struct stream *stream,
			  const struct chunk *chunk, bool final)
{
	uint64_t time = chunk->time;

	if (!chunk__opens(chunk) && !final)
		return false;
	stream->begun = true;
	stream->pos = chunk->start;
	stream->last_time = context->earliest;
	stream->hold = time > STREAM_DELAY_NS ? time - STREAM_DELAY_NS : 0;
	return true;
}

/*
 * The first chunk that counts. The capture counts a ring's records from where its stream began, so
 * if this piece is not the first that was written (it says itself that something was lost before
 * it, or the file lost it), its count is that of what is missing.
 */
static void stream__count_from(struct stream_context *context, struct stream *stream,
			       const struct chunk *chunk)
{
	stream->counted = true;
	if (chunk->flags & REC_CHUNK_LOST) {
		stream__check(context, stream, chunk->start_records, chunk->start,
			      loss_cause(chunk->flags));
	} else if (chunk->flags & REC_CHUNK_FIRST) {
		stream->records = chunk->start_records;
		stream->boundary = chunk->start;
	} else {
		stream__resume(stream, chunk);
	}
}

/* bytes between pos and the chunk did not come */
static void stream__gap(struct stream_context *context, struct stream *stream,
			const struct chunk *chunk)
{
	stream->carried = 0;
	stream->skip_to = 0;
	stream->pos = chunk->start;
	if (!stream->counted)
		return;
	if (chunk->flags & (REC_CHUNK_LOST | REC_CHUNK_FIRST)) {
		stream__check(context, stream, chunk->start_records, chunk->start,
			      loss_cause(chunk->flags));
		return;
	}
	/* the file lost it, not the capture: this chunk may begin anywhere in a record */
	stream__resume(stream, chunk);
}

enum step { STEP_GO_ON, STEP_FOUND, STEP_WAIT };

/* the first chunk's turn: does it continue the stream? */
static enum step stream__enter(struct stream_context *context, struct stream *stream)
{
	struct chunk *chunk = stream->first;
	bool final = chunk__is_final(context, chunk);
	bool names = chunk->flags & REC_CHUNK_NAMES;

	if (!stream->begun && !stream__begin(context, stream, chunk, final))
		return STEP_WAIT;
	if (chunk->start > stream->pos) {
		if (!final)
			return STEP_WAIT;
		stream__gap(context, stream, chunk);
	}
	if (chunk->end <= stream->pos && chunk->start < stream->pos) {
		/* names that come late are no overlap, but too late to be of use */
		if (!names && chunk->end > chunk->start)
			context->totals->damaged++;
		stream__drop(context, stream);
		return STEP_GO_ON;
	}
	if (chunk->start < stream->pos && chunk->end > stream->pos)
		context->totals->damaged++;
	if (!stream->counted && !names)
		stream__count_from(context, stream, chunk);
	stream->chunk_time = chunk->time;
	stream__set_reference(context, stream, chunk);
	stream->entered = true;
	return STEP_GO_ON;
}

/* the chunk's data is decoded */
static void stream__leave(struct stream_context *context, struct stream *stream)
{
	const struct chunk *chunk = stream->first;
	uint64_t lost;

	if (chunk->head == stream->pos && stream->counted && !(chunk->flags & REC_CHUNK_NAMES)) {
		lost = stream->loss.records;
		if (stream->carried || stream->skip_to > stream->pos ||
		    stream->records > chunk->head_records)
			context->totals->damaged++;
		stream->carried = 0;
		stream->skip_to = 0;
		stream__check(context, stream, chunk->head_records, chunk->head, LOSS_READ_FAULT);
		context->totals->damaged += stream->loss.records - lost;
	}
	stream__drop(context, stream);
}

static void stream__skip(struct stream_context *context, struct stream *stream,
			 const struct chunk *chunk)
{
	uint64_t to = stream->skip_to < chunk->end ? stream->skip_to : chunk->end;

	stream->pos = to;
	if (to == stream->skip_to && stream->skip_counts)
		stream__check(context, stream, stream->skip_records, to, LOSS_READ_FAULT);
}

static void stream__find_map(struct stream_context *context, struct stream *stream)
{
	if (stream->dso || stream->map_changes == context->processes.map_changes)
		return;
	stream->map_changes = context->processes.map_changes;
	stream->dso = processes__find_map(&context->processes, stream->process, stream->dso_address,
					  stream->first_time, &stream->base);
	if (stream->dso)
		stream->sizes = stream->dso->sizes;
}

static uint64_t load64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static void stream__learn_name(struct stream_context *context, struct stream *stream,
			       const uint8_t *record)
{
	struct table *names = &stream->process->names;
	uint64_t key = load64(record + 8);

	/* a key stands for its string: what is known need not be learned again */
	if (!(key & TRACER_NAME_KEY) || table__get(names, key))
		return;
	if (names->count == NAMES_MAX)
		table__free(names);
	if (table__set(names, key,
		       (void *)strings__add(context->strings, record + 16, load64(record) >> 8)) <
	    0)
		context->no_memory = true;
}

static uint64_t stream__time(struct stream_context *context, struct stream *stream, uint64_t word)
{
	/* the nearest stamp to the chunk's that has these 56 bits */
	int64_t distance = (int64_t)(((word >> 8) - stream->reference) << 8) >> 8;
	uint64_t stamp = stream->reference + distance;
	uint64_t time;

	if (distance < 0 && (uint64_t)-distance > stream->reference)
		stamp = 0;
	stream->stamp = stamp;
	time = timebase__boottime(&context->timebase, stamp, stream->monotonic, &stream->hint);
	if (time > stream->chunk_time + AHEAD_NS) {
		/* a record cannot be newer than its copy */
		context->totals->damaged++;
		time = stream->chunk_time;
	}
	if (time < stream->last_time) {
		if (stream->last_time - time > BACKWARD_NS)
			context->totals->damaged++;
		time = stream->last_time;
	}
	return time;
}

/* the ring's own records; false: damaged */
static bool stream__own_record(struct stream_context *context, struct stream *stream,
			       const uint8_t *record)
{
	uint64_t word = load64(record);
	uint32_t clock;

	switch (word & 0xff) {
	case TRACER_EV_PAD:
		stream->skip_to = stream->pos + (word >> 8) - 8;
		stream->skip_counts = false;
		return true;
	case TRACER_EV_NAME:
		stream__learn_name(context, stream, record);
		return true;
	default:
		memcpy(&clock, record + 8, sizeof(clock));
		if (clock > TRACER_CLOCK_MONOTONIC)
			return false;
		*(clock ? &context->monotonic_seen : &context->cycles_seen) = true;
		if (stream->monotonic != (clock == TRACER_CLOCK_MONOTONIC)) {
			stream->monotonic = !stream->monotonic;
			stream__set_reference(context, stream, stream->first);
		}
		return true;
	}
}

/* @record is whole; pos is behind it */
static enum step stream__record(struct stream_context *context, struct stream *stream,
				const uint8_t *record)
{
	uint64_t word = load64(record);

	if ((word & 0xff) < SCHEMA_FIRST) {
		stream->carried = 0;
		if (!stream__own_record(context, stream, record))
			stream__damage(context, stream, stream->first);
		return STEP_GO_ON;
	}
	if (stream->first->flags & REC_CHUNK_NAMES) {
		stream->carried = 0;
		return STEP_GO_ON;
	}
	stream->time = stream__time(context, stream, word);
	stream->last_time = stream->hold = stream->time;
	stream->type = word & 0xff;
	stream->record = record;
	return STEP_FOUND;
}

/* no size for this type: its schema may come with a MAP that was not read yet */
static enum step stream__unknown(struct stream_context *context, struct stream *stream,
				 uint64_t word)
{
	const struct chunk *chunk = stream->first;

	if ((word & 0xff) >= SCHEMA_FIRST && !stream->dso && !context->eof && !context->force &&
	    context->round < chunk->time + SCHEMA_WAIT_NS)
		return STEP_WAIT;
	stream__damage(context, stream, chunk);
	return STEP_GO_ON;
}

/* a record that the end of a chunk cuts, or cut */
static enum step stream__cut_record(struct stream_context *context, struct stream *stream)
{
	const struct chunk *chunk = stream->first;
	uint32_t need = 8, size, n;

	if (!stream->carry) {
		stream->carry = malloc(TRACER_RECORD_MAX);
		if (!stream->carry) {
			context->no_memory = true;
			return STEP_WAIT;
		}
	}
	for (;;) {
		if (stream->carried >= 8) {
			need = ring_record__size(load64(stream->carry), stream->sizes);
			if (need == 0 || need > TRACER_RECORD_MAX)
				return stream__unknown(context, stream, load64(stream->carry));
			if (stream->carried >= need)
				break;
		}
		size = need - stream->carried;
		n = chunk->end - stream->pos < size ? chunk->end - stream->pos : size;
		if (n == 0)
			return STEP_GO_ON; /* the chunk is used up */
		memcpy(stream->carry + stream->carried, chunk->data + (stream->pos - chunk->start),
		       n);
		stream->carried += n;
		stream->pos += n;
	}
	return stream__record(context, stream, stream->carry);
}

static enum step stream__step(struct stream_context *context, struct stream *stream)
{
	const struct chunk *chunk = stream->first;
	uint64_t left = chunk->end > stream->pos ? chunk->end - stream->pos : 0;
	const uint8_t *record;
	uint32_t size;

	if (left == 0) {
		stream__leave(context, stream);
		return STEP_GO_ON;
	}
	if (stream->skip_to > stream->pos) {
		stream__skip(context, stream, chunk);
		return STEP_GO_ON;
	}
	if (stream->carried || left < 8)
		return stream__cut_record(context, stream);
	record = chunk->data + (stream->pos - chunk->start);
	size = ring_record__size(load64(record), stream->sizes);
	if (size == 0 || size > TRACER_RECORD_MAX)
		return stream__unknown(context, stream, load64(record));
	if (size > left)
		return stream__cut_record(context, stream);
	stream->pos += size;
	return stream__record(context, stream, record);
}

/* nothing is queued */
static enum stream_state stream__idle(struct stream_context *context, struct stream *stream)
{
	if (!context->eof && !stream->last_seen && !stream__gone(context, stream, GONE_NS))
		return STREAM_WAITS;
	if (!stream->finished) {
		stream->finished = true;
		stream->carried = 0;
		if (stream->head > stream->boundary && !context->continues)
			stream__check(context, stream, stream->head_records, stream->head,
				      LOSS_READ_FAULT);
	}
	if (!stream->loss.records)
		return STREAM_DONE;
	stream->record = NULL;
	stream->time =
		stream->chunk_time > stream->last_time ? stream->chunk_time : stream->last_time;
	return STREAM_READY;
}

enum stream_state stream__peek(struct stream_context *context, struct stream *stream)
{
	enum step step;

	do {
		if (!stream->first)
			return stream__idle(context, stream);
		if (stream->entered) {
			stream__find_map(context, stream);
			step = stream__step(context, stream);
		} else {
			step = stream__enter(context, stream);
		}
	} while (step == STEP_GO_ON);
	return step == STEP_FOUND ? STREAM_READY : STREAM_WAITS;
}

static const char *stream__string(struct stream_context *context, struct stream *stream,
				  uint64_t value)
{
	const char *string;

	if (!value)
		return NULL;
	if (value & TRACER_NAME_KEY) {
		string = table__get(&stream->process->names, value);
		return string ? string
			      : strings__format(context->strings, "<name 0x%llx>",
						(unsigned long long)value);
	}
	string = stream->dso ? dso__string(stream->dso, value - stream->base, context->strings)
			     : NULL;
	return string ? string
		      : strings__format(context->strings, "<0x%llx>", (unsigned long long)value);
}

static const char *stream__literal(struct stream_context *context, struct stream *stream,
				   uint32_t offset)
{
	const char *string;

	if (!offset)
		return NULL;
	string = stream->dso ? dso__string(stream->dso, offset, context->strings) : NULL;
	return string ? string : strings__format(context->strings, "<+0x%x>", offset);
}

static void stream__fill(struct stream_context *context, struct stream *stream, struct event *event)
{
	const struct schema_row *row = &context->schema.rows[stream->type];
	const uint8_t *from;
	uint32_t small;
	unsigned int i;

	stream__find_map(context, stream);
	event->type = row->event.type;
	event->nargs = row->event.nargs;
	event->real = row->real;
	for (i = 0; i < event->nargs; i++) {
		from = stream->record + row->offsets[i];
		switch (row->event.arg_types[i]) {
		case 'u':
			memcpy(&small, from, sizeof(small));
			event->args[i].u = small;
			break;
		case 'l':
			memcpy(&small, from, sizeof(small));
			event->args[i].s = stream__literal(context, stream, small);
			break;
		case 's':
			event->args[i].s = stream__string(context, stream, load64(from));
			break;
		default:
			event->args[i].u = load64(from);
		}
	}
	/* two ways to say the same: who reads events need not know */
	if (event->type == EV_zone_begin_at)
		event->type = EV_zone_begin;
	else if (event->type == EV_zone_end_at)
		event->type = EV_zone_end;
}

struct stream *stream__restore(struct stream_context *context, const struct file_stream *entry,
			       const uint8_t *carried)
{
	struct rec_chunk chunk = {
		.h = {.time = context->earliest},
		.pid = entry->pid,
		.tid = entry->tid,
		.stream = entry->stream,
		.dso = entry->dso,
	};
	struct stream *stream = stream__new(context, &chunk);

	if (!stream)
		return NULL;
	stream->monotonic = entry->flags & FILE_STREAM_MONOTONIC;
	stream->last_time = stream->hold = context->earliest;
	if (entry->flags & FILE_STREAM_UNKNOWN)
		return stream;
	stream->begun = stream->counted = true;
	stream->pos = stream->boundary = stream->head = entry->position;
	stream->records = stream->head_records = entry->records;
	if (!entry->carried || entry->carried > TRACER_RECORD_MAX)
		return stream;
	stream->carry = malloc(TRACER_RECORD_MAX);
	if (!stream->carry) {
		stream__free(context, stream);
		return NULL;
	}
	memcpy(stream->carry, carried, entry->carried);
	stream->carried = entry->carried;
	return stream;
}

/* what a record means that holds on; false: nothing */
static bool event__holds_on(struct event *event)
{
	switch (event->type) {
	case EV_task_created:
		event->type = EV_task_known;
		return true;
	case EV_worker_start:
		event->type = EV_worker_known;
		return true;
	default:
		return event->type == EV_channel_name || event->type == EV_marker_color;
	}
}

int stream__context(struct stream_context *context, struct stream *stream, const uint8_t *bytes,
		    size_t size, size_t *at, struct event *event)
{
	const uint8_t *record;
	uint32_t length;

	stream__find_map(context, stream);
	while (size - *at >= 8) {
		record = bytes + *at;
		length = ring_record__size(load64(record), stream->sizes);
		if (!length || length > size - *at)
			return 0;
		*at += length;
		if ((load64(record) & 0xff) == TRACER_EV_NAME)
			stream__learn_name(context, stream, record);
		if ((load64(record) & 0xff) < SCHEMA_FIRST)
			continue;
		stream->record = record;
		stream->type = (uint8_t)load64(record);
		*event = (struct event){
			.time = context->earliest,
			.process = stream->process->shown.index,
			.pid = stream->process->shown.pid,
			.tid = stream->tid,
		};
		stream__fill(context, stream, event);
		stream->record = NULL;
		if (event__holds_on(event))
			return 1;
	}
	return 0;
}

bool stream__take(struct stream_context *context, struct stream *stream, struct event *event)
{
	event->time = stream->time;
	event->process = stream->process->shown.index;
	event->pid = stream->process->shown.pid;
	event->tid = stream->tid;
	event->stack = 0;
	event->derived = false;
	if (stream->loss.records) {
		event->type = EV_lost;
		event->real = false;
		event->nargs = 4;
		event->args[0].u = stream->loss.records;
		event->args[1].u = stream->loss.from;
		event->args[2].u = stream->time;
		event->args[3].u = stream->loss.cause;
		stream->loss.records = 0;
		return true;
	}
	stream__fill(context, stream, event);
	if (stream->record == stream->carry)
		stream->carried = 0;
	stream->record = NULL;
	if (context->stacks)
		event->stack = stack_table__take(context->stacks, stream->id, stream->tid,
						 stream->dso_address, stream->records, event->type);
	stream->records++;
	if (!context->schema.rows[event->type].unasked)
		context->totals->records++;
	return false;
}
