/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Perfetto exporter's inside: a sink of the model that streams packets. For perfetto*.c and
 * their tests only.
 *
 *	perfetto.c		the export as a whole: trace -> model -> this sink -> file
 *	perfetto_packet.c	packets: clocks, descriptors, interned names, events
 *	perfetto_row.c		rows and the slices open on them; who gets which row
 *	perfetto_task.c		what the model tells of tasks and workers
 *	perfetto_event.c	and of everything else
 *	perfetto_sched.c	the kernel's view of workers, and CPUs
 *	perfetto_lock.c		locks
 *	perfetto_count.c	gauges
 *	perfetto_stack.c	call stacks
 *	perfetto_asio.c		Asio's handlers, beside what all tasks have
 *	perfetto_capture.c	losses, and what is known of the capture itself; steals per second
 *
 * Memory: live tasks, threads and their open slices, at most 2,000 rows a process, and tables with
 * fixed upper limits. Nothing is allocated per event once the pools are warm.
 */
#ifndef TRACER_EXPORT_PERFETTO_H
#define TRACER_EXPORT_PERFETTO_H

#include "../base/map.h"
#include "../base/palette.h"
#include "../base/pool.h"
#include "../model/model.h"
#include "export.h"
#include "outfile.h"
#include "proto.h"

/* Categories (interface, section 4). An instant's name is that of its category. */
#define PERFETTO_CATEGORIES(X)                                                                    \
	X(TASK_RUN, "task.run")                                                                   \
	X(WORKER_TASK, "worker.task")                                                             \
	X(TASK_STAGED, "task.staged")                                                             \
	X(TASK_CREATED, "task.created")                                                           \
	X(TASK_YIELDED, "task.yielded")                                                           \
	X(TASK_COMPLETED, "task.completed")                                                       \
	X(TASK_DESTROYED, "task.destroyed")                                                       \
	X(TASK_RENAMED, "task.renamed")                                                           \
	X(TASK_FACT, "task.fact") /* texts, values, dependences */                                \
	X(TASK_SUSPENDED, "task.suspended")                                                       \
	X(TASK_READY, "task.ready")                                                               \
	X(TASK_STOPPED, "task.stopped")                                                           \
	X(TASK_SPAWN, "task.spawn") /* in the creator: where the arrow to the first run starts */ \
	X(TASK_WAKE, "task.wake")   /* in the waker: where the arrow to the resumed run starts */ \
	X(WORKER_START, "worker.start")                                                           \
	X(WORKER_STOP, "worker.stop")                                                             \
	X(WORKER_SLEEP, "worker.sleep")                                                           \
	X(WORKER_BACKGROUND, "worker.background")                                                 \
	X(WORKER_BULK, "worker.bulk")                                                             \
	X(STEAL, "steal")                                                                         \
	X(STEAL_FAILED, "steal.failed")                                                           \
	X(STOLEN, "stolen") /* on the victim's row */                                             \
	X(FUTURE_CREATED, "future.created")                                                       \
	X(FUTURE_WAIT, "future.wait")                                                             \
	X(FUTURE_SET, "future.set")                                                               \
	X(FUTURE_EXCEPTION, "future.exception")                                                   \
	X(FUTURE_CALLBACK, "future.callback")                                                     \
	X(CONTINUATION_ATTACHED, "continuation.attached")                                         \
	X(CONTINUATION, "continuation")                                                           \
	X(LOCK, "lock")                                                                           \
	X(LOCK_RELEASED, "lock.released") /* of a lock that is not known to be held */            \
	X(ZONE, "zone")                                                                           \
	X(MESSAGE, "message")                                                                     \
	X(MARKER, "marker")                                                                       \
	X(FRAME, "frame")                                                                         \
	X(FLOW_START, "flow.start")                                                               \
	X(FLOW_STEP, "flow.step")                                                                 \
	X(FLOW_END, "flow.end")                                                                   \
	X(SENT, "sent")                                                                           \
	X(RECEIVED, "received")                                                                   \
	X(ASIO_RUN, "asio.run")		    /* run(), poll() and so on */                         \
	X(ASIO_SYSCALL, "asio.syscall")	    /* where the thread is that makes it */               \
	X(ASIO_OPERATION, "asio.operation") /* close, cancel */                                   \
	X(ASIO_REACTOR, "asio.reactor")                                                           \
	X(KERNEL, "kernel.state")                                                                 \
	X(CAPTURE, "capture")                                                                     \
	X(LOST, "lost")

