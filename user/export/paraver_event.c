// SPDX-License-Identifier: BSD-2-Clause
/* Worker states, steals, futures, zones, markers, arrows, counters: into the spool of the Paraver
 * export. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "paraver.h"

/* Worker states */

static void span__tell(struct paraver *prv, const struct prv_row *row, enum span_kind kind,
		       const char *name, const char *cause, bool begin, uint64_t time)
{
	enum prv_group group = kind == SPAN_SLEEP ? GROUP_REASON : GROUP_WORK;

	prv__event(prv, row, kind == SPAN_SLEEP ? PRV_SLEEP : PRV_WORK,
		   begin ? label__number(prv, group, name) : 0, time);
	if (!begin && kind == SPAN_SLEEP)
		prv__event(prv, row, PRV_SLEEP_CAUSE, label__number(prv, GROUP_CAUSE, cause), time);
}

static void op__span_begin(void *ctx, struct model_thread *thread, enum span_kind kind,
			   const char *name, uint64_t time)
{
	struct prv_row *row = prv_row__of(ctx, thread);

	if (!row)
		return;
	row->spans[kind]++;
	prv_row__update(ctx, row, time);
	span__tell(ctx, row, kind, name, NULL, true, time);
}

static void op__span_end(void *ctx, struct model_thread *thread, enum span_kind kind,
			 const char *cause, uint64_t begin, uint64_t time)
{
	struct prv_row *row = prv_row__of(ctx, thread);

	(void)begin;
	if (!row)
		return;
	if (row->spans[kind])
		row->spans[kind]--;
	span__tell(ctx, row, kind, NULL, cause, false, time);
	prv_row__update(ctx, row, time);
}

static void op__steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
		      uint32_t thief, uint32_t victim, struct model_task *task,
		      uint64_t victim_depth, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *to = prv_row__of(prv, thread);
	struct prv_row *from = victim_thread ? prv_row__of(prv, victim_thread) : NULL;

	(void)thief;
	(void)task;
	if (!to)
		return;
	prv__event(prv, to, PRV_STEAL, (uint64_t)victim + 1, time);
	if (victim_depth != UINT64_MAX)
		prv__event(prv, to, PRV_VICTIM_DEPTH, victim_depth, time);
	if (from)
		prv__receive(prv, prv__send(prv, from, TAG_STEAL, 0, time), to, time);
}

static void op__steal_failed(void *ctx, struct model_thread *thread, uint32_t thief,
			     uint32_t victim, uint64_t time)
{
	struct prv_row *row = prv_row__of(ctx, thread);

	(void)thief;
	if (row)
		prv__event(ctx, row, PRV_STEAL_FAILED, (uint64_t)victim + 1, time);
}

/* Figures of a process stand in its first row, which is the one it got first. */
static struct prv_row *process__row(struct prv_process *process)
{
	struct prv_row *row = process ? process->rows : NULL;

	while (row && row->next)
		row = row->next;
	return row;
}

static void op__queue_depth(void *ctx, struct model_thread *thread, uint32_t worker, uint64_t depth,
			    uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *row = prv_row__of(prv, thread);

	if (!row || worker >= PRV_COUNTERS_MAX)
		return;
	if (worker >= prv->queue_depths)
		prv->queue_depths = worker + 1;
	prv__event(prv, row, PRV_QUEUE_DEPTHS + worker, depth, time);
}

static void op__task_counts(void *ctx, struct model_process *model, uint32_t running,
			    uint32_t ready, uint32_t suspended, uint64_t time)
{
	static const uint32_t types[] = {PRV_RUNNING_TASKS, PRV_READY_TASKS, PRV_SUSPENDED_TASKS};
	const uint32_t counts[] = {running, ready, suspended};
	struct prv_process *process = prv_process__get(ctx, model);
	struct prv_row *row = process__row(process);

	for (int i = 0; row && i < 3; i++) {
		if (process->counts[i] == counts[i])
			continue;
		process->counts[i] = counts[i];
		prv__event(ctx, row, types[i], counts[i], time);
	}
}

static void op__active_continuations(void *ctx, struct model_process *model, int64_t count,
				     uint64_t time)
{
	struct prv_row *row = process__row(prv_process__get(ctx, model));

	if (row)
		prv__event(ctx, row, PRV_CONTINUATIONS, (uint64_t)count, time);
}

/* Futures */

