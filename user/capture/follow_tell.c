// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a reader has to know who begins in the middle: STREAMS blocks, of how each stream stands and
 * of what holds on since before (docs/format.md, "Parts").
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "follow_state.h"

#define TELL_BYTES (256U << 10)

struct teller {
	int (*put)(void *ctx, const void *bytes, size_t size);
	void *ctx;
	uint8_t *bytes;
	size_t used, room;
};

static int teller__add(struct teller *teller, const void *from, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7, room = teller->room;
	uint8_t *bytes;

	while (teller->used + padded > room)
		room = room ? 2 * room : 4096;
	if (room != teller->room) {
		bytes = realloc(teller->bytes, room);
		if (!bytes)
			return -ENOMEM;
		teller->bytes = bytes;
		teller->room = room;
	}
	memset(teller->bytes + teller->used + size, 0, padded - size);
	if (size)
		memcpy(teller->bytes + teller->used, from, size);
	teller->used += padded;
	return 0;
}

static int teller__flush(struct teller *teller, size_t at_least)
{
	int err = 0;

	if (teller->used && teller->used >= at_least) {
		err = teller->put(teller->ctx, teller->bytes, teller->used);
		teller->used = 0;
	}
	return err;
}

static int teller__context(struct teller *teller, const struct context *context)
{
	int err = context->name ? teller__add(teller, context->name, context->name_size) : 0;

	return err ? err : teller__add(teller, context->record, context->size);
}

static int teller__stream(struct teller *teller, const struct stream *stream)
{
	const struct context *worker = stream->worker;
	struct file_stream entry = {
		.pid = stream->pid,
		.tid = stream->tid,
		.stream = stream->id,
		.dso = stream->dso,
		.position = stream->pos,
		.records = stream->records,
		.carried = stream->carried,
		.context = stream->names_size + (worker ? worker->size + worker->name_size : 0),
		.flags =
			(stream->monotonic ? FILE_STREAM_MONOTONIC : 0) |
			(!stream->known || stream->skip_to > stream->pos ? FILE_STREAM_UNKNOWN : 0),
	};
	int err;

	/* padding of the ring's end is no trouble: it is only skipped */
	if (stream->known && stream->skip_to > stream->pos && !stream->skip_counts) {
		entry.position = stream->skip_to;
		entry.flags &= ~(uint32_t)FILE_STREAM_UNKNOWN;
	}
	entry.size = (uint32_t)(sizeof(entry) + ((entry.carried + 7) & ~7U) + entry.context);
	err = teller__add(teller, &entry, sizeof(entry));
	if (!err)
		err = teller__add(teller, stream->carry, stream->carried);
	if (!err)
		err = teller__add(teller, stream->names, stream->names_size);
	return err || !worker ? err : teller__context(teller, worker);
}

static int teller__shared(struct teller *teller, const struct context *context)
{
	struct file_stream entry = {
		.size = (uint32_t)sizeof(entry) + context->size + context->name_size,
		.pid = context->pid,
		.tid = context->tid,
		.dso = context->dso,
		.context = context->size + context->name_size,
	};
	int err = teller__add(teller, &entry, sizeof(entry));

	return err ? err : teller__context(teller, context);
}

int follow__tell(struct follow *follow, int (*put)(void *ctx, const void *bytes, size_t size),
		 void *ctx)
{
	struct teller teller = {.put = put, .ctx = ctx};
	struct map_entry *entry = NULL;
	struct stream *stream;
	int err = 0;

	for (stream = follow->streams; stream && !err; stream = stream->next) {
		if (!stream->known)
			continue;
		err = teller__stream(&teller, stream);
		if (!err)
			err = teller__flush(&teller, TELL_BYTES);
	}
	while (!err && (entry = map__next(&follow->contexts, entry))) {
		err = teller__shared(&teller, entry->value);
		if (!err)
			err = teller__flush(&teller, TELL_BYTES);
	}
	if (!err)
		err = teller__flush(&teller, 1);
	free(teller.bytes);
	return err;
}

static int teller__task(void *ctx, const struct alive_task *task)
{
	struct teller *teller = ctx;
	uint32_t padded = (task->length + 7) & ~7U;
	uint64_t record[4] = {task->stamp << 8 | EV_task_created, task->identity, task->name,
			      task->parent};
	uint64_t name[2] = {(uint64_t)task->length << 8 | TRACER_EV_NAME, task->name};
	struct file_stream entry = {
		.size = (uint32_t)(sizeof(entry) + sizeof(record)),
		.pid = (uint32_t)task->pid,
		.tid = (uint32_t)task->pid,
		.dso = task->dso,
		.context = sizeof(record),
	};
	int err;

	if (task->bytes) {
		entry.size += (uint32_t)sizeof(name) + padded;
		entry.context += (uint32_t)sizeof(name) + padded;
	}
	err = teller__add(teller, &entry, sizeof(entry));
	if (!err && task->bytes)
		err = teller__add(teller, name, sizeof(name));
	if (!err && task->bytes)
		err = teller__add(teller, task->bytes, task->length);
	if (!err)
		err = teller__add(teller, record, sizeof(record));
	return err ? err : teller__flush(teller, TELL_BYTES);
}

int follow__tell_tasks(struct follow *follow, uint64_t cut,
		       int (*put)(void *ctx, const void *bytes, size_t size), void *ctx)
{
	struct teller teller = {.put = put, .ctx = ctx};
	int err = alive__each(follow->alive, cut, teller__task, &teller);

	if (!err)
		err = teller__flush(&teller, 1);
	free(teller.bytes);
	return err;
}
