// SPDX-License-Identifier: BSD-2-Clause
/* Writing the capture file: blocks, compressed if there is time for it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <json-c/json.h>
#include <zstd.h>
#include "../base/planes.h"
#include "../base/say.h"
#include "file.h"

#define BLOCK_TARGET (1U << 20)			 /* bytes of records at which a block is written */
#define BLOCK_ROOM (BLOCK_TARGET + (256U << 10)) /* and of the longest record beside them */
#define ZSTD_LEVEL 1
#define FULL_RESERVE (512U << 10) /* for END, and what some thousand streams have lost */

struct file_writer {
	int fd;
	int error;
	bool compress;
	bool pressure;
	uint64_t unpacked; /* bytes of records, for that reason */
	uint64_t bytes;
	unsigned char *records;
	size_t used;
	unsigned char *planes; /* of the records, on their way to be packed */
	unsigned char *packed;
	size_t packed_size;
	ZSTD_CCtx *zstd;
	size_t block_size; /* of records, at which a block is written */
	/* --on-full drop */
	void (*drop)(void *ctx, const void *records, size_t size);
	void *drop_ctx;
	bool (*room)(void *ctx); /* --on-full overwrite */
	void *room_ctx;
	bool full, ending;
	const struct file_tap *tap;
	void *tap_ctx;
};

void file_writer__fail(struct file_writer *writer, int error)
{
	if (writer->error)
		return;
	writer->error = error;
	/* no half block at the end: a reader would call the file truncated */
	if (writer->fd >= 0 && ftruncate(writer->fd, (off_t)writer->bytes))
		return;
}

static void file_writer__put(struct file_writer *writer, struct iovec *parts, int count)
{
	uint64_t total = 0;
	ssize_t done;

	while (count && !writer->error && writer->fd >= 0) {
		done = writev(writer->fd, parts, count);
		if (done < 0) {
			if (errno == EINTR)
				continue;
			file_writer__fail(writer, -errno);
			return;
		}
		total += (uint64_t)done;
		while (count && (size_t)done >= parts->iov_len) {
			done -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= (size_t)done;
		}
	}
	writer->bytes += total;
}

static bool file_writer__reserve(struct file_writer *writer, size_t size)
{
	return !fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, (off_t)writer->bytes,
			  (off_t)(size + FULL_RESERVE)) ||
	       (errno != ENOSPC && errno != EDQUOT);
}

/* is there room on the disk for so much, and then still for the end? An error tells without
 * --on-full */
static bool file_writer__has_room(struct file_writer *writer, size_t size)
{
	if ((!writer->drop && !writer->room) || writer->ending || writer->error || writer->fd < 0)
		return true;
	while (!writer->full && !file_writer__reserve(writer, size)) {
		if (writer->room && writer->room(writer->room_ctx))
			continue;
		if (!writer->drop)
			break; /* writing will say so */
		writer->full = true;
	}
	return !writer->full;
}

static void file_writer__stored(struct file_writer *writer, enum file_block_type type,
				uint16_t flags, const void *payload, size_t stored, size_t raw)
{
	static const char padding[8];
	struct file_block block = {
		.magic = FILE_BLOCK_MAGIC,
		.type = (uint16_t)type,
		.flags = flags,
		.stored = (uint32_t)stored,
		.raw = (uint32_t)raw,
	};
	struct iovec parts[3] = {
		{&block, sizeof(block)},
		{(void *)payload, stored},
		{(void *)padding, (8 - stored % 8) % 8},
	};

	if (writer->tap && writer->tap->block(writer->tap_ctx, type, parts, 3))
		return;
	if (!file_writer__has_room(writer, sizeof(block) + stored + parts[2].iov_len))
		return;
	file_writer__put(writer, parts, 3);
}

static bool file_writer__reserve_packed(struct file_writer *writer, size_t size)
{
	unsigned char *packed;

	if (writer->packed_size >= size)
		return true;
	packed = realloc(writer->packed, size);
	if (!packed)
		return false;
	writer->packed = packed;
	writer->packed_size = size;
	return true;
}