static void op__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		       struct model_task *task, struct model_thread *thread, uint64_t time)
{
	struct prv_row *row = prv_row__of(ctx, thread);
	uint64_t value = kind == EV_future_created	    ? 1
			 : kind == EV_future_wait	    ? 2
			 : kind == EV_future_set	    ? 3
			 : kind == EV_future_exception	    ? 4
			 : kind == EV_future_callback	    ? 5
			 : kind == EV_continuation_attached ? 6
							    : 0;

	(void)continuation;
	(void)task;
	if (!row || !value)
		return;
	prv__event(ctx, row, PRV_FUTURE, value, time);
	prv__event(ctx, row, PRV_FUTURE_OBJECT, object, time);
}

static void continuation__tell(struct paraver *prv, struct model_thread *thread, int by,
			       uint64_t time)
{
	struct prv_row *row = prv_row__of(prv, thread);

	if (!row || (by < 0 && !row->continuations))
		return;
	row->continuations += (uint32_t)by;
	prv__event(prv, row, PRV_CONTINUATION, row->continuations, time);
}

static void op__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
				   struct model_task *task, struct model_thread *thread,
				   bool is_inline, uint64_t time)
{
	(void)future;
	(void)continuation;
	(void)task;
	(void)is_inline;
	continuation__tell(ctx, thread, 1, time);
}

static void op__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
				 struct model_task *task, struct model_thread *thread,
				 uint64_t begin, uint64_t time)
{
	(void)future;
	(void)continuation;
	(void)task;
	(void)begin;
	continuation__tell(ctx, thread, -1, time);
}

/* Zones */

static const char *zone__name(const struct model_zone *zone)
{
	return zone->name ? zone->name : zone->function;
}

static void op__zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	struct prv_row *row = prv_row__of(ctx, zone->thread);

	if (!row)
		return;
	prv__event(ctx, row, PRV_ZONE, label__number(ctx, GROUP_ZONE, zone__name(zone)), time);
	prv__event(ctx, row, PRV_ZONE_BEGIN, (uint64_t)zone->depth + 1, time);
}

/* where it ends, which is another worker's row if its task moved */
static void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			 uint64_t time, bool left_open)
{
	struct prv_row *row = prv_row__of(ctx, thread ? thread : zone->thread);

	(void)left_open;
	if (row)
		prv__event(ctx, row, PRV_ZONE,
			   zone->outer ? label__number(ctx, GROUP_ZONE, zone__name(zone->outer))
				       : 0,
			   time);
}

/* Markers */

static void marker__tell(struct paraver *prv, struct model_thread *thread,
			 const struct event *event, uint64_t time)
{
	struct prv_process *process = prv_process__get(prv, thread->process);
	bool set = event->type == EV_marker_set;
	struct prv_row *row;

	if (!process || event->type == EV_marker_color)
		return;
	row = prv_row__channel(prv, process, (uint32_t)event->args[0].u, time);
	if (!row)
		return;
	if (event->type == EV_channel_name) {
		row->name = event->args[1].s;
		return;
	}
	/* one marker after another is one state: that they differ is what the event says */
	row->marker = set;
	prv_row__update(prv, row, time);
	prv__event(prv, row, PRV_MARKER,
		   set ? label__number(prv, GROUP_MARKER, event->args[1].s) : 0, time);
	if (set)
		prv__event(prv, row, PRV_MARKER_EXTRA, event->args[2].u, time);
}

/* Arrows of the program, and messages */

enum { KEY_SHARED = 1, KEY_MARKER, KEY_MESSAGE, KEY_OWN };

static void arrow__start(struct paraver *prv, const struct prv_row *row, enum prv_tag tag,
			 uint64_t key, uint64_t id, uint64_t bytes, uint64_t time)
{
	uint64_t sent = prv__send(prv, row, tag, bytes, time);

	if (prv->flows.count < PRV_FLOWS_MAX &&
	    map__put(&prv->flows, key, id, (void *)(uintptr_t)sent))
		prv->err = -ENOMEM;
}

static void arrow__end(struct paraver *prv, const struct prv_row *row, uint64_t key, uint64_t id,
		       uint64_t time)
{
	uint64_t sent = (uintptr_t)map__remove(&prv->flows, key, id);

	prv__receive(prv, sent, row, time);
}

static void flow__tell(struct paraver *prv, struct model_thread *thread, const struct event *event,
		       uint64_t time)
{
	bool marker = event->type == EV_marker_flow_start || event->type == EV_marker_flow_end;
	bool shared = event->type == EV_flow_shared_start || event->type == EV_flow_shared_end;
	bool start = event->type == EV_flow_start || event->type == EV_flow_shared_start ||
		     event->type == EV_marker_flow_start;
	bool step = event->type == EV_flow_step;
	struct prv_process *process = prv_process__get(prv, thread->process);
	uint64_t id = event->args[marker].u, key;
	struct prv_row *row;

	if (!process)
		return;
	key = marker ? KEY_MARKER : shared ? KEY_SHARED : KEY_OWN + process->index;
	row = marker ? prv_row__channel(prv, process, (uint32_t)event->args[0].u, time)
		     : prv_row__of(prv, thread);
	if (!row)
		return;
	prv__event(prv, row, PRV_FLOW, start ? 1 : step ? 2 : 3, time);
	prv__event(prv, row, PRV_FLOW_ID, id, time);
	/* an arrow with a step in it is two */
	if (!start)
		arrow__end(prv, row, key, id, time);
	if (start || step)
		arrow__start(prv, row, TAG_FLOW, key, id, 0, time);
}

