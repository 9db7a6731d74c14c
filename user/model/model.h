/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model: from events in the order of time to what they mean. Plain C without I/O.
 *
 * A task's life (one lifetime; a box is a state, the words on the arrows are events):
 *
 *	          STAGED            CREATED              READY
 *	  (none) --------> STAGED ----------> CREATED ----------> READY <-------------------+
 *	     |                                   | BEGIN            | BEGIN                 |
 *	     | first seen in the middle          v                  v                       |
 *	     +-------------------------------> RUNNING <------------+                       |
 *	                                       |  |  |  | YIELDED ------------------------->+
 *	                  SUSPENDED            |  |  | END                                  |
 *	  SUSPENDED <--------------------------+  |  +------> STOPPED --- READY, RESUMED -->+
 *	     |  |                                 | COMPLETED    | BEGIN: RUNNING           |
 *	     |  +--- RESUMED ---------------------|------------- | ------------------------>+
 *	     +------ BEGIN: RUNNING               v
 *	                                      COMPLETED -- DESTROYED, or a new CREATED --> (gone)
 *
 * READY of a SUSPENDED task makes it READY too, by an unknown waker. RESUMED of a RUNNING task is
 * kept for its next SUSPENDED (or END): the gap is then suspended for 0 ns and ready from its
 * start.
 *
 * What cannot be is repaired in a stated way (see the table in model.c), counted by kind, and never
 * aborts. What it makes of the events it tells to its sinks, in the order of time; a sink
 * (exporter, report) keeps what it needs. Memory: live tasks, threads and names, nothing else.
 */
#ifndef TRACER_MODEL_MODEL_H
#define TRACER_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "../trace/event.h"

#define MODEL_NO_WORKER UINT32_MAX
#define MODEL_NO_CPU UINT32_MAX
/* sinks a model can have; each owns one `priv` slot of every object */
#define MODEL_SINKS 4

enum task_state {
	TASK_STAGED,
	TASK_CREATED,
	TASK_READY,
	TASK_RUNNING,
	TASK_SUSPENDED,
	TASK_STOPPED, /* not running, nobody said why */
	TASK_COMPLETED,
};

struct model_process {
	uint32_t index; /* of the trace's process */
	uint32_t pid;
	const char *name;
	const char *cmdline;
	void *priv[MODEL_SINKS];
};

struct model_thread {
	struct model_process *process;
	uint32_t tid;
	uint32_t worker;	/* MODEL_NO_WORKER if it is none, or not yet known to be one */
	const char *name;	/* of the worker, or NULL */
	struct model_stay *top; /* innermost running stay */
	uint32_t stack;		/* of the event that is being told (struct event); 0: none */
	uint64_t first_time;
	void *priv[MODEL_SINKS];
};

struct model_task {
	uint64_t serial; /* of the lifetime, unique in the capture, from 1 */
	uint64_t identity;
	struct model_process *process;
	const char *name; /* never NULL: "task" if nobody named it */
	enum task_state state;
	uint64_t parent;	/* identity, 0 none */
	uint64_t parent_serial; /* 0: none or not known */
	uint64_t born;		/* time first seen */
	bool seen_created;	/* its CREATED is in the capture */
	bool seen_staged;
	uint32_t stays;	       /* begun so far */
	uint32_t last_worker;  /* of the last stay */
	uint64_t run_ns;       /* of ended stays */
	uint64_t self_ns;      /* the same less stays of tasks run inline inside */
	uint64_t suspended_ns; /* of ended gaps */
	uint64_t ready_ns;
	uint64_t state_since;
	const char *reason; /* SUSPENDED: why, and for what */
	uint64_t object;
	const char *wake_cause; /* in INSTANT_RESUMED: as that RESUMED said */
	uint64_t wake_object;
	bool wake_late; /* likewise: called by the task itself, once it ran again */
	bool replaced;	/* in task_gone: a new lifetime of the identity takes its place */
	void *priv[MODEL_SINKS];
};

struct model_stay { /* from BEGIN to the stop */
	struct model_task *task;
	struct model_thread *thread;
	struct model_stay *outer; /* the stay this one runs inline in, or NULL */
	uint32_t worker;	  /* as BEGIN said */
	uint64_t begin;
	uint64_t inner_ns; /* time of stays nested inside */
	uint32_t number;   /* of this lifetime's stays, from 0 */
	bool migrated;	   /* on another worker than the stay before */
	void *priv[MODEL_SINKS];
};

enum stay_end { STAY_ENDED, STAY_YIELDED, STAY_SUSPENDED, STAY_COMPLETED, STAY_CUT };
enum gap_kind { GAP_READY, GAP_SUSPENDED, GAP_STOPPED };

