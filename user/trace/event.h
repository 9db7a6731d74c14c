/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoded event: what the trace stage gives to the model, one at a time, in the order of time. */
#ifndef TRACER_TRACE_EVENT_H
#define TRACER_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* The points' numbers, from the one list: EV_task_begin and so on. */
enum event_type {
#define EVENT_ROW(number, name) EV_##name = (number),
#define TRACER_EVENT0(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT1(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT2(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT3(number, name, ...) EVENT_ROW(number, name)
#define TRACER_EVENT4(number, name, ...) EVENT_ROW(number, name)
#include "../../usdt/tracer/events.def"
#undef EVENT_ROW
	/* What the capture itself saw; not counted as records. */
	EV_process = 256, /* args: name (s), command line (s): a process is seen for the first time */
	EV_fork,	  /* args: process index of the parent; `process` is the child's */
	EV_exec,	  /* the process runs another program: all its tasks and workers are gone */
	EV_thread_exit,
	EV_process_exit,  /* args: wait(2) status, or -1 if not known */
	EV_lost,	  /* args: records, from, to (ns), cause (enum event_loss), on `tid` */
	EV_end,		  /* the capture ends here; always the last event */
};

enum event_loss { LOSS_RING_FULL, LOSS_TARGET_OVERRUN, LOSS_READ_FAULT, LOSS_KINDS };

#define EVENT_ARGS 4

/* By the argument's type in events.def: id, u32, u64: u; str and lit: s; num: i, or d if `real`. */
union event_arg {
	uint64_t u;
	int64_t i;
	double d;
	const char *s;	/* interned for the life of the trace: equal strings, equal pointers; or NULL */
};

struct event {
	uint64_t time;	  /* ns, CLOCK_BOOTTIME */
	uint16_t type;	  /* enum event_type, or a number that this build does not know */
	uint8_t nargs;
	bool real;	  /* the num argument is a double */
	uint32_t process; /* index of trace__process(); a reused pid or an exec... is told apart by it */
	uint32_t pid;
	uint32_t tid;
	union event_arg args[EVENT_ARGS];
};

#endif /* TRACER_TRACE_EVENT_H */