enum perfetto_category {
#define X(id, name) CATEGORY_##id,
	PERFETTO_CATEGORIES(X)
#undef X
		CATEGORIES
};

/* Names known beforehand, beside those of the categories. */
#define PERFETTO_NAMES(X)                   \
	X(READY, "ready")                   \
	X(STOPPED, "stopped")               \
	X(SUSPENDED, "suspended")           \
	X(SLEEP, "sleep")                   \
	X(BACKGROUND, "background")         \
	X(BULK, "bulk")                     \
	X(RUNNING, "running")               \
	X(BLOCKED, "blocked")               \
	X(WAITS_FOR_CPU, "waits for a CPU") \
	X(WAIT, "wait")                     \
	X(HELD, "held")                     \
	X(REGISTRATION, "registration")     \
	X(DEREGISTRATION, "deregistration") \
	X(READINESS, "readiness")

enum perfetto_name { /* interned ids; those of the categories' names come first, from 1 */
		     NAME_FIRST = CATEGORIES,
#define X(id, name) NAME_##id,
		     PERFETTO_NAMES(X)
#undef X
			     NAMES
};

#define PERFETTO_ANNOTATIONS(X)                   \
	X(TASK, "task")                           \
	X(WORKER, "worker")                       \
	X(OBJECT, "object")                       \
	X(REASON, "reason")                       \
	X(CAUSE, "cause")                         \
	X(WAKER, "waker")                         \
	X(PARENT, "parent")                       \
	X(NAME, "name")                           \
	X(CUT, "cut")                             \
	X(THIEF, "thief")                         \
	X(VICTIM, "victim")                       \
	X(VICTIM_DEPTH, "victim_depth")           \
	X(CONTINUATION, "continuation")           \
	X(CONTENDED, "contended")                 \
	X(HOLDER, "holder")                       \
	X(HOLDER_NAME, "holder_name")             \
	X(HOLDER_TID, "holder_tid")               \
	X(INLINE, "inline")                       \
	X(FUNCTION, "function")                   \
	X(FILE, "file")                           \
	X(LINE, "line")                           \
	X(ZONE_ID, "zone_id")                     \
	X(PART, "part")                           \
	X(TEXT, "text")                           \
	X(COLOR, "color")                         \
	X(EXTRA, "extra")                         \
	X(ID, "id")                               \
	X(DESTINATION, "destination")             \
	X(SOURCE, "source")                       \
	X(BYTES, "bytes")                         \
	X(RECORDS, "records")                     \
	X(TID, "tid")                             \
	X(FROM, "from")                           \
	X(TO, "to")                               \
	X(CLOCK, "clock")                         \
	X(CLOCK_ERROR, "clock_error_ns")          \
	X(LOST_RECORDS, "lost")                   \
	X(CPU, "cpu")                             \
	X(BY, "by")                               \
	X(TRACER_CPU, "tracer_cpu_ns")            \
	X(FLUSHES, "flushes")                     \
	X(CHUNKS, "chunks")                       \
	X(CHUNK_BYTES, "chunk_bytes")             \
	X(ERROR, "error")                         \
	X(BYTES_TRANSFERRED, "bytes_transferred") \
	X(SIGNAL_NUMBER, "signal_number")         \
	X(EXCEPTION, "exception")                 \
	X(PATH, "path")                           \
	X(DESCRIPTOR, "descriptor")               \
	X(REGISTRATION, "registration")           \
	X(EVENTS, "events")

enum perfetto_annotation { /* interned ids, all below 128 */
			   ANNOTATION_NONE,
#define X(id, name) ANNOTATION_##id,
			   PERFETTO_ANNOTATIONS(X)
#undef X
				   ANNOTATIONS
};

