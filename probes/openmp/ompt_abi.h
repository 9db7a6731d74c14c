/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this tool uses of OMPT, the tools interface of OpenMP 5.0 to 5.2 (specification, chapter
 * "OMPT Interface"), so that it is built without any OpenMP runtime. Numbers and signatures are the
 * specification's; tests/e2e/hooks_openmp.py compares them with an installed omp-tools.h.
 */
#ifndef TRACER_OMPT_ABI_H
#define TRACER_OMPT_ABI_H

#include <stdint.h>

union ompt_data { /* ompt_data_t: a word of the tool's in each object of the runtime */
	uint64_t value;
	void *ptr;
};

enum ompt_callback_number {
	OMPT_THREAD_BEGIN = 1,
	OMPT_THREAD_END = 2,
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_MUTEX_RELEASED = 17,
	OMPT_DEPENDENCES = 18,
	OMPT_TASK_DEPENDENCE = 19,
	OMPT_WORK = 20,
	OMPT_MASKED = 21,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
	OMPT_CANCEL = 30,
};

enum ompt_thread_type { OMPT_THREAD_INITIAL = 1, OMPT_THREAD_WORKER, OMPT_THREAD_OTHER };

enum ompt_endpoint { OMPT_SCOPE_BEGIN = 1, OMPT_SCOPE_END = 2 };

enum ompt_sync {
	OMPT_SYNC_BARRIER = 1,
	OMPT_SYNC_BARRIER_IMPLICIT = 2,
	OMPT_SYNC_BARRIER_EXPLICIT = 3,
	OMPT_SYNC_BARRIER_IMPLEMENTATION = 4,
	OMPT_SYNC_TASKWAIT = 5,
	OMPT_SYNC_TASKGROUP = 6,
	OMPT_SYNC_REDUCTION = 7,
	OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE = 8,
	OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL = 9,
	OMPT_SYNC_BARRIER_TEAMS = 10,
};

enum ompt_work {
	OMPT_WORK_LOOP = 1,
	OMPT_WORK_SECTIONS = 2,
	OMPT_WORK_SINGLE_EXECUTOR = 3,
	OMPT_WORK_SINGLE_OTHER = 4,
	OMPT_WORK_WORKSHARE = 5,
	OMPT_WORK_DISTRIBUTE = 6,
	OMPT_WORK_TASKLOOP = 7,
	OMPT_WORK_SCOPE = 8,
	OMPT_WORK_LOOP_STATIC = 10, /* 5.2 */
	OMPT_WORK_LOOP_DYNAMIC = 11,
	OMPT_WORK_LOOP_GUIDED = 12,
	OMPT_WORK_LOOP_OTHER = 13,
};

enum ompt_mutex {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_TEST_LOCK = 2,
	OMPT_MUTEX_NEST_LOCK = 3,
	OMPT_MUTEX_TEST_NEST_LOCK = 4,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7,
};

#define OMPT_TASK_INITIAL 0x00000001U
#define OMPT_TASK_IMPLICIT 0x00000002U
#define OMPT_TASK_EXPLICIT 0x00000004U
#define OMPT_TASK_TASKWAIT 0x00000010U
#define OMPT_TASK_UNDEFERRED 0x08000000U

enum ompt_status {
	OMPT_STATUS_COMPLETE = 1,
	OMPT_STATUS_YIELD = 2,
	OMPT_STATUS_CANCEL = 3,
	OMPT_STATUS_DETACH = 4,
	OMPT_STATUS_EARLY_FULFILL = 5,
	OMPT_STATUS_LATE_FULFILL = 6,
	OMPT_STATUS_SWITCH = 7,
	OMPT_STATUS_TASKWAIT_COMPLETE = 8,
};

enum ompt_dependence_type {
	OMPT_DEPENDENCE_IN = 1,
	OMPT_DEPENDENCE_OUT = 2,
	OMPT_DEPENDENCE_INOUT = 3,
	OMPT_DEPENDENCE_MUTEXINOUTSET = 4,
	OMPT_DEPENDENCE_SOURCE = 5,
	OMPT_DEPENDENCE_SINK = 6,
	OMPT_DEPENDENCE_INOUTSET = 7,
};

struct ompt_dependence { /* ompt_dependence_t */
	union ompt_data variable;
	int type; /* enum ompt_dependence_type */
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback_function)(int number, ompt_function callback);

struct ompt_tool { /* ompt_start_tool_result_t */
	int (*initialize)(ompt_lookup lookup, int initial_device, union ompt_data *tool_data);
	void (*finalize)(union ompt_data *tool_data);
	union ompt_data tool_data;
};

#endif /* TRACER_OMPT_ABI_H */
