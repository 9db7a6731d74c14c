/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events without any sense, by the hundred thousand: the model never aborts, and what it tells
 * still adds up: every stay, gap, zone and life that begins ends once, in the order of time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/map.h"
#include "model/model.h"

#define EVENTS 400000

struct tally {
	uint64_t last;
	struct map lives; /* task: what is open on it */
	int64_t stays, zones, gaps, spans;
	uint64_t told;
};

enum { ALIVE = 1, RUNS = 2, WAITS = 4 };

static uintptr_t open_of(const struct tally *tally, const struct model_task *task)
{
	return (uintptr_t)map__get(&tally->lives, task->serial, 0);
}

static void set_open(struct tally *tally, const struct model_task *task, uintptr_t open)
{
	assert_int_equal(map__put(&tally->lives, task->serial, 0, (void *)open), 0);
}

static void tick(struct tally *tally, uint64_t time)
{
	assert_true(time >= tally->last);
	tally->last = time;
	tally->told++;
}

static void born(void *ctx, struct model_task *task, uint64_t time)
{
	tick(ctx, time);
	assert_int_equal(open_of(ctx, task), 0);
	assert_non_null(task->name);
	set_open(ctx, task, ALIVE);
}

static void gone(void *ctx, struct model_task *task, uint64_t time, bool finished)
{
	struct tally *tally = ctx;

	(void)finished;
	tick(ctx, time);
	assert_int_equal(open_of(ctx, task), ALIVE);
	map__remove(&tally->lives, task->serial, 0);
	assert_true(task->self_ns <= task->run_ns);
}

static void instant(void *ctx, struct model_task *task, enum model_instant kind,
		    struct model_thread *thread, uint64_t time)
{
	(void)kind;
	tick(ctx, time);
	assert_true(open_of(ctx, task) & ALIVE);
	assert_non_null(thread->process);
}

static void stay_begin(void *ctx, struct model_stay *stay, uint64_t time)
{
	struct tally *tally = ctx;

	tick(ctx, time);
	assert_int_equal(open_of(ctx, stay->task), ALIVE);
	assert_ptr_equal(stay->thread->top, stay);
	set_open(ctx, stay->task, ALIVE | RUNS);
	tally->stays++;
}

static void stay_end(void *ctx, struct model_stay *stay, uint64_t time, enum stay_end how)
{
	struct tally *tally = ctx;

	(void)how;
	tick(ctx, time);
	assert_int_equal(open_of(ctx, stay->task), ALIVE | RUNS);
	for (struct model_stay *s = stay->thread->top; s; s = s->outer)
		assert_ptr_not_equal(s, stay);
	set_open(ctx, stay->task, ALIVE);
	tally->stays--;
}

static void gap_begin(void *ctx, struct model_task *task, const struct model_gap *gap,
		      uint64_t time)
{
	struct tally *tally = ctx;

	(void)gap;
	tick(ctx, time);
	assert_int_equal(open_of(ctx, task), ALIVE);
	set_open(ctx, task, ALIVE | WAITS);
	tally->gaps++;
}

static void gap_end(void *ctx, struct model_task *task, const struct model_gap *gap, uint64_t time)
{
	struct tally *tally = ctx;

	tick(ctx, time);
	assert_int_equal(open_of(ctx, task), ALIVE | WAITS);
	assert_true(gap->begin <= time);
	set_open(ctx, task, ALIVE);
	tally->gaps--;
}

static void zone_begin(void *ctx, struct model_zone *zone, uint64_t time)
{
	(void)zone;
	tick(ctx, time);
	((struct tally *)ctx)->zones++;
}

static void zone_end(void *ctx, struct model_zone *zone, struct model_thread *thread, uint64_t time,
		     bool left_open)
{
	(void)left_open;
	tick(ctx, time);
	assert_non_null(thread->process);
	assert_true(zone->gap_ns + zone->inner_ns <= time - zone->begin);
	((struct tally *)ctx)->zones--;
}

static void span_begin(void *ctx, struct model_thread *thread, enum span_kind kind,
		       const char *name, uint64_t time)
{
	(void)thread, (void)kind, (void)name;
	tick(ctx, time);
	((struct tally *)ctx)->spans++;
}