/* Interned texts that are made from a string of the trace. */
enum perfetto_form {
	FORM_PLAIN,
	FORM_SUSPENDED, /* "suspended: " and the string */
	FORM_SLEEP,	/* "sleep: " and the string */
	FORM_FILE,	/* "file:line" without the line */
	FORM_WAIT,	/* "wait: " and the string */
	FORM_HELD,	/* "held: " and the string */
};

enum perfetto_table { TABLE_NAMES, TABLE_ANNOTATIONS, TABLE_STRINGS, TABLES };

enum row_kind { /* part of a row's uuid */
		ROW_PROCESS = 1,
		ROW_WORKERS,
		ROW_TASKS,
		ROW_COUNTERS,
		ROW_MARKERS,
		ROW_CAPTURE,
		ROW_THREAD,
		ROW_TASK,
		ROW_COUNTER,
		ROW_QUEUE_DEPTH,
		ROW_OWN_COUNTER,
		ROW_CHANNEL,
		ROW_FRAME,
		ROW_KERNEL,
};

enum flow_kind { FLOW_BASE = 32, FLOW_OWN, FLOW_SHARED, FLOW_MARKER, FLOW_MESSAGE };

#define PERFETTO_TASK_ROWS 2000U
/* lanes: so many at most, so that with workers, counters and channels a process has 2,000 rows */
#define PERFETTO_LANE_ROWS 1900U
/* The viewers' limit is 512 (rule 4); what is deeper is counted and not drawn. */
#define PERFETTO_DEPTH_MAX 500U
#define PERFETTO_INTERNED_MAX 65536U /* of each table; further ones are written out each time */
#define PERFETTO_NOTES_MAX 16U	     /* annotations that a zone's part takes */
/* rows of channels, counters, frames: a target may invent any number; sixteen processes can have
 * all the channels there are */
#define PERFETTO_THINGS_MAX 1048576U
#define PERFETTO_LOCKS_MAX 65536U
#define PERFETTO_HEXES_MAX 65536U  /* identities that are told once; the same of further ones */
#define PERFETTO_HEXES_NEW 8U	   /* of them in one packet */
#define PERFETTO_FLOWS_MAX 262144U /* open arrows of the program that are remembered */
#define PERFETTO_SETS 262144U	   /* futures set lately */
#define PERFETTO_WAITERS_MAX 1024U /* of a future, each with an arrow of its own from the set */

struct drawn_task;
struct drawn_thread;
struct drawn_process;

enum row_list { LIST_FREE, LIST_READY, LIST_SUSPENDED, LISTS, LIST_NONE = LISTS };

struct row {
	uint64_t uuid;
	uint8_t key[PROTO_RAW]; /* track_uuid of an event, encoded */
	uint8_t key_size;
	uint8_t list; /* enum row_list */
	bool declared;
	uint32_t depth;
	struct slice *top;
	uint64_t last; /* end of what was drawn last, where that can lie in the past */
	struct row *all_prev, *all_next;
	/* rows of tasks */
	struct drawn_task *holder;
	struct label *label;
	struct row *prev, *next;	     /* in its list */
	struct row *label_prev, *label_next; /* among the free ones of its label */
};

struct label { /* tasks of one description: their rows stand together */
	uint32_t index;
	uint32_t rows;
	struct row *free;
};

enum slice_kind {
	SLICE_RUN,
	SLICE_STAY,
	SLICE_GAP,
	SLICE_SPAN,
	SLICE_ZONE,
	SLICE_CONTINUATION,
	SLICE_LOCK,
	SLICE_PLAIN
};

struct note {
	struct note *next;
	const char *name; /* NULL: `annotation` */
	uint8_t annotation;
	enum {
		NOTE_TEXT,
		NOTE_INT,
		NOTE_DOUBLE,
		NOTE_COLOR,
		NOTE_STRING,
		NOTE_BOOL,
		NOTE_HEX
	} kind;
	union event_arg value;
};