/* a task not running, for one reason; a task has at most one open */
struct model_gap {
	enum gap_kind kind;
	uint64_t begin;
	const char *reason; /* SUSPENDED */
	uint64_t object;
	uint32_t stack; /* of the stop that it began with; 0: none was taken */
	/*
	 * READY, since CREATED: taken for granted until a READY says when it really was (then the
	 * gap ends as `superseded`, was none, and another begins).
	 */
	bool presumed, superseded;
	/*
	 * in gap_end: not ended by the task; the process, the capture or what is known of it ended
	 */
	bool cut;
	/*
	 * How it ended, valid in gap_end: by RESUMED (SUSPENDED and STOPPED gaps), else NULL and 0.
	 * The READY gap after that RESUMED has the same values from its gap_begin on.
	 */
	bool resumed;
	const char *cause;
	uint64_t cause_object;
	uint64_t waker_serial; /* lifetime of the task that called RESUMED; 0 none */
	uint32_t waker_tid;    /* thread that called RESUMED; 0 not known */
	/* RESUMED was called by the task itself (as far as can be seen), or by nobody */
	bool self_resumed;
};

enum span_kind { SPAN_SLEEP, SPAN_BACKGROUND, SPAN_BULK };

enum model_instant {
	INSTANT_STAGED,
	INSTANT_CREATED,
	INSTANT_READY,
	INSTANT_YIELDED,
	INSTANT_RESUMED,
	INSTANT_COMPLETED,
	INSTANT_DESTROYED,
	INSTANT_RENAMED,
};

struct model_zone {		     /* open on a task or, if none runs, on a thread */
	uint64_t id;		     /* unique in the capture, from 1 */
	struct model_task *task;     /* or NULL */
	struct model_thread *thread; /* where it began */
	struct model_zone *outer;
	const char *name, *function, *where;
	uint64_t begin;
	uint64_t gap_ns;   /* time its task was not running since then */
	uint64_t inner_ns; /* total of zones nested inside, without gaps */
	uint32_t depth;	   /* 0 outermost */
	bool recursive;	   /* a zone of the same call site is open outside it */
	void *priv[MODEL_SINKS];
};

enum kernel_state {
	KERNEL_UNKNOWN,
	KERNEL_RUNNING,
	KERNEL_RUNNABLE, /* has no CPU although it could run: preempted, or woken and not there yet
			  */
	KERNEL_BLOCKED,
	KERNEL_GONE,
};

/* a stretch of time in which a thread was in one state; told in parts where it starts as a worker
 * or stops */
struct model_kernel {
	enum kernel_state state; /* RUNNING, RUNNABLE or BLOCKED */
	uint64_t begin;
	uint32_t cpu;	/* where it runs or ran last; MODEL_NO_CPU not known */
	bool preempted; /* RUNNABLE: taken off the CPU by `by`; else woken by it */
	bool interrupt; /* woken by an interrupt: `by` is only who was interrupted */
	/* who took the CPU or woke it, BLOCKED: that ended it; tid 0 and a NULL name: not known */
	uint32_t by_tid;
	const char *by;			/* as the kernel calls it */
	struct model_thread *by_thread; /* if it is one of the same process; or NULL */
	/* preempted: the innermost task that ran on it; 0: none */
	uint64_t task, task_serial;
	const char *task_name;
};

/* any thread, also one that is no target's, as the kernel sees it: a change, told at once */
struct model_sched {
	struct model_process *process; /* NULL: foreign */
	struct model_thread *thread;   /* NULL: foreign, or nothing else of it is known */
	uint32_t pid, tid;
	const char *comm;	       /* or NULL */
	int prio;		       /* RUNNING: as the kernel counts */
	uint32_t cpu;		       /* where it runs or did; MODEL_NO_CPU: it is being woken */
	enum kernel_state state;       /* UNKNOWN: something was lost */
	bool uninterruptible, stopped; /* BLOCKED */
	uint64_t since;		       /* earlier than the call's time if only now known */
};

/* who holds a lock or waits for it: a task, else a thread */
struct model_lock_party {
	uint64_t serial, task; /* lifetime and identity; 0: outside tasks */
	const char *name;      /* of the task, or NULL */
	uint32_t tid;	       /* of the thread it was on; 0: nobody */
};

struct model_lock_change {
	enum event_type kind; /* EV_lock_wait, EV_lock_acquired, EV_lock_released */
	uint64_t object;
	const char *name; /* or NULL */
	/* WAIT: another holds it. ACQUIRED: its wait really was one: see the top of lock.c */
	bool contended;
	/*
	 * WAIT, ACQUIRED: who else held it (when the wait began, or first during it); RELEASED: who
	 * did until now. tid 0: nobody that is known of.
	 */
	struct model_lock_party holder;
	uint64_t wait_begin;		  /* ACQUIRED: of its WAIT; 0: none was seen */
	struct model_lock_party releaser; /* ACQUIRED: whose release let it go on, and when */
	uint64_t released;
	uint64_t held_since;	   /* RELEASED: 0 not known */
	bool recursive;		   /* ACQUIRED again, or RELEASED but still held, by the same */
	uint32_t holders, waiters; /* now */
	uint32_t stack;		   /* of calls */
};

