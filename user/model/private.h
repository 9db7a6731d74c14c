/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model's insides, shared by its files only. Each object begins with what sinks see of it.
 *
 * Naming: functions of a file are prefixed with their object (task__, stay__, ...) although only
 * the model calls them; what sinks and users call is model__ and stands in model.h.
 */
#ifndef TRACER_MODEL_PRIVATE_H
#define TRACER_MODEL_PRIVATE_H

#include "model.h"
#include "../base/map.h"
#include "../base/pool.h"

/* Inversions below this along a causal edge are put right (design, section 3, Clock). */
#define MODEL_INVERSION_NS 1000U

/* A repair that may yet turn out to come from a loss: a loss is only told when it is over. */
#define REPAIRS_KEPT 4096U
struct repair {
	uint64_t time;
	enum model_anomaly kind; /* ANOMALY_KINDS: none, or no longer */
};

struct process {
	struct model_process p;
	struct task *tasks; /* newest first */
	struct thread *threads;
	struct continuation *continuations;
	struct lock *locks;
	int64_t active_continuations;
	uint32_t running, ready, suspended; /* tasks, see count_of() */
	bool counts_changed;
	struct sched_thread *sched_threads;
	uint64_t sched_since; /* from then on no change of its threads is missed */
	bool fresh;	      /* seen from its exec on: nothing was open in it before */
	/*
	 * When the first event of these categories came, UINT64_MAX: none yet. Their gates open
	 * one after the other: what began before may have begun unseen.
	 */
	uint64_t first_task, first_future, first_zone;
	bool muted;		/* inside CAPTURE_OFF */
	bool lossy;		/* loss_until counts */
	uint64_t loss_until;	/* what was last certain before this time may have changed unseen */
	struct repair *repairs; /* the last REPAIRS_KEPT, a ring; NULL: none yet */
	uint32_t repair_next;
	uint64_t left_open;	 /* zones that ended threads left open, not yet counted... */
	uint64_t left_open_time; /* ...because the process may be ending: since then */
};

struct sched_waker {
	uint32_t tid;
	const char *comm;
	bool interrupt;
};

/* sched.c: a target's thread as the kernel sees it, which may be long before and after it is a
 * thread here */
struct sched_thread {
	struct process *process;
	struct sched_thread *next, *prev;
	struct thread *thread; /* or NULL */
	uint32_t tid;
	const char *comm;
	struct model_kernel k;
	struct sched_waker early; /* woke it while it ran, if */
	bool woken_early;
};

struct sched_cpu { /* who runs there */
	bool busy;
	uint64_t left; /* when the last one that is known of left */
	uint32_t cpu, pid, tid;
	struct sched_thread *thread; /* NULL: foreign */
	const char *comm;
	int prio;
};

struct span {
	bool open, seen; /* seen: an earlier BEGIN or END on this thread */
	uint64_t begin;
	const char *name;
};

struct thread {
	struct model_thread t;
	struct thread *next, *prev; /* of the process */
	struct sched_thread *sched; /* or NULL */
	struct zone *zones;	    /* innermost open one outside tasks */
	struct span spans[3];	    /* by enum span_kind */
	/*
	 * it may be running something whose BEGIN was not seen: capture began in the middle, or a
	 * loss
	 */
	bool unseen;
	bool zones_unseen; /* likewise: its zones */
	/* identity whose stay ended last here; one more END of it may follow, or any stop if
	 * that stay was ended by force */
	uint64_t stopped;
	bool stopped_by_force;
	uint64_t base_epoch; /* counts stays without an outer one, begun and ended */
	uint32_t zone_refs;  /* open zones of tasks that began here */
	bool gone;
};

struct early_resume {
	bool kept;
	const char *cause;
	uint64_t object;
	uint64_t waker_serial;
	uint32_t waker_tid;
};

