/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of one capture, in their order: numbered segments that are read as one. */
#ifndef TRACER_TRACE_SEGMENTS_H
#define TRACER_TRACE_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

struct segments {
	char **paths;
	size_t count;
	uint64_t bytes; /* of all */
	uint64_t first; /* number of the first one */
};

/*
 * segments__open() - check that files follow one another, in whatever order they are named
 * @err: receives a sentence, to be freed
 * Returns 0 or a negative errno.
 */
int segments__open(struct segments *segments, const char *const *paths, size_t count, char **err);
void segments__close(struct segments *segments);

#endif /* TRACER_TRACE_SEGMENTS_H */
