// SPDX-License-Identifier: BSD-2-Clause
/*
 * While the reader falls behind the targets, blocks of records are stored as they are, since packing
 * them would cost records. When the capture has ended there is time for it: its file is written
 * anew, and takes the first one's place when it is whole. Whatever goes wrong, that one stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"
#include "session.h"

#define UNPACKED_MIN (1ULL << 20) /* less is not worth it */
#define FILE_MAX (2ULL << 30)	  /* some seconds; nobody waits longer for a smaller file */

struct repack {
	int from;
	uint64_t at;
	unsigned char *block; /* with its head */
	size_t room;
	struct file_writer *to;
};

static int repack__read(struct repack *repack, void *to, size_t size)
{
	ssize_t got = pread(repack->from, to, size, (off_t)repack->at);

	if (got < 0)
		return -errno;
	repack->at += (uint64_t)got;
	return (size_t)got == size ? 1 : got ? -EIO : 0;
}

static int repack__reserve(struct repack *repack, size_t size)
{
	unsigned char *bigger;

	if (repack->room >= size)
		return 0;
	bigger = realloc(repack->block, size);
	if (!bigger)
		return -ENOMEM;
	repack->block = bigger;
	repack->room = size;
	return 0;
}

/* 1, 0 at the end, or a negative errno */
static int repack__next(struct repack *repack)
{
	struct file_block head;
	size_t size;
	int ret = repack__read(repack, &head, sizeof(head));

	if (ret <= 0)
		return ret;
	size = (head.stored + 7) & ~(size_t)7;
	ret = repack__reserve(repack, sizeof(head) + size);
	if (ret)
		return ret;
	memcpy(repack->block, &head, sizeof(head));
	ret = size ? repack__read(repack, repack->block + sizeof(head), size) : 1;
	if (ret <= 0)
		return ret ? ret : -EIO;
	if (head.type == FILE_RECORDS && !(head.flags & FILE_BLOCK_ZSTD))
		file_writer__packed(repack->to, FILE_RECORDS, repack->block + sizeof(head),
				    head.stored);
	else
		file_writer__image(repack->to, repack->block, sizeof(head) + size);
	return file_writer__error(repack->to) ? file_writer__error(repack->to) : 1;
}

static int repack__run(const char *path, const char *unfinished)
{
	struct repack repack = {.at = sizeof(struct file_header)};
	int ret, closed;

	repack.from = open(path, O_RDONLY | O_CLOEXEC);
	if (repack.from < 0)
		return -errno;
	ret = file_writer__create(&repack.to, unfinished, true);
	if (!ret) {
		do {
			ret = repack__next(&repack);
		} while (ret > 0);
		closed = file_writer__close(repack.to);
		ret = ret ? ret : closed;
	}
	close(repack.from);
	free(repack.block);
	return ret;
}

void session__repack(struct session *session, uint64_t unpacked)
{
	const struct capture_options *options = session->options;
	char *unfinished;
	struct stat status;
	int err;

	if (!options->repack || session->keep || unpacked < UNPACKED_MIN ||
	    stat(options->path, &status) || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size > FILE_MAX)
		return;
	unfinished = sentence__new("%s.part", options->path);
	if (!unfinished || !access(unfinished, F_OK) || session__claim(session, unfinished)) {
		free(unfinished);
		return;
	}
	err = repack__run(options->path, unfinished);
	if (!err && rename(unfinished, options->path))
		err = -errno;
	if (!err) {
		say__verbose("%s: %.1f MB that were stored in haste are packed", options->path,
			     (double)unpacked / 1e6);
	} else {
		unlink(unfinished);
		say__verbose("%s: not packed: %s; it is larger than it need be", options->path,
			     strerror(-err));
	}
	free(unfinished);
}