struct task {
	struct model_task t;
	struct task *next, *prev;	    /* of the process */
	struct task *done_next, *done_prev; /* COMPLETED, waiting for DESTROYED */
	struct stay *stay;		    /* not NULL: runs */
	struct zone *zones;		    /* innermost open one */
	struct continuation *continuations; /* active ones that began in it */
	struct model_gap gap;
	bool gap_open;
	struct early_resume early; /* RESUMED that came before its SUSPENDED */
	bool unresumed;		   /* the present stay followed a suspension without a RESUMED */
	bool ready_unasked;	   /* SUSPENDED, then READY without RESUMED: one may still come */
	bool stop_seen;		   /* stopped at least once, also if the BEGIN was not seen */
	bool uncertain;		   /* what it did since was not seen: any event is taken as it is */
	bool cut_running;	   /* its thread ended under it; `running_since` until then */
	bool zones_unseen;	   /* zones may be open whose begin was not seen */
	uint64_t running_since;
	uint64_t confirmed; /* time of the last event that fixed its state */
	uint64_t gap_total; /* ns not running, between its stays so far */
	uint64_t stopped_at;
};

struct stay {
	struct model_stay s;
	uint64_t serial;
};

struct zone {
	struct model_zone z;
	uint64_t gap_before; /* its task's gap_total at the begin */
};

struct continuation {
	uint64_t future, identity, key, begin;
	struct process *process;
	struct continuation *next, *prev; /* of the process */
	struct task *task;		  /* in which it began, or NULL */
	struct continuation *task_next, *task_prev;
};

/* Which thread set a future, in which stay; see future.c. */
struct future_set {
	uint64_t process, future;
	uint64_t stay; /* serial, or 0: outside tasks, then base_epoch of */
	uint64_t epoch;
	uint32_t tid;
	uint32_t age;
};

struct sink {
	const struct model_ops *ops;
	void *ctx;
};

struct model {
	struct sink sinks[MODEL_SINKS];
	int sink_count;
	/* events that wait for what may have to go before them, a ring */
	struct event *queue;
	size_t queue_size, queue_head, queue_count;
	/* how many of each type of a task's events are in it */
	uint32_t queued[EV_task_renamed - EV_task_staged + 1];
	uint64_t pushed; /* time of the newest */
	int pull_depth;
	uint64_t now;		    /* of the event being taken: what sinks are told */
	const struct event *event;  /* the same; NULL at the end */
	struct process **processes; /* by index */
	size_t process_slots;
	struct thread *last_thread; /* that one was asked for; NULL: it ended */
	struct map tasks;	    /* process, identity */
	struct map threads;	    /* process, tid */
	struct map workers;	    /* process, worker: thread */
	struct map continuations;
	struct map locks;	  /* process, object */
	struct map lock_waits;	  /* who, object */
	struct map sched_threads; /* process, tid */
	struct map sched_running; /* tid: CPU + 1 */
	uint64_t sched_first;	  /* time of the first event of scheduling; 0: none yet */
	struct sched_cpu *sched_cpus;
	size_t sched_cpu_count;
	struct pool sched_pool;
	struct pool task_pool, thread_pool, stay_pool, zone_pool, continuation_pool;
	struct task *done_oldest, *done_newest;
	size_t done_count;
	struct future_set *sets;
	uint32_t set_age;
	uint64_t serial, stay_serial, zone_serial;
	uint64_t anomalies[ANOMALY_KINDS];
	uint64_t events[256];
	int err; /* sticky */
};

#define TELL(model, op, ...)                                                             \
	do {                                                                             \
		for (int sink_ = 0; sink_ < (model)->sink_count; sink_++)                \
			if ((model)->sinks[sink_].ops->op)                               \
				(model)->sinks[sink_].ops->op((model)->sinks[sink_].ctx, \
							      __VA_ARGS__);              \
	} while (0)

/* model.c */
/* counts a repair, under AFTER_LOSS if the process lost something since @confirmed */
void model__repair(struct model *m, struct process *process, enum model_anomaly kind,
		   uint64_t confirmed);
