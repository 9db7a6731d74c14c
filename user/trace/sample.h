/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sample N, exactly. The gates of a target know powers of two, and may be open wider for another
 * tracer's sake, so whatever is beyond one task in N is left out here: by the same hash, and what
 * belongs to a task by the task that runs on its thread, in whatever library its points are.
 */
#ifndef TRACER_TRACE_SAMPLE_H
#define TRACER_TRACE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include "event.h"
#include "table.h"

struct sample {
	uint64_t highest;     /* hash of a task that is kept; UINT64_MAX: all are */
	struct table threads; /* process and tid -> what runs there, innermost last */
};

void sample__init(struct sample *sample, uint64_t seed);
/* sample__set() - one task in @n from here on, 0 and 1: all; who runs what is unknown again */
void sample__set(struct sample *sample, uint64_t n);
/* sample__keeps() - for each event in the order of time, as it learns from them; without memory it
 * keeps */
bool sample__keeps(struct sample *sample, const struct event *event);
void sample__free(struct sample *sample);

/* one task in so many has a hash up to this */
uint64_t sample__highest(uint64_t n);
uint64_t sample__hash(uint64_t task);

#endif /* TRACER_TRACE_SAMPLE_H */