struct slice {
	struct slice *below; /* on the row; or the next parked one of the task, further inside */
	struct row *row;     /* NULL: parked, while its task does not run */
	struct drawn_task *owner;
	struct drawn_thread *thread; /* SLICE_SPAN */
	uint8_t kind;		     /* enum slice_kind */
	uint8_t category;
	uint8_t form; /* of the name */
	uint8_t span;
	bool hidden; /* too deep: not in the file */
	bool is_inline;
	bool held; /* SLICE_LOCK: not the wait for it */
	bool cut;  /* ended by a loss, the capture's end or want of a row, not by the program */
	uint32_t name_iid;
	const char *name;
	uint64_t key;	 /* serial of the task, id of the zone, continuation */
	uint64_t object; /* identity of the task, future, what is waited for, extra */
	uint32_t worker;
	uint32_t part;
	uint32_t stack;	   /* of calls, where it began; 0: none */
	uint64_t end_flow; /* an arrow that leaves its end; 0: none */
	uint32_t function_iid, file_iid, line;
	const char *function, *file;
	struct note *notes, **notes_end;
	uint32_t note_count;
	uint32_t color;
	bool has_color;
};

struct drawn_task {
	struct drawn_process *process;
	uint64_t serial, identity;
	uint32_t identity_iid; /* of its text, 0: not known */
	const char *name;
	struct row *row;  /* NULL: has none (now) */
	struct row *host; /* while it runs: where its zones go */
	struct slice *run, *stay, *gap;
	struct slice *parked;		 /* outermost first */
	uint64_t row_since;		 /* time it got its row */
	uint64_t waits_for;		 /* counted as waiting for that future; or 0 */
	uint32_t waits_since;		 /* sets that were before that */
	bool presumed;			 /* its gap is not drawn before it is known to be one */
	uint64_t object;		 /* what it waits for or waited for last */
	uint64_t create_flow, wake_flow; /* 0: none under way */
};

struct drawn_lock {
	const char *name;
	struct slice *held;    /* by who acquired it last, or NULL */
	uint64_t release_flow; /* from the last release, if somebody waited; or 0 */
};

struct drawn_thread {
	struct row row, kernel;
	struct drawn_process *process;
	uint32_t tid;
	uint32_t kernel_worker; /* as `kernel` was named last */
	const char *kernel_named;
	uint32_t label_iid;    /* of what its row is called, as a text; 0: not told yet */
	uint32_t named_worker; /* worker and name of the last descriptor */
	const char *named;
	bool in_workers;
	struct slice *spans[3];
};

enum { COUNT_RUNNING, COUNT_READY, COUNT_SUSPENDED, COUNT_CONTINUATIONS, COUNT_STEALS, COUNTS };

/* those that count tasks come first */
#define PERFETTO_GAUGES 3

/* The counter of steals is one of steals per second, over stretches of this length. */
#define PERFETTO_STEALS_NS 10000000U

struct drawn_process {
	struct drawn_process *next;
	uint32_t index, pid;
	uint32_t generation; /* processes of that pid and start time before, in this capture */
	uint64_t start_time;
	uint64_t seed;
	struct row row, workers, tasks, counters, markers, capture;
	struct row counts[COUNTS];
	int64_t counted[COUNTS];
	uint64_t steals, steals_since; /* in the present stretch, and its begin */
	uint32_t row_count;	       /* of tasks */
	uint32_t counter_count;
	struct {
		struct row *first, *last;
	} lists[LISTS];
	struct map labels;
	uint32_t label_count;
	bool crowded; /* more tasks than rows are on their way */
};

struct perfetto_tally { /* what the file holds, to compare with what a reader finds in it */
	uint64_t begins[CATEGORIES];
	uint64_t instants[CATEGORIES];
	uint64_t ends, counters, extra_counters, descriptors, task_states;
	uint64_t flow_ids, flow_ends;
	uint64_t too_deep;	   /* slices not drawn: nested too deep */
	uint64_t gaps_without_row; /* not drawn: more tasks alive at once than rows */
	uint64_t evicted;	   /* gaps drawn only in part, for the same reason */
	uint64_t without_row;	   /* not drawn: more channels, counters, frames than rows */
	uint64_t parts;		   /* slices that go on after a cut */
};

