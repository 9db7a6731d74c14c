// SPDX-License-Identifier: BSD-2-Clause
/* Worker states, steals, futures, zones, markers, arrows, counters in the Chrome trace. */
#include <errno.h>
#include <stdio.h>
#include "chrome.h"

/* Worker states */

static void op__span_end(void *ctx, struct model_thread *model, enum span_kind kind,
			 const char *cause, uint64_t begin, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_thread *thread = model->priv[ch->slot];
	struct chrome_slice *slice = thread ? thread->spans[kind] : NULL;

	(void)begin;
	if (!slice)
		return;
	thread->spans[kind] = NULL;
	slice->cause = cause;
	chrome_row__remove(ch, slice, NULL, time);
}

static void op__span_begin(void *ctx, struct model_thread *model, enum span_kind kind,
			   const char *name, uint64_t time)
{
	static const char *const categories[] = {[SPAN_SLEEP] = "worker.sleep",
						 [SPAN_BACKGROUND] = "worker.background",
						 [SPAN_BULK] = "worker.bulk"};
	static const char *const unnamed[] = {
		[SPAN_SLEEP] = "sleep", [SPAN_BACKGROUND] = "background", [SPAN_BULK] = "bulk"};
	struct chrome *ch = ctx;
	struct chrome_thread *thread = chrome_thread__get(ch, model);
	bool named = name && *name;
	struct chrome_slice *slice;

	if (!thread)
		return;
	if (thread->spans[kind])
		op__span_end(ch, model, kind, NULL, 0, time);
	slice = chrome_slice__new(ch, SLICE_SPAN, categories[kind],
				  named && kind == SPAN_SLEEP ? "sleep: " : NULL,
				  named ? name : unnamed[kind]);
	if (!slice)
		return;
	slice->function = kind == SPAN_SLEEP ? name : NULL;
	thread->spans[kind] = slice;
	chrome_row__push(ch, &thread->row, slice, time);
}

static void op__span_cut(void *ctx, struct model_thread *model, enum span_kind kind, uint64_t time)
{
	struct chrome_thread *thread = model->priv[((struct chrome *)ctx)->slot];

	(void)time;
	if (thread && thread->spans[kind])
		thread->spans[kind]->cut = true;
}

static void worker__instant(struct chrome *ch, struct model_thread *model, const char *category,
			    uint64_t time)
{
	struct chrome_thread *thread = chrome_thread__get(ch, model);

	if (!thread)
		return;
	chrome__instant(ch, &thread->row, category, time);
	if (model->worker != MODEL_NO_WORKER)
		chrome_arg__uint(ch, "worker", model->worker);
	chrome_event__finish(ch);
}

static void op__worker_start(void *ctx, struct model_thread *model, uint64_t time)
{
	worker__instant(ctx, model, "worker.start", time);
}

static void op__worker_stop(void *ctx, struct model_thread *model, uint64_t time)
{
	worker__instant(ctx, model, "worker.stop", time);
}

static void op__queue_depth(void *ctx, struct model_thread *model, uint32_t worker, uint64_t depth,
			    uint64_t time)
{
	struct chrome_process *process = chrome_process__get(ctx, model->process);
	struct emit number;
	char name[40] = "queue depth ";

	/* for each push and each pop of the runtime: no printf */
	number.at = name + strlen(name);
	emit__u64(&number, worker);
	*number.at = '\0';
	if (process)
		chrome__counter(ctx, process, name, NULL, (int64_t)depth, time);
}

static void steal__args(struct chrome *ch, uint32_t thief, uint32_t victim)
{
	chrome_arg__uint(ch, "thief", thief);
	chrome_arg__uint(ch, "victim", victim);
}

