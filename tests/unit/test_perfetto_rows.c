// SPDX-License-Identifier: BSD-2-Clause
/* The Perfetto exporter: which tasks get which rows, where they are many. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <cmocka.h>
#include "exported.h"
#include "script.h"

static struct event task_event(uint64_t time, enum event_type type, uint64_t task, const char *name)
{
	struct event event = {
		.time = time, .type = (uint16_t)type, .pid = 100, .tid = 1, .nargs = 1};

	event.args[0].u = task;
	if (type == EV_task_created)
		event.args[1].s = name;
	if (type == EV_task_suspended)
		event.args[1].s = "wait";
	return event;
}

static void feed(struct exported *e, uint64_t time, enum event_type type, uint64_t task)
{
	struct event event = task_event(time, type, task, task % 2 ? "odd" : "even");

	exported__feed(e, &event);
}

/* one task after the other: 2,000 rows with names of their own, then those are used again */
static void many_tasks(void **state)
{
	struct exported e;

	(void)state;
	for (int mode = EXPORT_LANES; mode <= EXPORT_WORKERS; mode++) {
		uint64_t time = 1000000;
		uint32_t rows[] = {PERFETTO_TASK_ROWS, 5000, 0};

		exported__open(&e, mode);
		for (uint64_t task = 1; task <= 5000; task++) {
			feed(&e, time += 1000, EV_task_created, task);
			feed(&e, time += 1000, EV_task_begin, task);
			feed(&e, time += 1000, EV_task_suspended, task);
			feed(&e, time += 1000, EV_task_resumed, task);
			feed(&e, time += 1000, EV_task_begin, task);
			feed(&e, time += 1000, EV_task_completed, task);
			feed(&e, time += 1000, EV_task_destroyed, task);
		}
		exported__finish(&e);
		assert_int_equal(e.px.processes->row_count, rows[mode]);
		assert_int_equal(e.px.tally.begins[CATEGORY_WORKER_TASK], 10000);
		assert_int_equal(e.px.tally.begins[CATEGORY_TASK_RUN],
				 mode == EXPORT_WORKERS ? 0 : 10000);
		assert_int_equal(e.px.tally.begins[CATEGORY_TASK_SUSPENDED],
				 mode == EXPORT_WORKERS ? 0 : 5000);
		assert_int_equal(e.px.tally.gaps_without_row, 0);
		assert_int_equal(e.px.tally.flow_ends, 10000);
		exported__free(&e);
	}
}

/* seen beforehand: rows are lanes, as many as tasks of a description are alive at once */
static void many_tasks_on_lanes(void **state)
{
	struct exported e;
	char *text;

	(void)state;
	exported__open(&e, EXPORT_LANES);
	map__put(&e.px.lives_ahead, 0, 0, (void *)(uintptr_t)(PERFETTO_TASK_ROWS + 1));
	script__run("0 t1 process demo demo\n1 t1 worker_start w0 -\n"
		    "10 t1 created a fib 0\n11 t1 created b fib 0\n12 t1 created c leaf 0\n"
		    "20 t1 begin a w0\n21 t1 completed a\n22 t1 destroyed a\n"
		    "30 t1 created d leaf 0\n31 t1 created f fib 0\n"
		    "40 t1 begin b w0\n41 t1 completed b\n42 t1 destroyed b\n"
		    "50 t1 begin f w0\n51 t1 completed f\n60 t1 finish\n",
		    exported__feed, &e);
	exported__finish(&e);
	text = perfetto_text__new(e.data, e.size, true);
	text__contains(text,
		       "row demo/Tasks/fib lane 1\nrow demo/Tasks/fib lane 2\n"
		       "row demo/Tasks/leaf lane 1\n"
		       "20 demo/Tasks/fib lane 1 begin task.run 'fib' task=0x61 worker=0 <1\n"
		       "row demo/Tasks/leaf lane 2\n"
		       "31 demo/Tasks/fib lane 1 instant task.created task=0x66 name=fib\n"
		       "40 demo/Tasks/fib lane 2 begin task.run 'fib' task=0x62 worker=0 <2\n"
		       "50 demo/Tasks/fib lane 1 begin task.run 'fib' task=0x66 worker=0 <5\n");
	assert_int_equal(e.px.processes->row_count, 4);
	free(text);
	exported__free(&e);
}

/* seen beforehand: what else a process has rows for has room beside its lanes */
static void lanes_leave_room_for_other_rows(void **state)
{
	struct exported e;
	uint64_t time = 1000000;

	(void)state;
	exported__open(&e, EXPORT_LANES);
	map__put(&e.px.lives_ahead, 0, 0, (void *)(uintptr_t)(PERFETTO_TASK_ROWS + 1));
	for (uint64_t task = 1; task <= 6000; task++)
		feed(&e, time += 1000, EV_task_created, task);
	for (uint64_t task = 1; task <= 6000; task++) {
		feed(&e, time += 1000, EV_task_begin, task);
		feed(&e, time += 1000, EV_task_completed, task);
	}
	exported__finish(&e);
	assert_int_equal(e.px.processes->row_count, PERFETTO_LANE_ROWS);
	assert_true(PERFETTO_LANE_ROWS + 100 <= PERFETTO_TASK_ROWS);
	assert_int_equal(e.px.tally.begins[CATEGORY_TASK_RUN], 6000);
	exported__free(&e);
}

/* more tasks alive than rows: every run and every suspension is drawn all the same, on 2,000 rows
 */
static void more_tasks_alive_than_rows(void **state)
{
	struct exported e;
	uint64_t time = 1000000;

	(void)state;
	exported__open(&e, EXPORT_LANES);
	for (uint64_t task = 1; task <= 6000; task++)
		feed(&e, time += 1000, EV_task_created, task);
	for (uint64_t task = 1; task <= 6000; task++) {
		feed(&e, time += 1000, EV_task_begin, task);
		feed(&e, time += 1000, EV_task_suspended, task);
	}
	for (uint64_t task = 6000; task > 0; task--) {
		feed(&e, time += 1000, EV_task_resumed, task);
		feed(&e, time += 1000, EV_task_begin, task);
		feed(&e, time += 1000, EV_task_completed, task);
	}
	exported__finish(&e);
	assert_int_equal(e.px.processes->row_count, PERFETTO_TASK_ROWS);
	assert_int_equal(e.px.tally.begins[CATEGORY_TASK_RUN], 12000);
	assert_int_equal(e.px.tally.begins[CATEGORY_TASK_SUSPENDED], 6000);
	assert_int_equal(e.px.tally.instants[CATEGORY_TASK_CREATED], 6000);
	assert_true(e.px.tally.gaps_without_row > 0 && e.px.tally.evicted > 0);
	exported__free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_tasks),
		cmocka_unit_test(many_tasks_on_lanes),
		cmocka_unit_test(lanes_leave_room_for_other_rows),
		cmocka_unit_test(more_tasks_alive_than_rows),
	};

	(void)script__word; /* only other tests print identities */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