struct perfetto_info { /* what it needs to know of the trace */
	const char *boot_id;
	int64_t monotonic_offset, realtime_offset;
	/* of the process with that index, 0 not known; may be NULL */
	uint64_t (*start_time)(const void *ctx, uint32_t index);
	const void *ctx;
	enum export_tracks tracks;
	bool piece;   /* another file may follow that goes on where this one ends */
	bool compact; /* gauges of tasks in the events that change them, see perfetto_count.c */
	/* call stacks by number; may be NULL */
	const struct trace_stack *(*stack)(void *ctx, uint32_t number);
	void *stack_ctx;
};

struct perfetto_stacks { /* what was told of call stacks: ids by what they stand for */
	struct map told, functions, frames, mappings, paths, build_ids, sources;
	uint32_t next; /* of the event that is written next, or 0 */
};

struct perfetto {
	struct proto proto;
	struct outfile *output;
	struct perfetto_info info;
	int slot;  /* of the model's priv */
	int error; /* the first; then nothing is done any more */
	bool started, ended;
	/* threads (process, tid) that are about to be known as workers: a row gets its parent but
	 * once */
	struct map workers_ahead;
	struct map lives_ahead; /* of a process: number of tasks that are about to be created */
	struct map on_cpu;	/* of a piece of a trace: threads that run, the CPU and one */
	uint64_t time;		/* of the last packet */
	uint64_t boot_seed, session;
	uint8_t prefix[PROTO_RAW]; /* what each packet begins with, encoded */
	uint8_t prefix_size;
	uint64_t flow_base, flows_made;
	uint8_t *packet, *event; /* marks of the messages being written */
	/*
	 * The last event's packet is finished when the next begins (or the buffer is flushed), so
	 * that gauges which change with it can be told in it; once, and only if it stands at
	 * `time`.
	 */
	bool pending, takes_gauges;
	/*
	 * What differs from packet to packet is written at its end, side by side: a compressor then
	 * finds the rest in one piece.
	 */
	struct {
		uint8_t row[PROTO_RAW];
		uint8_t row_size;
		bool absolute, flow_ends;
		uint64_t time;
		uint64_t flow;	   /* 0: none */
		uint64_t task;	   /* 0: none */
		uint32_t task_iid; /* 0: to be written out */
	} tail;
	const struct drawn_process *default_gauges; /* whose the sequence's defaults name */
	struct map interned[TABLES];
	uint32_t next_iid[TABLES];
	struct map hexes; /* identity: its interned text */
	struct {
		uint64_t value;
		uint32_t iid;
	} new_hexes[PERFETTO_HEXES_NEW]; /* of the packet under way, told at its end */
	uint32_t new_hex_count;
	struct pool rows, slices, notes, tasks, threads, labels;
	struct row *all_rows;
	struct drawn_process *processes;
	struct drawn_process *process_last; /* found last */
	struct map tids, things, flows;
	struct palette colors; /* of markers */
	struct future_sets {
		struct map map; /* process, object: an entry of the ring */
		struct future_set {
			uint64_t process, object;
			uint64_t flow;	  /* the next waiter's own arrow */
			uint64_t shared;  /* of all who came too late */
			uint32_t waiters; /* whose wakes are yet to come */
			uint32_t number;  /* sets that were before it */
		} * ring;		  /* the last PERFETTO_SETS */
		uint32_t next;
		struct map waiting; /* process, object: number of tasks that wait for it */
	} sets;
	struct map locks; /* process, lock: struct drawn_lock */
	struct {	  /* of the handler whose creation comes next */
		uint64_t handler, descriptor;
		const char *operation, *path;
		uint32_t path_iid;
	} asio;
	struct pool lock_pool;
	struct perfetto_stacks stacks;
	struct perfetto_tally tally;
};