static void op__steal(void *ctx, struct model_thread *thief_thread,
		      struct model_thread *victim_thread, uint32_t thief, uint32_t victim,
		      struct model_task *task, uint64_t victim_depth, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_thread *to = chrome_thread__get(ch, thief_thread);
	struct chrome_thread *from = victim_thread ? chrome_thread__get(ch, victim_thread) : NULL;
	uint64_t arrow = ++ch->flows_made;

	if (!to)
		return;
	if (from) {
		chrome__instant(ch, &from->row, "stolen", time);
		steal__args(ch, thief, victim);
		chrome_event__finish(ch);
		chrome__flow(ch, 's', "steal", arrow, &from->row, time);
	}
	chrome__instant(ch, &to->row, "steal", time);
	steal__args(ch, thief, victim);
	if (task)
		chrome_arg__hex(ch, "task", task->identity);
	if (victim_depth != UINT64_MAX)
		chrome_arg__uint(ch, "victim_depth", victim_depth);
	chrome_event__finish(ch);
	if (from)
		chrome__flow(ch, 'f', "steal", arrow, &to->row, time);
}

static void op__steal_failed(void *ctx, struct model_thread *model, uint32_t thief, uint32_t victim,
			     uint64_t time)
{
	struct chrome_thread *thread = chrome_thread__get(ctx, model);

	if (!thread)
		return;
	chrome__instant(ctx, &thread->row, "steal.failed", time);
	steal__args(ctx, thief, victim);
	chrome_event__finish(ctx);
}

static void op__task_counts(void *ctx, struct model_process *model, uint32_t running,
			    uint32_t ready, uint32_t suspended, uint64_t time)
{
	static const char *const names[] = {"running tasks", "ready tasks", "suspended tasks"};
	const uint32_t counts[] = {running, ready, suspended};
	struct chrome_process *process = chrome_process__get(ctx, model);

	for (int i = 0; process && i < 3; i++) {
		if (process->counts[i] == counts[i])
			continue;
		process->counts[i] = counts[i];
		chrome__counter(ctx, process, names[i], NULL, counts[i], time);
	}
}

static void op__active_continuations(void *ctx, struct model_process *model, int64_t count,
				     uint64_t time)
{
	struct chrome_process *process = chrome_process__get(ctx, model);

	if (process)
		chrome__counter(ctx, process, "active continuations", NULL, count, time);
}

/* Futures */

static void op__future(void *ctx, enum event_type kind, uint64_t object, uint64_t continuation,
		       struct model_task *task, struct model_thread *thread, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_row *row = chrome__host(ch, thread, task);
	const char *category = kind == EV_future_created	  ? "future.created"
			       : kind == EV_future_wait		  ? "future.wait"
			       : kind == EV_future_set		  ? "future.set"
			       : kind == EV_future_exception	  ? "future.exception"
			       : kind == EV_future_callback	  ? "future.callback"
			       : kind == EV_continuation_attached ? "continuation.attached"
								  : NULL;

	if (!row || !category)
		return;
	chrome__instant(ch, row, category, time);
	chrome_arg__hex(ch, "object", object);
	if (kind == EV_continuation_attached)
		chrome_arg__hex(ch, "continuation", continuation);
	if (kind == EV_future_wait && task)
		chrome_arg__hex(ch, "task", task->identity);
	chrome_event__finish(ch);
}

static void op__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
				   struct model_task *task, struct model_thread *thread,
				   bool is_inline, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_row *row = chrome__host(ch, thread, task);
	struct chrome_slice *slice = row ? chrome_slice__new(ch, SLICE_CONTINUATION, "continuation",
							     NULL, "continuation")
					 : NULL;

	if (!slice)
		return;
	slice->owner = task ? task->priv[ch->slot] : NULL;
	slice->key = continuation;
	slice->object = future;
	slice->is_inline = is_inline;
	chrome_row__push(ch, row, slice, time);
}

static struct chrome_slice *continuation__find(struct chrome_slice *from, uint64_t future,
					       uint64_t continuation)
{
	while (from && (from->kind != SLICE_CONTINUATION || from->key != continuation ||
			from->object != future))
		from = from->below;
	return from;
}

