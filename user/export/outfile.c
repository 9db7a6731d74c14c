// SPDX-License-Identifier: BSD-2-Clause
/*
 * A compressed file is one zstd frame, or gzip members one after the other, as gzip's own format
 * has it: libdeflate takes a piece as a whole, and is smaller and three times as fast as zlib. A
 * cut tail loads as far as it goes (see "Rules" of the format, 11).
 */
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "base/say.h"
#include "outfile.h"

#define OUTPUT_CHUNK (256U << 10)
/* of a gzip member: what its beginning costs, without anything to refer to, is lost in it */
#define OUTPUT_MEMBER (2U << 20)
/* levels that look for longer matches find what is further away, which on a trace is larger */
#define OUTPUT_GZIP_LEVEL 6
#define OUTPUT_ZSTD_LEVEL 3
/*
 * A task comes back to its row after a thousand others, so half a megabyte behind; the level's own
 * tables have forgotten it by then if they take in every short match, so only those of seven bytes
 * count. Larger tables find 2 % more and do not fit into a CPU's own cache.
 */
#define OUTPUT_ZSTD_WINDOW_LOG 21
#define OUTPUT_ZSTD_LONG_LOG 17
#define OUTPUT_ZSTD_SHORT_LOG 16
#define OUTPUT_ZSTD_MATCH 7

struct outfile {
	int fd;
	int error;
	bool borrowed; /* standard output: not ours to close */
	enum export_compression compression;
	uint64_t bytes;
	struct libdeflate_compressor *gzip;
	unsigned char *member; /* what the next one is made of */
	size_t member_used;
	bool has_member;
	ZSTD_CCtx *zstd;
	unsigned char *chunk;
	size_t chunk_size;
};

static int write_all(struct outfile *output, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		ssize_t n = write(output->fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
		output->bytes += (uint64_t)n;
	}
	return 0;
}

static int write_member(struct outfile *output)
{
	size_t size = libdeflate_gzip_compress(output->gzip, output->member, output->member_used,
					       output->chunk, output->chunk_size);

	if (size == 0)
		return -EIO;
	output->member_used = 0;
	output->has_member = true;
	return write_all(output, output->chunk, size);
}

static int write_gzip(struct outfile *output, const void *data, size_t size)
{
	const char *at = data;

	while (size > 0) {
		size_t room = OUTPUT_MEMBER - output->member_used;
		size_t part = size < room ? size : room;
		int err;

		memcpy(output->member + output->member_used, at, part);
		output->member_used += part;
		at += part;
		size -= part;
		err = part == room ? write_member(output) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int write_zstd(struct outfile *output, const void *data, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = {output->chunk, output->chunk_size, 0};

		left = ZSTD_compressStream2(output->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		err = write_all(output, output->chunk, out.pos);
		if (err)
			return err;
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

static int start_zstd(struct outfile *output)
{
	output->chunk_size = OUTPUT_CHUNK;
	output->chunk = malloc(output->chunk_size);
	output->zstd = ZSTD_createCCtx();
	if (!output->chunk || !output->zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, OUTPUT_ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_windowLog, OUTPUT_ZSTD_WINDOW_LOG);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_hashLog, OUTPUT_ZSTD_LONG_LOG);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_chainLog, OUTPUT_ZSTD_SHORT_LOG);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_minMatch, OUTPUT_ZSTD_MATCH);
	ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

static int start_gzip(struct outfile *output)
{
	output->gzip = libdeflate_alloc_compressor(OUTPUT_GZIP_LEVEL);
	output->member = malloc(OUTPUT_MEMBER);
	if (!output->gzip || !output->member)
		return -ENOMEM;
	output->chunk_size = libdeflate_gzip_compress_bound(output->gzip, OUTPUT_MEMBER);
	output->chunk = malloc(output->chunk_size);
	return output->chunk ? 0 : -ENOMEM;
}

static void release(struct outfile *output)
{
	libdeflate_free_compressor(output->gzip);
	ZSTD_freeCCtx(output->zstd);
	free(output->member);
	free(output->chunk);
	free(output);
}

int outfile__open(struct outfile **result, const char *path, enum export_compression compression)
{
	struct outfile *output = calloc(1, sizeof(*output));
	int err = 0;

	if (!output)
		return -ENOMEM;
	output->compression = compression;
	if (compression == EXPORT_GZIP)
		err = start_gzip(output);
	else if (compression == EXPORT_ZSTD)
		err = start_zstd(output);
	if (err)
		goto cleanup;
	if (strcmp(path, "-") == 0) {
		output->fd = STDOUT_FILENO;
		output->borrowed = true;
	} else {
		output->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (output->fd < 0) {
			err = -errno;
			goto cleanup;
		}
	}
	*result = output;
	return 0;
cleanup:
	release(output);
	return err;
}

int outfile__write(struct outfile *output, const void *data, size_t size)
{
	if (output->error || size == 0)
		return output->error;
	switch (output->compression) {
	case EXPORT_PLAIN:
		output->error = write_all(output, data, size);
		break;
	case EXPORT_GZIP:
		output->error = write_gzip(output, data, size);
		break;
	case EXPORT_ZSTD:
		output->error = write_zstd(output, data, size, ZSTD_e_continue);
		break;
	}
	return output->error;
}

uint64_t outfile__bytes(const struct outfile *output)
{
	/* what waits for its member becomes about an eighth of its size */
	return output->bytes + output->member_used / 8;
}

int outfile__close(struct outfile *output)
{
	int err = output->error;

	/* also of nothing there is one: an empty file would be no gzip file */
	if (!err && output->gzip && (output->member_used || !output->has_member))
		err = write_member(output);
	if (!err && output->compression == EXPORT_ZSTD)
		err = write_zstd(output, NULL, 0, ZSTD_e_end);
	/* close() is where some file systems tell that there was no room */
	if (!output->borrowed && close(output->fd) && !err)
		err = -errno;
	release(output);
	return err;
}

char *export__beside(const char *path, const char *extension, const char *other)
{
	size_t length = strlen(path), size = strlen(extension);

	if (length > 3 && !strcmp(path + length - 3, ".gz"))
		length -= 3;
	else if (length > 4 && !strcmp(path + length - 4, ".zst"))
		length -= 4;
	if (length > size && !memcmp(path + length - size, extension, size))
		length -= size;
	return sentence__new("%.*s%s", (int)length, path, other);
}
