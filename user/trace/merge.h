/* SPDX-License-Identifier: BSD-2-Clause */
/* All streams and what the kernel saw, merged into one sequence in the order of time. */
#ifndef TRACER_TRACE_MERGE_H
#define TRACER_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "stream.h"

/* Raw bytes of chunks that may be held back for the sake of order. */
#define MERGE_HELD_MAX (128U << 20)
/* And for pieces of streams that the file does not explain: beyond, they are taken as lost. */
#define MERGE_MISSING_MAX (4ULL * MERGE_HELD_MAX)
#define MERGE_STREAMS_MAX (256U << 10)

struct merge_item {
	uint64_t time;
	uint64_t stamp; /* between equal times: of a record, finer than nanoseconds; 0 of others */
	uint64_t order; /* between equal stamps */
	void *of; /* struct stream; below MERGE_STREAMS a CPU's number; below MERGE_QUEUES a struct
		     event */
};

/* What the kernel saw of one CPU's scheduling: in order by itself, so its oldest event alone stands
 * in the heap. */
struct merge_queue {
	struct event *events; /* a ring */
	size_t head, count, size;
};

struct merge {
	struct stream_context context;
	struct merge_queue *queues; /* by CPU */
	size_t queue_count;
	struct table by_id;
	struct stream *streams;
	uint32_t stream_count;
	uint32_t stream_number; /* of the next one */
	uint64_t control_number;
	uint64_t foreign_lost; /* events of probe specs, as their records tell */
	struct merge_item *heap;
	size_t count, capacity;
	uint64_t bound; /* events up to here may be given out */
	uint64_t given; /* time of the newest event given out */
};

void merge__init(struct merge *merge, struct strings *strings, struct trace_totals *totals);
/* each of these returns 0 or -ENOMEM */
int merge__add_chunk(struct merge *merge, const struct rec_chunk *chunk);
int merge__add_event(struct merge *merge, const struct event *event);
/* a stream as it stood where the file begins; with what holds on since before */
int merge__restore(struct merge *merge, const struct file_stream *entry, const uint8_t *carried,
		   const uint8_t *context);
/* of what CPU @cpu did, in the order of the file */
int merge__add_sched(struct merge *merge, uint16_t cpu, const struct event *event);
/* after each block, and after the last one with context.eof set: see what is to be had now */
int merge__settle(struct merge *merge);
/* 1: @event is the next one; 0: read another block first, or at the end: there is none */
int merge__next(struct merge *merge, struct event *event);
void merge__free(struct merge *merge);

#endif /* TRACER_TRACE_MERGE_H */
