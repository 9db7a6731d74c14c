// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtracer_ompt.so: an OMPT tool that turns what an OpenMP runtime tells into points.
 *
 *	OMP_TOOL_LIBRARIES=libtracer_ompt.so ./program
 *
 * The runtime loads it and calls it back; every callback is one or a few points here, closed while
 * nobody records. docs/runtimes/openmp.md says what is shown.
 *
 *	task	explicit tasks, the implicit task of each member of a team, the initial task
 *	worker	threads that OpenMP announces, numbered as they come
 *	sleep	the wait of a barrier, taskwait or taskgroup while its thread finds no task to run
 *	bulk	worksharing loops, sections
 */
#include <stdbool.h>
#include <stdlib.h>
#include <tracer/tracer.h>
#include "../code/code_name.h"
#include "life.h"

/* a zone that stands for the program's construct, not for a place in this file */
#define ZONE_BEGIN(name)                                                                          \
	TRACER__POINT3(tracer__in_zone, tracer__zone_begin, TRACER__NAME, name, TRACER__NAME, "", \
		       TRACER__NAME, "")

/* where the runtime's own code is; set once, before any callback */
static uintptr_t runtime_first, runtime_last;

static bool in_runtime(const void *code)
{
	return (uintptr_t)code >= runtime_first && (uintptr_t)code <= runtime_last;
}

/* --- threads --- */

static void sleep_begin(struct self *self, const char *reason)
{
	if (!self->worker || self->sleeping)
		return;
	self->sleeping = true;
	TRACER_WORKER_SLEEP_BEGIN(self__worker(self), reason);
}

static void sleep_end(struct self *self, const char *cause)
{
	if (!self->sleeping)
		return;
	self->sleeping = false;
	TRACER_WORKER_SLEEP_END(self__worker(self), cause);
}

static void bulk_set(struct self *self, const char *name)
{
	if (self->bulk)
		TRACER_WORKER_BULK_END(self__worker(self));
	self->bulk = self->worker ? name : NULL;
	if (self->bulk)
		TRACER_WORKER_BULK_BEGIN(self__worker(self), name);
}

static void on_thread_begin(int type, union ompt_data *data)
{
	struct self *self = &openmp_self;

	(void)data;
	self__number(self);
	TRACER_WORKER_START(self__worker(self), type == OMPT_THREAD_INITIAL ? "initial thread"
						: type == OMPT_THREAD_OTHER ? "OpenMP helper"
									    : "OpenMP worker");
}

static void on_thread_end(union ompt_data *data)
{
	struct self *self = &openmp_self;

	(void)data;
	sleep_end(self, "thread ends");
	bulk_set(self, NULL);
	if (self->worker)
		TRACER_WORKER_STOP(self__worker(self));
	self->worker = 0;
}

/* --- a task's stays --- */

static void begin(struct self *self, struct task *task)
{
	if (!task->began && task->flags & OMPT_TASK_EXPLICIT && self->worker &&
	    task->home != TRACER_NO_WORKER && task->home != self__worker(self))
		TRACER_STEAL(self__worker(self), task->home, task->id, TRACER_UNKNOWN);
	task->began = true;
	TRACER_TASK_BEGIN(task->id, self__worker(self));
}

static void region_ends(struct task *task)
{
	if (task->region)
		TRACER_TASK_RESUMED(task->id, "parallel region ends", task->region);
	task->region = 0;
}

static void complete(struct task *task)
{
	/* the last barrier of a nested region: its thread and the region's may tell it at once */
	if (__atomic_exchange_n(&task->completed, true, __ATOMIC_ACQ_REL))
		return;
	/* the last to arrive at that barrier was woken by nobody */
	task__wake(task, WAIT_BARRIER, "parallel region ends", task->wait_object);
	region_ends(task);
	/* a cancelled one may never have begun */
	if (task->began)
		TRACER_TASK_COMPLETED(task->id);
	TRACER_TASK_DESTROYED(task->id);
}

/* the task's thread goes on with another one: loops it was in stand still meanwhile */
static void bulk_hold(struct self *self, struct task *task)
{
	if (!self->bulk)
		return;
	task->outer_bulk = self->bulk;
	bulk_set(self, NULL);
}

static void bulk_go_on(struct self *self, struct task *task)
{
	if (!task->outer_bulk)
		return;
	bulk_set(self, task->outer_bulk);
	task->outer_bulk = NULL;
}