/* perfetto.c */
int perfetto__init(struct perfetto *px, struct outfile *output, const struct perfetto_info *info);
void perfetto__free(struct perfetto *px);
extern const struct model_ops perfetto_ops;

/* perfetto_packet.c */
enum { EVENT_BEGIN = 1, EVENT_END, EVENT_INSTANT, EVENT_COUNTER };

struct descriptor {
	uint64_t uuid, parent;
	const char *name;
	const char *address;	 /* goes behind the name, after a blank */
	const char *description; /* shown with the row's name */
	enum { TRACK_PLAIN, TRACK_PROCESS, TRACK_THREAD, TRACK_COUNTER } kind;
	uint32_t pid, tid; /* of processes and threads */
	const char *cmdline;
	uint64_t start_time;
	bool incremental; /* a counter's values are differences */
	bool ordered;	  /* its children, by rank */
	bool no_merge;
	int32_t rank; /* -1 none */
};

uint64_t perfetto__hash(uint64_t seed, uint64_t kind, uint64_t id);
/* clocks, defaults and fixed names: before anything else */
void perfetto__start(struct perfetto *px, uint64_t time);
void perfetto__flush(struct perfetto *px);
void perfetto__attributes(struct perfetto *px, const char *const *keys, const char *const *values,
			  size_t count);
void descriptor__write(struct perfetto *px, const struct descriptor *descriptor);
/* interned id, written to the file if it is new; 0: write the text out (or there is none) */
uint32_t intern__text(struct perfetto *px, enum perfetto_table table, enum perfetto_form form,
		      const char *text);

/* a packet of interned data; not while an event is open */
uint8_t *interned__open(struct perfetto *px);
void interned__close(struct perfetto *px, uint8_t *mark);

/* the same for a text that is made up, and told each time */
uint32_t intern__new(struct perfetto *px, enum perfetto_table table, const char *text);

void event__open(struct perfetto *px, const struct row *row, int type, uint64_t time);
/* the same at any time, also before the last packet's */
void event__open_at(struct perfetto *px, const struct row *row, int type, uint64_t time);
void event__close(struct perfetto *px);
void event__title(struct perfetto *px, enum perfetto_category category, uint32_t name_iid,
		  enum perfetto_form form, const char *name);
/* an arrow of this capture's own, under an id that no other has */
uint64_t flow__new(struct perfetto *px);
/* the one that was made after it */
uint64_t flow__next(uint64_t id);
void event__flow(struct perfetto *px, uint64_t id);
void event__flow_end(struct perfetto *px, uint64_t id);
void annotate__uint(struct perfetto *px, uint32_t iid, uint64_t value);
/* the task that the event is about */
void annotate__task(struct perfetto *px, struct drawn_task *task);
void annotate__hex(struct perfetto *px, uint32_t iid, uint64_t value);
void annotate__bool(struct perfetto *px, uint32_t iid, bool value);
void annotate__color(struct perfetto *px, uint32_t rgb);
/* text_iid: intern__text(TABLE_STRINGS) of the text, or 0 */
void annotate__text(struct perfetto *px, uint32_t iid, uint32_t text_iid, const char *text);
/* one text, or several as an array */
void annotate__texts(struct perfetto *px, uint32_t iid, const char *const *texts, uint32_t count);
/* any but a text */
void annotate__note(struct perfetto *px, const struct note *note, uint32_t name_iid);
void counter__write(struct perfetto *px, const struct row *row, uint64_t time, int64_t value);
/* the same at any time, also before the last packet's */
void counter__write_at(struct perfetto *px, const struct row *row, uint64_t time, int64_t value);
void counter__write_double(struct perfetto *px, const struct row *row, uint64_t time, double value);

/* the event that was written last stands at @time, and no gauges are in it yet */
bool event__takes_gauges(const struct perfetto *px, uint64_t time);
void event__gauges(struct perfetto *px, const uint64_t *uuids, const int64_t *values,
		   uint32_t count);
/* from now on these are the counters of events that do not say which ones they mean */
void perfetto__default_gauges(struct perfetto *px, const uint64_t *uuids, uint32_t count);