bool model__explained(const struct process *process, uint64_t confirmed);
/* takes now the first waiting event about @identity that is one of @types, if there is one */
bool model__pull(struct model *m, uint64_t identity, uint32_t types);
bool model__next_on_thread_is(const struct model *m, enum event_type type, uint64_t identity);

/* place.c: processes and threads */
struct process *process__get(struct model *m, uint32_t index, uint32_t pid);
void process__end(struct model *m, struct process *process);
void process__mute(struct model *m, struct process *process, bool on);
void process__counts(struct model *m, struct process *process);
struct thread *thread__get(struct model *m, struct process *process, uint32_t tid);
void thread__is_worker(struct model *m, struct thread *thread, uint32_t worker);
void thread__lost(struct model *m, struct thread *thread);
void thread__exit(struct model *m, struct thread *thread);
void thread__put(struct model *m, struct thread *thread);

/* task.c: what events mean for tasks */
void task__event(struct model *m, const struct event *event, struct thread *thread);
/* EV_task_waits */
void task__waits(struct model *m, const struct event *event, struct thread *thread);
struct task *task__find(struct model *m, const struct process *process, uint64_t identity);

/* task_known.c: what a filter tells of tasks beside their events */
void task__told(struct model *m, const struct event *event, struct process *process);

/* life.c: lifetimes and states */
struct task *task__new(struct model *m, struct process *process, uint64_t identity,
		       const char *name);
void task__set_state(struct model *m, struct task *task, enum task_state state);
void task__done(struct model *m, struct task *task);
void task__gone(struct model *m, struct task *task, bool finished);
void task__unknown(struct model *m, struct task *task);

/* stay.c: stays and gaps */
void gap__begin(struct model *m, struct task *task, enum gap_kind kind);
void gap__end(struct model *m, struct task *task);
void gap__cut(struct model *m, struct task *task);
void stay__begin(struct model *m, struct task *task, struct thread *thread, uint32_t worker);
void stay__end(struct model *m, struct stay *stay, enum stay_end how);
struct stay *stay__on(const struct thread *thread, const struct task *task);

/* zone.c */
void zone__begin(struct model *m, const struct event *event, struct thread *thread);
/* @where: of the scope that ends, or NULL: the innermost */
void zone__end(struct model *m, struct thread *thread, const char *where);
/* the innermost open one of what runs on the thread */
struct zone *zone__innermost(const struct thread *thread);
/* closes all of a stack; returns how many */
uint64_t zone__close_all(struct model *m, struct zone **stack, struct thread *thread);

/* work.c: what workers do besides tasks */
void work__event(struct model *m, const struct event *event, struct thread *thread);
/* the thread is a worker since before the capture */
void worker__known(struct model *m, const struct event *event, struct process *process);
void work__close_spans(struct model *m, struct thread *thread);

/* sched.c; @process is NULL for foreign threads */
void sched__event(struct model *m, const struct event *event, struct process *process);
void sched__thread_begins(struct model *m, struct thread *thread);
void sched__split(struct model *m, struct thread *thread);
void sched__thread_ends(struct model *m, struct thread *thread);
void sched__process_ends(struct model *m, struct process *process);
void sched__mute(struct model *m, struct process *process);

/* lock.c */
void lock__event(struct model *m, const struct event *event, struct thread *thread);
void lock__process_end(struct model *m, struct process *process);
void lock__forget_all(struct model *m);

/* future.c */
void future__event(struct model *m, const struct event *event, struct thread *thread);
void future__task_end(struct model *m, struct task *task);
void future__process_end(struct model *m, struct process *process);

static inline struct task *task_of(struct model_task *task)
{
	return (struct task *)task;
}

static inline struct process *process_of(const struct model_task *task)
{
	return (struct process *)task->process;
}

static inline struct task *running_on(const struct thread *thread)
{
	return thread->t.top ? task_of(thread->t.top->task) : NULL;
}

#endif /* TRACER_MODEL_PRIVATE_H */
