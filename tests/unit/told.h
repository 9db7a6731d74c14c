/* SPDX-License-Identifier: BSD-2-Clause */
/* A sink that writes down what the model tells, a line a call, times in microseconds. */
#ifndef TRACER_TESTS_TOLD_H
#define TRACER_TESTS_TOLD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "script.h"

struct told {
	struct model *model;
	FILE *out;
	char *text;
	size_t size;
	uint64_t last;
	bool quiet;  /* only counts: no lines */
	bool counts; /* tell task counts too */
	uint32_t begun, ended, born, gone;
};

static const char *told__us(uint64_t ns)
{
	static char texts[8][32];
	static int next;
	char *to = texts[next++ & 7];

	if (ns % 1000)
		snprintf(to, 32, "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	else
		snprintf(to, 32, "%" PRIu64, ns / 1000);
	return to;
}

static void told__line(struct told *told, uint64_t time, const char *format, ...)
{
	va_list args;

	assert_true(time >= told->last); /* a promise of the header */
	told->last = time;
	if (told->quiet)
		return;
	fprintf(told->out, "%s ", told__us(time));
	va_start(args, format);
	vfprintf(told->out, format, args);
	va_end(args);
	fputc('\n', told->out);
}

static const char *told__task(const struct model_task *task)
{
	static char texts[8][32];
	static int next;
	char *to = texts[next++ & 7];

	if (!task)
		return "nobody";
	snprintf(to, 32, "%s#%" PRIu64, script__word(task->identity), task->serial);
	return to;
}

static void told__born(void *ctx, struct model_task *task, uint64_t time)
{
	((struct told *)ctx)->born++;
	told__line(ctx, time, "born %s %s parent %s#%" PRIu64, told__task(task), task->name,
		   script__word(task->parent), task->parent_serial);
}

static void told__instant(void *ctx, struct model_task *task, enum model_instant kind,
			  struct model_thread *thread, uint64_t time)
{
	static const char *const names[] = {"staged",  "created",   "ready",	 "yielded",
					    "resumed", "completed", "destroyed", "renamed"};

	told__line(ctx, time, "%s %s t%u", names[kind], told__task(task), thread->tid);
}

static void told__stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	((struct told *)ctx)->begun++;
	told__line(ctx, time, "run %s t%u w%d number %u%s%s%s", told__task(stay->task),
		   stay->thread->tid, (int)stay->worker, stay->number,
		   stay->migrated ? " migrated" : "", stay->outer ? " inside " : "",
		   stay->outer ? told__task(stay->outer->task) : "");
}

static void told__stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	static const char *const names[] = {"ended", "yielded", "suspended", "completed", "cut"};

	((struct told *)ctx)->ended++;
	told__line(ctx, time, "stop %s %s after %s", told__task(stay->task), names[how],
		   told__us(time - stay->begin));
}

static const char *const told__gaps[] = {"ready", "suspended", "stopped"};

static void told__gap_begin(void *ctx, struct model_task *task, const struct model_gap *gap,
			    uint64_t time)
{
	told__line(ctx, time, "gap %s %s%s%s%s%s%s", told__task(task), told__gaps[gap->kind],
		   gap->presumed ? " presumed" : "", gap->reason ? " for " : "",
		   gap->reason ? gap->reason : "", gap->object ? " on " : "",
		   gap->object ? script__word(gap->object) : "");
}

static void told__gap_end(void *ctx, struct model_task *task, const struct model_gap *gap,
			  uint64_t time)
{
	told__line(ctx, time, "over %s %s %s%s%s%s%s", told__task(task), told__gaps[gap->kind],
		   told__us(time - gap->begin), gap->superseded ? " superseded" : "",
		   gap->cut ? " cut" : "", gap->resumed && gap->kind ? " by " : "",
		   gap->resumed && gap->kind ? (gap->cause ? gap->cause : "-") : "");
	if (gap->kind != GAP_READY && gap->resumed)
		told__line(ctx, time, "waker #%" PRIu64 " t%u object %s%s", gap->waker_serial,
			   gap->waker_tid, script__word(gap->cause_object),
			   gap->self_resumed ? " itself" : "");
}

static void told__gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	static const char *const states[] = {"staged",	  "created", "ready",	 "running",
					     "suspended", "stopped", "completed"};

	((struct told *)ctx)->gone++;
	told__line(ctx, time, "gone %s %s %s name %s run %s self %s suspended %s ready %s",
		   told__task(task), finished ? "finished" : "unfinished", states[task->state],
		   task->name, told__us(task->run_ns), told__us(task->self_ns),
		   told__us(task->suspended_ns), told__us(task->ready_ns));
}

static void told__zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	told__line(ctx, time, "zone %s depth %u on %s%s", zone->name, zone->depth,
		   told__task(zone->task), zone->recursive ? " recursive" : "");
}

static void told__zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread,
			   uint64_t time, bool left_open)
{
	told__line(ctx, time, "zone over %s t%u from t%u %s gap %s inner %s%s", zone->name,
		   thread->tid, zone->thread->tid, told__us(time - zone->begin),
		   told__us(zone->gap_ns), told__us(zone->inner_ns), left_open ? " left open" : "");
}

static void told__span_begin(void *ctx, struct model_thread *thread, enum span_kind kind,
			     const char *name, uint64_t time)
{
	told__line(ctx, time, "span %d t%u %s", kind, thread->tid, name ? name : "-");
}

static void told__span_end(void *ctx, struct model_thread *thread, enum span_kind kind,
			   const char *cause, uint64_t begin, uint64_t time)
{
	told__line(ctx, time, "span over %d t%u %s after %s", kind, thread->tid,
		   cause ? cause : "-", told__us(time - begin));
}

