// SPDX-License-Identifier: BSD-2-Clause
/*
 * The flight recorder: the newest parts of the capture, in memory, packed as they would be in a
 * file. A part is a small share of the size; when there is no room for another the oldest one goes.
 * So memory is the size that was asked for, and at least that less a part or two can be written at
 * any time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zstd.h>
#include "../base/say.h"
#include "session.h"
#include "keep.h"

#define PARTS 64
#define PARTS_MIN 8
#define PART_MIN (64ULL << 10)

struct piece {
	struct piece *next;
	size_t size;
	unsigned char bytes[];
};

struct part {
	struct part *next;
	uint64_t start, cut, bytes;
	struct showing showing; /* at the start */
	struct clocks clocks;
	struct piece *state,
		**state_end;	    /* FILE_STREAMS payloads as they stood at the start, packed */
	struct piece *first, **end; /* blocks */
};

struct flight {
	struct session *session;
	uint64_t size, bytes, added;
	struct part *oldest, *newest;
	ZSTD_CCtx *zstd;
	bool failed;
};

struct flight *flight__new(struct session *session, uint64_t size)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	if (!flight)
		return NULL;
	flight->session = session;
	flight->size = size;
	flight->zstd = ZSTD_createCCtx();
	if (!flight->zstd) {
		free(flight);
		return NULL;
	}
	return flight;
}

static uint64_t flight__part_size(const struct flight *flight)
{
	uint64_t size = flight->size / PARTS;
	/* a small recorder has a few all the same: there is room for one more when a window is cut,
	 * and what is in the window is what the others have */
	uint64_t least = flight->size / PARTS_MIN < PART_MIN ? flight->size / PARTS_MIN : PART_MIN;

	return size < least ? least : size;
}

static void pieces__free(struct piece *piece)
{
	struct piece *next;

	for (; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
}

static void flight__drop_oldest(struct flight *flight)
{
	struct part *part = flight->oldest;

	flight->oldest = part->next;
	if (!flight->oldest)
		flight->newest = NULL;
	flight->bytes -= part->bytes;
	pieces__free(part->state);
	pieces__free(part->first);
	free(part);
}

void flight__free(struct flight *flight)
{
	if (!flight)
		return;
	while (flight->oldest)
		flight__drop_oldest(flight);
	ZSTD_freeCCtx(flight->zstd);
	free(flight);
}

/* a block of a FILE_STREAMS payload */
static int flight__put_state(void *ctx, const void *bytes, size_t size)
{
	struct flight *flight = ctx;
	struct part *part = flight->newest;
	size_t room = ZSTD_compressBound(size), stored;
	struct piece *piece = malloc(sizeof(*piece) + sizeof(struct file_block) + room + 8),
		     *smaller;
	struct file_block *head;

	if (!piece)
		return -ENOMEM;
	head = (void *)piece->bytes;
	stored = ZSTD_compressCCtx(flight->zstd, head + 1, room, bytes, size, 1);
	if (ZSTD_isError(stored)) {
		free(piece);
		return -ENOMEM;
	}
	*head = (struct file_block){FILE_BLOCK_MAGIC, FILE_STREAMS, FILE_BLOCK_ZSTD,
				    (uint32_t)stored, (uint32_t)size};
	memset((unsigned char *)(head + 1) + stored, 0, 8);
	piece->size = sizeof(*head) + ((stored + 7) & ~(size_t)7);
	piece->next = NULL;
	smaller = realloc(piece, sizeof(*piece) + piece->size);
	piece = smaller ? smaller : piece;
	*part->state_end = piece;
	part->state_end = &piece->next;
	part->bytes += piece->size;
	flight->bytes += piece->size;
	return 0;
}

void flight__begin(struct flight *flight, uint64_t start, struct showing showing,
		   const struct clocks *clocks, struct follow *follow, uint64_t cut)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part) {
		flight->failed = true;
		return;
	}
	part->start = start;
	part->cut = cut;
	part->showing = showing;
	part->clocks = *clocks;
	part->state_end = &part->state;
	part->end = &part->first;
	if (flight->newest)
		flight->newest->next = part;
	else
		flight->oldest = part;
	flight->newest = part;
	if (follow__tell(follow, flight__put_state, flight))
		flight->failed = true;
	while (flight->oldest != part && flight->bytes + flight__part_size(flight) > flight->size)
		flight__drop_oldest(flight);
}

