/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Paraver exporter's inside. For paraver*.c only.
 *
 *	paraver.c	the export as a whole; from the spool to .prv, .pcf and .row
 *	paraver_spool.c	records on their way: a temporary file
 *	paraver_task.c	the sink: threads and what runs on them, tasks
 *	paraver_event.c	the sink: everything else
 *	paraver_label.c	numbers for names; which event types there are
 *
 * The format wants the number of threads and the whole length in its first line, records in the
 * order of time, states with their end, messages with their arrival. None of that is known when an
 * event comes. So there are two passes, of which only the first reads the capture: it appends
 * records to a spool, and fills in an end or an arrival when it comes; the second turns the spool
 * into text. What was sent and never arrived is left out there.
 *
 * Objects: one application; a process is a task; a thread of it is a worker, another thread that
 * had events, or a channel of markers. Threads that come and go share what Paraver calls a thread,
 * one after the other, so that a thousand short ones are not a thousand rows.
 */
#ifndef TRACER_EXPORT_PARAVER_H
#define TRACER_EXPORT_PARAVER_H

#include "../base/map.h"
#include "../base/pool.h"
#include "feed.h"

enum prv_kind { PRV_STATE, PRV_EVENT, PRV_SEND, PRV_RECEIVE };

#define PRV_NEVER UINT64_MAX

struct prv_record {
	uint64_t time; /* RECEIVE: of the arrival */
	uint64_t
		a; /* STATE: end; EVENT: type; SEND: tag; RECEIVE: PRV_NEVER until it has arrived */
	uint64_t b; /* STATE: state; EVENT: value; SEND: bytes */
	uint32_t row;
	uint16_t cpu; /* and one; 0: not known */
	uint8_t kind; /* enum prv_kind; a RECEIVE follows its SEND */
	uint8_t unused;
};

/* States; those that Extrae has too have its numbers, so that its configurations mean something. */
#define PRV_STATES(X)                                 \
	X(IDLE, 0, "Idle", 117, 195, 255)             \
	X(RUNNING, 1, "Running", 0, 0, 255)           \
	X(BACKGROUND, 7, "Scheduling", 179, 0, 0)     \
	X(SLEEP, 9, "Blocked", 240, 110, 0)           \
	X(BULK, 15, "Others: bulk work", 0, 144, 169) \
	X(MARKER, 18, "Marker", 0, 162, 0)

enum prv_state {
#define X(id, number, label, r, g, b) PRV_STATE_##id = (number),
	PRV_STATES(X)
#undef X
};

/* whose numbers the values of an event type are */
enum prv_group {
	GROUP_NONE, /* as they are */
	GROUP_TASK,
	GROUP_REASON,
	GROUP_CAUSE,
	GROUP_ZONE,
	GROUP_MARKER,
	GROUP_TEXT,
	GROUP_FRAME,
	GROUP_LOCK,
	GROUP_WORK,
	GROUP_NAMES, /* groups from here on have fixed labels */
	GROUP_STOP = GROUP_NAMES,
	GROUP_KERNEL,
	GROUP_FUTURE,
	GROUP_LOCK_EVENT,
	GROUP_FLOW,
	GROUPS
};

/*
 * Event types: number, values, label. At an end the value is that of what goes on outside, or 0.
 */
