/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream: one ring while one thread owns it. From chunks in any order to records in theirs. */
#ifndef TRACER_TRACE_STREAM_H
#define TRACER_TRACE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <records.h>
#include <tracer/ring.h>
#include "held.h"
#include "timebase.h"
#include "process.h"
#include "schema.h"
#include "strings.h"
#include "trace.h"

/* Of captures that do not say up to when they are complete: nothing older than this comes any more,
 * mostly, see merge.c. */
#define STREAM_DELAY_NS 200000000ULL
/* What stamps of points and times of the kernel may differ by. */
#define STREAM_SLACK_NS 2000000ULL
/* How much before its first clock snapshot a capture's first stamp may seem to be. */
#define STREAM_EARLY_NS 45000000ULL

/* What all streams of a trace share. */
struct stream_context {
	struct timebase timebase;
	struct schema schema;
	struct processes processes;
	struct strings *strings;
	struct trace_totals *totals;
	struct stack_table *stacks; /* NULL: the capture has none */
	uint64_t round; /* time of the last ROUND: all that was handed over before has been read */
	uint64_t complete;	   /* all that was stamped before, too; 0: not known */
	struct held held_back;	   /* but of these threads, see merge.c */
	uint64_t earliest;	   /* no stamp can be older */
	struct table thread_exits; /* tid -> time, as a pointer */
	bool blocks_missing;	   /* a block of the file was skipped */
	bool eof;
	bool continues; /* behind the end of the file there is more, in another */
	bool force;	/* too much is held back: take what is there for all there is */
	bool monotonic; /* clock of stamps that no WINDOW record comes before */
	bool cycles_seen, monotonic_seen; /* clocks of the points' stamps */
	size_t held;			  /* bytes of chunks in memory */
	bool no_memory;			  /* an allocation failed: the trace ends with -ENOMEM */
};

struct chunk;

struct stream_loss {
	uint64_t records;
	uint64_t from;
	enum event_loss cause;
};

struct stream {
	uint64_t id;
	struct process *process;
	uint32_t tid;
	uint32_t number; /* in order of appearance: decides between equal times */

	/* where its strings are: found late, as the MAP block may come late */
	uint64_t dso_address;
	struct dso *dso;
	uint64_t base;
	uint32_t map_changes; /* processes.map_changes when last looked for */
	const uint16_t *sizes;

	struct chunk *first, *last; /* by start */
	bool entered;		    /* the first chunk is being decoded */
	bool begun;		    /* pos is valid */
	bool counted;		    /* records is valid */
	bool last_seen;		    /* its LAST chunk was decoded */
	bool finished;		    /* its last losses are counted */
	uint64_t pos;		    /* of the next byte */
	uint64_t records;	    /* written before pos, decoded or lost */
	uint64_t boundary; /* last position where `records` was checked against the ring's count */
	uint64_t skip_to;  /* not to be decoded before there; not beyond pos: nothing to skip */
	uint64_t skip_records;
	bool skip_counts;	     /* skip_records is known: what was decoded less is lost */
	uint64_t head, head_records; /* newest known */

	bool monotonic;
	uint32_t hint;	     /* of timebase__boottime() */
	uint64_t reference;  /* stamp of the present chunk's time */
	uint64_t last_time;  /* of the last record; none yet: no stamp can be older */
	uint64_t hold;	     /* what is not decoded yet is not older */
	uint64_t chunk_time; /* of the first, then of the newest decoded chunk */
	uint64_t first_time; /* of the first chunk that was read */

	/* what stream__peek() found; record NULL: only a loss */
	const uint8_t *record;
	uint8_t type;
	uint64_t time;
	uint64_t stamp;		 /* of the record */
	struct stream_loss loss; /* before the record; 0 records: none */

	uint32_t carried; /* bytes of a record that a chunk's end cut */
	uint8_t *carry;

	bool ready;	     /* stands in the heap */
	struct stream *next; /* all streams */
	struct stream **link;
};

enum stream_state { STREAM_WAITS, STREAM_READY, STREAM_DONE };

struct stream *stream__new(struct stream_context *context, const struct rec_chunk *chunk);
/*
 * stream__add() - queue a copy of a chunk
 * @chunk: its size was checked against its len
 * Returns 0 or -ENOMEM.
 */
int stream__add(struct stream_context *context, struct stream *stream,
		const struct rec_chunk *chunk);
/*
 * stream__peek() - find the next record, or loss
 * STREAM_READY: stream->time is its time; STREAM_WAITS: more has to be read first; STREAM_DONE: no
 * more will come.
 */
enum stream_state stream__peek(struct stream_context *context, struct stream *stream);
/*
 * stream__take() - take what stream__peek() found
 * @event: filled in, with strings resolved
 * Returns true if it was a loss: its record, if it has one, is still there.
 */
bool stream__take(struct stream_context *context, struct stream *stream, struct event *event);
/*
 * stream__restore() - a stream as it stood where the file begins
 * @entry: checked against the size of what follows it
 * Returns the stream, or NULL: no memory.
 */
struct stream *stream__restore(struct stream_context *context, const struct file_stream *entry,
			       const uint8_t *carried);
/*
 * stream__context() - the next event that holds on since before the file began
 * @at: place in @bytes, moves on
 * Returns 1 and fills @event, or 0: no more.
 */
int stream__context(struct stream_context *context, struct stream *stream, const uint8_t *bytes,
		    size_t size, size_t *at, struct event *event);
/* bytes are in the ring, or in chunks not read yet: nothing newer than `hold` is safe */
bool stream__holds(const struct stream_context *context, const struct stream *stream);
void stream__free(struct stream_context *context, struct stream *stream);

#endif /* TRACER_TRACE_STREAM_H */
