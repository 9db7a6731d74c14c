/* SPDX-License-Identifier: BSD-2-Clause */
/* The report's figures: interface, section 3, from scripted events. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <json-c/json.h>
#include "script.h"
#include "report/figures.h"

static void feed(void *ctx, const struct event *event)
{
	assert_int_equal(report__event(ctx, event), 0);
}

static struct trace_totals totals_of_test = {
	.records = 90,
	.lost = 10,
	.recorded = 100,
	.lost_by = {[LOSS_RING_FULL] = 7, [LOSS_TARGET_OVERRUN] = 2, [LOSS_READ_FAULT] = 1},
	.bytes = 1234,
	.duration_ns = 5000,
	.sched_lost = 4,
	.clock_error_ns = 12,
	.clock = "tsc",
	.finished = true,
	.has_target_exit = true,
	.target_exit = 3,
};

static struct report *read_script(const char *script)
{
	struct report *report = report__new();

	assert_non_null(report);
	script__run(script, feed, report);
	assert_int_equal(report__add_process(report, 0, 100, "name", "host"), 0);
	assert_int_equal(report__finish(report, &totals_of_test), 0);
	return report;
}

static json_object *json_of(struct report *report)
{
	json_object *root;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report__json(report, out), 0);
	fclose(out);
	root = json_tokener_parse(text);
	assert_non_null(root);
	free(text);
	return root;
}

/* "tasks.by_name[0].count" */
static json_object *find(json_object *at, const char *path)
{
	char *copy = strdup(path), *save = NULL;

	for (char *key = strtok_r(copy, ".[]", &save); key; key = strtok_r(NULL, ".[]", &save)) {
		if (isdigit((unsigned char)*key)) {
			assert_true((size_t)atoi(key) < json_object_array_length(at));
			at = json_object_array_get_idx(at, (size_t)atoi(key));
		} else if (!json_object_object_get_ex(at, key, &at)) {
			fail_msg("no %s in %s", key, path);
		}
	}
	free(copy);
	return at;
}

/* lines "path value": each must be there, with the value as JSON prints it */
static void expect(const char *script, const char *expected)
{
	struct report *report = read_script(script);
	json_object *root = json_of(report);
	char *copy = strdup(expected), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ' ');
		json_object *found;

		*value++ = '\0';
		found = find(root, line);
		if (strcmp(json_object_to_json_string_ext(found, JSON_C_TO_STRING_NOSLASHESCAPE),
			   value))
			fail_msg("%s is %s, not %s", line, json_object_to_json_string(found),
				 value);
	}
	free(copy);
	json_object_put(root);
	report__free(report);
}

static void every_key_is_there(void **state)
{
	(void)state;
	expect("1 t1 finish\n", "schema 1\n"
				"capture.records 90\n"
				"capture.lost 10\n"
				"capture.recorded 100\n"
				"capture.bytes 1234\n"
				"capture.duration_ns 5000\n"
				"capture.clock \"tsc\"\n"
				"capture.clock_error_ns 12\n"
				"capture.complete false\n"
				"capture.target_exit 3\n"
				"capture.lost_by.ring_full 7\n"
				"capture.lost_by.target_ring_overrun 2\n"
				"capture.lost_by.read_fault 1\n"
				"processes[0].pid 100\n"
				"processes[0].name \"name\"\n"
				"processes[0].host \"host\"\n"
				"processes[0].workers []\n"
				"tasks.created 0\n"
				"tasks.begun 0\n"
				"tasks.completed 0\n"
				"tasks.destroyed 0\n"
				"tasks.migrations 0\n"
				"tasks.suspensions 0\n"
				"tasks.yields 0\n"
				"tasks.by_name []\n"
				"suspensions []\n"
				"wakes []\n"
				"steals.count 0\n"
				"steals.failed 0\n"
				"steals.pairs []\n"
				"futures.created 0\n"
				"futures.set 0\n"
				"futures.exceptions 0\n"
				"futures.continuations_inline 0\n"
				"futures.continuations_scheduled 0\n"
				"futures.max_active_continuations 0\n"
				"zones []\n"
				"locks []\n"
				"unfinished []\n"
				"unfinished_count 0\n"
				"counters []\n"
				"messages.sent 0\n"
				"messages.received 0\n"
				"messages.matched 0\n"
				"critical_path.length_ns null\n"
				"critical_path.work_ns null\n"
				"critical_path.parallelism null\n"
				"critical_path.steps []\n"
				"anomalies []\n");
}

