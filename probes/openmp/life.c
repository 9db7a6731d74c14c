// SPDX-License-Identifier: BSD-2-Clause
/* Objects of the OMPT tool (life.h): tasks, groups, teams, and the wakes that follow from them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "life.h"

#define TEAM_UNKNOWN (1LL << 40)
#define IDS (1ULL << 20) /* identities that a thread takes at a time */

__thread struct self openmp_self __attribute__((tls_model("initial-exec")));

/* tasks with dependences pay for it, others do not */
static pthread_mutex_t dependences = PTHREAD_MUTEX_INITIALIZER;

static uint32_t workers; /* numbers given out */

uint64_t self__id(struct self *self)
{
	static uint64_t taken = IDS;

	if (self->id_next == self->id_end) {
		self->id_next = __atomic_fetch_add(&taken, IDS, __ATOMIC_RELAXED);
		self->id_end = self->id_next + IDS;
	}
	return self->id_next++;
}

void self__number(struct self *self)
{
	self->worker = __atomic_add_fetch(&workers, 1, __ATOMIC_RELAXED);
}

/* The runtime begins anew in a forked child, without telling its thread and task a second time. */
static void begin_child(void)
{
	memset(&openmp_self, 0, sizeof(openmp_self));
	openmp_self.forked = true;
	workers = 0;
	pthread_mutex_init(&dependences, NULL);
}

void life__watch_forks(void)
{
	static bool watching;

	if (!watching)
		watching = pthread_atfork(NULL, NULL, begin_child) == 0;
}

static bool recorded(void)
{
	return TRACER_ENABLED(task) || TRACER_ENABLED(worker) || TRACER_ENABLED(future);
}

struct task *task__new(union ompt_data *data, struct task *parent, uint32_t flags)
{
	struct task *task;

	if (!recorded())
		return NULL;
	task = calloc(1, sizeof(*task));
	if (!task)
		return NULL;
	task->id = self__id(&openmp_self);
	task->refs = 1;
	task->flags = flags;
	task->home = self__worker(&openmp_self);
	task->data = data;
	if (parent) {
		__atomic_fetch_add(&parent->refs, 1, __ATOMIC_RELAXED);
		task->parent = parent;
	}
	data->ptr = task;
	return task;
}

/* the first that OpenMP does in a forked child: what it would have told at a program's begin */
static void start_child(struct self *self, struct task *task)
{
	self->forked = false;
	self__number(self);
	TRACER_WORKER_START(self__worker(self), "initial thread");
	task->flags = OMPT_TASK_INITIAL;
	task->home = self__worker(self);
	TRACER_TASK_CREATED(task->id, "initial task", 0);
	TRACER_TASK_BEGIN(task->id, self__worker(self));
}

struct task *task__of(union ompt_data *data)
{
	struct task *task;

	if (!data)
		return NULL;
	if (!data->ptr && (task = task__new(data, NULL, 0)) != NULL) {
		task->began = true;
		if (openmp_self.forked)
			start_child(&openmp_self, task);
	}
	return data->ptr;
}

void task__put(struct task *task)
{
	while (task && __atomic_sub_fetch(&task->refs, 1, __ATOMIC_ACQ_REL) == 0) {
		struct task *parent = task->parent;

		free(task);
		task = parent;
	}
}

void task__wake(struct task *task, enum wait kind, const char *cause, uint64_t object)
{
	uint32_t expected = kind;

	if (__atomic_load_n(&task->waiting, __ATOMIC_RELAXED) == expected &&
	    __atomic_compare_exchange_n(&task->waiting, &expected, WAIT_NONE, false,
					__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		TRACER_TASK_RESUMED(task->id, cause, object);
}

/* --- dependences --- */

void task__dependence(union ompt_data *source, union ompt_data *sink)
{
	struct task *before, *after = sink->ptr;
	struct successor *successor;

	pthread_mutex_lock(&dependences);
	/* NULL: it completed meanwhile; the runtime waits for nothing then */
	before = source->ptr;
	if (before && after) {
		successor = malloc(sizeof(*successor));
		if (successor) {
			successor->task = after;
			successor->next = before->successors;
			before->successors = successor;
			after->predecessors++;
			__atomic_fetch_add(&after->refs, 1, __ATOMIC_RELAXED);
			TRACER_FUTURE_WAIT(before->id, after->id);
		}
	}
	pthread_mutex_unlock(&dependences);
}

static void release_successors(struct task *task)
{
	struct successor *successor, *next;

	pthread_mutex_lock(&dependences);
	successor = task->successors;
	task->successors = NULL;
	task->data->ptr = NULL;
	if (successor)
		TRACER_FUTURE_SET(task->id);
	for (; successor; successor = next) {
		next = successor->next;
		if (--successor->task->predecessors == 0) {
			successor->task->home = self__worker(&openmp_self);
			TRACER_TASK_READY(successor->task->id);
		}
		task__put(successor->task);
		free(successor);
	}
	pthread_mutex_unlock(&dependences);
}

void task__release(struct task *task)
{
	struct group *group = task->group;

	if (task->parent && __atomic_sub_fetch(&task->parent->children, 1, __ATOMIC_ACQ_REL) == 0)
		task__wake(task->parent, WAIT_CHILDREN, "last child completed", task->id);
	if (group && __atomic_sub_fetch(&group->members, 1, __ATOMIC_ACQ_REL) == 0)
		task__wake(group->owner, WAIT_GROUP, "last of the taskgroup completed", task->id);
	if (task->depends)
		release_successors(task);
	if (task->team)
		team__arrive(task->team, task);
}

/* --- teams --- */

struct team *team__new(struct task *encountering)
{
	struct team *team = recorded() ? calloc(1, sizeof(*team)) : NULL;

	if (!team)
		return NULL;
	team->id = self__id(&openmp_self);
	team->barrier = self__id(&openmp_self);
	team->encountering = encountering;
	team->pending = TEAM_UNKNOWN;
	return team;
}

void team__join(struct team *team, struct task *task, uint32_t size)
{
	struct task *first = __atomic_load_n(&team->members, __ATOMIC_RELAXED);
	uint32_t unknown = 0;

	if (__atomic_compare_exchange_n(&team->size, &unknown, size, false, __ATOMIC_ACQ_REL,
					__ATOMIC_RELAXED))
		__atomic_fetch_add(&team->pending, (int64_t)size - TEAM_UNKNOWN, __ATOMIC_ACQ_REL);
	task->team = team;
	__atomic_fetch_add(&task->refs, 1, __ATOMIC_RELAXED);
	do
		task->next_member = first;
	while (!__atomic_compare_exchange_n(&team->members, &first, task, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

void team__arrive(struct team *team, struct task *by)
{
	uint64_t barrier = team->barrier;

	if (__atomic_sub_fetch(&team->pending, 1, __ATOMIC_ACQ_REL))
		return;
	/*
	 * The barrier is complete. The runtime does not know yet, it counts after telling us; so
	 * nobody is on its way to the next one, and this thread is alone here.
	 */
	team->barrier = self__id(&openmp_self);
	__atomic_fetch_add(&team->pending, team->size, __ATOMIC_RELEASE);
	for (struct task *member = __atomic_load_n(&team->members, __ATOMIC_ACQUIRE); member;
	     member = member->next_member)
		if (member != by)
			task__wake(member, WAIT_BARRIER, "barrier complete", barrier);
}

void team__free(struct team *team)
{
	struct task *member = team->members, *next;

	for (; member; member = next) {
		next = member->next_member;
		member->team = NULL;
		task__put(member);
	}
	free(team);
}
