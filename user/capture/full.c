// SPDX-License-Identifier: BSD-2-Clause
/*
 * A full disk. Each chunk that is dropped says how far its stream had come; the last one's word is
 * kept, and written at the end as a chunk without data that tells of a loss. The difference to what
 * is in the file is exact (docs/format.md, Losses).
 */
#include "full.h"

#include <stdlib.h>
#include <string.h>
#include <records.h>
#include "../base/map.h"

struct full {
	struct map streams; /* stream: struct rec_chunk, its newest */
	uint64_t sched;
};

struct full *full__new(void)
{
	return calloc(1, sizeof(struct full));
}

static void full__chunk(struct full *full, const struct rec_chunk *chunk)
{
	struct rec_chunk *last = map__get(&full->streams, chunk->stream, 0);
	uint16_t flags = chunk->flags;

	if (flags & REC_CHUNK_NAMES)
		return;
	if (!last) {
		last = calloc(1, sizeof(*last));
		if (!last || map__put(&full->streams, chunk->stream, 0, last)) {
			free(last);
			return;
		}
	} else {
		flags |= last->flags & (REC_CHUNK_FIRST | REC_CHUNK_LAST);
		if (chunk->head < last->head) {
			last->flags |= flags & (REC_CHUNK_FIRST | REC_CHUNK_LAST);
			return;
		}
	}
	memcpy(last, chunk, sizeof(*last));
	last->flags = flags;
}

void full__drop(void *ctx, const void *records, size_t size)
{
	const unsigned char *at = records, *end = at + size;
	const struct rec_header *header;
	struct full *full = ctx;

	for (; at + sizeof(*header) <= end; at += (header->size + 7) & ~7U) {
		header = (const void *)at;
		if (header->size < sizeof(*header))
			return;
		if (header->kind == REC_CHUNK)
			full__chunk(full, (const void *)at);
		else if (header->kind == REC_SWITCH || header->kind == REC_WAKING)
			full->sched++;
	}
}

void full__tell(struct full *full, struct file_writer *writer)
{
	struct map_entry *entry = NULL;
	struct rec_chunk *last;

	while ((entry = map__next(&full->streams, entry))) {
		last = entry->value;
		last->h.size = sizeof(*last);
		last->start = last->head;
		last->start_records = last->head_records;
		last->len = 0;
		last->flags =
			(last->flags & (REC_CHUNK_FIRST | REC_CHUNK_LAST)) | REC_CHUNK_LOST_FULL;
		file_writer__record(writer, last, sizeof(*last));
	}
}

uint64_t full__sched(const struct full *full)
{
	return full ? full->sched : 0;
}

void full__free(struct full *full)
{
	struct map_entry *entry = NULL;

	if (!full)
		return;
	while ((entry = map__next(&full->streams, entry)))
		free(entry->value);
	map__free(&full->streams);
	free(full);
}