static void tasks_by_name(void **state)
{
	(void)state;
	expect("1 t1 created A fib 0\n"
	       "3 t1 begin A w0\n"
	       "4 t1 created B fib A\n"
	       "5 t1 begin B w0\n"
	       "7 t1 completed B\n"
	       "8 t1 suspended A wait F\n"
	       "9 t2 resumed A set F\n"
	       "12 t2 begin A w1\n"
	       "13 t2 yielded A\n"
	       "14 t2 begin A w1\n"
	       "15 t2 completed A\n"
	       "16 t2 destroyed A\n"
	       "16 t2 completed 0\n"
	       "17 t2 finish\n",
	       "tasks.created 2\n"
	       "tasks.begun 4\n"
	       "tasks.completed 2\n"
	       "tasks.destroyed 1\n"
	       "tasks.migrations 1\n"
	       "tasks.suspensions 1\n"
	       "tasks.yields 1\n"
	       "tasks.by_name[0].name \"fib\"\n"
	       "tasks.by_name[0].count 2\n"
	       "tasks.by_name[0].run_ns 9000\n"
	       "tasks.by_name[0].self_ns 7000\n"
	       "tasks.by_name[0].suspended_ns 1000\n"
	       "tasks.by_name[0].ready_ns 7000\n"
	       "tasks.by_name[0].min_ns 2000\n"
	       "tasks.by_name[0].mean_ns 4500\n"
	       "tasks.by_name[0].p50_ns 2000\n"
	       "tasks.by_name[0].p99_ns 7000\n"
	       "tasks.by_name[0].max_ns 7000\n"
	       "suspensions[0].reason \"wait\"\n"
	       "suspensions[0].count 1\n"
	       "suspensions[0].total_ns 1000\n"
	       "suspensions[0].p50_ns 1000\n"
	       "suspensions[0].p99_ns 1000\n"
	       "suspensions[0].max_ns 1000\n"
	       "wakes[0].cause \"set\"\n"
	       "wakes[0].count 1\n"
	       "wakes[0].ready_to_run_p50_ns 3000\n"
	       "wakes[0].ready_to_run_p99_ns 3000\n"
	       "unfinished []\n"
	       "anomalies[0].kind \"event_without_task\"\n"
	       "anomalies[0].count 1\n");
}

/* without a RESUMED nothing is known of readiness: neither a wake nor a ready time of 0 */
static void unknown_ready_is_no_zero(void **state)
{
	(void)state;
	expect("1 t1 begin A w0\n"
	       "2 t1 suspended A wait F\n"
	       "7 t1 begin A w0\n"
	       "8 t1 completed A\n"
	       "9 t1 finish\n",
	       "wakes []\n"
	       "suspensions[0].total_ns 5000\n"
	       "tasks.by_name[0].ready_ns 0\n");
}

/* JSON is UTF-8, whatever bytes a target calls a name */
static void names_are_utf8(void **state)
{
	(void)state;
	expect("1 t1 created A \xe2\x82\xac 0\n"
	       "2 t1 begin A w0\n"
	       "3 t1 suspended A a\xff\xe2\x82"
	       "b\xed\xa0\x80 F\n"
	       "4 t1 begin A w0\n"
	       "5 t1 completed A\n"
	       "6 t1 finish\n",
	       "tasks.by_name[0].name \"\xe2\x82\xac\"\n"
	       "suspensions[0].reason \"a???b???\"\n");
}

