/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tool remembers of OpenMP's objects: as much as it takes to say who woke whom.
 *
 * An object is made only while somebody records, so a runtime's word may be NULL: everything here
 * takes NULL. A task that is met in the middle of its life gets one then, without a CREATED.
 */
#ifndef TRACER_OPENMP_LIFE_H
#define TRACER_OPENMP_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include "ompt_abi.h"

struct task;

/* of the tool, one a thread; all zero for threads that OpenMP did not announce */
struct self {
	uint64_t id_next, id_end; /* identities to give out */
	uint32_t worker;	  /* number + 1; 0: no worker */
	bool sleeping;		  /* SLEEP_BEGIN is out */
	bool forked;	  /* the first thread of a child in which OpenMP has done nothing yet */
	const char *bulk; /* open bulk work, or NULL */
};

/* what a task waits in; who ends the wait takes it off */
enum wait { WAIT_NONE, WAIT_CHILDREN, WAIT_GROUP, WAIT_BARRIER };

struct group { /* taskgroup */
	struct group *outer;
	struct task *owner;
	int32_t members; /* that have not completed */
};

struct team { /* of a parallel region */
	uint64_t id;
	uint64_t barrier; /* identity of the barrier that is next to complete */
	struct task *encountering;
	struct task *members; /* implicit tasks */
	const char *name;
	/*
	 * What the next barrier waits for: members that have not arrived, and explicit tasks.
	 * Before the size is known there is TEAM_UNKNOWN on top, so that nothing reaches 0.
	 */
	int64_t pending;
	uint32_t size;
};

struct successor {
	struct successor *next;
	struct task *task;
};

struct task {
	uint64_t id;
	struct task *parent;
	struct team *team;
	struct group *group; /* innermost around it */
	struct group *own;   /* innermost that it opened itself */
	struct task *next_member;
	struct successor *successors;
	union ompt_data
		*data; /* the runtime's word; guarded by the dependences' lock if `depends` */
	const char *wait_reason; /* in a wait: SLEEP's and SUSPENDED's reason */
	uint64_t wait_object;
	uint64_t region;	/* SUSPENDED until that parallel region ends */
	const char *outer_bulk; /* bulk work of the thread that went on hold when this one began */
	int32_t refs;
	int32_t children; /* not completed */
	int32_t predecessors;
	uint32_t waiting; /* enum wait */
	uint32_t home;	  /* worker in whose queue it was put */
	uint32_t flags;	  /* OMPT_TASK_... */
	bool began;
	bool in_switch; /* SUSPENDED by a switch to another one, no wait */
	bool completed;
	bool depends;
	bool single; /* zone "single" is open */
};

extern __thread struct self openmp_self;

uint64_t self__id(struct self *self);
void self__number(struct self *self);
static inline uint32_t self__worker(const struct self *self)
{
	return self->worker - 1; /* TRACER_NO_WORKER if it is none */
}

/* from here on forked children begin as programs of their own */
void life__watch_forks(void);

struct task *task__new(union ompt_data *data, struct task *parent, uint32_t flags);
/* the task of the runtime's word; made if somebody records and there is none */
struct task *task__of(union ompt_data *data);
void task__put(struct task *task);
/* ends the task's wait of that kind, if it is in one and nobody else has */
void task__wake(struct task *task, enum wait kind, const char *cause, uint64_t object);
/* its body is over: whoever waited for that is made ready, by this thread */
void task__release(struct task *task);
void task__dependence(union ompt_data *source, union ompt_data *sink);

struct team *team__new(struct task *encountering);
void team__join(struct team *team, struct task *task, uint32_t size);
/* one thing less that the barrier waits for; @by: the task that arrived or completed */
void team__arrive(struct team *team, struct task *by);
void team__free(struct team *team);

#endif /* TRACER_OPENMP_LIFE_H */
