/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoded event: what the trace stage gives to the model, one at a time, in the order of time. */
#ifndef TRACER_TRACE_EVENT_H
#define TRACER_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/event_type.h"

/* What the capture itself saw; not counted as records. */
enum event_seen {
	EV_process =
		256, /* args: name (s), command line (s): a process is seen for the first time */
	EV_fork,     /* args: process index of the parent; `process` is the child's */
	EV_exec,     /* the process runs another program: all its tasks and workers are gone */
	EV_thread_exit,
	EV_process_exit, /* args: wait(2) status, or -1 if not known */
	EV_lost,	 /* args: records, from, to (ns), cause (enum event_loss), on `tid` */
	/*
	 * The kernel's scheduling (bpf/sched.bpf.h). `process` and `tid` are the target's thread
	 * that leaves the CPU, gets it, or is being woken; state 0: it could go on running, was
	 * preempted.
	 */
	EV_off_cpu, /* args: cpu, state (TASK_... bits as in Linux), next tid (0: idle), its comm
		       (s) */
	EV_on_cpu,  /* args: cpu, prio, comm (s), previous tid */
	EV_waking, /* args: waker's tid, its comm (s), cpu, 1 if an interrupt did it (not the waker)
		    */
	/*
	 * The same of threads that are no target's but took over from one; `pid` and `tid` are the
	 * foreign thread's, `process` is EVENT_NO_PROCESS.
	 */
	EV_foreign_off_cpu,
	EV_foreign_on_cpu,
	EV_sched_lost, /* args: number of those events, cpu: what threads do now is not known */
	/*
	 * What a filter (filter.h) left out, in short, so that what it shows stands on something:
	 * no record of the capture, counted nowhere.
	 */
	EV_task_known, /* args: task, name (s), parent: it was alive before */
	EV_task_state, /* args: task, enum event_task_state, reason (s), object: it is like that
			  from here on */
	/* What Asio's handlers are about (asio.h), made of its records, which have their numbers
	   above. */
	EV_task_waits, /* args: task, reason (s), object: once created it waits before it can run */
	EV_handler_created, /* args: handler, "socket@0x7f00c0de.async_send" (s), places in the
			       source that led there (s, a line each, or NULL), descriptor (0:
			       none); right before its task_created */
	EV_handler_invoked, /* args: handler, error (s, "system:2", or NULL), bytes, signal or text
			       (s), enum event_handler_args */
	EV_handler_left,    /* args: handler, enum event_handler_end */
	EV_handler_syscall, /* args: handler, call (s), error (s), bytes (UINT64_MAX: none) */
	EV_handler_operation, /* args: object, "socket@0x7f00c0de.close" (s), descriptor */
	EV_pause,	      /* args: enum rec_paused, one task in so many. Of all processes */
	EV_worker_known,      /* args: worker, name (s): the thread is that worker since before the
			    capture */
	EV_end,		      /* the capture ends here; always the last event */
};

enum event_task_state {
	EVENT_TASK_STAGED,
	EVENT_TASK_READY,
	EVENT_TASK_SUSPENDED,
	EVENT_TASK_STOPPED,
	EVENT_TASK_AWAY, /* runs where it is not shown */
	EVENT_TASK_COMPLETED,
	EVENT_TASK_GONE,
};

enum event_handler_args {
	EVENT_HANDLER_NOTHING,
	EVENT_HANDLER_ERROR,
	EVENT_HANDLER_BYTES,
	EVENT_HANDLER_SIGNAL,
	EVENT_HANDLER_TEXT,
};

enum event_handler_end { EVENT_HANDLER_RETURNED, EVENT_HANDLER_THROWN, EVENT_HANDLER_ABANDONED };

enum event_loss { LOSS_RING_FULL, LOSS_TARGET_OVERRUN, LOSS_READ_FAULT, LOSS_KINDS };

#define EVENT_ARGS 4
#define EVENT_NO_PROCESS UINT32_MAX

static inline bool event_type__is_sched(unsigned int type)
{
	return type >= EV_off_cpu && type <= EV_sched_lost;
}

/* By the argument's type in events.def: id, u32, u64: u; str and lit: s; num: i, or d if `real`. */
union event_arg {
	uint64_t u;
	int64_t i;
	double d;
	const char
		*s; /* interned for the life of the trace: equal strings, equal pointers; or NULL */
};

struct event {
	uint64_t time; /* ns, CLOCK_BOOTTIME */
	uint16_t type; /* enum event_type or event_seen, or one that this build does not know */
	/* zone_end: 1 if it is of a scope, which args[0].s tells as zone_begin's `where` */
	uint8_t nargs;
	bool real;    /* the num argument is a double */
	bool derived; /* made of a record that was given out too: not one itself */
	/* index of trace__process(), a reused pid is told apart by it; or EVENT_NO_PROCESS */
	uint32_t process;
	uint32_t pid;
	uint32_t tid;
	uint32_t stack; /* of calls, for trace__stack(); 0: none was taken */
	union event_arg args[EVENT_ARGS];
};

#endif /* TRACER_TRACE_EVENT_H */