struct model_loss {
	uint32_t tid;
	uint64_t records;
	uint64_t from, to;
	enum event_loss cause;
};

/* Repairs, each counted; the names in the comments are those of `anomalies` in the report. */
#define MODEL_ANOMALIES(X)                                                                     \
	X(BEGIN_WHILE_RUNNING, "begin_while_running",                                          \
	  "BEGIN of a task that runs: its stay is ended")                                      \
	X(STOP_WITHOUT_BEGIN, "stop_without_begin",                                            \
	  "a stop of a task that does not run: only ends a life")                              \
	X(STOP_ON_OTHER_THREAD, "stop_on_other_thread",                                        \
	  "a stop elsewhere than its BEGIN: ends the stay")                                    \
	X(STOP_NOT_INNERMOST, "stop_not_innermost", "stays nested in the stopped one are cut") \
	X(RUN_AFTER_COMPLETED, "run_after_completed", "BEGIN after COMPLETED: a new lifetime") \
	X(EVENT_WITHOUT_TASK, "event_without_task", "an event without an identity: ignored")   \
	X(CREATED_TWICE, "created_twice", "CREATED of a task that is alive: a new lifetime")   \
	X(RESUMED_NOT_SUSPENDED, "resumed_not_suspended",                                      \
	  "RESUMED that no SUSPENDED follows: dropped")                                        \
	X(ZONE_END_WITHOUT_BEGIN, "zone_end_without_begin", "ignored")                         \
	X(ZONE_LEFT_OPEN, "zone_left_open",                                                    \
	  "closed with its task, or thread if the process goes on")                            \
	X(SPAN_END_WITHOUT_BEGIN, "span_end_without_begin",                                    \
	  "end of sleep, background or bulk: ignored")                                         \
	X(SPAN_BEGIN_TWICE, "span_begin_twice", "the one before is ended")                     \
	X(CONTINUATION_END_WITHOUT_BEGIN, "continuation_end_without_begin", "ignored")         \
	X(LATE_EVENT, "late_event",                                                            \
	  "an event older than one already seen: taken at that one's time")                    \
	X(UNKNOWN_EVENT, "unknown_event", "an event of a newer version: ignored")              \
	X(AFTER_LOSS, "after_loss",                                                            \
	  "any of the above where lost records, or CAPTURE_OFF, explain it")

enum model_anomaly {
#define X(id, name, doc) ANOMALY_##id,
	MODEL_ANOMALIES(X)
#undef X
		ANOMALY_KINDS
};

/*
 * What a sink is told. Any member may be NULL. Pointers are valid during the call, and objects
 * until their last callback (task_gone, stay_end, zone_end). Times never decrease from call to
 * call. `thread` is where it happened.
 */
struct model_ops {
	void (*process)(void *ctx, struct model_process *process, uint64_t time);
	void (*process_exit)(void *ctx, struct model_process *process, uint64_t time, int status);
	/* first event of a thread; and again when it becomes, or ceases to be, a worker */
	void (*thread)(void *ctx, struct model_thread *thread, uint64_t time);
	void (*worker_start)(void *ctx, struct model_thread *thread, uint64_t time);
	void (*worker_stop)(void *ctx, struct model_thread *thread, uint64_t time);
	/* last call for the thread: it, its process or the capture ended */
	void (*thread_gone)(void *ctx, struct model_thread *thread, uint64_t time);

	void (*task_born)(void *ctx, struct model_task *task, uint64_t time);
	void (*task_instant)(void *ctx, struct model_task *task, enum model_instant kind,
			     struct model_thread *thread, uint64_t time);
	void (*stay_begin)(void *ctx, struct model_stay *stay, uint64_t time);
	/* thread->top is already what goes on running there, stay->outer still what was outside */
	void (*stay_end)(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how);
	void (*gap_begin)(void *ctx, struct model_task *task, const struct model_gap *gap,
			  uint64_t time);
	void (*gap_end)(void *ctx, struct model_task *task, const struct model_gap *gap,
			uint64_t time);
	/*
	 * Last call for this lifetime; finished: COMPLETED or DESTROYED was seen. Else `state`,
	 * `reason` and `object` are what they were before its end cut it short.
	 */
	void (*task_gone)(void *ctx, struct model_task *task, uint64_t time, bool finished);