static void unfinished_tasks(void **state)
{
	(void)state;
	expect("1 t1 created A fib 0\n"
	       "2 t1 begin A w0\n"
	       "5 t1 suspended A future::wait F\n"
	       "6 t1 begin B w0\n"
	       "7 t1 staged C - 0\n"
	       "15 t1 finish\n",
	       "unfinished_count 3\n"
	       "unfinished[0].task 65\n"
	       "unfinished[0].name \"fib\"\n"
	       "unfinished[0].state \"suspended\"\n"
	       "unfinished[0].age_ns 14000\n"
	       "unfinished[0].in_state_ns 10000\n"
	       "unfinished[0].reason \"future::wait\"\n"
	       "unfinished[0].object 70\n"
	       "unfinished[0].pid 100\n"
	       "unfinished[1].name \"task\"\n"
	       "unfinished[1].state \"running\"\n"
	       "unfinished[1].reason null\n"
	       "unfinished[1].object null\n"
	       "unfinished[2].state \"staged\"\n"
	       /* not over: in the total, in no percentile */
	       "suspensions[0].count 1\n"
	       "suspensions[0].total_ns 10000\n"
	       "suspensions[0].p50_ns null\n"
	       "suspensions[0].max_ns null\n"
	       "anomalies []\n");
}

static void workers(void **state)
{
	(void)state;
	expect("1 t1 worker_start w0 alpha\n"
	       "1 t2 worker_start w1 -\n"
	       "2 t1 begin A w0\n"
	       "3 t1 begin B w0\n"
	       "4 t1 completed B\n"
	       "6 t1 yielded A\n"
	       "7 t1 begin A w0\n"
	       "8 t1 yielded A\n"
	       "8 t1 worker_sleep_begin w0 idle\n"
	       "10 t1 worker_sleep_end w0 notify\n"
	       "10 t1 worker_background_begin w0 poll\n"
	       "13 t1 worker_background_end w0\n"
	       "14 t1 worker_bulk_begin w0 for\n"
	       "18 t1 worker_bulk_end w0\n"
	       "19 t1 queue_depth w1 3\n"
	       "19 t1 queue_depth w1 2\n"
	       "19 t2 steal w1 w0 A 4\n"
	       "19 t2 steal w1 w0 0 7\n"
	       "19 t2 steal w1 w0 0 -\n"
	       "19 t1 steal w0 w1 0 -\n"
	       "19 t2 steal_failed w1 w0\n"
	       "20 t2 begin A w1\n"
	       "21 t1 worker_stop w0\n"
	       "22 t2 completed A\n"
	       "25 t2 finish\n",
	       "processes[0].workers[0].index 0\n"
	       "processes[0].workers[0].tid 1\n"
	       "processes[0].workers[0].name \"alpha\"\n"
	       "processes[0].workers[0].busy_ns 5000\n"
	       "processes[0].workers[0].background_ns 3000\n"
	       "processes[0].workers[0].sleep_ns 2000\n"
	       "processes[0].workers[0].bulk_ns 4000\n"
	       "processes[0].workers[0].idle_ns 6000\n"
	       "processes[0].workers[0].preempted_ns null\n"
	       "processes[0].workers[0].tasks 2\n"
	       "processes[0].workers[0].steals 1\n"
	       "processes[0].workers[0].stolen_from 3\n"
	       "processes[0].workers[0].max_queue_depth null\n"
	       "processes[0].workers[1].name null\n"
	       "processes[0].workers[1].busy_ns 2000\n"
	       "processes[0].workers[1].idle_ns 22000\n"
	       "processes[0].workers[1].tasks 1\n"
	       "processes[0].workers[1].steals 3\n"
	       "processes[0].workers[1].stolen_from 1\n"
	       "processes[0].workers[1].max_queue_depth 3\n"
	       "steals.count 4\n"
	       "steals.failed 1\n"
	       "steals.pairs[0].thief 1\n"
	       "steals.pairs[0].victim 0\n"
	       "steals.pairs[0].count 3\n"
	       "steals.pairs[0].mean_victim_depth 5.5\n"
	       "steals.pairs[1].count 1\n"
	       "steals.pairs[1].mean_victim_depth null\n");
}