void flight__add(struct flight *flight, enum file_block_type type, const struct iovec *parts,
		 int count)
{
	struct part *part = flight->newest;
	struct piece *piece;
	size_t size = 0;
	int i;

	(void)type;
	for (i = 0; i < count; i++)
		size += parts[i].iov_len;
	piece = part ? malloc(sizeof(*piece) + size) : NULL;
	if (!piece) {
		flight->failed = true;
		return;
	}
	piece->next = NULL;
	piece->size = 0;
	for (i = 0; i < count; i++) {
		memcpy(piece->bytes + piece->size, parts[i].iov_base, parts[i].iov_len);
		piece->size += parts[i].iov_len;
	}
	*part->end = piece;
	part->end = &piece->next;
	part->bytes += size;
	flight->bytes += size;
	flight->added += size;
}

double flight__ratio(const struct flight *flight, uint64_t raw)
{
	return raw ? (double)flight->added / (double)raw : 1;
}

bool flight__is_full(const struct flight *flight)
{
	return flight->newest && flight->newest->bytes >= flight__part_size(flight);
}

uint64_t flight__oldest_cut(const struct flight *flight)
{
	return flight->oldest ? flight->oldest->cut : 0;
}

uint64_t flight__oldest_start(const struct flight *flight)
{
	return flight->oldest ? flight->oldest->start : 0;
}

uint64_t flight__bytes(const struct flight *flight)
{
	return flight->bytes;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int put_streams(void *ctx, const void *bytes, size_t size)
{
	file_writer__packed(ctx, FILE_STREAMS, bytes, size);
	return file_writer__error(ctx);
}

static void part__write_clocks(const struct part *part, struct file_writer *writer)
{
	unsigned int i;

	for (i = 2 - part->clocks.count; i < 2; i++)
		file_writer__block(writer, FILE_CLOCK, &part->clocks.last[i],
				   sizeof(part->clocks.last[i]));
}

static void flight__write_to(struct flight *flight, struct file_writer *writer,
			     const struct catalog *catalog, struct follow *follow, uint64_t end,
			     bool last)
{
	const struct part *oldest = flight->oldest, *part;
	struct session *session = flight->session;
	const struct piece *piece;

	session__tell_meta(session, writer, oldest->cut ? oldest->start : 0, 0, oldest->showing);
	part__write_clocks(oldest, writer);
	catalog__write(catalog, writer);
	for (piece = oldest->state; piece; piece = piece->next)
		file_writer__image(writer, piece->bytes, piece->size);
	follow__tell_tasks(follow, oldest->cut, put_streams, writer);
	for (part = oldest; part; part = part->next) {
		for (piece = part->first; piece; piece = piece->next)
			file_writer__image(writer, piece->bytes, piece->size);
	}
	session__tell_end(session, writer, end - oldest->start, end, !last);
}

int flight__write(struct flight *flight, const char *path, const struct catalog *catalog,
		  struct follow *follow, uint64_t end, bool last)
{
	char *unfinished = sentence__new("%s.part", path);
	struct file_writer *writer = NULL;
	int err = -ENOMEM;

	if (!unfinished || flight->failed || !flight->oldest)
		goto out;
	err = session__claim(flight->session, unfinished);
	if (!err)
		err = file_writer__create(&writer, unfinished, flight->session->options->compress);
	if (err)
		goto out;
	flight__write_to(flight, writer, catalog, follow, end, last);
	err = file_writer__close(writer);
	if (!err && rename(unfinished, path))
		err = -errno;
	if (err)
		unlink(unfinished);
out:
	if (err)
		say__error("%s: the flight recorder's window could not be written: %s", path,
			   strerror(-err));
	free(unfinished);
	return err;
}
