// SPDX-License-Identifier: BSD-2-Clause
/*
 * A compressed file is one gzip member or one zstd frame; a cut tail loads as far as it goes (see
 * "Rules" of the format, 11), so nothing is gained by smaller ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "base/say.h"
#include "outfile.h"

#define OUTPUT_CHUNK (256U << 10)
/* Levels at which the writer, not the compressor, sets the pace on a trace's highly regular bytes.
 */
#define OUTPUT_GZIP_LEVEL 3
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
	z_stream gzip;
	bool gzip_ready;
	ZSTD_CCtx *zstd;
	unsigned char *chunk;
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

static int write_gzip(struct outfile *output, const void *data, size_t size, int flush)
{
	z_stream *z = &output->gzip;
	int state, err;

	z->next_in = (unsigned char *)data;
	z->avail_in = (uInt)size;
	do {
		z->next_out = output->chunk;
		z->avail_out = OUTPUT_CHUNK;
		state = deflate(z, flush);
		if (state == Z_STREAM_ERROR)
			return -EIO;
		err = write_all(output, output->chunk, OUTPUT_CHUNK - z->avail_out);
		if (err)
			return err;
	} while (flush == Z_FINISH ? state != Z_STREAM_END : z->avail_out == 0);
	return 0;
}

static int write_zstd(struct outfile *output, const void *data, size_t size, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, size, 0};
	size_t left;
	int err;

	do {
		ZSTD_outBuffer out = {output->chunk, OUTPUT_CHUNK, 0};

		left = ZSTD_compressStream2(output->zstd, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		err = write_all(output, output->chunk, out.pos);
		if (err)
			return err;
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

static int start_compressor(struct outfile *output)
{
	output->chunk = malloc(OUTPUT_CHUNK);
	if (!output->chunk)
		return -ENOMEM;
	if (output->compression == EXPORT_ZSTD) {
		output->zstd = ZSTD_createCCtx();
		if (!output->zstd)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_compressionLevel, OUTPUT_ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_windowLog, OUTPUT_ZSTD_WINDOW_LOG);
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_hashLog, OUTPUT_ZSTD_LONG_LOG);
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_chainLog, OUTPUT_ZSTD_SHORT_LOG);
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_minMatch, OUTPUT_ZSTD_MATCH);
		ZSTD_CCtx_setParameter(output->zstd, ZSTD_c_checksumFlag, 1);
		return 0;
	}
	/* 31: the largest window, and a gzip header instead of zlib's */
	if (deflateInit2(&output->gzip, OUTPUT_GZIP_LEVEL, Z_DEFLATED, 31, 9, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	output->gzip_ready = true;
	return 0;
}

static void release(struct outfile *output)
{
	if (output->gzip_ready)
		deflateEnd(&output->gzip);
	ZSTD_freeCCtx(output->zstd);
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
	if (compression != EXPORT_PLAIN)
		err = start_compressor(output);
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
		output->error = write_gzip(output, data, size, Z_NO_FLUSH);
		break;
	case EXPORT_ZSTD:
		output->error = write_zstd(output, data, size, ZSTD_e_continue);
		break;
	}
	return output->error;
}

uint64_t outfile__bytes(const struct outfile *output)
{
	return output->bytes;
}

int outfile__close(struct outfile *output)
{
	int err = output->error;

	if (!err && output->compression == EXPORT_GZIP)
		err = write_gzip(output, NULL, 0, Z_FINISH);
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