static void told__worker_start(void *ctx, struct model_thread *thread, uint64_t time)
{
	told__line(ctx, time, "worker t%u w%u %s", thread->tid, thread->worker,
		   thread->name ? thread->name : "-");
}

static void told__worker_stop(void *ctx, struct model_thread *thread, uint64_t time)
{
	told__line(ctx, time, "worker stop t%u w%u", thread->tid, thread->worker);
}

static void told__steal(void *ctx, struct model_thread *thread, struct model_thread *victim_thread,
			uint32_t thief, uint32_t victim, struct model_task *task,
			uint64_t victim_depth, uint64_t time)
{
	told__line(ctx, time, "steal t%u<-t%u w%u<-w%u %s depth %" PRId64, thread->tid,
		   victim_thread ? victim_thread->tid : 0, thief, victim, told__task(task),
		   (int64_t)victim_depth);
}

static void told__continuation_begin(void *ctx, uint64_t future, uint64_t continuation,
				     struct model_task *task, struct model_thread *thread,
				     bool is_inline, uint64_t time)
{
	(void)task;
	told__line(ctx, time, "continuation %s of %s t%u %s", script__word(continuation),
		   script__word(future), thread->tid, is_inline ? "inline" : "scheduled");
}

static void told__active(void *ctx, struct model_process *process, int64_t count, uint64_t time)
{
	told__line(ctx, time, "active %" PRId64 " pid %u", count, process->pid);
}

static void told__counts(void *ctx, struct model_process *process, uint32_t running, uint32_t ready,
			 uint32_t suspended, uint64_t time)
{
	(void)process;
	if (((struct told *)ctx)->counts)
		told__line(ctx, time, "counts %u %u %u", running, ready, suspended);
}

static void told__lost(void *ctx, struct model_process *process, const struct model_loss *loss,
		       uint64_t time)
{
	(void)process;
	told__line(ctx, time, "lost t%u %" PRIu64, loss->tid, loss->records);
}

static void told__anomaly(void *ctx, enum model_anomaly kind, const struct event *event)
{
	struct told *told = ctx;

	(void)event;
	if (!told->quiet)
		fprintf(told->out, "! %s\n", model__anomaly_name(kind));
}

static const struct model_ops told__ops = {
	.worker_start = told__worker_start,
	.worker_stop = told__worker_stop,
	.task_born = told__born,
	.task_instant = told__instant,
	.stay_begin = told__stay_begin,
	.stay_end = told__stay_end,
	.gap_begin = told__gap_begin,
	.gap_end = told__gap_end,
	.task_gone = told__gone,
	.span_begin = told__span_begin,
	.span_end = told__span_end,
	.steal = told__steal,
	.continuation_begin = told__continuation_begin,
	.active_continuations = told__active,
	.zone_begin = told__zone_begin,
	.zone_end = told__zone_end,
	.task_counts = told__counts,
	.lost = told__lost,
	.anomaly = told__anomaly,
};

static void told__feed(void *ctx, const struct event *event)
{
	struct told *told = ctx;

	if (event->type == EV_end)
		assert_int_equal(model__end(told->model, event->time), 0);
	else
		assert_int_equal(model__event(told->model, event), 0);
}

static void told__open(struct told *told)
{
	told->model = model__new();
	assert_non_null(told->model);
	told->out = open_memstream(&told->text, &told->size);
	assert_int_equal(model__add_sink(told->model, &told__ops, told), 0);
}

static void told__close(struct told *told)
{
	fclose(told->out);
	free(told->text);
	model__free(told->model);
}

/*
 * Fails unless the model tells @expected of @script. Lines of @expected stand in the order told; a
 * line "..." skips any number. With @expected NULL prints instead, for writing tests.
 */
static bool told__matches(const char *text, const char *expected)
{
	bool skipping = false;

	while (*expected) {
		size_t length = strcspn(expected, "\n");

		if (length == 3 && !memcmp(expected, "...", 3)) {
			skipping = true;
		} else {
			size_t got = strcspn(text, "\n");

			while (*text && skipping &&
			       (got != length || memcmp(text, expected, length))) {
				text += got + (text[got] == '\n');
				got = strcspn(text, "\n");
			}
			if (!*text || got != length || memcmp(text, expected, length))
				return false;
			text += got + (text[got] == '\n');
			skipping = false;
		}
		expected += length + (expected[length] == '\n');
	}
	return skipping || !*text;
}

static inline void told__expect(const char *script, const char *expected)
{
	struct told told = {0};

	told__open(&told);
	script__run(script, told__feed, &told);
	fflush(told.out);
	if (!told__matches(told.text, expected)) {
		fprintf(stderr, "--- told:\n%s--- expected:\n%s---\n", told.text, expected);
		fail();
	}
	assert_int_equal(told.begun, told.ended);
	assert_int_equal(told.born, told.gone);
	told__close(&told);
}

/* fails unless the script's anomalies are exactly @count of @kind, or none if @count is 0 */
static inline void told__expect_anomalies(const char *script, enum model_anomaly kind, uint64_t count)
{
	struct told told = {.quiet = true};

	told__open(&told);
	script__run(script, told__feed, &told);
	for (int k = 0; k < ANOMALY_KINDS; k++) {
		uint64_t expected = (enum model_anomaly)k == kind ? count : 0;

		if (model__anomalies(told.model, (enum model_anomaly)k) != expected)
			fail_msg("%s: %" PRIu64 ", not %" PRIu64 ", in\n%s",
				 model__anomaly_name((enum model_anomaly)k),
				 model__anomalies(told.model, (enum model_anomaly)k), expected,
				 script);
	}
	assert_int_equal(told.begun, told.ended);
	assert_int_equal(told.born, told.gone);
	told__close(&told);
}

#endif /* TRACER_TESTS_TOLD_H */
