// SPDX-License-Identifier: BSD-2-Clause
/*
 * Begins and ends without their other end, in the text export: lines at its end, each a comment of
 * the form
 *
 *	# mismatch 1234.000567890 4321/4325 zone_left_open name="solve"
 *	# mismatches 3: zone_left_open 1, stop_without_begin 2
 *
 * The time and thread are those of the begin, or of the end that has none. Kinds are the report's
 * anomalies, and, of what is open when the capture ends: task_running, task_suspended, span_open,
 * zone_left_open; of arrows and messages flow_start, flow_end, sent, received. The last line has
 * all, also those beyond the first 1,000, which are not listed.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/map.h"
#include "base/pool.h"
#include "text.h"

#define LISTED_MAX 1000U
#define OPEN_MAX 262144U /* arrows and messages under way that are remembered */

enum mismatch_kind {
	/* the first are enum model_anomaly */
	MISMATCH_RUNNING = ANOMALY_KINDS,
	MISMATCH_SUSPENDED,
	MISMATCH_SPAN,
	MISMATCH_ZONE,
	MISMATCH_FLOW_START,
	MISMATCH_FLOW_END,
	MISMATCH_SENT,
	MISMATCH_RECEIVED,
	MISMATCHES
};

static const char *const open_names[] = {"task_running",   "task_suspended", "span_open",
					 "zone_left_open", "flow_start",     "flow_end",
					 "sent",	   "received"};

struct mismatch {
	struct mismatch *next;
	uint64_t time, id;
	uint32_t pid, tid;
	enum mismatch_kind kind;
	const char *name; /* NULL: of what has none */
};

struct mismatches {
	struct model *model;
	int slot;
	bool no_memory;
	struct pool pool;
	struct mismatch *first, **last;
	uint64_t listed, counts[MISMATCHES];
	/* arrows and messages that have begun: where */
	struct map open;
	/* span's or zone's end that follows is none of the program's */
	bool cut;
};

/* what the end of all cuts is no mismatch if reading was stopped, so that is known apart */
static bool is_open(enum mismatch_kind kind)
{
	return (int)kind >= ANOMALY_KINDS && kind != MISMATCH_FLOW_END && kind != MISMATCH_RECEIVED;
}

static struct mismatch *mismatch__new(struct mismatches *m, enum mismatch_kind kind, uint64_t time,
				      uint32_t pid, uint32_t tid)
{
	struct mismatch *mismatch = pool__take(&m->pool);

	if (!mismatch) {
		m->no_memory = true;
		return NULL;
	}
	*mismatch = (struct mismatch){.kind = kind, .time = time, .pid = pid, .tid = tid};
	return mismatch;
}

static void mismatches__list(struct mismatches *m, struct mismatch *mismatch)
{
	m->counts[mismatch->kind]++;
	if (m->listed >= LISTED_MAX) {
		pool__give(&m->pool, mismatch);
		return;
	}
	m->listed++;
	mismatch->next = NULL;
	*m->last = mismatch;
	m->last = &mismatch->next;
}

static void mismatches__add(struct mismatches *m, enum mismatch_kind kind, uint64_t time,
			    uint32_t pid, uint32_t tid, const char *name, uint64_t id)
{
	struct mismatch *mismatch = mismatch__new(m, kind, time, pid, tid);

	if (!mismatch)
		return;
	mismatch->name = name;
	mismatch->id = id;
	mismatches__list(m, mismatch);
}

/* repairs that are about a begin or an end */
static void op__anomaly(void *ctx, enum model_anomaly kind, const struct event *event)
{
	struct mismatches *m = ctx;
	bool of_task = event && event->nargs && event->type >= EV_task_staged &&
		       event->type <= EV_task_renamed;

	if (kind == ANOMALY_LATE_EVENT || kind == ANOMALY_UNKNOWN_EVENT ||
	    kind == ANOMALY_ZONE_LEFT_OPEN || kind == ANOMALY_EVENT_WITHOUT_TASK)
		return;
	/* found where the capture ends, not at an event */
	if (!event) {
		m->counts[kind]++;
		return;
	}
	mismatches__add(m, (enum mismatch_kind)kind, event->time, event->pid, event->tid, NULL,
			of_task ? event->args[0].u : 0);
}

