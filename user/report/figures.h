/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The figures while they are collected: shared by the files of the report only.
 *
 * Memory is bounded by the number of different names, call sites, workers and locks (each up to a
 * limit, what is beyond goes to one entry named "(others)"), not by the length of the capture.
 */
#ifndef TRACER_REPORT_FIGURES_H
#define TRACER_REPORT_FIGURES_H

#include <stdbool.h>
#include <stdint.h>
#include "report.h"
#include "../base/hist.h"
#include "../base/map.h"
#include "../base/pool.h"

#define FIGURES_UNFINISHED_MAX 1000U
#define FIGURES_GROUPS_MAX 65536U
#define FIGURES_LOCKS_MAX 8192U
#define FIGURES_MESSAGES_MAX 262144U /* waiting for their other end, a power of two */
#define FIGURES_OTHERS "(others)"

/*
 * One row of a table by name. What the members mean depends on the table:
 *	tasks		count lifetimes, hist run time of each; total run time
 *	suspensions	count gaps, hist lengths of those that ended; total of all
 *	wakes		count, hist ready-to-run
 *	preemptions	count, hist of times off the CPU; `function` is the task that ran
 *	zones		count, hist lengths without gaps; total of outermost ones
 */
struct group {
	char *name, *function, *file; /* NULL: none was given */
	int64_t line;		      /* -1: none */
	uint64_t count;
	uint64_t total_ns, self_ns, suspended_ns, ready_ns;
	uint32_t max_depth;
	struct hist hist;
};

struct groups {
	struct map by_key;
	struct group **list;
	size_t count, size;
	struct group *others;
};

/* what a worker can be at; COVERED is any of them */
enum activity { AT_TASK, AT_BACKGROUND, AT_SLEEP, AT_BULK, AT_ANY, ACTIVITIES };

struct worker {
	uint32_t process, index, tid;
	char *name;
	uint64_t start, life_ns;
	bool alive;
	struct {
		uint32_t open;
		uint64_t since, total;
	} at[ACTIVITIES];
	uint64_t preempted_ns; /* runnable, but off the CPU */
	uint64_t tasks, steals, stolen_from;
	int64_t max_queue_depth; /* -1: never told */
};

struct process_figures {
	uint32_t index, pid;
	char *name, *host;
};

struct steal_pair {
	uint32_t thief, victim;
	uint64_t count, depth_sum, depth_count;
};

#define FIGURES_PARTIES_MAX 16 /* names of waiters, and of holders, of one lock */

struct lock_party {    /* who waited, or made others wait */
	char *name;    /* of the task; "thread N" outside tasks */
	uint64_t task; /* identity, or 0 */
	uint32_t tid;
	uint64_t count, wait_ns;
};

struct lock_parties {
	struct lock_party all[FIGURES_PARTIES_MAX];
	uintptr_t key[FIGURES_PARTIES_MAX];
	uint32_t count;
	uint64_t other_count, other_wait_ns;
};

struct lock_figures {
	uint64_t object;
	char *name;
	uint64_t acquisitions, contended, wait_ns, contended_ns, held_ns;
	uint32_t max_waiters;
	uint64_t held_since;
	struct hist wait;
	struct lock_parties waiters, holding; /* of contended waits */
	struct {
		uint64_t wait_ns;
		struct lock_party waiter, holder; /* name NULL: not known */
	} longest;
};

#define FIGURES_STACKS_MAX 20 /* call stacks that are shown */

struct stack_figures { /* of suspensions with one call stack and one reason */
	uint32_t number;
	char *reason;
	uint64_t count, total_ns, max_ns;
	char **frames; /* of those that are shown; innermost first */
	uint32_t frame_count;
};

/* stacks.c */
struct report;
void report__suspended_at(struct report *report, uint32_t stack, const char *reason,
			  uint64_t length);
/* the longest, and their names, while the trace is there; 0 or -ENOMEM */
int report__finish_stacks(struct report *report, struct trace *trace);
void report__free_stacks(struct report *report);

/* locks.c */
void report__lock(void *ctx, const struct model_lock_change *change, struct model_task *task,
		  struct model_thread *thread, uint64_t time);
void lock_figures__free(struct lock_figures *lock);

struct number {
	bool real;
	int64_t i;
	double d;
};

struct counter_figures {
	char *name;
	uint64_t count;
	struct number min, max, last;
};