static void message__pass(struct paraver *prv, const struct prv_row *row, const struct event *event,
			  uint64_t time)
{
	uint64_t bytes = event->args[2].u;
	bool sent = event->type == EV_sent;

	prv__event(prv, row, sent ? PRV_SENT : PRV_RECEIVED, bytes + 1, time);
	if (sent)
		arrow__start(prv, row, TAG_MESSAGE, KEY_MESSAGE, event->args[0].u, bytes, time);
	else
		arrow__end(prv, row, KEY_MESSAGE, event->args[0].u, time);
}

/* What else a program tells */

static void lock__tell(struct paraver *prv, const struct prv_row *row, const struct event *event,
		       uint64_t time)
{
	prv__event(prv, row, PRV_LOCK, (uint64_t)(event->type - EV_lock_wait) + 1, time);
	prv__event(prv, row, PRV_LOCK_OBJECT, event->args[0].u, time);
	if (event->type == EV_lock_wait)
		prv__event(prv, row, PRV_LOCK_NAME,
			   label__number(prv, GROUP_LOCK, event->args[1].s), time);
}

/* values are integers: doubles are rounded, and what is no number is no event */
static void counter__tell(struct paraver *prv, const struct prv_row *row, const struct event *event,
			  uint64_t time)
{
	double real = event->args[1].d;
	int64_t value = event->args[1].i;

	if (event->real) {
		if (!(fabs(real) < 9.2e18))
			return;
		value = llround(real);
	}
	prv__event(prv, row, counter__type(prv, event->args[0].s), (uint64_t)value, time);
}

static void op__annotation(void *ctx, const struct event *event, struct model_task *task,
			   struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct paraver *prv = ctx;
	struct prv_row *row = thread ? prv_row__of(prv, thread) : NULL;

	(void)task;
	(void)zone;
	if (!row)
		return;
	switch (event->type) {
	case EV_message:
	case EV_message_color:
		prv__event(prv, row, PRV_MESSAGE, label__number(prv, GROUP_TEXT, event->args[0].s),
			   time);
		break;
	case EV_marker_set:
	case EV_marker_reset:
	case EV_channel_name:
	case EV_marker_color:
		marker__tell(prv, thread, event, time);
		break;
	case EV_flow_start:
	case EV_flow_step:
	case EV_flow_end:
	case EV_flow_shared_start:
	case EV_flow_shared_end:
	case EV_marker_flow_start:
	case EV_marker_flow_end:
		flow__tell(prv, thread, event, time);
		break;
	case EV_lock_wait:
	case EV_lock_acquired:
	case EV_lock_released:
		lock__tell(prv, row, event, time);
		break;
	case EV_sent:
	case EV_received:
		message__pass(prv, row, event, time);
		break;
	case EV_counter:
		counter__tell(prv, row, event, time);
		break;
	case EV_frame:
		prv__event(prv, row, PRV_FRAME, label__number(prv, GROUP_FRAME, event->args[0].s),
			   time);
		break;
	default: /* texts, values and colours of zones have no place */
		break;
	}
}

static void op__lost(void *ctx, struct model_process *model, const struct model_loss *loss,
		     uint64_t time)
{
	struct prv_row *row = process__row(model ? prv_process__get(ctx, model) : NULL);

	if (row)
		prv__event(ctx, row, PRV_LOST, loss->records, time);
}

void paraver__add_event_ops(struct model_ops *ops)
{
	ops->span_begin = op__span_begin;
	ops->span_end = op__span_end;
	ops->steal = op__steal;
	ops->steal_failed = op__steal_failed;
	ops->queue_depth = op__queue_depth;
	ops->task_counts = op__task_counts;
	ops->active_continuations = op__active_continuations;
	ops->future = op__future;
	ops->continuation_begin = op__continuation_begin;
	ops->continuation_end = op__continuation_end;
	ops->zone_begin = op__zone_begin;
	ops->zone_end = op__zone_end;
	ops->annotation = op__annotation;
	ops->lost = op__lost;
}