#define PRV_TYPES(X)                                                                  \
	X(TASK, 9000001, GROUP_TASK, "Task that runs")                                \
	X(TASK_NUMBER, 9000002, GROUP_NONE, "Task that runs: number of its lifetime") \
	X(STAY, 9000003, GROUP_NONE, "Stay begins: which of the task's, from 1")      \
	X(STOP, 9000004, GROUP_STOP, "Stay ends: how")                                \
	X(SUSPENDED, 9000005, GROUP_REASON, "Suspension begins: reason")              \
	X(OBJECT, 9000006, GROUP_NONE, "Object that is waited for")                   \
	X(STAGED, 9000010, GROUP_TASK, "Task staged")                                 \
	X(CREATED, 9000011, GROUP_TASK, "Task created")                               \
	X(READY, 9000012, GROUP_TASK, "Task ready")                                   \
	X(RESUMED, 9000013, GROUP_CAUSE, "Task resumed: cause")                       \
	X(COMPLETED, 9000014, GROUP_TASK, "Task completed")                           \
	X(DESTROYED, 9000015, GROUP_TASK, "Task destroyed")                           \
	X(RENAMED, 9000016, GROUP_TASK, "Task renamed")                               \
	X(WORK, 9000020, GROUP_WORK, "Background or bulk work")                       \
	X(SLEEP, 9000021, GROUP_REASON, "Sleep: reason")                              \
	X(SLEEP_CAUSE, 9000022, GROUP_CAUSE, "Sleep ended by")                        \
	X(STEAL, 9000030, GROUP_NONE, "Steal: from worker, and one")                  \
	X(STEAL_FAILED, 9000031, GROUP_NONE, "Steal failed: from worker, and one")    \
	X(VICTIM_DEPTH, 9000032, GROUP_NONE, "Steal: left in the victim's queue")     \
	X(FUTURE, 9000040, GROUP_FUTURE, "Future")                                    \
	X(FUTURE_OBJECT, 9000041, GROUP_NONE, "Future: which")                        \
	X(CONTINUATION, 9000042, GROUP_NONE, "Continuations that run")                \
	X(ZONE, 9000050, GROUP_ZONE, "Zone")                                          \
	X(ZONE_BEGIN, 9000051, GROUP_NONE, "Zone begins: depth, from 1")              \
	X(MARKER, 9000060, GROUP_MARKER, "Marker")                                    \
	X(MARKER_EXTRA, 9000061, GROUP_NONE, "Marker: extra")                         \
	X(MESSAGE, 9000070, GROUP_TEXT, "Message")                                    \
	X(FLOW, 9000080, GROUP_FLOW, "Arrow")                                         \
	X(FLOW_ID, 9000081, GROUP_NONE, "Arrow: which")                               \
	X(LOCK, 9000090, GROUP_LOCK_EVENT, "Lock")                                    \
	X(LOCK_OBJECT, 9000091, GROUP_NONE, "Lock: which")                            \
	X(LOCK_NAME, 9000092, GROUP_LOCK, "Lock: name")                               \
	X(SENT, 9000100, GROUP_NONE, "Sent: bytes, and one")                          \
	X(RECEIVED, 9000101, GROUP_NONE, "Received: bytes, and one")                  \
	X(FRAME, 9000110, GROUP_FRAME, "Frame ends")                                  \
	X(KERNEL, 9000120, GROUP_KERNEL, "Kernel's view of the thread")               \
	X(LOST, 9000130, GROUP_NONE, "Records lost")                                  \
	X(RUNNING_TASKS, 9000140, GROUP_NONE, "running tasks")                        \
	X(READY_TASKS, 9000141, GROUP_NONE, "ready tasks")                            \
	X(SUSPENDED_TASKS, 9000142, GROUP_NONE, "suspended tasks")                    \
	X(CONTINUATIONS, 9000143, GROUP_NONE, "active continuations")

enum prv_type {
#define X(id, number, group, label) PRV_##id = (number),
	PRV_TYPES(X)
#undef X
		PRV_COUNTERS = 9100000, /* and a number for each name */
	PRV_QUEUE_DEPTHS = 9200000,	/* and the worker */
};

/* tags of communications */
enum prv_tag { TAG_SPAWN = 1, TAG_WAKE, TAG_STEAL, TAG_MESSAGE, TAG_FLOW };

#define PRV_LABELS_MAX 65536U /* of a group; what is beyond has one label in common */
#define PRV_COUNTERS_MAX 65536U
#define PRV_FLOWS_MAX 262144U	/* arrows and messages under way */
#define PRV_CHANNELS_MAX 65536U /* of a process; what is beyond is not shown */

/* paraver_spool.c */
struct spool {
	int fd;
	int err;
	unsigned char *bytes; /* not yet in the file; of it, when it is read */
	size_t size, half;    /* bytes there; those of the whole records in the first half */
	uint64_t written;     /* bytes in the file */
	uint64_t records;
	bool reading;
	size_t at; /* of bytes: what is read next */
	/* what the next one is told as the difference from: time, row and CPU (place__of()) */
	struct {
		uint64_t time, place;
	} last;
};

