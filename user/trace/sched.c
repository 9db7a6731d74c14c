// SPDX-License-Identifier: BSD-2-Clause
/* Records of the kernel's scheduling, to events: a switch is one thread's end and another's begin.
 */
#include <errno.h>
#include <string.h>
#include "sched.h"

/* the process of a target's thread into @event; 0 or -ENOMEM */
static int event__of_target(struct merge *merge, struct event *event)
{
	struct process *process = processes__at(&merge->context.processes, event->pid, event->time);

	if (!process)
		return -ENOMEM;
	event->process = process->shown.index;
	return 0;
}

static const char *comm(struct merge *merge, const char bytes[16])
{
	return strings__add(merge->context.strings, bytes, strnlen(bytes, 16));
}

static int sched__tell_lost(struct merge *merge, const struct rec_header *header, uint32_t lost)
{
	struct event event = {
		.time = header->time,
		.type = EV_sched_lost,
		.nargs = 2,
		.process = EVENT_NO_PROCESS,
		.args = {{.u = lost}, {.u = header->cpu}},
	};

	if (!lost)
		return 0;
	merge->context.totals->sched_lost += lost;
	return merge__add_sched(merge, header->cpu, &event);
}

static int switch__off(struct merge *merge, const struct rec_switch *record)
{
	struct event event = {
		.time = record->h.time,
		.type = EV_off_cpu,
		.nargs = 4,
		.process = EVENT_NO_PROCESS,
		.pid = record->prev_pid,
		.tid = record->prev_tid,
		.args = {{.u = record->h.cpu}, {.u = record->state}, {.u = record->next_tid}},
	};
	int err = 0;

	/* the idle thread is nobody */
	if (!(record->flags & REC_SWITCH_FROM) && !record->prev_tid)
		return 0;
	event.args[3].s = comm(merge, record->next_comm);
	if (record->flags & REC_SWITCH_FROM)
		err = event__of_target(merge, &event);
	else
		event.type = EV_foreign_off_cpu;
	return err ? err : merge__add_sched(merge, record->h.cpu, &event);
}

static int switch__on(struct merge *merge, const struct rec_switch *record)
{
	struct event event = {
		.time = record->h.time,
		.type = EV_on_cpu,
		.nargs = 4,
		.process = EVENT_NO_PROCESS,
		.pid = record->next_pid,
		.tid = record->next_tid,
		.args = {{.u = record->h.cpu}, {.i = record->next_prio}},
	};
	int err = 0;

	/* a foreign thread that took over from another foreign one is not followed */
	if (!record->flags || (!(record->flags & REC_SWITCH_TO) && !record->next_tid))
		return 0;
	event.args[2].s = comm(merge, record->next_comm);
	event.args[3].u = record->prev_tid;
	if (record->flags & REC_SWITCH_TO)
		err = event__of_target(merge, &event);
	else
		event.type = EV_foreign_on_cpu;
	return err ? err : merge__add_sched(merge, record->h.cpu, &event);
}

static int sched__waking(struct merge *merge, const struct rec_waking *record)
{
	struct event event = {
		.time = record->h.time,
		.type = EV_waking,
		.nargs = 4,
		.pid = record->pid,
		.tid = record->tid,
		.args = {{.u = record->waker_tid},
			 {.s = comm(merge, record->waker_comm)},
			 {.u = record->h.cpu},
			 {.u = record->flags & REC_WAKING_INTERRUPT ? 1 : 0}},
	};
	int err = event__of_target(merge, &event);

	return err ? err : merge__add_sched(merge, record->h.cpu, &event);
}

int sched__record(struct merge *merge, const struct rec_header *header)
{
	struct rec_switch change;
	struct rec_waking waking;
	int err;

	if (header->kind == REC_WAKING && header->size >= sizeof(waking)) {
		memcpy(&waking, header, sizeof(waking));
		err = sched__tell_lost(merge, header, waking.lost);
		return err ? err : sched__waking(merge, &waking);
	}
	if (header->kind != REC_SWITCH || header->size < sizeof(change)) {
		merge->context.totals->damaged++;
		return 0;
	}
	memcpy(&change, header, sizeof(change));
	err = sched__tell_lost(merge, header, change.lost);
	if (!err)
		err = switch__off(merge, &change);
	return err ? err : switch__on(merge, &change);
}
