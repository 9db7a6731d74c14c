/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Chrome exporter's inside: a sink of the model that streams Trace Event JSON. For chrome*.c
 * only.
 *
 *	chrome.c	the export as a whole; processes, threads, tasks
 *	chrome_row.c	events, rows, and the slices open on them
 *	chrome_event.c	worker states, futures, zones, markers, arrows, counters
 *	chrome_asio.c	what Asio's handlers have beside
 *
 * Rows are "threads" of the target's process. Those of real threads have their tid; tasks, channels
 * and others take numbers that no tid can have (Linux ends at 4,194,304). Categories, names and
 * arguments are those of the Perfetto trace.
 *
 * A slice is a begin and an end. Slices of a row must nest, so what is open inside one that ends is cut
 * there, and goes on as another part.
 *
 * Memory: live tasks and threads, what is open on them, at most 2,000 lanes a process, and tables
 * with fixed upper limits.
 */
#ifndef TRACER_EXPORT_CHROME_H
#define TRACER_EXPORT_CHROME_H

#include "../base/map.h"
#include "../base/palette.h"
#include "../base/pool.h"
#include "emit.h"
#include "feed.h"

enum chrome_tid {
	TID_LANES = 1000000000,	   /* tasks */
	TID_CHANNELS = 1500000000, /* by number */
	TID_FRAMES = 1600000000,
	TID_KERNEL = 1700000000, /* and the thread's tid */
	TID_CAPTURE = 1900000000,
};

#define CHROME_LANES_MAX 2000U
#define CHROME_NOTES_MAX 16U /* annotations that a zone's part takes */
/* sixteen processes can have all the channels there are */
#define CHROME_THINGS_MAX 1048576U
#define CHROME_FLOWS_MAX 262144U

struct chrome_task;

struct chrome_row {
	char ids[64]; /* ,"pid":1,"tid":2,"ts": */
	uint8_t ids_size;
	bool named;
	struct chrome_slice *top;
};

enum chrome_slice_kind {
	SLICE_RUN,
	SLICE_GAP,
	SLICE_SPAN,
	SLICE_ZONE,
	SLICE_CONTINUATION,
	SLICE_ASIO_RUN,
	SLICE_LANE /* a marker, a frame */
};

enum chrome_note_kind { CHROME_NOTE_INT, CHROME_NOTE_REAL, CHROME_NOTE_TEXT, CHROME_NOTE_TRUE };

struct chrome_note {
	struct chrome_note *next;
	const char *name;
	enum chrome_note_kind kind;
	union event_arg value;
};

struct chrome_slice {
	struct chrome_slice
		*below;		/* on its row; or the next parked one of the task, further inside */
	struct chrome_row *row; /* NULL: parked, while its task does not run */
	struct chrome_task *owner;
	enum chrome_slice_kind kind;
	const char *category;
	const char *prefix; /* of the name: "suspended: " */
	const char *name;
	uint64_t begin;
	uint64_t key;	 /* zone's id, continuation, a gap's task */
	uint64_t object; /* identity of the task that runs, future, what is waited for, extra */
	uint32_t worker, part;
	bool is_inline, has_color, cut;
	uint32_t color;
	const char *function, *where;
	/* how it ended: of gaps and sleeps */
	const char *cause;
	uint64_t waker;
	struct chrome_note *notes, **notes_end;
	uint32_t note_count;
};

struct chrome_task {
	struct chrome_process *process;
	uint64_t identity;
	struct chrome_lane *lane;	 /* or NULL */
	struct chrome_row *host;	 /* while it runs: where its zones go */
	struct chrome_slice *run, *stay; /* on its lane, on the worker's row */
	struct chrome_slice *gap;
	struct chrome_slice *parked; /* outermost first */
	bool presumed;		     /* its gap is not drawn before it is known to be one */
	uint64_t lane_since;
	uint64_t object;		 /* what it waits for, or waited for last */
	uint64_t create_flow, wake_flow; /* 0: none under way */
};

struct chrome_lane {
	struct chrome_row row;
	struct chrome_lane *next; /* free ones */
};

struct chrome_thread {
	struct chrome_row row, kernel;
	struct chrome_process *process;
	struct chrome_slice *spans[3];
	uint32_t named_worker;
	const char *named;
};

struct chrome_process {
	struct chrome_process *next;
	uint32_t index;
	uint32_t pid; /* as in the file: another if the pid was used again */
	struct chrome_row own, capture;
	struct chrome_row counters; /* no row: counters belong to a process */
	struct chrome_lane *free_lanes;
	uint32_t lanes;
	uint32_t counts[3];
};