static void end_single(struct task *task)
{
	if (!task->single)
		return;
	task->single = false;
	TRACER_ZONE_END();
}

/* --- parallel regions --- */

static void on_parallel_begin(union ompt_data *encountering, const void *frame,
			      union ompt_data *parallel, unsigned int requested, int flags,
			      const void *code)
{
	struct self *self = &openmp_self;
	struct task *task = task__of(encountering);
	struct team *team = team__new(task);

	(void)frame;
	(void)requested;
	(void)flags;
	parallel->ptr = team;
	if (!team)
		return;
	/* a call at the end of another region's function is a jump: then the runtime returns to itself */
	team->name = code_name("parallel", in_runtime(code) ? NULL : code);
	if (!task)
		return;
	bulk_hold(self, task);
	task->region = team->id;
	TRACER_TASK_SUSPENDED(task->id, "parallel region", team->id);
}

static void on_parallel_end(union ompt_data *parallel, union ompt_data *encountering, int flags,
			    const void *code)
{
	struct self *self = &openmp_self;
	struct team *team = parallel->ptr;
	bool met_here = encountering && !encountering->ptr;
	struct task *task = task__of(encountering);

	(void)flags;
	(void)code;
	parallel->ptr = NULL;
	if (team) {
		/*
		 * Members that wait in the region's last barrier are told of its end with the next
		 * region, or never; what they did is over now.
		 */
		for (struct task *member = team->members; member; member = member->next_member)
			complete(member);
	}
	/* LLVM tells two ends of gcc's regions in teams: the second finds the task at work already */
	if (task && (task->region || met_here)) {
		region_ends(task);
		begin(self, task);
		bulk_go_on(self, task);
	}
	if (team)
		team__free(team);
}

static void implicit_begin(struct self *self, struct team *team, union ompt_data *data,
			   unsigned int size, int flags)
{
	struct task *task = task__new(data, team ? team->encountering : NULL, flags);

	if (!task)
		return;
	if (team)
		team__join(team, task, size);
	TRACER_TASK_CREATED(task->id,
			    flags & OMPT_TASK_INITIAL ? "initial task"
			    : team		      ? team->name
						      : "parallel",
			    team && team->encountering ? team->encountering->id : 0);
	begin(self, task);
}

static void on_implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *data,
			     unsigned int size, unsigned int index, int flags)
{
	struct self *self = &openmp_self;
	struct task *task = data ? data->ptr : NULL;

	(void)index;
	if (!data)
		return;
	sleep_end(self, endpoint == OMPT_SCOPE_BEGIN ? "parallel region" : "region over");
	if (endpoint == OMPT_SCOPE_BEGIN) {
		implicit_begin(self, parallel ? parallel->ptr : NULL, data, size, flags);
		return;
	}
	data->ptr = NULL;
	if (!task)
		return;
	bulk_set(self, NULL);
	/* after on_parallel_end() it has been said, and this only tells that the thread is free */
	if (!task->completed) {
		end_single(task);
		complete(task);
	}
	task__put(task);
}

/* --- explicit tasks --- */

static void on_task_create(union ompt_data *encountering, const void *frame, union ompt_data *data,
			   int flags, int dependences, const void *code)
{
	struct task *parent = task__of(encountering);
	struct task *task = task__new(data, parent, flags);
	const char *kind = "task";

	(void)frame;
	if (!task)
		return;
	if (parent) {
		__atomic_fetch_add(&parent->children, 1, __ATOMIC_RELAXED);
		task->team = parent->team;
		task->group = parent->own ? parent->own : parent->group;
	}
	if (task->team)
		__atomic_fetch_add(&task->team->pending, 1, __ATOMIC_RELAXED);
	if (task->group)
		__atomic_fetch_add(&task->group->members, 1, __ATOMIC_RELAXED);
	task->depends = dependences;
	if (!TRACER_ENABLED(task))
		return;
	if (flags & OMPT_TASK_TASKWAIT)
		kind = "taskwait";
	if (in_runtime(code)) {
		/* made by the runtime itself, which does not say for which place of the program */
		kind = "taskloop";
		code = NULL;
	}
	TRACER_TASK_CREATED(task->id, code_name(kind, code), parent ? parent->id : 0);
}