/* from then on the thread is in that state (TaskStateEnum of Perfetto's generic_task_state.proto)
 */
void task_state__write(struct perfetto *px, uint32_t cpu, const char *comm, uint32_t tid, int state,
		       int prio, uint64_t time);

/* perfetto_sched.c */
void op__kernel(void *ctx, struct model_thread *thread, const struct model_kernel *stretch,
		uint64_t time);
void op__sched(void *ctx, const struct model_sched *change, uint64_t time);

/* perfetto_row.c */
void row__name(struct perfetto *px, struct row *row, uint64_t uuid);
void row__forget(struct perfetto *px, struct row *row);
/* the group row, declared */
struct row *row__group(struct perfetto *px, struct drawn_process *process, enum row_kind kind);
/* a row of its own for a channel, counter and so on, found by kind and id; NULL: too many */
struct row *row__thing(struct perfetto *px, struct drawn_process *process, enum row_kind kind,
		       uint64_t id);
void row__assign(struct perfetto *px, struct drawn_task *task, bool evict, uint64_t time);
void row__release(struct perfetto *px, struct row *row);
void row__move(struct drawn_process *process, struct row *row, enum row_list list);

struct slice *slice__new(struct perfetto *px, enum slice_kind kind, enum perfetto_category category,
			 enum perfetto_form form, const char *name, uint32_t name_iid);
void slice__free(struct perfetto *px, struct slice *slice);
void slice__note(struct perfetto *px, struct slice *slice, const struct note *note);
/* opens a slice on top of the row; at most two arrows end in it, 0: none */
void row__push(struct perfetto *px, struct row *row, struct slice *slice, uint64_t time,
	       const uint64_t flow_ends[2]);
/*
 * ends a slice and takes it off its row; what is open inside it is cut, and goes on outside. Zones
 * and continuations of @park are parked instead.
 */
void row__remove(struct perfetto *px, struct slice *slice, struct drawn_task *park,
		 const struct model_gap *gap, const char *cause, uint64_t time);
/* opens what was parked on the task's host */
void row__unpark(struct perfetto *px, struct drawn_task *task, uint64_t time);
void row__unlink_parked(struct slice *slice);
/* ends all that is open on the row */
void row__close(struct perfetto *px, struct row *row, uint64_t time);

/* order of a worker's row among the workers; the next one is its kernel row's */
static inline int32_t worker__rank(uint32_t worker)
{
	return (int32_t)(worker % (INT32_MAX / 2) * 2);
}

/* perfetto_task.c */
struct drawn_process *drawn_process__get(struct perfetto *px, struct model_process *process);
struct drawn_thread *drawn_thread__get(struct perfetto *px, struct model_thread *thread);
struct drawn_task *drawn_task__get(struct perfetto *px, struct model_task *task, uint64_t time);
/* where what happens on the thread, in that task or NULL, is drawn */
struct row *thread__host(struct perfetto *px, struct model_thread *thread, struct model_task *task);

void op__process(void *ctx, struct model_process *process, uint64_t time);
void op__thread(void *ctx, struct model_thread *thread, uint64_t time);
void op__worker_start(void *ctx, struct model_thread *thread, uint64_t time);
void op__worker_stop(void *ctx, struct model_thread *thread, uint64_t time);
void op__thread_gone(void *ctx, struct model_thread *thread, uint64_t time);
void op__task_born(void *ctx, struct model_task *task, uint64_t time);
void op__task_instant(void *ctx, struct model_task *task, enum model_instant kind,
		      struct model_thread *thread, uint64_t time);
void op__stay_begin(void *ctx, struct model_stay *stay, uint64_t time);
void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how);
void op__gap_begin(void *ctx, struct model_task *task, const struct model_gap *gap, uint64_t time);
void op__gap_end(void *ctx, struct model_task *task, const struct model_gap *gap, uint64_t time);
void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished);

/* perfetto_count.c */
void process__count(struct perfetto *px, struct drawn_process *process, int which, int64_t value,
		    uint64_t time);
