/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a filter remembers of a trace: as much of its tasks, threads and markers as it takes to tell
 * them anew at any moment. Shared by filter.c and filter_state.c only.
 */
#ifndef TRACER_TRACE_FILTER_STATE_H
#define TRACER_TRACE_FILTER_STATE_H

#include "../base/map.h"
#include "filter.h"

/* events kept for telling them again, or for knowing whether their end is to be told */
struct kept {
	struct event event;
	bool told;
	uint64_t key; /* of a thing, beside its type */
	struct kept *below;
};

struct life {			  /* of a task, as in the model: one lifetime of an identity */
	struct life *next, *prev; /* of the process, in the order of birth */
	uint64_t identity, parent, object;
	const char *name, *reason;
	enum event_task_state state;
	struct place *place; /* where it runs: RUNNING is state AWAY and a place */
	struct life *outer;  /* what it runs inline in */
	struct event begin;  /* of the stay */
	struct kept *zones;
	bool wanted;	/* its name matches */
	bool told;	/* the output knows it */
	bool was_there; /* ran on a thread that is shown */
	bool early;	/* RESUMED came before its stop */
};

struct place { /* a thread */
	struct place *next;
	uint32_t tid;
	uint32_t worker;
	bool is_worker, started;
	struct event start; /* its worker_start, if `started` */
	struct kept spans[3];
	bool span_open[3];
	struct life *top; /* innermost that runs */
	struct kept *zones;
};

struct owner { /* a process */
	uint32_t index;
	bool present; /* announced, and not gone */
	bool told;
	struct event announcement;
	struct life *first, *last;
	struct place *places;
	struct kept *things; /* markers, names and colours of channels, counters: newest first */
};

struct state {
	struct owner **owners; /* by the process's index */
	size_t count;
	struct map lives;	  /* process, identity */
	struct map places;	  /* process, tid */
	struct map things;	  /* process and type, channel or name: struct kept */
	struct map continuations; /* future, continuation and process: a mark, see filter.c */
	bool no_memory;
};

/* each makes what is not there; NULL without memory */
struct owner *state__owner(struct state *state, uint32_t process);
struct place *state__place(struct state *state, const struct event *event);
struct life *state__life(struct state *state, struct owner *owner, uint64_t identity);
struct life *state__find(const struct state *state, uint32_t process, uint64_t identity);
void state__push(struct state *state, struct kept **stack, const struct event *event, bool told);
void kept__pop(struct kept **stack);
/* it runs on @place, inside of what ran there */
void life__run(struct life *life, struct place *place, const struct event *begin);
void life__stop(struct life *life);
void state__end_life(struct state *state, struct owner *owner, struct life *life);
void state__end_place(struct state *state, struct owner *owner, struct place *place);
/* all that was in the process is gone; it may go on with another program */
void state__end_owner(struct state *state, struct owner *owner);
/* what lasts until it is replaced: marker, counter, name or colour */
void state__set_thing(struct state *state, struct owner *owner, const struct event *event,
		      uint64_t key);
void state__free(struct state *state);

#endif /* TRACER_TRACE_FILTER_STATE_H */