static void op__continuation_end(void *ctx, uint64_t future, uint64_t continuation,
				 struct model_task *task, struct model_thread *thread,
				 uint64_t begin, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_task *drawn = task ? task->priv[ch->slot] : NULL;
	struct chrome_row *row = chrome__host(ch, thread, task);
	struct chrome_slice *slice =
		row ? continuation__find(row->top, future, continuation) : NULL;

	(void)begin;
	if (slice) {
		chrome_row__remove(ch, slice, NULL, time);
		return;
	}
	/* its task does not run: the last part has ended with the run */
	slice = drawn ? continuation__find(drawn->parked, future, continuation) : NULL;
	if (slice) {
		chrome_row__unlink_parked(drawn, slice);
		chrome_slice__free(ch, slice);
	}
}

/* Zones */

static void op__zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_row *row = chrome__host(ch, zone->thread, zone->task);
	const char *name = zone->name ? zone->name : zone->function;
	struct chrome_slice *slice =
		row ? chrome_slice__new(ch, SLICE_ZONE, "zone", NULL, name ? name : "zone") : NULL;

	if (!slice)
		return;
	slice->owner = zone->task ? zone->task->priv[ch->slot] : NULL;
	slice->key = zone->id;
	slice->function = zone->function;
	slice->where = zone->where;
	zone->priv[ch->slot] = slice;
	chrome_row__push(ch, row, slice, time);
}

static void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			 uint64_t time, bool left_open)
{
	struct chrome *ch = ctx;
	struct chrome_slice *slice = zone->priv[ch->slot];

	(void)thread;
	if (!slice)
		return;
	zone->priv[ch->slot] = NULL;
	slice->cut = left_open;
	if (slice->row) {
		chrome_row__remove(ch, slice, NULL, time);
		return;
	}
	if (slice->owner)
		chrome_row__unlink_parked(slice->owner, slice);
	chrome_slice__free(ch, slice);
}

static void zone__note(struct chrome *ch, const struct event *event, const struct model_zone *zone)
{
	struct chrome_slice *slice = zone ? zone->priv[ch->slot] : NULL;
	struct chrome_note *note;

	if (!slice)
		return;
	if (event->type == EV_zone_color) {
		slice->has_color = true;
		slice->color = (uint32_t)event->args[0].u;
		return;
	}
	if (slice->note_count >= CHROME_NOTES_MAX)
		return;
	note = pool__take(&ch->notes);
	if (!note) {
		ch->err = -ENOMEM;
		return;
	}
	if (event->type == EV_zone_value) {
		note->name = event->args[0].s ? event->args[0].s : "value";
		note->kind = event->real ? CHROME_NOTE_REAL : CHROME_NOTE_INT;
		note->value = event->args[1];
	} else {
		note->name = "text";
		note->kind = CHROME_NOTE_TEXT;
		note->value = event->args[0];
	}
	slice->note_count++;
	*slice->notes_end = note;
	slice->notes_end = &note->next;
}

/* Markers and frames: rows of their own, with one slice open at a time */

static struct chrome_row *thing__get(struct chrome *ch, struct chrome_process *process,
				     uint64_t kind, uint64_t id, const char *name)
{
	/* kind in the upper half keeps channels and frames apart */
	uint64_t key = kind << 32 | process->index;
	struct chrome_row *row = map__get(&ch->things, key, id);
	uint32_t tid = TID_CHANNELS + (uint32_t)(id % (TID_FRAMES - TID_CHANNELS));
	char text[96];

	if (!row) {
		if (ch->things.count >= CHROME_THINGS_MAX) {
			ch->without_row++;
			return NULL;
		}
		row = pool__take(&ch->rows);
		if (!row || map__put(&ch->things, key, id, row)) {
			ch->err = -ENOMEM;
			return NULL;
		}
		if (kind == TID_FRAMES)
			tid = TID_FRAMES + ch->frames++;
		snprintf(text, sizeof(text), kind == TID_FRAMES ? "frames" : "channel %llu",
			 (unsigned long long)id);
		chrome_row__init(ch, row, process->pid, tid, name && *name ? name : text, tid);
	} else if (kind == TID_CHANNELS && name && *name) {
		chrome_row__init(ch, row, process->pid, tid, name, tid);
	}
	return row;
}

