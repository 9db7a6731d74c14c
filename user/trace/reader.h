/* SPDX-License-Identifier: BSD-2-Clause */
/* A capture file as a sequence of blocks (format: capture/file.h). Trusts nothing that it reads. */
#ifndef TRACER_TRACE_READER_H
#define TRACER_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/file.h"

/* A file that is still being written. */
struct reader_growth {
	/* waits until there are more than @size bytes, and says how many; false: it
	 * grows no more */
	bool (*more)(void *ctx, uint64_t *size);
	void *ctx;
};

struct reader {
	int fd;
	const struct reader_growth *growth; /* NULL: the file is complete */
	uint64_t size;			    /* of the file */
	uint64_t first;			    /* offset of the first block */
	uint64_t offset;		    /* of the next block */
	bool truncated;	  /* the file ended, or ceased to make sense, inside a block */
	uint64_t skipped; /* blocks that could not be unpacked */
	uint8_t *stored, *raw, *joined;
	size_t stored_capacity, raw_capacity, joined_capacity;
	void *zstd;
};

struct reader_block {
	uint16_t type;
	const uint8_t *data; /* valid until the next call */
	size_t size;
};

/*
 * reader__open() - open a file and check that it is a capture that this build can read
 * @err: receives a sentence, to be freed
 * Returns 0 or a negative errno.
 */
int reader__open(struct reader *reader, const char *path, char **err);

/*
 * reader__next() - unpack the next block
 * @only: skip blocks of other types without unpacking them; 0: every known type
 * Returns 1, 0 at the end of what is whole, or a negative errno.
 */
int reader__next(struct reader *reader, uint16_t only, struct reader_block *block);
void reader__rewind(struct reader *reader);
void reader__close(struct reader *reader);

#endif /* TRACER_TRACE_READER_H */