static void file_writer__pack(struct file_writer *writer, enum file_block_type type,
			      const void *payload, size_t size)
{
	uint16_t flags = FILE_BLOCK_ZSTD | (type == FILE_RECORDS ? FILE_BLOCK_PLANES : 0);
	size_t stored = ZSTD_compressBound(size);
	const void *packable = payload;

	if (writer->compress && file_writer__reserve_packed(writer, stored)) {
		if (flags & FILE_BLOCK_PLANES) {
			planes__split(writer->planes, payload, size);
			packable = writer->planes;
		}
		stored = ZSTD_compressCCtx(writer->zstd, writer->packed, stored, packable, size,
					   ZSTD_LEVEL);
		if (!ZSTD_isError(stored) && stored < size) {
			file_writer__stored(writer, type, flags, writer->packed, stored, size);
			return;
		}
	}
	file_writer__stored(writer, type, 0, payload, size, size);
}

static int file_writer__open(struct file_writer *writer, const char *path)
{
	struct file_header header = {FILE_MAGIC, FILE_MAJOR, FILE_MINOR, sizeof(header)};
	struct iovec part = {&header, sizeof(header)};

	writer->bytes = 0;
	writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (writer->fd < 0)
		return -errno;
	file_writer__put(writer, &part, 1);
	return writer->error;
}

int file_writer__create(struct file_writer **result, const char *path, bool compress)
{
	struct file_writer *writer = calloc(1, sizeof(*writer));
	int err = -ENOMEM;

	if (!writer)
		return -ENOMEM;
	writer->fd = -1;
	writer->compress = compress;
	writer->block_size = BLOCK_TARGET;
	writer->records = malloc(BLOCK_ROOM);
	writer->planes = malloc(BLOCK_ROOM);
	writer->zstd = ZSTD_createCCtx();
	if (!writer->records || !writer->planes || !writer->zstd)
		goto fail;
	err = path ? file_writer__open(writer, path) : 0;
	if (err)
		goto fail;
	*result = writer;
	return 0;
fail:
	file_writer__close(writer);
	return err;
}

int file_writer__turn(struct file_writer *writer, const char *path)
{
	file_writer__flush(writer);
	if (writer->fd >= 0 && (writer->drop || writer->room) &&
	    ftruncate(writer->fd, (off_t)writer->bytes))
		say__verbose("%s", strerror(errno));
	if (!writer->error && writer->fd >= 0 && close(writer->fd))
		writer->error = -errno;
	if (!writer->error)
		writer->error = file_writer__open(writer, path);
	return writer->error;
}

void file_writer__tap(struct file_writer *writer, const struct file_tap *tap, void *ctx)
{
	writer->tap = tap;
	writer->tap_ctx = ctx;
}

void file_writer__image(struct file_writer *writer, const void *block, size_t size)
{
	struct iovec part = {(void *)block, size};

	file_writer__flush(writer);
	file_writer__put(writer, &part, 1);
}

void file_writer__packed(struct file_writer *writer, enum file_block_type type, const void *payload,
			 size_t size)
{
	file_writer__flush(writer);
	if (!writer->error)
		file_writer__pack(writer, type, payload, size);
}

void file_writer__set_block(struct file_writer *writer, size_t size)
{
	writer->block_size = size < BLOCK_TARGET ? size : BLOCK_TARGET;
}

size_t file_writer__pending(const struct file_writer *writer)
{
	return writer->used;
}

void file_writer__drop_when_full(struct file_writer *writer,
				 void (*drop)(void *ctx, const void *records, size_t size),
				 void *ctx)
{
	writer->drop = drop;
	writer->drop_ctx = ctx;
}

void file_writer__overwrite_when_full(struct file_writer *writer, bool (*room)(void *ctx),
				      void *ctx)
{
	writer->room = room;
	writer->room_ctx = ctx;
}

bool file_writer__is_full(const struct file_writer *writer)
{
	return writer->full;
}

void file_writer__end_anyway(struct file_writer *writer)
{
	writer->full = false;
	writer->ending = true;
}