static void on_dependences(union ompt_data *data, const struct ompt_dependence *list, int count)
{
	static const char *const kinds[] = {
		[OMPT_DEPENDENCE_IN] = "in",
		[OMPT_DEPENDENCE_OUT] = "out",
		[OMPT_DEPENDENCE_INOUT] = "inout",
		[OMPT_DEPENDENCE_MUTEXINOUTSET] = "mutexinoutset",
		[OMPT_DEPENDENCE_SOURCE] = "source",
		[OMPT_DEPENDENCE_SINK] = "sink",
		[OMPT_DEPENDENCE_INOUTSET] = "inoutset",
	};
	struct task *task = data->ptr;

	for (int i = 0; task && i < count; i++) {
		unsigned int type = list[i].type;

		TRACER_TASK_DEPENDS(task->id, list[i].variable.ptr,
				    type < sizeof(kinds) / sizeof(kinds[0]) ? kinds[type] : NULL);
	}
}

static void on_task_dependence(union ompt_data *source, union ompt_data *sink)
{
	task__dependence(source, sink);
}

static void finish(struct task *task, union ompt_data *data)
{
	task__release(task);
	complete(task);
	data->ptr = NULL;
	task__put(task);
}

/* omp_fulfill_event(): the event's identity is that of its task */
static void fulfil(struct task *task, union ompt_data *data, bool late)
{
	TRACER_FUTURE_SET(task->id);
	if (!late)
		return;
	TRACER_TASK_RESUMED(task->id, "omp_fulfill_event", task->id);
	finish(task, data);
}

static void stop(struct self *self, struct task *task, union ompt_data *data, int status,
		 struct task *next)
{
	switch (status) {
	case OMPT_STATUS_COMPLETE:
	case OMPT_STATUS_CANCEL:
	case OMPT_STATUS_TASKWAIT_COMPLETE:
		finish(task, data);
		return;
	case OMPT_STATUS_DETACH:
		TRACER_TASK_SUSPENDED(task->id, "detach", task->id);
		return;
	case OMPT_STATUS_YIELD:
		bulk_hold(self, task);
		TRACER_TASK_YIELDED(task->id);
		return;
	case OMPT_STATUS_EARLY_FULFILL:
	case OMPT_STATUS_LATE_FULFILL:
		fulfil(task, data, status == OMPT_STATUS_LATE_FULFILL);
		return;
	default:
		bulk_hold(self, task);
		if (task->wait_reason)
			return; /* said when the wait began */
		task->in_switch = true;
		TRACER_TASK_SUSPENDED(task->id,
				      next && next->flags & OMPT_TASK_UNDEFERRED
					      ? "undeferred task"
					      : "task scheduling",
				      next ? next->id : 0);
	}
}

static void on_task_schedule(union ompt_data *prior, int status, union ompt_data *next_data)
{
	struct self *self = &openmp_self;
	struct task *task = task__of(prior);
	struct task *next = task__of(next_data);
	uint64_t prior_id = task ? task->id : 0;

	if (next)
		sleep_end(self, "task");
	if (task)
		stop(self, task, prior, status, next);
	if (!next)
		return;
	if (next->wait_reason) {
		/* back in its barrier or taskwait */
		bulk_go_on(self, next);
		sleep_begin(self, next->wait_reason);
		return;
	}
	if (next->in_switch) {
		next->in_switch = false;
		TRACER_TASK_RESUMED(next->id, "task completed", prior_id);
	}
	begin(self, next);
	bulk_go_on(self, next);
}

/* --- barriers, taskwait, taskgroup --- */

static const char *sync_name(int kind)
{
	switch (kind) {
	case OMPT_SYNC_TASKWAIT:
		return "taskwait";
	case OMPT_SYNC_TASKGROUP:
		return "taskgroup";
	case OMPT_SYNC_REDUCTION:
		return "reduction";
	case OMPT_SYNC_BARRIER_EXPLICIT:
		return "barrier";
	case OMPT_SYNC_BARRIER_IMPLICIT:
	case OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE:
	case OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL:
		return "implicit barrier";
	case OMPT_SYNC_BARRIER_TEAMS:
		return "teams barrier";
	default:
		return "runtime barrier";
	}
}

static bool is_barrier(int kind)
{
	return kind != OMPT_SYNC_TASKWAIT && kind != OMPT_SYNC_TASKGROUP &&
	       kind != OMPT_SYNC_REDUCTION;
}