/* a temporary file beside @path, or where those usually are */
int spool__open(struct spool *spool, const char *path);
void spool__close(struct spool *spool);
/* the place of what can be set later, which is never 0 */
uint64_t spool__add(struct spool *spool, const struct prv_record *record);
/* the end of a STATE */
void spool__set_end(struct spool *spool, uint64_t place, uint64_t end);
/* time, row and CPU of a RECEIVE */
void spool__set_arrival(struct spool *spool, uint64_t place, const struct prv_record *record);
/* writes out what is not yet; then reads from the start */
int spool__rewind(struct spool *spool);
/* next records, up to @max; their number, 0 at the end, or -errno */
int spool__read(struct spool *spool, struct prv_record *records, size_t max);

/* paraver_label.c */
struct labels {
	struct map numbers; /* of a string */
	const char **names;
	uint32_t count, size;
	/* those of the last names asked for; number 0: none yet */
	struct {
		const char *name;
		uint64_t number;
	} recent[16];
};

struct prv_row {	 /* what Paraver calls a thread */
	uint32_t number; /* in the spool */
	uint32_t worker; /* MODEL_NO_WORKER: none */
	uint32_t tid, channel;
	bool is_channel, in_use;
	const char *name;
	struct prv_process *process;
	struct prv_row *next; /* all of the process; the newest first */
	uint16_t cpu;	      /* where its thread is, and one; 0: not known */
	/* what it is at, and its state's record */
	uint32_t stays, spans[3], continuations;
	bool marker;
	int state; /* -1: none */
	uint64_t state_record;
	uint32_t thread; /* Paraver's number, from 1, once all are known */
};

struct prv_process {
	struct prv_process *next;
	const struct model_process *model;
	const char *host;
	uint32_t index, pid;
	struct prv_row *rows, **sorted; /* in the order of their numbers, once those are known */
	uint32_t row_count, channel_count;
	struct map workers, channels;
	struct prv_row *low_channels[64]; /* of these, those that most programs have */
	uint32_t counts[3];
	uint32_t cpus;	     /* seen: the highest, and one */
	uint32_t task, node; /* Paraver's numbers, from 1 */
};

struct prv_task {
	struct prv_row *row;   /* of its last stay, or NULL */
	uint64_t create, wake; /* where what was sent to it arrives; 0: nothing under way */
};

struct paraver {
	struct spool spool;
	struct trace *trace;
	int slot;
	int err;
	struct prv_process *processes, **processes_end;
	struct prv_row **rows; /* by number */
	uint32_t row_count, row_size;
	struct pool row_pool, task_pool;
	struct labels labels[GROUP_NAMES];
	struct labels counters;
	uint32_t queue_depths; /* workers with one: all below have a label */
	struct map flows;      /* records of what was sent and is under way */
	uint64_t last;	       /* time of the last record */
	uint32_t nodes;
};

uint64_t label__number(struct paraver *prv, enum prv_group group, const char *name);
uint64_t counter__type(struct paraver *prv, const char *name);
void labels__free(struct paraver *prv);
/* .pcf and .row beside @path; 0 or -errno, and the name in *@which, to be freed */
int paraver__write_labels(struct paraver *prv, const char *path, char **which);

/* paraver_task.c */
struct prv_process *prv_process__get(struct paraver *prv, struct model_process *model);
struct prv_row *prv_row__of(struct paraver *prv, struct model_thread *thread);
struct prv_row *prv_row__channel(struct paraver *prv, struct prv_process *process, uint32_t channel,
				 uint64_t time);
void prv__event(struct paraver *prv, const struct prv_row *row, uint64_t type, uint64_t value,
		uint64_t time);
/* something leaves: the place of its arrival, for prv__receive() */
uint64_t prv__send(struct paraver *prv, const struct prv_row *row, enum prv_tag tag, uint64_t bytes,
		   uint64_t time);
void prv__receive(struct paraver *prv, uint64_t sent, const struct prv_row *row, uint64_t time);
/* the state follows from what the row is at */
void prv_row__update(struct paraver *prv, struct prv_row *row, uint64_t time);
void prv_row__end(struct paraver *prv, struct prv_row *row, uint64_t time);
void paraver__add_task_ops(struct model_ops *ops);

/* paraver_event.c */
void paraver__add_event_ops(struct model_ops *ops);

#endif /* TRACER_EXPORT_PARAVER_H */