struct chrome {
	struct emit out;
	struct emit_time last;
	struct trace *trace;
	enum export_tracks tracks;
	int slot;
	int err;
	uint64_t events;
	bool in_args;
	uint64_t flows_made;
	uint64_t without_lane; /* waits not drawn */
	uint64_t without_row;  /* events of channels and frames not drawn */
	struct chrome_process *processes;
	struct map things;     /* rows of channels and frames */
	struct map flows;      /* starts of the program's arrows that have no end yet */
	struct palette colors; /* of markers */
	/* the operation whose handler is created next, or NULL */
	struct {
		uint64_t handler, descriptor;
		const char *operation, *path;
	} asio;
	uint32_t frames;
	struct pool threads, tasks, slices, notes, rows, lanes;
};

/* chrome_row.c */
/* an event up to its time stamp, to be closed: ph, category or NULL, row */
void chrome_event__begin(struct chrome *ch, char ph, const char *category, const char *prefix,
			 const char *name, const struct chrome_row *row, uint64_t time);
void chrome_event__finish(struct chrome *ch);
/*
 * Arguments of the event under way. Names are literals, which have nothing to escape and whose
 * length is known where they stand.
 */
void chrome_key__hex(struct chrome *ch, const char *name, size_t size, uint64_t value);
void chrome_key__uint(struct chrome *ch, const char *name, size_t size, uint64_t value);
void chrome_arg__int(struct chrome *ch, const char *name, int64_t value);
void chrome_arg__double(struct chrome *ch, const char *name, double value);
void chrome_key__text(struct chrome *ch, const char *name, size_t size, const char *text);
void chrome_arg__bool(struct chrome *ch, const char *name, bool value);
void chrome_arg__color(struct chrome *ch, uint32_t rgb);

static inline void chrome_arg__hex(struct chrome *ch, const char *name, uint64_t value)
{
	chrome_key__hex(ch, name, strlen(name), value);
}

static inline void chrome_arg__uint(struct chrome *ch, const char *name, uint64_t value)
{
	chrome_key__uint(ch, name, strlen(name), value);
}

/* none if there is no text */
static inline void chrome_arg__text(struct chrome *ch, const char *name, const char *text)
{
	if (text)
		chrome_key__text(ch, name, strlen(name), text);
}

/* an instant whose name is its category, to be closed */
void chrome_event__instant(struct chrome *ch, const struct chrome_row *row, const char *category,
			   size_t size, uint64_t time);

static inline void chrome__instant(struct chrome *ch, const struct chrome_row *row,
				   const char *category, uint64_t time)
{
	chrome_event__instant(ch, row, category, strlen(category), time);
}

/* the same with a name of its own */
void chrome__instant_named(struct chrome *ch, const struct chrome_row *row, const char *category,
			   const char *name, uint64_t time);

/* a point of an arrow: ph 's' starts at, 't' passes, 'f' ends in what happened there last */
void chrome__flow(struct chrome *ch, char ph, const char *category, uint64_t id,
		  const struct chrome_row *row, uint64_t time);
void chrome__counter(struct chrome *ch, const struct chrome_process *process, const char *name,
		     const struct event *sample, int64_t value, uint64_t time);
void chrome_row__init(struct chrome *ch, struct chrome_row *row, uint32_t pid, uint32_t tid,
		      const char *name, int64_t rank);
struct chrome_slice *chrome_slice__new(struct chrome *ch, enum chrome_slice_kind kind,
				       const char *category, const char *prefix, const char *name);
void chrome_slice__free(struct chrome *ch, struct chrome_slice *slice);
void chrome_row__push(struct chrome *ch, struct chrome_row *row, struct chrome_slice *slice,
		      uint64_t time);
/* ends a slice; zones and continuations that are open inside it go on outside, or with @park */
void chrome_row__remove(struct chrome *ch, struct chrome_slice *slice, struct chrome_task *park,
			uint64_t time);
void chrome_row__unpark(struct chrome *ch, struct chrome_row *row, struct chrome_task *task,
			uint64_t time);
void chrome_row__unlink_parked(struct chrome_task *task, struct chrome_slice *slice);
void chrome_row__close(struct chrome *ch, struct chrome_row *row, uint64_t time);

/* chrome.c */
struct chrome_process *chrome_process__get(struct chrome *ch, struct model_process *model);
struct chrome_thread *chrome_thread__get(struct chrome *ch, struct model_thread *model);
/* where what happens on the thread, in that task or NULL, is drawn */
struct chrome_row *chrome__host(struct chrome *ch, struct model_thread *thread,
				struct model_task *task);

/* chrome_event.c */
/* what this file has to do with */
void chrome__add_event_ops(struct model_ops *ops);
void chrome__close_things(struct chrome *ch, uint64_t time);

/* chrome_asio.c */
/* the task that is created now is the handler of an operation that was told of */
bool chrome_asio__is_next(const struct chrome *ch, uint64_t handler);
void chrome_asio__created_args(struct chrome *ch);
/* false: it is none of Asio's */
bool chrome_asio__draw(struct chrome *ch, const struct event *event, struct model_thread *model,
		       const struct chrome_row *row, uint64_t time);
void chrome_asio__add_ops(struct model_ops *ops);

#endif /* TRACER_EXPORT_CHROME_H */
