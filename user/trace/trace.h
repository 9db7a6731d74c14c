/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a capture: decode, restore each thread's stream, merge the streams by time.
 *
 * Memory is bounded by what was under way at one time, not by the length of the capture: see the
 * comment at the top of merge.c.
 */
#ifndef TRACER_TRACE_TRACE_H
#define TRACER_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stddef.h>
#include <stdint.h>
#include "event.h"

struct trace;

struct trace_process {
	uint32_t index;
	uint32_t pid;
	uint64_t start_time; /* ns, CLOCK_BOOTTIME; 0 unknown */
	const char *name;
	const char *cmdline;
	const char *host;
};

struct trace_totals {	  /* interface, section 3: capture */
	uint64_t records; /* captured */
	uint64_t lost;
	uint64_t recorded; /* records + lost */
	uint64_t lost_by[LOSS_KINDS];
	uint64_t bytes; /* of the file */
	uint64_t duration_ns;
	uint64_t clock_error_ns;
	const char *clock;	/* "tsc", "monotonic", "cntvct" */
	bool finished;		/* the capture ended normally: an END block is there */
	bool complete;		/* finished, nothing lost, no ring refused, no process missed */
	uint64_t rings_refused; /* rings of threads that had too many: not captured, not counted */
	uint64_t missed; /* processes whose gates were not open in time, or never: not counted */
	bool has_target_exit;
	int target_exit;
	uint64_t late; /* events that came after later ones had been given out */
	/*
	 * Places where a ring or the file says what cannot be: the rest of such a window is
	 * skipped, and its records count as lost (read_fault). Also stamps that cannot be, which
	 * are put in bounds.
	 */
	uint64_t damaged;
	uint64_t first_time, last_time;
	/* what the capture cost: CPU time of the tracer, hand-overs by the targets, pieces copied,
	 * bytes */
	uint64_t cpu_ns, flushes, chunks, chunk_bytes;
	uint64_t stacks_lost; /* call stacks that are not in the capture although they should be */
	bool sched;	      /* the kernel's scheduling is in the capture */
	uint64_t sched_lost;  /* switches and wakings that are not, although they should be */
};

/*
 * trace__open() - open a capture
 * @path: file
 * @err: receives a sentence that says what is wrong, to be freed; may be NULL
 * Returns the trace or NULL.
 */
struct trace *trace__open(const char *path, char **err);

/*
 * trace__open_all() - several files of one capture, read as one
 * @paths: adjacent segments, in any order
 */
struct trace *trace__open_all(const char *const *paths, size_t count, char **err);

/*
 * trace__open_growing() - a capture that is still being written
 * @growth: see reader.h; kept by the trace
 *
 * Times come from the clock snapshots that have been written by then, so they are a little less
 * exact than those of the finished file. trace__next() waits where the file has ended so far.
 */
struct reader_growth;
struct trace *trace__open_growing(const char *path, const struct reader_growth *growth, char **err);
/* all bytes of the file before this one have been read, and are not needed any more */
uint64_t trace__position(const struct trace *trace);

/*
 * trace__next() - next event in the order of time
 * Returns 1 and fills @event, 0 after the last one, or a negative errno; see trace__error().
 * Totals are final once it has returned 0.
 */
int trace__next(struct trace *trace, struct event *event);

/*
 * trace__filter() - leave out what @filter does not want, from the first event on
 * @filter: is copied, but for the strings
 * What trace__next() gives then is a trace like any other (see filter.h), so exporters and reports
 * need not know. Totals are those of the whole capture. Call it before trace__next(). Returns 0 or
 * -ENOMEM.
 */
struct trace_filter;
int trace__filter(struct trace *trace, const struct trace_filter *filter);
/*
 * trace__retell() - tell anew at @time what is open, so that what comes now is a trace of its own
 * Only with a filter, be it one that wants everything. False: not at this moment, ask again after
 * the next event.
 */
bool trace__retell(struct trace *trace, uint64_t time);

/*
 * Call stacks (record --stacks). A frame is a function, or one that was inlined in the next; what
 * is not known is NULL or 0. Strings are interned.
 */
struct trace_frame {
	const char *function; /* demangled */
	const char *file;     /* of the source, and the line of the call there */
	int line;
	bool inlined;	    /* in the frame after it */
	const char *binary; /* path */
	const char *build_id;
	uint64_t address; /* in the binary as linked; of no binary: in memory */
};

struct trace_stack {
	uint32_t number; /* as in events: equal stacks have equal numbers */
	uint32_t count;
	bool truncated;			  /* it went on, but no more of it was captured */
	const struct trace_frame *frames; /* innermost first */
};

/* the stack of an event's `stack`, valid until trace__close(); NULL for 0 */
const struct trace_stack *trace__stack(struct trace *trace, uint32_t number);
/* folders in which debug files are looked for, before /usr/lib/debug; before trace__next() */
void trace__debug_dirs(struct trace *trace, const char *const *dirs, size_t count);

const struct trace_totals *trace__totals(const struct trace *trace);
const struct trace_process *trace__process(const struct trace *trace, uint32_t index);
uint32_t trace__process_count(const struct trace *trace);
const char *trace__error(const struct trace *trace);
const char *trace__boot_id(const struct trace *trace);
/* 0 to 1: how much of the file has been read; for progress bars */
double trace__progress(const struct trace *trace);
/* ns to add to CLOCK_BOOTTIME for CLOCK_MONOTONIC and CLOCK_REALTIME, at the capture's start */
int64_t trace__monotonic_offset(const struct trace *trace);
int64_t trace__realtime_offset(const struct trace *trace);
/* name and argument names of an event type, also one that only the capture's schema knows */
const struct event_schema *trace__schema(const struct trace *trace, uint16_t type);
void trace__close(struct trace *trace);

struct event_schema {
	uint16_t type;
	uint8_t nargs;
	const char *name;
	const char *category;
	const char *arg_names[EVENT_ARGS];
	char arg_types[EVENT_ARGS]; /* i id, u u32, q u64, n num, s str, l lit */
};

#endif /* TRACER_TRACE_TRACE_H */