static void op__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	const struct model_thread *thread = stay->thread;

	(void)time;
	if (how == STAY_CUT)
		mismatches__add(ctx, MISMATCH_RUNNING, stay->begin, thread->process->pid,
				thread->tid, stay->task->name, stay->task->identity);
}

static void op__task_gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	(void)time;
	if (!finished && task->state == TASK_SUSPENDED)
		mismatches__add(ctx, MISMATCH_SUSPENDED, task->state_since, task->process->pid, 0,
				task->name, task->identity);
}

static void op__span_cut(void *ctx, struct model_thread *thread, enum span_kind kind, uint64_t time)
{
	struct mismatches *m = ctx;

	(void)thread;
	(void)kind;
	(void)time;
	m->cut = true;
}

static void op__span_end(void *ctx, struct model_thread *thread, enum span_kind kind,
			 const char *cause, uint64_t begin, uint64_t time)
{
	static const char *const kinds[] = {
		[SPAN_SLEEP] = "sleep", [SPAN_BACKGROUND] = "background", [SPAN_BULK] = "bulk"};
	struct mismatches *m = ctx;

	(void)cause;
	(void)time;
	if (m->cut)
		mismatches__add(m, MISMATCH_SPAN, begin, thread->process->pid, thread->tid,
				kinds[kind], 0);
	m->cut = false;
}

static void op__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			 uint64_t time, bool left_open)
{
	(void)thread;
	(void)time;
	if (left_open)
		mismatches__add(ctx, MISMATCH_ZONE, zone->begin, zone->thread->process->pid,
				zone->thread->tid, zone->name ? zone->name : zone->function, 0);
}

/* Arrows and messages */

enum { KEY_SHARED = 1, KEY_MARKER, KEY_MESSAGE, KEY_OWN };

static void pair__begin(struct mismatches *m, enum mismatch_kind kind, uint64_t key,
			const struct event *event, uint64_t id)
{
	struct mismatch *open = map__get(&m->open, key, id);

	/* one start may have several ends, and several starts one end: an arrow each */
	if (open || m->open.count >= OPEN_MAX)
		return;
	open = mismatch__new(m, kind, event->time, event->pid, event->tid);
	if (!open)
		return;
	open->id = id;
	if (map__put(&m->open, key, id, open))
		m->no_memory = true;
}

static void pair__end(struct mismatches *m, enum mismatch_kind kind, uint64_t key,
		      const struct event *event, uint64_t id)
{
	struct mismatch *open = map__remove(&m->open, key, id);

	if (open)
		pool__give(&m->pool, open);
	else
		mismatches__add(m, kind, event->time, event->pid, event->tid, NULL, id);
}

static void op__annotation(void *ctx, const struct event *event, struct model_task *task,
			   struct model_thread *thread, struct model_zone *zone, uint64_t time)
{
	uint64_t first = event->args[0].u;

	(void)task;
	(void)thread;
	(void)zone;
	(void)time;
	switch (event->type) {
	case EV_flow_start:
		pair__begin(ctx, MISMATCH_FLOW_START, KEY_OWN + event->process, event, first);
		break;
	case EV_flow_end:
		pair__end(ctx, MISMATCH_FLOW_END, KEY_OWN + event->process, event, first);
		break;
	case EV_flow_shared_start:
		pair__begin(ctx, MISMATCH_FLOW_START, KEY_SHARED, event, first);
		break;
	case EV_flow_shared_end:
		pair__end(ctx, MISMATCH_FLOW_END, KEY_SHARED, event, first);
		break;
	case EV_marker_flow_start:
		pair__begin(ctx, MISMATCH_FLOW_START, KEY_MARKER, event, event->args[1].u);
		break;
	case EV_marker_flow_end:
		pair__end(ctx, MISMATCH_FLOW_END, KEY_MARKER, event, event->args[1].u);
		break;
	case EV_sent:
		pair__begin(ctx, MISMATCH_SENT, KEY_MESSAGE, event, first);
		break;
	case EV_received:
		pair__end(ctx, MISMATCH_RECEIVED, KEY_MESSAGE, event, first);
		break;
	default:
		break;
	}
}