static void zones(void **state)
{
	(void)state;
	expect("1 t1 begin A w0\n"
	       "2 t1 zone_begin fib f src/a.c:17\n"
	       "3 t1 zone_begin fib f src/a.c:17\n"
	       "4 t1 suspended A wait F\n"
	       "8 t2 begin A w1\n"
	       "9 t2 zone_end\n"
	       "12 t2 zone_end\n"
	       "13 t2 zone_begin other - -\n"
	       "14 t2 zone_end\n"
	       "15 t2 completed A\n"
	       "16 t2 finish\n",
	       "zones[0].name \"fib\"\n"
	       "zones[0].function \"f\"\n"
	       "zones[0].file \"src/a.c\"\n"
	       "zones[0].line 17\n"
	       "zones[0].count 2\n"
	       "zones[0].total_ns 6000\n"
	       "zones[0].self_ns 6000\n"
	       "zones[0].min_ns 2000\n"
	       "zones[0].mean_ns 4000\n"
	       "zones[0].p50_ns 2000\n"
	       "zones[0].p99_ns 6000\n"
	       "zones[0].max_ns 6000\n"
	       "zones[0].max_depth 2\n"
	       "zones[1].function null\n"
	       "zones[1].file null\n"
	       "zones[1].line null\n"
	       "zones[1].total_ns 1000\n");
}

static void futures(void **state)
{
	(void)state;
	expect("1 t1 future_created F\n"
	       "1 t1 begin A w0\n"
	       "2 t1 future_set F\n"
	       "3 t1 continuation_begin F C\n"
	       "4 t1 continuation_begin F D\n"
	       "5 t1 continuation_end F D\n"
	       "6 t1 continuation_end F C\n"
	       "7 t2 continuation_begin F E\n"
	       "8 t2 continuation_end F E\n"
	       "9 t1 future_set G\n"
	       "9 t1 future_exception H\n"
	       "10 t1 completed A\n"
	       "11 t1 finish\n",
	       "futures.created 1\n"
	       "futures.set 2\n"
	       "futures.exceptions 1\n"
	       "futures.continuations_inline 2\n"
	       "futures.continuations_scheduled 1\n"
	       "futures.max_active_continuations 2\n");
}

static void locks_counters_messages(void **state)
{
	(void)state;
	expect("1 t1 lock_wait L mutex\n"
	       "2 t1 lock_acquired L\n"
	       "3 t2 lock_wait L mutex\n"
	       "6 t1 lock_released L\n"
	       "8 t2 lock_acquired L\n"
	       "9 t2 lock_released L\n"
	       "10 t1 counter c 5\n"
	       "11 t1 counter c -3\n"
	       "12 t1 counter c 4\n"
	       "13 t1 counter d 1.5\n"
	       "14 t1 counter d 2\n"
	       "15 t1 sent M1 0 10\n"
	       "16 t2 received M1 0 10\n"
	       "17 t2 received M2 0 10\n"
	       "18 t1 sent M3 0 10\n"
	       "19 t1 finish\n",
	       "locks[0].name \"mutex\"\n"
	       "locks[0].object 76\n"
	       "locks[0].acquisitions 2\n"
	       "locks[0].contended 1\n"
	       "locks[0].wait_ns 6000\n"
	       "locks[0].wait_p99_ns 5000\n"
	       "locks[0].held_ns 5000\n"
	       "counters[0].name \"c\"\n"
	       "counters[0].count 3\n"
	       "counters[0].min -3\n"
	       "counters[0].max 5\n"
	       "counters[0].last 4\n"
	       "counters[1].min 1.5\n"
	       "counters[1].max 2\n"
	       "messages.sent 2\n"
	       "messages.received 2\n"
	       "messages.matched 1\n");
}