void file_writer__flush(struct file_writer *writer)
{
	if (!writer->used)
		return;
	if (writer->full) {
		writer->drop(writer->drop_ctx, writer->records, writer->used);
		writer->used = 0;
		return;
	}
	if (writer->pressure) {
		file_writer__stored(writer, FILE_RECORDS, 0, writer->records, writer->used,
				    writer->used);
		writer->unpacked += writer->used;
	} else {
		file_writer__pack(writer, FILE_RECORDS, writer->records, writer->used);
	}
	if (writer->full)
		writer->drop(writer->drop_ctx, writer->records, writer->used);
	writer->used = 0;
}

void file_writer__record(struct file_writer *writer, const void *record, size_t size)
{
	if (writer->tap)
		writer->tap->record(writer->tap_ctx, record, size);
	else
		file_writer__append(writer, record, size);
}

void file_writer__append(struct file_writer *writer, const void *record, size_t size)
{
	size_t padded = (size + 7) & ~(size_t)7;

	if (writer->used + padded > BLOCK_ROOM)
		file_writer__flush(writer);
	if (writer->error || padded > BLOCK_ROOM)
		return;
	memcpy(writer->records + writer->used, record, size);
	memset(writer->records + writer->used + size, 0, padded - size);
	writer->used += padded;
	if (writer->used >= writer->block_size)
		file_writer__flush(writer);
}

void file_writer__block(struct file_writer *writer, enum file_block_type type, const void *payload,
			size_t size)
{
	file_writer__flush(writer);
	if (!writer->error)
		file_writer__stored(writer, type, 0, payload, size, size);
}

void file_writer__json(struct file_writer *writer, enum file_block_type type,
		       struct json_object *json)
{
	size_t size;
	const char *text;

	if (!json) {
		file_writer__fail(writer, -ENOMEM);
		return;
	}
	text = json_object_to_json_string_length(json, JSON_C_TO_STRING_PLAIN, &size);
	file_writer__block(writer, type, text, size);
	json_object_put(json);
}

static void file_writer__json_and_bytes(struct file_writer *writer, enum file_block_type type,
					struct json_object *json, const unsigned char *image,
					size_t size)
{
	const char *text;
	unsigned char *all;
	size_t length;

	file_writer__flush(writer);
	text = json_object_to_json_string_length(json, JSON_C_TO_STRING_PLAIN, &length);
	all = text ? malloc(length + 1 + size) : NULL;
	if (all) {
		memcpy(all, text, length + 1);
		memcpy(all + length + 1, image, size);
		if (!writer->error)
			file_writer__pack(writer, type, all, length + 1 + size);
		free(all);
	} else {
		file_writer__fail(writer, -ENOMEM);
	}
	json_object_put(json);
}

void file_writer__dso(struct file_writer *writer, struct json_object *json,
		      const unsigned char *image, size_t size)
{
	file_writer__json_and_bytes(writer, FILE_DSO, json, image, size);
}

void file_writer__binary(struct file_writer *writer, struct json_object *json,
			 const unsigned char *bytes, size_t size)
{
	file_writer__json_and_bytes(writer, FILE_BINARY, json, bytes, size);
}

void file_writer__set_pressure(struct file_writer *writer, bool pressure)
{
	writer->pressure = pressure;
}

int file_writer__error(const struct file_writer *writer)
{
	return writer->error;
}

uint64_t file_writer__unpacked(const struct file_writer *writer)
{
	return writer->unpacked;
}

uint64_t file_writer__bytes(const struct file_writer *writer)
{
	return writer->bytes;
}

int file_writer__close(struct file_writer *writer)
{
	int err;

	if (!writer)
		return 0;
	if (writer->fd >= 0 && writer->records && !writer->tap)
		file_writer__flush(writer);
	/* what was kept for a full disk's sake */
	if (writer->fd >= 0 && (writer->drop || writer->room) &&
	    ftruncate(writer->fd, (off_t)writer->bytes))
		say__verbose("%s", strerror(errno));
	err = writer->error;
	if (writer->fd >= 0 && close(writer->fd) && !err)
		err = -errno;
	ZSTD_freeCCtx(writer->zstd);
	free(writer->packed);
	free(writer->planes);
	free(writer->records);
	free(writer);
	return err;
}