/* in the order of time, which the table is not */
static int mismatch__order(const void *a, const void *b)
{
	const struct mismatch *x = *(struct mismatch *const *)a;
	const struct mismatch *y = *(struct mismatch *const *)b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void op__end(void *ctx, uint64_t time)
{
	struct mismatches *m = ctx;
	struct mismatch **sorted = malloc((m->open.count + 1) * sizeof(struct mismatch *));
	size_t count = 0;

	(void)time;
	if (!sorted) {
		m->no_memory = true;
		return;
	}
	for (struct map_entry *e = NULL; (e = map__next(&m->open, e));)
		sorted[count++] = e->value;
	qsort(sorted, count, sizeof(*sorted), mismatch__order);
	for (size_t i = 0; i < count; i++)
		mismatches__list(m, sorted[i]);
	free(sorted);
}

struct mismatches *mismatches__new(struct model *model)
{
	static const struct model_ops ops = {
		.anomaly = op__anomaly,
		.stay_end = op__stay_end,
		.task_gone = op__task_gone,
		.span_cut = op__span_cut,
		.span_end = op__span_end,
		.zone_end = op__zone_end,
		.annotation = op__annotation,
		.end = op__end,
	};
	struct mismatches *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->model = model;
	m->pool.size = sizeof(struct mismatch);
	m->last = &m->first;
	m->slot = model__add_sink(model, &ops, m);
	return m;
}

uint64_t mismatches__count(const struct mismatches *m)
{
	uint64_t count = 0;

	for (int kind = 0; m && kind < MISMATCHES; kind++)
		count += m->counts[kind];
	return count;
}

static const char *kind__name(int kind)
{
	return kind < ANOMALY_KINDS ? model__anomaly_name((enum model_anomaly)kind)
				    : open_names[kind - ANOMALY_KINDS];
}

static void mismatch__write(const struct mismatch *mismatch, struct emit *out)
{
	emit__room(out, 4 * EMIT_STRING_MAX + 256);
	emit__lit(out, "# mismatch ");
	text__put_time(out, mismatch->time);
	emit__char(out, ' ');
	emit__u64(out, mismatch->pid);
	emit__char(out, '/');
	emit__u64(out, mismatch->tid);
	emit__char(out, ' ');
	emit__text(out, kind__name(mismatch->kind));
	if (mismatch->name) {
		emit__lit(out, " name=");
		text__put_string(out, mismatch->name);
	}
	if (mismatch->id) {
		emit__text(out, mismatch->kind <= MISMATCH_SUSPENDED ? " task=" : " id=");
		emit__hex(out, mismatch->id);
	}
	emit__char(out, '\n');
}

void mismatches__write(const struct mismatches *m, struct emit *out, bool stopped)
{
	const char *before = ": ";
	uint64_t count = 0;

	for (const struct mismatch *mismatch = m->first; mismatch; mismatch = mismatch->next)
		if (!stopped || !is_open(mismatch->kind))
			mismatch__write(mismatch, out);
	for (int kind = 0; kind < MISMATCHES; kind++)
		count += stopped && is_open((enum mismatch_kind)kind) ? 0 : m->counts[kind];
	if (!count)
		return;
	emit__room(out, 4096);
	emit__lit(out, "# mismatches ");
	emit__u64(out, count);
	for (int kind = 0; kind < MISMATCHES; kind++) {
		if (!m->counts[kind] || (stopped && is_open((enum mismatch_kind)kind)))
			continue;
		emit__text(out, before);
		emit__text(out, kind__name(kind));
		emit__char(out, ' ');
		emit__u64(out, m->counts[kind]);
		before = ", ";
	}
	emit__char(out, '\n');
}

void mismatches__free(struct mismatches *m)
{
	if (!m)
		return;
	map__free(&m->open);
	pool__free(&m->pool);
	free(m);
}