void op__task_counts(void *ctx, struct model_process *process, uint32_t running, uint32_t ready,
		     uint32_t suspended, uint64_t time);
void op__active_continuations(void *ctx, struct model_process *process, int64_t count,
			      uint64_t time);

/* perfetto_event.c */
void op__span_begin(void *ctx, struct model_thread *thread, enum span_kind kind, const char *name,
		    uint64_t time);
void op__span_end(void *ctx, struct model_thread *thread, enum span_kind kind, const char *cause,
		  uint64_t begin, uint64_t time);
void op__span_cut(void *ctx, struct model_thread *thread, enum span_kind kind, uint64_t time);
void op__queue_depth(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
		     uint64_t time);
void op__steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
	       uint32_t thief, uint32_t victim, struct model_task *task, uint64_t victim_depth,
	       uint64_t time);
void op__steal_failed(void *ctx, struct model_thread *thread, uint32_t thief, uint32_t victim,
		      uint64_t time);
void op__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		struct model_task *task, struct model_thread *thread, uint64_t time);
void op__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
			    struct model_task *task, struct model_thread *thread, bool is_inline,
			    uint64_t time);
void op__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
			  struct model_task *task, struct model_thread *thread, uint64_t begin,
			  uint64_t time);
void op__zone_begin(void *ctx, struct model_zone *zone, uint64_t time);
void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread, uint64_t time,
		  bool left_open);
void op__annotation(void *ctx, const struct event *event, struct model_task *task,
		    struct model_thread *thread, struct model_zone *zone, uint64_t time);
/*
 * The arrow from the set of a future to the next task that it wakes, an id for that wake alone; or,
 * for more than were known to wait, 0 and an id in @shared; both 0: it was not set lately.
 */
uint64_t future__wakes(const struct perfetto *px, const struct drawn_task *task, uint64_t object,
		       uint64_t *shared);
/* the task waits for the future, or no longer waits for any */
void future__waiter(struct perfetto *px, struct drawn_task *task, uint64_t object);
void future__no_waiter(struct perfetto *px, struct drawn_task *task);
/* an instant whose name is its category's; to be closed */
void instant__open(struct perfetto *px, const struct row *row, enum perfetto_category category,
		   uint64_t time);

/* perfetto_asio.c */
void op__handler(void *ctx, const struct event *event, struct model_task *handler,
		 struct model_task *task, struct model_thread *thread, uint64_t time);
/* true if it was one of Asio's own */
void fact__draw(struct perfetto *px, const struct event *event, const struct model_task *task,
		const struct row *row, uint64_t time);
bool asio__draw(struct perfetto *px, const struct event *event, struct model_thread *thread,
		struct row *row, uint64_t time);
/* what a handler's creation says beside what any task's does: before and inside the event */
const char *asio__created_title(struct perfetto *px, uint64_t handler, uint32_t *iid);
void asio__annotate_created(struct perfetto *px, uint64_t handler);

/* perfetto_stack.c */
/* the next event with a title gets that call stack; 0: none */
void stack__next(struct perfetto *px, uint32_t number);
void stacks__forget(struct perfetto_stacks *stacks);

/* perfetto_lock.c */
void op__lock(void *ctx, const struct model_lock_change *change, struct model_task *task,
	      struct model_thread *thread, uint64_t time);
void lock__forget(struct perfetto *px, struct slice *slice);

/* perfetto_capture.c */
void op__lost(void *ctx, struct model_process *process, const struct model_loss *loss,
	      uint64_t time);
/* the capture's own figures, on the row "Capture" of each process */
void capture__draw(struct perfetto *px, const struct trace_totals *totals);
void steals__count(struct perfetto *px, struct drawn_process *process, uint64_t time);
/* what was counted in stretches that have ended */
void steals__tell(struct perfetto *px, struct drawn_process *process, uint64_t time);

/* perfetto_sched.c */
void sched__end_piece(struct perfetto *px);

#endif /* TRACER_EXPORT_PERFETTO_H */
