// SPDX-License-Identifier: BSD-2-Clause
/*
 * The targets' streams, followed while they are recorded.
 *
 * What a stream's bytes mean is the page "A thread's bytes" of docs/format.md; user/trace/stream.c
 * reads them for good. This here is the little of it that must be known at once. The target is
 * hostile: what cannot be makes its own stream unknown up to the next place where a record is known
 * to begin.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/ring_record.h"
#include "follow_state.h"

#define FIRST_EVENT 16
#define NAMES_MAX (2U * TRACER_WINDOW_MAX)
#define CONTEXTS_MAX (1U << 17)

enum { ASK_KEEP = 1, ASK_WATCH = 2 };

struct follow *follow__new(void)
{
	static const uint8_t keep[] = {EV_task_staged,	  EV_task_created,   EV_task_renamed,
				       EV_task_completed, EV_task_destroyed, EV_worker_start,
				       EV_worker_stop,	  EV_channel_name,   EV_marker_color};
	struct follow *follow = calloc(1, sizeof(*follow));
	size_t i;

	if (!follow)
		return NULL;
	for (i = 0; i < sizeof(keep); i++)
		follow->asks[keep[i]] |= ASK_KEEP;
	follow->alive = alive__new();
	if (!follow->alive) {
		free(follow);
		return NULL;
	}
	return follow;
}

static void context__free(struct context *context)
{
	if (context)
		free(context->name);
	free(context);
}

static void follow__remove(struct follow *follow, struct stream *stream)
{
	map__remove(&follow->by_id, stream->id, 0);
	*stream->link = stream->next;
	if (stream->next)
		stream->next->link = stream->link;
	context__free(stream->worker);
	free(stream->names);
	free(stream);
	follow->count--;
}

void follow__free(struct follow *follow)
{
	struct map_entry *entry = NULL;

	if (!follow)
		return;
	while (follow->streams)
		follow__remove(follow, follow->streams);
	while ((entry = map__next(&follow->contexts, entry)))
		context__free(entry->value);
	map__free(&follow->by_id);
	map__free(&follow->contexts);
	alive__free(follow->alive);
	free(follow);
}

void follow__learn(struct follow *follow, const char *schema)
{
	static const struct {
		const char *name;
		unsigned int size;
	} types[] = {{"id:", 8}, {"u32:", 4}, {"u64:", 8}, {"num:", 8}, {"str:", 8}, {"lit:", 4}};
	const char *line, *end, *at;
	unsigned long number;
	unsigned int size;
	bool has_number;
	size_t i;

	for (line = schema; line && *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		number = strtoul(line, NULL, 10);
		if (number < FIRST_EVENT || number > 255)
			continue;
		size = 8;
		has_number = false;
		for (at = line; at && at < end; at = memchr(at, ' ', (size_t)(end - at))) {
			at += *at == ' ';
			for (i = 0; i < sizeof(types) / sizeof(*types); i++) {
				if (strncmp(at, types[i].name, strlen(types[i].name)) != 0)
					continue;
				size = (size + types[i].size - 1) / types[i].size * types[i].size +
				       types[i].size;
				has_number |= types[i].name[0] == 'n';
			}
		}
		size = (size + 7) & ~7U;
		if (follow->sizes[number])
			continue;
		follow->sizes[number] = (uint16_t)size;
		if (has_number && number < 255 && !follow->sizes[number + 1])
			follow->sizes[number + 1] = (uint16_t)size;
	}
}

void follow__watch(struct follow *follow, void (*take)(void *ctx, const struct follow_event *event),
		   void *ctx)
{
	static const uint8_t watched[] = {EV_task_created, EV_task_ready,     EV_task_begin,
					  EV_task_end,	   EV_task_yielded,   EV_task_suspended,
					  EV_task_resumed, EV_task_completed, EV_task_destroyed};
	size_t i;

	for (i = 0; i < sizeof(watched); i++)
		follow->asks[watched[i]] |= ASK_WATCH;
	follow->watch = take;
	follow->watch_ctx = ctx;
}

/* --- records ---------------------------------------------------------------------------------- */

