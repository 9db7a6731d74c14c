// SPDX-License-Identifier: BSD-2-Clause
/*
 * A capture file as a sequence of blocks.
 *
 * The writer may have been killed at any byte, so the file is taken as ended at the first block
 * that is not whole or does not look like one. A block that is whole but does not unpack is skipped
 * and counted: those behind it are still good, and what it held shows up as losses.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "base/planes.h"
#include "base/say.h"
#include "reader.h"

/* pread() of exactly @size bytes; 1, 0 if the file ends before, or a negative errno */
static int read_at(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, (uint8_t *)to + done, size - done, offset + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		done += n;
	}
	return 1;
}

static int reserve(uint8_t **buffer, size_t *capacity, size_t size)
{
	uint8_t *bigger;

	if (size <= *capacity)
		return 0;
	/* contents need not survive */
	bigger = malloc(size);
	if (!bigger)
		return -ENOMEM;
	free(*buffer);
	*buffer = bigger;
	*capacity = size;
	return 0;
}

static int reader__check_header(struct reader *reader, const char *path, char **err)
{
	struct file_header header;
	int ret;

	ret = read_at(reader->fd, &header, sizeof(header), 0);
	if (ret < 0) {
		*err = sentence__new("cannot read %s: %s", path, strerror(-ret));
		return ret;
	}
	if (ret == 0 || memcmp(header.magic, FILE_MAGIC, sizeof(header.magic)) != 0) {
		*err = sentence__new("%s is not a capture: it does not begin as one; captures are "
				     "written by `tracer record -o FILE.trc`",
				     path);
		return -EINVAL;
	}
	if (header.major != FILE_MAJOR) {
		*err = sentence__new("%s is a capture of format %u.%u, this tracer reads format "
				     "%u: use the tracer that wrote it",
				     path, header.major, header.minor, FILE_MAJOR);
		return -EPROTONOSUPPORT;
	}
	if (header.header_size < sizeof(header) || header.header_size % 8 ||
	    header.header_size > FILE_BLOCK_MAX) {
		*err = sentence__new("%s is damaged: its header says that it is %u bytes long",
				     path, header.header_size);
		return -EINVAL;
	}
	reader->first = header.header_size;
	reader->offset = reader->first;
	return 0;
}

int reader__open(struct reader *reader, const char *path, char **err)
{
	struct stat st;
	int ret;

	*reader = (struct reader){.fd = -1};
	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 || fstat(reader->fd, &st) < 0) {
		ret = -errno;
		*err = sentence__new("cannot open capture %s: %s", path, strerror(-ret));
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		ret = -EINVAL;
		*err = sentence__new("%s is not a regular file: a capture is read from a file, "
				     "twice, so save it to one first",
				     path);
		goto fail;
	}
	reader->size = st.st_size;
	ret = reader__check_header(reader, path, err);
	if (ret < 0)
		goto fail;
	reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd) {
		ret = -ENOMEM;
		goto fail;
	}
	return 0;
fail:
	reader__close(reader);
	return ret;
}

static bool reader__plausible(const struct file_block *head)
{
	uint32_t max = FILE_BLOCK_MAX + (head->type == FILE_DSO ? FILE_IMAGE_MAX : 0);

	return head->magic == FILE_BLOCK_MAGIC && head->stored <= max && head->raw <= max;
}

/* 1: @block is filled, 0: it does not unpack */
static int reader__unpack(struct reader *reader, const struct file_block *head,
			  struct reader_block *block)
{
	size_t size;
	int ret;

	block->type = head->type;
	/* of a later minor version: it would unpack, to something else than it means */
	if (head->flags & ~(FILE_BLOCK_ZSTD | FILE_BLOCK_PLANES))
		return 0;
	if (!(head->flags & FILE_BLOCK_ZSTD)) {
		if (head->raw != head->stored || head->flags)
			return 0;
		block->data = reader->stored;
		block->size = head->stored;
		return 1;
	}
	ret = reserve(&reader->raw, &reader->raw_capacity, head->raw + 1);
	if (ret < 0)
		return ret;
	size = ZSTD_decompressDCtx(reader->zstd, reader->raw, head->raw, reader->stored,
				   head->stored);
	if (ZSTD_isError(size) || size != head->raw)
		return 0;
	block->data = reader->raw;
	block->size = size;
	if (!(head->flags & FILE_BLOCK_PLANES))
		return 1;
	ret = reserve(&reader->joined, &reader->joined_capacity, size + 1);
	if (ret < 0)
		return ret;
	planes__join(reader->joined, reader->raw, size);
	block->data = reader->joined;
	return 1;
}

/* waits for the rest of a block of a file that grows; false: there is none */
static bool reader__grows(struct reader *reader)
{
	return reader->growth && reader->growth->more(reader->growth->ctx, &reader->size);
}

int reader__next(struct reader *reader, uint16_t only, struct reader_block *block)
{
	struct file_block head;
	uint64_t body;
	bool wanted;
	int ret;

	for (;;) {
		if (reader->offset >= reader->size) {
			if (reader__grows(reader))
				continue;
			return 0;
		}
		if (reader->size - reader->offset < sizeof(head) && reader__grows(reader))
			continue;
		ret = read_at(reader->fd, &head, sizeof(head), reader->offset);
		if (ret < 0)
			return ret;
		body = reader->offset + sizeof(head);
		if (ret && reader__plausible(&head) && head.stored > reader->size - body &&
		    reader__grows(reader))
			continue;
		if (ret == 0 || !reader__plausible(&head) || head.stored > reader->size - body) {
			reader->truncated = true;
			return 0;
		}
		wanted = only ? head.type == only
			      : (head.type >= FILE_META && head.type <= FILE_END) ||
					 head.type == FILE_CODE || head.type == FILE_BINARY ||
					 head.type == FILE_STREAMS;
		if (wanted) {
			ret = reserve(&reader->stored, &reader->stored_capacity, head.stored + 1);
			if (ret < 0)
				return ret;
			ret = read_at(reader->fd, reader->stored, head.stored, body);
			if (ret < 0)
				return ret;
			if (ret == 0) {
				reader->truncated = true;
				return 0;
			}
		}
		reader->offset = body + ((head.stored + 7ULL) & ~7ULL);
		if (!wanted)
			continue;
		ret = reader__unpack(reader, &head, block);
		if (ret)
			return ret;
		reader->skipped++;
	}
}

void reader__rewind(struct reader *reader)
{
	reader->offset = reader->first;
	reader->truncated = false;
	reader->skipped = 0;
}

void reader__close(struct reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
	ZSTD_freeDCtx(reader->zstd);
	free(reader->stored);
	free(reader->raw);
	free(reader->joined);
	reader->zstd = NULL;
	reader->stored = reader->raw = reader->joined = NULL;
	reader->stored_capacity = reader->raw_capacity = reader->joined_capacity = 0;
}