static void wait_begin(struct self *self, struct task *task, int kind)
{
	enum wait wait = WAIT_BARRIER;
	struct team *team = NULL;

	if (task->completed || task->wait_reason)
		return;
	task->wait_reason = sync_name(kind);
	task->wait_object = 0;
	if (kind == OMPT_SYNC_TASKWAIT) {
		wait = WAIT_CHILDREN;
		task->wait_object = task->id;
	} else if (kind == OMPT_SYNC_TASKGROUP) {
		wait = WAIT_GROUP;
		task->wait_object = task->id;
	} else if (task->flags & OMPT_TASK_IMPLICIT && task->team) {
		team = task->team;
		task->wait_object = team->barrier;
	}
	bulk_hold(self, task);
	TRACER_TASK_SUSPENDED(task->id, task->wait_reason, task->wait_object);
	__atomic_store_n(&task->waiting, wait, __ATOMIC_RELEASE);
	sleep_begin(self, task->wait_reason);
	if (team)
		team__arrive(team, task);
}

/* @over: its parallel region is gone, what follows is the implicit task's end */
static void wait_end(struct self *self, struct task *task, bool over)
{
	if (!task->wait_reason)
		return;
	sleep_end(self, "released");
	if (!over) {
		uint32_t waiting = __atomic_exchange_n(&task->waiting, WAIT_NONE, __ATOMIC_ACQ_REL);

		/* nobody did it */
		if (waiting)
			TRACER_TASK_RESUMED(task->id,
					    waiting == WAIT_BARRIER ? "last to arrive"
								    : "nothing to wait for",
					    task->wait_object);
		begin(self, task);
		bulk_go_on(self, task);
	}
	task->wait_reason = NULL;
}

static void on_sync_region_wait(int kind, int endpoint, union ompt_data *parallel,
				union ompt_data *data, const void *code)
{
	struct task *task = data ? data->ptr : NULL;

	(void)code;
	if (endpoint == OMPT_SCOPE_BEGIN && data && kind != OMPT_SYNC_REDUCTION)
		task = task__of(data);
	if (!task || kind == OMPT_SYNC_REDUCTION)
		return;
	if (endpoint == OMPT_SCOPE_BEGIN)
		wait_begin(&openmp_self, task, kind);
	else
		wait_end(&openmp_self, task, is_barrier(kind) && !parallel);
}

static void group_begin(struct task *task)
{
	struct group *group = calloc(1, sizeof(*group));

	if (!group)
		return;
	group->owner = task;
	group->outer = task->own;
	task->own = group;
}

static void group_end(struct task *task)
{
	struct group *group = task->own;

	if (!group)
		return;
	task->own = group->outer;
	free(group);
}

static void on_sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data,
			   const void *code)
{
	struct task *task = data ? data->ptr : NULL;

	(void)parallel;
	(void)code;
	if (!task)
		return;
	if (kind == OMPT_SYNC_TASKGROUP) {
		if (endpoint == OMPT_SCOPE_BEGIN)
			group_begin(task);
		else
			group_end(task);
	} else if (endpoint == OMPT_SCOPE_BEGIN && is_barrier(kind)) {
		end_single(task);
	}
}

/* --- worksharing, masked, cancellation --- */

static const char *work_name(int kind)
{
	switch (kind) {
	case OMPT_WORK_LOOP:
	case OMPT_WORK_LOOP_STATIC:
	case OMPT_WORK_LOOP_DYNAMIC:
	case OMPT_WORK_LOOP_GUIDED:
	case OMPT_WORK_LOOP_OTHER:
		return "loop";
	case OMPT_WORK_SECTIONS:
		return "sections";
	case OMPT_WORK_WORKSHARE:
		return "workshare";
	case OMPT_WORK_DISTRIBUTE:
		return "distribute";
	default:
		return NULL;
	}
}

static void on_work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *data,
		    uint64_t count, const void *code)
{
	struct self *self = &openmp_self;
	struct task *task = data ? data->ptr : NULL;
	const char *name = work_name(kind);

	(void)parallel;
	(void)count;
	if (name) {
		if (endpoint != OMPT_SCOPE_BEGIN)
			bulk_set(self, NULL);
		else if (TRACER_ENABLED(worker))
			bulk_set(self, code_name(name, code));
	} else if (kind == OMPT_WORK_SINGLE_EXECUTOR && task) {
		/* gcc's programs do not tell its end: the next barrier is one */
		end_single(task);
		if (endpoint == OMPT_SCOPE_BEGIN && TRACER_ENABLED(zone)) {
			task->single = true;
			ZONE_BEGIN("single");
		}
	} else if (kind == OMPT_WORK_TASKLOOP || kind == OMPT_WORK_SCOPE) {
		if (endpoint == OMPT_SCOPE_BEGIN)
			ZONE_BEGIN(kind == OMPT_WORK_SCOPE ? "scope" : "taskloop");
		else
			TRACER_ZONE_END();
	}
}

