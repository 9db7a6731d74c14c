/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace's inside, for trace.c and block.c alone. */
#ifndef TRACER_TRACE_STATE_H
#define TRACER_TRACE_STATE_H

#include "merge.h"
#include "reader.h"
#include "sample.h"
#include "segments.h"
#include "trace.h"

struct asio;
struct filter;
struct json_object;

struct trace {
	struct reader reader;
	struct segments segments;
	size_t segment;	     /* the reader's file is number so much of those */
	uint64_t bytes_read; /* of the files before it */
	bool blocks_skipped; /* in those */
	struct merge merge;
	struct strings *strings;
	struct trace_totals totals;
	struct event pending; /* waits until its process has been announced */
	bool has_pending;
	bool over; /* EV_end was given out */
	struct sample sample;
	bool paused; /* what there may be is not shown */
	bool ended;  /* nor is it the capture's any more: who records has begun to stop */
	const char *boot_id;
	const char *machine;
	uint64_t start, end;		   /* of what is known of the capture, ns */
	uint64_t stated_start, stated_end; /* of a part of a capture; 0: it has none */
	uint64_t stated_duration;	   /* of the files that say theirs */
	bool end_read;			   /* the present file's END, if it has one */
	uint64_t stated_sched_lost;
	uint64_t image_budget; /* bytes of binaries' images that may still be kept */
	struct asio *asio;
	struct filter *filter; /* or NULL */
	char *error;
};

/* a block's JSON text: an object, to be put, or NULL if it is none */
struct json_object *block__json(const uint8_t *data, size_t size);

/* takes what a block says; 0 or a negative errno */
int trace__block(struct trace *trace, const struct reader_block *block);
/* the same of the mappings and binaries of call stacks alone */
int trace__stack_block(struct trace *trace, const struct reader_block *block);

#endif /* TRACER_TRACE_STATE_H */