enum path_via { /* why a run on the critical path could begin */
		PATH_START,
		PATH_CREATED,
		PATH_READY,
		PATH_RESUMED,
		PATH_YIELDED,
		PATH_STOPPED,
		PATH_SUSPENDED, /* nobody is known to have woken it */
};

struct path_step {
	char *name;
	uint64_t task;
	uint64_t from, to; /* as the capture's clock has them */
	uint32_t pid;
	uint8_t via;
	bool waits; /* for that run to begin; else: the run, as far as it is on the path */
};

struct report_path {
	int slot; /* of the model's priv */
	struct pool nodes, tasks;
	uint32_t count; /* of nodes */
	bool severed;	/* there were too many: the steps are not known */
	uint64_t work_ns;
	struct path_node *last; /* the run that ended last, and when; NULL: none did */
	uint64_t end;
	/* by path__settle() */
	uint64_t start, run_ns, wait_ns;
	struct path_step *steps;
	size_t step_count;
};

struct unfinished {
	uint64_t identity, age_ns, in_state_ns, object;
	uint32_t pid;
	char *name, *reason;
	char *holder; /* of the lock that it waits for: its task, or "thread N"; or NULL */
	uint64_t holder_task;
	enum task_state state;
};

struct report {
	struct model *model;
	int sink;
	int err; /* -ENOMEM, sticky */
	uint64_t first_time, last_time;
	struct trace_totals totals;
	char *clock;
	struct process_figures *processes;
	size_t process_count;

	struct map stacks; /* number, reason */
	struct stack_figures **top_stacks;
	size_t top_stack_count;
	struct groups names, suspensions, wakes, zones, preemptions;
	uint64_t tasks_created, begun, migrations;

	struct worker **workers;
	size_t worker_count, worker_size;
	struct map workers_by_thread; /* process << 32 | tid, index */
	struct map workers_by_index;  /* process, index: the present one */

	struct map pairs;
	uint64_t steals, steals_failed;

	uint64_t continuations_inline, continuations_scheduled;
	int64_t active_continuations, max_active_continuations;

	struct map locks; /* process, lock */
	struct lock_figures *other_locks;

	struct map counters;
	struct map messages; /* id: SENT or RECEIVED seen */
	uint64_t *message_ring;
	size_t message_next;
	uint64_t messages_matched;

	struct report_path path;

	struct unfinished unfinished[FIGURES_UNFINISHED_MAX];
	size_t unfinished_kept;
	uint64_t unfinished_count;
};

/* report.c; what report__read() is made of */
int report__finish(struct report *report, const struct trace_totals *totals);
int report__add_process(struct report *report, uint32_t index, uint32_t pid, const char *name,
			const char *host);
/* strdup that takes NULL and notes want of memory */
char *report__copy(struct report *report, const char *text);

/* groups.c */
/* the row of a key: strings are interned, so pointers tell; new rows take copies */
struct group *groups__get(struct report *report, struct groups *groups, const char *name,
			  const char *function, const char *where);
void groups__sort(const struct groups *groups);
void groups__free(struct groups *groups);
void group__add(struct report *report, struct group *group, uint64_t value);

/* tasks.c, workers.c, causes.c: sinks of the model */
extern const struct model_ops report_task_ops, report_worker_ops, report_cause_ops;
void workers__finish(struct report *report, uint64_t time);

/* path.c, a sink of its own */
extern const struct model_ops report_path_ops;
void path__init(struct report_path *path);
/* what is known of the path by now */
void path__settle(struct report *report);
const char *path__via(enum path_via via);
void path__free(struct report_path *path);

struct asio_figures {
	bool any;
	uint64_t created, invoked, destroyed;
};

/* handlers of Asio, of which each is a task too */
static inline struct asio_figures asio__figures(const struct model *model)
{
	struct asio_figures figures = {
		.created = model__events(model, EV_asio_created),
		.destroyed = model__events(model, EV_asio_abandoned),
	};

	for (int type = EV_asio_invoked; type <= EV_asio_invoked_signal; type++)
		figures.invoked += model__events(model, (enum event_type)type);
	figures.any = figures.created || figures.invoked || figures.destroyed;
	return figures;
}

static inline const char *task_state__name(enum task_state state)
{
	static const char *const names[] = {"staged",	 "created", "ready",	"running",
					    "suspended", "stopped", "completed"};

	return names[state];
}

#endif /* TRACER_REPORT_FIGURES_H */