static void span_end(void *ctx, struct model_thread *thread, enum span_kind kind, const char *cause,
		     uint64_t begin, uint64_t time)
{
	(void)thread, (void)kind, (void)cause;
	tick(ctx, time);
	assert_true(begin <= time);
	((struct tally *)ctx)->spans--;
}

static void counts(void *ctx, struct model_process *process, uint32_t running, uint32_t ready,
		   uint32_t suspended, uint64_t time)
{
	(void)process;
	tick(ctx, time);
	/* few identities: a count that went below zero is large */
	assert_true(running < 1000 && ready < 1000 && suspended < 1000);
}

static void active(void *ctx, struct model_process *process, int64_t count, uint64_t time)
{
	(void)process;
	tick(ctx, time);
	assert_true(count >= 0);
}

static const struct model_ops ops = {
	.task_born = born,
	.task_gone = gone,
	.task_instant = instant,
	.stay_begin = stay_begin,
	.stay_end = stay_end,
	.gap_begin = gap_begin,
	.gap_end = gap_end,
	.zone_begin = zone_begin,
	.zone_end = zone_end,
	.span_begin = span_begin,
	.span_end = span_end,
	.task_counts = counts,
	.active_continuations = active,
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 2685821657736338717ULL >> 16;
}

static uint16_t random_type(uint64_t *random)
{
	static const uint16_t rare[] = {EV_process,	 EV_fork, EV_exec,	  EV_thread_exit,
					EV_process_exit, EV_lost, EV_capture_off, EV_capture_on,
					EV_capture_on,	 EV_end,  EV_sched_lost,  777};
	uint64_t r = next_random(random);

	if (r % 10 == 0)
		return (uint16_t)(EV_off_cpu + r / 10 % (EV_foreign_on_cpu - EV_off_cpu + 1));
	if (r % 500 == 1)
		return rare[r / 500 % (sizeof(rare) / sizeof(*rare))];
	/* mostly tasks, where most is to go wrong */
	if (r % 4)
		return (uint16_t)(EV_task_staged + r / 4 % 11);
	return (uint16_t)(32 + r / 4 % 104);
}

static void run(uint64_t random, uint64_t step)
{
	struct model *model = model__new();
	struct tally tally = {0};
	uint64_t time = 1000000;

	assert_int_equal(model__add_sink(model, &ops, &tally), 0);
	for (int i = 0; i < EVENTS; i++) {
		struct event event = {
			.time = time += next_random(&random) % step,
			.type = random_type(&random),
			.process = next_random(&random) % 8 == 0,
			.tid = 1 + (uint32_t)(next_random(&random) % 4),
		};
		/* strings in a number's place would be read: none of these events has any */
		event.args[0].u = next_random(&random) % 6;
		if (event.type == EV_task_begin)
			event.args[1].u = next_random(&random) % 3;
		if (event.type == EV_lost) {
			event.args[1].u = time > 5000 ? time - 5000 : 0;
			event.args[2].u = time;
			event.args[3].u = 0;
		}
		if (event_type__is_sched(event.type)) {
			event.args[0].u = next_random(&random) % 3;
			event.args[1].u = 0;
			if (event.type == EV_off_cpu)
				event.args[1].u = next_random(&random) % 3 * 64;
			if (event.type >= EV_foreign_off_cpu)
				event.process = EVENT_NO_PROCESS;
		}
		if (event.type == EV_process)
			event.args[0].s = "process";
		if (event.type == EV_task_renamed || event.type == EV_zone_begin)
			event.args[event.type == EV_task_renamed].s = NULL;
		assert_int_equal(model__event(model, &event), 0);
	}
	assert_int_equal(model__end(model, time), 0);
	assert_int_equal(tally.lives.count, 0);
	assert_int_equal(tally.stays, 0);
	assert_int_equal(tally.gaps, 0);
	assert_int_equal(tally.zones, 0);
	assert_int_equal(tally.spans, 0);
	assert_true(tally.told > EVENTS / 4);
	map__free(&tally.lives);
	model__free(model);
}

static void events_far_apart(void **state)
{
	(void)state;
	run(88172645463325252ULL, 5000);
}

/* everything is within the look-ahead all the time */
static void events_close_together(void **state)
{
	(void)state;
	run(4101842887655102017ULL, 100);
}

static void events_at_one_time(void **state)
{
	(void)state;
	run(2862933555777941757ULL, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_far_apart),
		cmocka_unit_test(events_close_together),
		cmocka_unit_test(events_at_one_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