/* JSON has neither, and what is no number is neither the least nor the most */
static void counters_without_numbers(void **state)
{
	(void)state;
	expect("1 t1 counter c nan.\n"
	       "2 t1 counter c 2.5\n"
	       "3 t1 counter c -1.5\n"
	       "4 t1 counter c nan.\n"
	       "5 t1 counter d 1.5\n"
	       "6 t1 counter d inf.\n"
	       "7 t1 finish\n",
	       "counters[0].count 4\n"
	       "counters[0].min -1.5\n"
	       "counters[0].max 2.5\n"
	       "counters[0].last null\n"
	       "counters[1].min 1.5\n"
	       "counters[1].max null\n");
}

/* a million names and unfinished tasks do not become a million rows */
static void tables_are_bounded(void **state)
{
	struct report *report = report__new();
	struct event event = {.type = EV_task_staged, .nargs = 3, .pid = 100, .tid = 1};
	const uint32_t tasks = FIGURES_GROUPS_MAX + 500;
	json_object *root;

	(void)state;
	for (uint32_t i = 1; i <= tasks; i++) {
		/* names are told apart by their pointers, as those of a trace are */
		static char names[FIGURES_GROUPS_MAX + 501][2];

		event.time = i;
		event.args[0].u = i;
		event.args[1].s = strcpy(names[i], "n");
		assert_int_equal(report__event(report, &event), 0);
	}
	assert_int_equal(report__finish(report, &totals_of_test), 0);
	root = json_of(report);
	assert_int_equal(json_object_array_length(find(root, "unfinished")),
			 FIGURES_UNFINISHED_MAX);
	assert_int_equal(json_object_get_int64(find(root, "unfinished_count")), tasks);
	assert_int_equal(json_object_array_length(find(root, "tasks.by_name")),
			 FIGURES_GROUPS_MAX + 1);
	assert_string_equal(json_object_get_string(find(root, "tasks.by_name[0].name")),
			    FIGURES_OTHERS);
	assert_int_equal(json_object_get_int64(find(root, "tasks.by_name[0].count")), 500);
	json_object_put(root);
	report__free(report);
}

/* off the CPU although it could run, also while it waits for one after it was woken */
static void preempted_workers(void **state)
{
	(void)state;
	totals_of_test.sched = true;
	expect("0 t1 process demo demo\n1 t1 on_cpu 0 120 demo 0\n2 t1 worker_start w0 -\n"
	       "10 t1 created A fib 0\n11 t1 begin A w0\n"
	       "20 t1 off_cpu 0 0 9 hog\n25 t1 on_cpu 0 120 demo 9\n"
	       "30 t1 off_cpu 0 0 9 hog\n33 t1 on_cpu 0 120 demo 9\n"
	       "40 t1 completed A\n"
	       "41 t1 off_cpu 0 0 8 other\n42 t1 on_cpu 0 120 demo 8\n"
	       "50 t1 off_cpu 0 1 0 swapper\n60 t1 waking 7 demo 1 0\n"
	       "64 t1 on_cpu 1 120 demo 0\n"
	       "70 t1 off_cpu 1 0 9 hog\n75 t1 worker_stop w0\n80 t1 on_cpu 1 120 demo 9\n"
	       "90 t1 finish\n",
	       "capture.sched_lost 4\n"
	       "processes[0].workers[0].preempted_ns 18000\n"
	       "processes[0].workers[0].idle_ns 44000\n"
	       "preemptions[0].by \"hog\"\n"
	       "preemptions[0].task \"fib\"\n"
	       "preemptions[0].count 2\n"
	       "preemptions[0].total_ns 8000\n"
	       "preemptions[0].max_ns 5000\n"
	       "preemptions[1].by \"hog\"\n"
	       "preemptions[1].task null\n"
	       "preemptions[1].count 1\n"
	       "preemptions[2].by \"other\"\n"
	       "preemptions[2].task null\n"
	       "preemptions[2].total_ns 1000\n");
	totals_of_test.sched = false;
	expect("1 t1 worker_start w0 -\n9 t1 finish\n",
	       "processes[0].workers[0].preempted_ns null\n"
	       "capture.sched_lost null\n"
	       "preemptions null\n");
}