static void thing__end(struct chrome *ch, struct chrome_row *row, uint64_t time)
{
	if (row->top)
		chrome_row__remove(ch, row->top, NULL, time);
}

static void thing__begin(struct chrome *ch, struct chrome_row *row, const char *category,
			 const char *name, uint64_t extra, uint64_t time)
{
	struct chrome_slice *slice;

	thing__end(ch, row, time);
	slice = chrome_slice__new(ch, SLICE_LANE, category, NULL, name && *name ? name : category);
	if (!slice)
		return;
	slice->object = extra;
	slice->has_color = name && *name && !strcmp(category, "marker");
	if (slice->has_color)
		slice->color = palette__get(&ch->colors, name, NULL);
	chrome_row__push(ch, row, slice, time);
}

static void marker__draw(struct chrome *ch, const struct event *event,
			 struct chrome_process *process, uint64_t time)
{
	const union event_arg *args = event->args;
	struct chrome_row *row;

	if (event->type == EV_marker_color) {
		if (args[0].s && palette__set(&ch->colors, args[0].s, (uint32_t)args[1].u))
			ch->err = -ENOMEM;
		return;
	}
	row = thing__get(ch, process, TID_CHANNELS, args[0].u,
			 event->type == EV_channel_name ? args[1].s : NULL);
	if (!row)
		return;
	if (event->type == EV_marker_set)
		thing__begin(ch, row, "marker", args[1].s, args[2].u, time);
	else if (event->type == EV_marker_reset)
		thing__end(ch, row, time);
}

void chrome__close_things(struct chrome *ch, uint64_t time)
{
	for (struct map_entry *e = NULL; (e = map__next(&ch->things, e));)
		chrome_row__close(ch, e->value, time);
}

/* Arrows of the program, and messages */

static void arrow__start(struct chrome *ch, const char *category, uint64_t key, uint64_t id,
			 const struct chrome_row *row, uint64_t time)
{
	if (ch->flows.count < CHROME_FLOWS_MAX && map__put(&ch->flows, key, id, ch))
		ch->err = -ENOMEM;
	chrome__flow(ch, 's', category, id ^ key << 40, row, time);
}

/* an end, or a step, whose start is not in this file is none to a reader: its instant is all there
 * is */
static void arrow__go_on(struct chrome *ch, const char *category, char ph, uint64_t key,
			 uint64_t id, const struct chrome_row *row, uint64_t time)
{
	if (ph == 'f' ? map__remove(&ch->flows, key, id) : map__get(&ch->flows, key, id))
		chrome__flow(ch, ph, category, id ^ key << 40, row, time);
}

enum { KEY_SHARED = 1, KEY_MARKER, KEY_MESSAGE, KEY_OWN };

static void flow__draw(struct chrome *ch, const struct event *event, struct chrome_process *process,
		       struct chrome_row *row, uint64_t time)
{
	bool on_marker = event->type == EV_marker_flow_start || event->type == EV_marker_flow_end;
	bool shared = event->type == EV_flow_shared_start || event->type == EV_flow_shared_end;
	bool start = event->type == EV_flow_start || event->type == EV_flow_shared_start ||
		     event->type == EV_marker_flow_start;
	bool step = event->type == EV_flow_step;
	uint64_t id = event->args[on_marker].u;
	uint64_t key = on_marker ? KEY_MARKER : shared ? KEY_SHARED : KEY_OWN + process->index;
	const char *category = start ? "flow.start" : step ? "flow.step" : "flow.end";

	if (on_marker)
		row = thing__get(ch, process, TID_CHANNELS, event->args[0].u, NULL);
	if (!row)
		return;
	chrome__instant(ch, row, category, time);
	chrome_arg__hex(ch, "id", id);
	chrome_event__finish(ch);
	if (start)
		arrow__start(ch, "flow", key, id, row, time);
	else
		arrow__go_on(ch, "flow", step ? 't' : 'f', key, id, row, time);
}