static void on_masked(int endpoint, union ompt_data *parallel, union ompt_data *data,
		      const void *code)
{
	(void)parallel;
	(void)data;
	(void)code;
	if (endpoint == OMPT_SCOPE_BEGIN)
		ZONE_BEGIN("masked");
	else
		TRACER_ZONE_END();
}

static void on_cancel(union ompt_data *data, int flags, const void *code)
{
	(void)data;
	(void)flags;
	(void)code;
	TRACER_MESSAGE("cancel");
}

/* --- locks --- */

static bool is_try(int kind)
{
	return kind == OMPT_MUTEX_TEST_LOCK || kind == OMPT_MUTEX_TEST_NEST_LOCK;
}

static const char *mutex_name(int kind)
{
	switch (kind) {
	case OMPT_MUTEX_CRITICAL:
		return "critical";
	case OMPT_MUTEX_ATOMIC:
		return "atomic";
	case OMPT_MUTEX_ORDERED:
		return "ordered";
	case OMPT_MUTEX_NEST_LOCK:
		return "omp_nest_lock_t";
	default:
		return "omp_lock_t";
	}
}

static void on_mutex_acquire(int kind, unsigned int hint, unsigned int implementation,
			     uint64_t lock, const void *code)
{
	(void)hint;
	(void)implementation;
	(void)code;
	/* a test that fails has no end */
	if (!is_try(kind))
		TRACER_LOCK_WAIT(lock, mutex_name(kind));
}

static void on_mutex_acquired(int kind, uint64_t lock, const void *code)
{
	(void)kind;
	(void)code;
	TRACER_LOCK_ACQUIRED(lock);
}

static void on_mutex_released(int kind, uint64_t lock, const void *code)
{
	(void)kind;
	(void)code;
	TRACER_LOCK_RELEASED(lock);
}

/* --- the tool --- */

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
	static const struct {
		int number;
		ompt_function function;
	} callbacks[] = {
		{OMPT_THREAD_BEGIN, (ompt_function)on_thread_begin},
		{OMPT_THREAD_END, (ompt_function)on_thread_end},
		{OMPT_PARALLEL_BEGIN, (ompt_function)on_parallel_begin},
		{OMPT_PARALLEL_END, (ompt_function)on_parallel_end},
		{OMPT_TASK_CREATE, (ompt_function)on_task_create},
		{OMPT_TASK_SCHEDULE, (ompt_function)on_task_schedule},
		{OMPT_IMPLICIT_TASK, (ompt_function)on_implicit_task},
		{OMPT_SYNC_REGION, (ompt_function)on_sync_region},
		{OMPT_SYNC_REGION_WAIT, (ompt_function)on_sync_region_wait},
		{OMPT_DEPENDENCES, (ompt_function)on_dependences},
		{OMPT_TASK_DEPENDENCE, (ompt_function)on_task_dependence},
		{OMPT_WORK, (ompt_function)on_work},
		{OMPT_MASKED, (ompt_function)on_masked},
		{OMPT_CANCEL, (ompt_function)on_cancel},
		{OMPT_MUTEX_ACQUIRE, (ompt_function)on_mutex_acquire},
		{OMPT_MUTEX_ACQUIRED, (ompt_function)on_mutex_acquired},
		{OMPT_MUTEX_RELEASED, (ompt_function)on_mutex_released},
	};
	ompt_set_callback_function set = (ompt_set_callback_function)lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	/* a runtime refuses callbacks that it does not have: there is less to see then */
	for (unsigned int i = 0; set && i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		set(callbacks[i].number, callbacks[i].function);
	return set != NULL;
}

static void finalize(union ompt_data *tool)
{
	(void)tool;
}

/* called by the runtime when it starts; the only symbol of this library */
__attribute__((visibility("default"))) struct ompt_tool *ompt_start_tool(unsigned int version,
									 const char *runtime)
{
	static struct ompt_tool tool = {initialize, finalize, {0}};

	(void)version;
	(void)runtime;
	if (!code_extent(__builtin_return_address(0), &runtime_first, &runtime_last))
		runtime_first = UINTPTR_MAX;
	life__watch_forks();
	return &tool;
}