static void summary_is_the_capture_object(void **state)
{
	const struct trace_totals totals = {.records = 97,
					    .lost = 3,
					    .recorded = 100,
					    .missed = 2,
					    .clock = "tsc",
					    .finished = true};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_object *root;

	(void)state;
	assert_int_equal(report__summary(&totals, out), 0);
	fclose(out);
	root = json_tokener_parse(text);
	assert_int_equal(json_object_get_int64(find(root, "recorded")), 100);
	assert_int_equal(json_object_get_int64(find(root, "lost")), 3);
	assert_int_equal(json_object_get_int64(find(root, "missed")), 2);
	assert_int_equal(json_object_object_length(root), 13);
	json_object_put(root);
	free(text);
}

static char *text_of(struct report *report)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report__text(report, out), 0);
	fclose(out);
	return text;
}

/* what is wrong comes first; hostile names do not reach the terminal as they are */
static void page_says_trouble_first(void **state)
{
	struct report *report = read_script("1 t1 worker_start w0 alpha\n"
					    "2 t1 begin A w0\n"
					    "3 t1 zone_begin a\033[2Jb f a.c:1\n"
					    "4 t1 zone_end\n"
					    "5 t1 suspended A future::wait F\n"
					    "6 t1 completed 0\n"
					    "1500000 t1 finish\n");
	char *text = text_of(report);

	(void)state;
	assert_ptr_equal(strstr(text, "LOST: 10 of 100 records (10.00 %)"), text);
	assert_non_null(strstr(text, "\nAnomaly: 1 event_without_task"));
	assert_true(strstr(text, "Anomaly:") < strstr(text, "Capture  "));
	assert_non_null(strstr(text, "a?[2Jb"));
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "suspended     1.50 s    1.50 s  future::wait 0x46"));
	free(text);
	report__free(report);
}

static void page_without_trouble_has_none(void **state)
{
	struct trace_totals totals = {.records = 2, .recorded = 2, .finished = true};
	struct report *report = report__new();
	char *text;

	(void)state;
	script__run("1 t1 begin A w0\n2 t1 completed A\n3 t1 finish\n", feed, report);
	assert_int_equal(report__finish(report, &totals), 0);
	text = text_of(report);
	assert_ptr_equal(strstr(text, "Capture  "), text);
	assert_null(strstr(text, "LOST"));
	assert_null(strstr(text, "Unfinished"));
	free(text);
	report__free(report);
}

/*
 * a creates b, b runs beside it and sets what a waits for: the path goes through b's creation, b's
 * run up to the wake, and a's second run. Times in the script are microseconds.
 */
static void the_critical_path(void **state)
{
	(void)state;
	expect("1 t1 worker_start w0 -\n2 t2 worker_start w1 -\n"
	       "10 t1 created a main 0\n20 t1 begin a w0\n30 t1 created b leaf a\n"
	       "35 t2 begin b w1\n50 t1 suspended a future::wait f\n"
	       "75 t2 resumed a future::set f\n80 t1 begin a w0\n"
	       "90 t2 completed b\n100 t1 completed a\n101 t1 finish\n",
	       "critical_path.length_ns 90000\n" /* from a's creation, by nobody known */
	       "critical_path.run_ns 70000\n"
	       "critical_path.wait_ns 20000\n"
	       "critical_path.work_ns 105000\n"
	       "critical_path.steps[0].name \"main\"\n"
	       "critical_path.steps[0].kind \"wait\"\n"
	       "critical_path.steps[0].via \"created\"\n"
	       "critical_path.steps[0].from_ns 9000\n"
	       "critical_path.steps[0].to_ns 19000\n"
	       "critical_path.steps[1].kind \"run\"\n"
	       "critical_path.steps[1].to_ns 29000\n"
	       "critical_path.steps[2].name \"leaf\"\n"
	       "critical_path.steps[2].kind \"wait\"\n"
	       "critical_path.steps[2].via \"created\"\n"
	       "critical_path.steps[3].name \"leaf\"\n"
	       "critical_path.steps[3].from_ns 34000\n"
	       "critical_path.steps[3].to_ns 74000\n"
	       "critical_path.steps[4].name \"main\"\n"
	       "critical_path.steps[4].via \"resumed\"\n"
	       "critical_path.steps[4].kind \"wait\"\n"
	       "critical_path.steps[5].from_ns 79000\n"
	       "critical_path.steps[5].to_ns 99000\n"
	       "critical_path.steps[5].task 97\n"
	       "critical_path.steps[5].pid 100\n");
}