static uint64_t load64(const uint8_t *from)
{
	uint64_t value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/* the NAME record of a key, in the present window; NULL: an address, or not there */
static const uint8_t *stream__name(const struct stream *stream, uint64_t key)
{
	uint32_t at = key & TRACER_NAME_KEY ? stream->name_at[key % TRACER_NAME_SLOTS] : 0;

	return at && load64(stream->names + at - 1 + 8) == key ? stream->names + at - 1 : NULL;
}

static uint32_t name_size(const uint8_t *name)
{
	return 16 + (((uint32_t)(load64(name) >> 8) + 7) & ~7U);
}

static void stream__learn_name(struct stream *stream, const uint8_t *record, uint32_t size)
{
	uint32_t room = stream->names_room;
	uint8_t *names;

	if (stream->names_size + size > NAMES_MAX)
		return;
	while (stream->names_size + size > room)
		room = room ? 2 * room : 256;
	if (room != stream->names_room) {
		names = realloc(stream->names, room);
		if (!names)
			return;
		stream->names = names;
		stream->names_room = room;
	}
	memcpy(stream->names + stream->names_size, record, size);
	stream->name_at[load64(record + 8) % TRACER_NAME_SLOTS] = stream->names_size + 1;
	stream->names_size += size;
}

static void stream__window(struct stream *stream, const uint8_t *record)
{
	bool monotonic = (uint32_t)load64(record + 8) == TRACER_CLOCK_MONOTONIC;

	/* a change of clocks in the middle of one says so, too; names stay */
	if (monotonic == stream->monotonic) {
		stream->names_size = 0;
		memset(stream->name_at, 0, sizeof(stream->name_at));
	}
	stream->monotonic = monotonic;
}

static struct context *context__new(const struct stream *stream, const uint8_t *record,
				    uint32_t size, uint64_t string)
{
	const uint8_t *name = stream__name(stream, string);
	struct context *context;

	if (size > sizeof(context->record))
		return NULL;
	context = calloc(1, sizeof(*context));
	if (!context)
		return NULL;
	context->pid = stream->pid;
	context->tid = stream->tid;
	context->dso = stream->dso;
	context->size = size;
	memcpy(context->record, record, size);
	if (!name)
		return context;
	context->name_size = name_size(name);
	context->name = malloc(context->name_size);
	if (context->name)
		memcpy(context->name, name, context->name_size);
	else
		context->name_size = 0;
	return context;
}

static void follow__keep_context(struct follow *follow, const struct stream *stream,
				 const uint8_t *record, uint32_t size, uint64_t number,
				 uint64_t string)
{
	struct context *context, *before = map__get(&follow->contexts, stream->pid, number);

	if (before ? before->record[1] == load64(record + 8) &&
			     before->record[2] == load64(record + 16)
		   : follow->contexts.count >= CONTEXTS_MAX)
		return;
	context = context__new(stream, record, size, string);
	if (!context || map__put(&follow->contexts, stream->pid, number, context)) {
		context__free(context);
		return;
	}
	context__free(before);
}

static void follow__keep_task(struct follow *follow, const struct stream *stream,
			      const uint8_t *record, uint8_t type)
{
	struct alive_task task = {
		.pid = stream->pid,
		.identity = load64(record + 8),
		.dso = stream->dso,
		.name = load64(record + 16),
		.stamp = load64(record) >> 8,
	};
	const uint8_t *name = stream__name(stream, task.name);

	if (name) {
		task.bytes = (const char *)name + 16;
		task.length = (uint32_t)(load64(name) >> 8);
	}
	if (type == EV_task_renamed) {
		alive__rename(follow->alive, &task);
		return;
	}
	task.parent = load64(record + 24);
	alive__add(follow->alive, &task);
}

static void follow__keep(struct follow *follow, struct stream *stream, const uint8_t *record,
			 uint32_t size, uint8_t type)
{
	switch (type) {
	case EV_task_staged:
	case EV_task_created:
	case EV_task_renamed:
		follow__keep_task(follow, stream, record, type);
		break;
	case EV_task_completed:
	case EV_task_destroyed:
		alive__end(follow->alive, stream->pid, load64(record + 8), load64(record) >> 8);
		break;
	case EV_worker_start:
		context__free(stream->worker);
		stream->worker = context__new(stream, record, size, load64(record + 16));
		break;
	case EV_worker_stop:
		context__free(stream->worker);
		stream->worker = NULL;
		break;
	case EV_channel_name:
		follow__keep_context(follow, stream, record, size, (uint32_t)load64(record + 8),
				     load64(record + 16));
		break;
	case EV_marker_color:
		follow__keep_context(follow, stream, record, size, load64(record + 8) ^ 1ULL << 62,
				     load64(record + 8));
		break;
	}
}

static void follow__record(struct follow *follow, struct stream *stream, const uint8_t *record,
			   uint32_t size)
{
	uint64_t word = load64(record);
	uint8_t type = (uint8_t)word;
	struct follow_event event;

	switch (type) {
	case TRACER_EV_NAME:
		stream__learn_name(stream, record, size);
		return;
	case TRACER_EV_WINDOW:
		stream__window(stream, record);
		return;
	}
	stream->records++;
	if (!follow->asks[type])
		return;
	if (follow->asks[type] & ASK_KEEP)
		follow__keep(follow, stream, record, size, type);
	if (!(follow->asks[type] & ASK_WATCH) || !follow->watch)
		return;
	event = (struct follow_event){stream->pid,	  stream->tid, stream->id,	 type,
				      load64(record + 8), word >> 8,   stream->monotonic};
	follow->watch(follow->watch_ctx, &event);
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* nothing is understood up to the head of this chunk, where a record begins */
static void stream__resync(struct stream *stream, const struct rec_chunk *chunk)
{
	stream->carried = 0;
	stream->skip_to =
		chunk->head > chunk->start + chunk->len ? chunk->head : chunk->start + chunk->len;
	stream->skip_records = chunk->head_records;
	stream->skip_counts = true;
}

/* was it written at @until or later? Stamps have 56 bits. */
static bool record__is_late(const struct stream *stream, const uint8_t *record, uint64_t left,
			    const struct moment *until)
{
	uint64_t word = load64(record);
	bool monotonic = stream->monotonic;

	switch (word & 0xff) {
	case TRACER_EV_PAD:
	case TRACER_EV_NAME:
		return false;
	case TRACER_EV_WINDOW:
		if (left >= 16)
			monotonic = (uint32_t)load64(record + 8) == TRACER_CLOCK_MONOTONIC;
	}
	return (int64_t)(((word >> 8) - (monotonic ? until->monotonic : until->cycles)) << 8) >= 0;
}

/* as much of the record that a chunk before has cut as is in this one; bytes taken */
static uint64_t stream__complete(struct follow *follow, struct stream *stream, const uint8_t *data,
				 uint64_t left)
{
	uint32_t need = ring_record__size(load64(stream->carry), follow->sizes);
	uint64_t n = need - stream->carried;

	if (n > left)
		n = left;
	memcpy(stream->carry + stream->carried, data, n);
	stream->carried += (uint32_t)n;
	if (stream->carried == need) {
		stream->carried = 0;
		follow__record(follow, stream, stream->carry, need);
	}
	return n;
}

static void stream__skip(struct stream *stream, uint64_t end)
{
	stream->pos = stream->skip_to < end ? stream->skip_to : end;
	if (stream->pos == stream->skip_to && stream->skip_counts) {
		stream->records = stream->skip_records;
		stream->skip_counts = false;
	}
}

/* from pos to the chunk's end, or to the first record that is late; true: there is one */
static bool stream__walk(struct follow *follow, struct stream *stream,
			 const struct rec_chunk *chunk, const struct moment *until)
{
	uint64_t end = chunk->start + chunk->len, word;
	const uint8_t *at;
	uint32_t size;

	while (stream->pos < end) {
		if (stream->skip_to > stream->pos) {
			stream__skip(stream, end);
			continue;
		}
		at = chunk->data + (stream->pos - chunk->start);
		if (stream->carried) {
			stream->pos += stream__complete(follow, stream, at, end - stream->pos);
			continue;
		}
		word = end - stream->pos < 8 ? 0 : load64(at);
		size = ring_record__size(word, follow->sizes);
		if (!size || size > TRACER_RECORD_MAX) {
			stream__resync(stream, chunk);
			continue;
		}
		if (until && record__is_late(stream, at, end - stream->pos, until))
			return true;
		if (size > end - stream->pos) {
			stream->carried = (uint32_t)(end - stream->pos);
			memcpy(stream->carry, at, stream->carried);
			stream->pos = end;
			break;
		}
		stream->pos += size;
		if ((word & 0xff) != TRACER_EV_PAD) {
			follow__record(follow, stream, at, size);
			continue;
		}
		stream->skip_to = stream->pos + (word >> 8) - 8;
		stream->skip_counts = false;
	}
	return false;
}

/* names of before the capture; they count for nothing */
static void stream__walk_names(struct follow *follow, struct stream *stream,
			       const struct rec_chunk *chunk)
{
	uint64_t at = 0, word;
	uint32_t size;

	while (chunk->len - at >= 8) {
		word = load64(chunk->data + at);
		size = ring_record__size(word, follow->sizes);
		if (!size || size > chunk->len - at)
			break;
		if ((word & 0xff) == TRACER_EV_NAME)
			stream__learn_name(stream, chunk->data + at, size);
		else if ((word & 0xff) == TRACER_EV_WINDOW)
			stream__window(stream, chunk->data + at);
		at += (word & 0xff) == TRACER_EV_PAD ? word >> 8 : size;
		if (at > chunk->len)
			break;
	}
}

static struct stream *follow__stream(struct follow *follow, const struct rec_chunk *chunk)
{
	struct stream *stream = map__get(&follow->by_id, chunk->stream, 0);

	if (stream)
		return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	stream->id = chunk->stream;
	stream->pid = chunk->pid;
	stream->tid = chunk->tid;
	stream->dso = chunk->dso;
	if (map__put(&follow->by_id, stream->id, 0, stream)) {
		free(stream);
		return NULL;
	}
	stream->next = follow->streams;
	stream->link = &follow->streams;
	if (stream->next)
		stream->next->link = &stream->next;
	follow->streams = stream;
	follow->count++;
	return stream;
}

/* where the stream stands when the chunk begins */
static void stream__enter(struct follow *follow, struct stream *stream,
			  const struct rec_chunk *chunk)
{
	const uint16_t jumps = REC_CHUNK_FIRST | REC_CHUNK_LOST_FULL | REC_CHUNK_LOST_OVERRUN |
			       REC_CHUNK_LOST_FAULT;
	struct follow_event unknown = {
		.pid = stream->pid, .tid = stream->tid, .stream = stream->id};

	if (chunk->flags & jumps) {
		if (stream->known && follow->watch)
			follow->watch(follow->watch_ctx, &unknown);
		stream->known = true;
		stream->pos = chunk->start;
		stream->records = chunk->start_records;
		stream->carried = 0;
		stream->skip_to = 0;
	} else if (!stream->known || chunk->start > stream->pos) {
		stream->known = true;
		stream->pos = chunk->start;
		stream__resync(stream, chunk);
	}
}

static void stream__leave(struct stream *stream, const struct rec_chunk *chunk)
{
	/* the head is where a record ends, and it has a count */
	if (stream->pos == chunk->head && stream->skip_to <= stream->pos) {
		stream->carried = 0;
		stream->records = chunk->head_records;
	}
}

uint32_t follow__chunk(struct follow *follow, const struct rec_chunk *chunk,
		       const struct moment *until, uint64_t *records)
{
	struct stream *stream = follow__stream(follow, chunk);
	uint32_t used = chunk->len;

	if (!stream)
		return chunk->len;
	if (chunk->flags & REC_CHUNK_NAMES) {
		stream__walk_names(follow, stream, chunk);
		return chunk->len;
	}
	stream__enter(follow, stream, chunk);
	if (stream__walk(follow, stream, chunk, until))
		used = (uint32_t)(stream->pos - chunk->start);
	else
		stream__leave(stream, chunk);
	*records = stream->records;
	if (used == chunk->len && chunk->flags & REC_CHUNK_LAST)
		follow__remove(follow, stream);
	return used;
}

bool follow__is_held(const struct follow *follow, uint64_t id)
{
	const struct stream *stream = map__get(&follow->by_id, id, 0);

	return stream && stream->held;
}

void follow__hold(struct follow *follow, const struct rec_chunk *chunk)
{
	struct stream *stream = follow__stream(follow, chunk);

	if (stream)
		stream->held = true;
}

void follow__release(struct follow *follow)
{
	struct stream *stream;

	for (stream = follow->streams; stream; stream = stream->next)
		stream->held = false;
}

/* --- ends ------------------------------------------------------------------------------------- */

void follow__thread_ends(struct follow *follow, uint32_t tid, uint64_t time)
{
	struct stream *stream;

	for (stream = follow->streams; stream; stream = stream->next) {
		if (stream->tid == tid && !stream->ended)
			stream->ended = time;
	}
}

void follow__process_ends(struct follow *follow, uint32_t pid)
{
	struct map_entry *entry = NULL;
	struct context **all = calloc(follow->contexts.count + 1, sizeof(struct context *));
	struct map_entry *gone = calloc(follow->contexts.count + 1, sizeof(*gone));
	size_t count = 0, i;

	alive__end_process(follow->alive, pid);
	if (follow->watch)
		follow->watch(follow->watch_ctx, &(struct follow_event){.pid = pid});
	while (all && gone && (entry = map__next(&follow->contexts, entry))) {
		if (entry->a != pid)
			continue;
		gone[count] = *entry;
		all[count++] = entry->value;
	}
	for (i = 0; i < count; i++) {
		map__remove(&follow->contexts, gone[i].a, gone[i].b);
		context__free(all[i]);
	}
	free(all);
	free(gone);
}

void follow__sweep(struct follow *follow, uint64_t time)
{
	struct stream *stream, *next;

	for (stream = follow->streams; stream; stream = next) {
		next = stream->next;
		if (stream->ended && stream->ended < time)
			follow__remove(follow, stream);
	}
}

uint64_t follow__streams(const struct follow *follow)
{
	return follow->count;
}

void follow__cut(struct follow *follow, uint64_t cut, uint64_t oldest)
{
	alive__cut(follow->alive, cut, oldest);
}