static void message__pass(struct chrome *ch, const struct event *event,
			  const struct chrome_row *row, uint64_t time)
{
	bool sent = event->type == EV_sent;
	uint64_t id = event->args[0].u;

	chrome__instant(ch, row, sent ? "sent" : "received", time);
	chrome_arg__hex(ch, "id", id);
	chrome_arg__hex(ch, sent ? "destination" : "source", event->args[1].u);
	chrome_arg__uint(ch, "bytes", event->args[2].u);
	chrome_event__finish(ch);
	if (sent)
		arrow__start(ch, "message", KEY_MESSAGE, id, row, time);
	else
		arrow__go_on(ch, "message", 'f', KEY_MESSAGE, id, row, time);
}

static void message__draw(struct chrome *ch, const struct event *event,
			  const struct chrome_row *row, uint64_t time)
{
	const char *text = event->args[0].s;

	chrome__instant_named(ch, row, "message", text, time);
	if (event->type == EV_message_color)
		chrome_arg__color(ch, (uint32_t)event->args[1].u);
	chrome_event__finish(ch);
}

static void lock__draw(struct chrome *ch, const struct event *event, const struct chrome_row *row,
		       uint64_t time)
{
	chrome__instant(ch, row,
			event->type == EV_lock_wait	  ? "lock.wait"
			: event->type == EV_lock_acquired ? "lock.acquired"
							  : "lock.released",
			time);
	chrome_arg__hex(ch, "object", event->args[0].u);
	if (event->type == EV_lock_wait)
		chrome_arg__text(ch, "name", event->args[1].s);
	chrome_event__finish(ch);
}

static void op__annotation(void *ctx, const struct event *event, struct model_task *task,
			   struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	struct chrome *ch = ctx;
	struct chrome_process *process = thread ? chrome_process__get(ch, thread->process) : NULL;
	struct chrome_row *row = process ? chrome__host(ch, thread, task) : NULL;
	const char *name = event->args[0].s;

	if (!row)
		return;
	switch (event->type) {
	case EV_zone_text:
	case EV_zone_color:
	case EV_zone_value:
		zone__note(ch, event, zone);
		return;
	case EV_marker_set:
	case EV_marker_reset:
	case EV_channel_name:
	case EV_marker_color:
		marker__draw(ch, event, process, time);
		return;
	case EV_counter:
		chrome__counter(ch, process, name && *name ? name : "counter", event, 0, time);
		return;
	case EV_frame:
		row = thing__get(ch, process, TID_FRAMES, (uintptr_t)name, name);
		if (row)
			thing__begin(ch, row, "frame", name, 0, time);
		return;
	case EV_message:
	case EV_message_color:
		message__draw(ch, event, row, time);
		return;
	case EV_sent:
	case EV_received:
		message__pass(ch, event, row, time);
		return;
	case EV_lock_wait:
	case EV_lock_acquired:
	case EV_lock_released:
		lock__draw(ch, event, row, time);
		return;
	default:
		if (chrome_asio__draw(ch, event, thread, row, time))
			return;
		if (event->type >= EV_flow_start && event->type <= EV_marker_flow_end)
			flow__draw(ch, event, process, row, time);
	}
}

void chrome__add_event_ops(struct model_ops *ops)
{
	ops->worker_start = op__worker_start;
	ops->worker_stop = op__worker_stop;
	ops->span_begin = op__span_begin;
	ops->span_end = op__span_end;
	ops->span_cut = op__span_cut;
	ops->queue_depth = op__queue_depth;
	ops->steal = op__steal;
	ops->steal_failed = op__steal_failed;
	ops->future = op__future;
	ops->continuation_begin = op__continuation_begin;
	ops->continuation_end = op__continuation_end;
	ops->active_continuations = op__active_continuations;
	ops->zone_begin = op__zone_begin;
	ops->zone_end = op__zone_end;
	ops->annotation = op__annotation;
	ops->task_counts = op__task_counts;
	chrome_asio__add_ops(ops);
}
