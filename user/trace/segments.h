/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of one capture, in their order: numbered segments that are read as one. */
#ifndef TRACER_TRACE_SEGMENTS_H
#define TRACER_TRACE_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct segments {
	char **paths;
	size_t count;
	uint64_t bytes; /* of all */
	uint64_t first; /* number of the first one */
	bool cut;	/* the last one was begun, and has nothing in it yet */
};

/*
 * segments__open() - check that files follow one another, in whatever order they are named
 * @err: receives a sentence, to be freed
 * Returns 0 or a negative errno.
 */
int segments__open(struct segments *segments, const char *const *paths, size_t count, char **err);
void segments__close(struct segments *segments);
/* a recorder that was killed leaves such a file: it had just been made. Says that it is left out */
bool segment__holds_nothing(const char *path);

#endif /* TRACER_TRACE_SEGMENTS_H */