/* nobody woke it, and a wake that came before the stop: both follow from the run before */
static void the_critical_path_of_one_task(void **state)
{
	(void)state;
	expect("1 t1 worker_start w0 -\n"
	       "10 t1 begin a w0\n20 t1 yielded a\n25 t1 begin a w0\n"
	       "30 t1 suspended a why 0\n40 t1 begin a w0\n50 t1 end a\n60 t1 begin a w0\n"
	       "70 t1 completed a\n80 t1 finish\n",
	       "critical_path.length_ns 60000\n"
	       "critical_path.run_ns 35000\n"
	       "critical_path.work_ns 35000\n"
	       "critical_path.steps[0].via \"start\"\n"
	       "critical_path.steps[0].kind \"run\"\n"
	       "critical_path.steps[1].via \"yielded\"\n"
	       "critical_path.steps[3].via \"suspended\"\n"
	       "critical_path.steps[3].from_ns 29000\n"
	       "critical_path.steps[5].via \"stopped\"\n"
	       "critical_path.steps[6].kind \"run\"\n");
}

/* a history of too many runs: the sums are right, the steps are not known, and memory is bounded */
static void a_critical_path_that_is_too_long(void **state)
{
	struct report *report = report__new();
	struct event event = {.pid = 100, .tid = 1};
	json_object *root;

	(void)state;
	for (uint64_t i = 0; i < 300000; i++) {
		event.time = 1000 + i * 1000;
		event.type = i % 2 ? EV_task_yielded : EV_task_begin;
		event.nargs = i % 2 ? 1 : 2;
		event.args[0].u = 97;
		event.args[1].u = 0;
		assert_int_equal(report__event(report, &event), 0);
	}
	assert_int_equal(report__add_process(report, 0, 100, "name", "host"), 0);
	assert_int_equal(report__finish(report, &totals_of_test), 0);
	root = json_of(report);
	assert_int_equal(json_object_get_int64(find(root, "critical_path.length_ns")), 299999000);
	assert_int_equal(json_object_get_int64(find(root, "critical_path.run_ns")), 150000000);
	assert_null(find(root, "critical_path.steps"));
	assert_true(report->path.count <= 131073);
	json_object_put(root);
	report__free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_there),
		cmocka_unit_test(preempted_workers),
		cmocka_unit_test(tasks_by_name),
		cmocka_unit_test(unknown_ready_is_no_zero),
		cmocka_unit_test(names_are_utf8),
		cmocka_unit_test(unfinished_tasks),
		cmocka_unit_test(workers),
		cmocka_unit_test(zones),
		cmocka_unit_test(futures),
		cmocka_unit_test(locks_counters_messages),
		cmocka_unit_test(counters_without_numbers),
		cmocka_unit_test(tables_are_bounded),
		cmocka_unit_test(summary_is_the_capture_object),
		cmocka_unit_test(page_says_trouble_first),
		cmocka_unit_test(page_without_trouble_has_none),
		cmocka_unit_test(the_critical_path),
		cmocka_unit_test(the_critical_path_of_one_task),
		cmocka_unit_test(a_critical_path_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