	void (*span_begin)(void *ctx, struct model_thread *thread, enum span_kind kind,
			   const char *name, uint64_t time);
	void (*span_end)(void *ctx, struct model_thread *thread, enum span_kind kind,
			 const char *cause, uint64_t begin, uint64_t time);
	/* the span was cut: a loss, or the thread, process or capture ended; span_end comes right
	 * after */
	void (*span_cut)(void *ctx, struct model_thread *thread, enum span_kind kind,
			 uint64_t time);
	/* `stretch` of the thread ends */
	void (*kernel)(void *ctx, struct model_thread *thread, const struct model_kernel *stretch,
		       uint64_t time);
	void (*sched)(void *ctx, const struct model_sched *change, uint64_t time);
	void (*queue_depth)(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
			    uint64_t time);
	/*
	 * task may be NULL (not known); victim_depth UINT64_MAX: not known; victim thread may be
	 * NULL
	 */
	void (*steal)(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
		      uint32_t thief, uint32_t victim, struct model_task *task,
		      uint64_t victim_depth, uint64_t time);
	void (*steal_failed)(void *ctx, struct model_thread *thread, uint32_t thief,
			     uint32_t victim, uint64_t time);

	/* kind: EV_future_created, _set, _exception, _callback, _wait, EV_continuation_attached;
	 * task: the running one (for _wait: the waiting one), or NULL */
	void (*future)(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		       struct model_task *task, struct model_thread *thread, uint64_t time);
	void (*continuation_begin)(void *ctx, uint64_t future, uint64_t continuation,
				   struct model_task *task, struct model_thread *thread,
				   bool is_inline, uint64_t time);
	void (*continuation_end)(void *ctx, uint64_t future, uint64_t continuation,
				 struct model_task *task, struct model_thread *thread,
				 uint64_t begin, uint64_t time);
	void (*active_continuations)(void *ctx, struct model_process *process, int64_t count,
				     uint64_t time);

	void (*zone_begin)(void *ctx, struct model_zone *zone, uint64_t time);
	void (*zone_end)(void *ctx, struct model_zone *zone, struct model_thread *thread,
			 uint64_t time, bool left_open);
	/* told before the annotation of the same event */
	void (*lock)(void *ctx, const struct model_lock_change *change, struct model_task *task,
		     struct model_thread *thread, uint64_t time);
	/* zone_text, zone_color, zone_value, message, message_color, marker_*, channel_name,
	 * flow_*, counter, sent, received, frame, lock_*: as they came, with what runs there;
	 * task_depends, task_text, task_value: with the task they are about, or NULL */
	void (*annotation)(void *ctx, const struct event *event, struct model_task *task,
			   struct model_thread *thread, struct model_zone *zone, uint64_t time);
	/*
	 * EV_handler_created, _invoked, _left, _syscall of an Asio handler, which is the task
	 * @handler (NULL: not known), while @task, or NULL, runs on @thread
	 */
	void (*handler)(void *ctx, const struct event *event, struct model_task *handler,
			struct model_task *task, struct model_thread *thread, uint64_t time);
	/* changes of a process's tasks by state; called at most once per change */
	void (*task_counts)(void *ctx, struct model_process *process, uint32_t running,
			    uint32_t ready, uint32_t suspended, uint64_t time);
	void (*lost)(void *ctx, struct model_process *process, const struct model_loss *loss,
		     uint64_t time);
	void (*anomaly)(void *ctx, enum model_anomaly kind, const struct event *event);
	void (*end)(void *ctx, uint64_t time);
};

struct model;

/* model__new() - an empty model, or NULL if there is no memory */
struct model *model__new(void);

/*
 * model__add_sink() - tell @ops of everything from here on
 * Returns the sink's number, the index of its priv slots, or -ENOSPC.
 */
int model__add_sink(struct model *model, const struct model_ops *ops, void *ctx);

/*
 * model__event() - take one event
 * @event: in the order of time; an older one is taken at the time of the last (LATE_EVENT)
 * Events wait in the model until one that is 1 us younger comes: see the top of model.c.
 * Returns 0 or -ENOMEM.
 */
int model__event(struct model *model, const struct event *event);
/*
 * The same without a copy: model__slot() says where the next event goes, NULL if there is no memory,
 * and model__slot_filled() takes it. In between nothing else is asked of the model.
 */
struct event *model__slot(struct model *model);
int model__slot_filled(struct model *model);

/* model__end() - close what is open at @time, unfinished tasks last; then sinks' end() */
int model__end(struct model *model, uint64_t time);

/* events of a type that were taken: not those without an identity, nor those inside CAPTURE_OFF */
uint64_t model__events(const struct model *model, enum event_type type);
/* who holds the lock @object now, newest first; false: nobody, or it is no lock */
bool model__lock_holder(const struct model *model, const struct model_process *process,
			uint64_t object, struct model_lock_party *holder);
uint64_t model__anomalies(const struct model *model, enum model_anomaly kind);
const char *model__anomaly_name(enum model_anomaly kind);
void model__free(struct model *model);

#endif /* TRACER_MODEL_MODEL_H */
