// SPDX-License-Identifier: BSD-2-Clause
/* trace: how far a ROUND lets the merge go, and what holds it back (user/trace/merge.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "synth.h"

#define T_MS(ms) (SYNTH_START + (ms)*MS)

/*
 * Thread 101 begins task 1 at 10 ms and task 3 at 90 ms. Then comes what a test wants, up to a
 * ROUND, and only then what thread 102 did: it began task 2 before that.
 */
struct scene {
	struct synth synth;
	struct synth_ring early, late;
};

static void scene__begin(struct scene *scene)
{
	synth__init(&scene->synth);
	ring__init(&scene->early, 0, 0);
	ring__window(&scene->early, T_MS(0), TRACER_CLOCK_CYCLES);
	ring__begin(&scene->early, T_MS(10), 1);
	ring__begin(&scene->early, T_MS(90), 3);
	synth__stream(&scene->synth, &scene->early, 1, 101, T_MS(91));
}

/* whether task 2 came in its order */
static bool scene__is_in_order(struct scene *scene, uint64_t late_ms)
{
	struct trace *trace;
	bool in_order;
	char *dump;

	ring__init(&scene->late, 0, 0);
	ring__window(&scene->late, T_MS(0), TRACER_CLOCK_CYCLES);
	ring__begin(&scene->late, T_MS(late_ms), 2);
	synth__stream(&scene->synth, &scene->late, 2, 102, T_MS(3000));
	synth__end(&scene->synth);
	trace = synth__open(&scene->synth);
	dump = synth__dump(trace);
	in_order = strstr(dump, "task_begin 2") < strstr(dump, "task_begin 3");
	/* nothing is left out, whatever its order; what is out of order is counted */
	assert_non_null(strstr(dump, "task_begin 1"));
	assert_non_null(strstr(dump, "task_begin 2"));
	assert_non_null(strstr(dump, "task_begin 3"));
	assert_int_equal(trace__totals(trace)->late, in_order ? 0 : 1);
	assert_int_equal(trace__totals(trace)->records, 3);
	free(dump);
	trace__close(trace);
	ring__free(&scene->early);
	ring__free(&scene->late);
	synth__free(&scene->synth);
	return in_order;
}

static bool after_round(uint64_t time_ms, uint64_t complete_ms, uint64_t late_ms)
{
	struct scene scene;

	scene__begin(&scene);
	synth__round_complete(&scene.synth, T_MS(time_ms), complete_ms ? T_MS(complete_ms) : 0);
	return scene__is_in_order(&scene, late_ms);
}

/* up to there, less what clocks may differ by, and not a delay that somebody guessed */
static void complete_is_the_bound(void **state)
{
	(void)state;
	assert_true(after_round(95, 60, 61));
	assert_true(after_round(95, 60, 59));
	assert_true(after_round(1000, 60, 61));
	assert_false(after_round(95, 94, 80));
	/* who does not know says 0: 200 ms */
	assert_true(after_round(95, 0, 5));
	assert_true(after_round(280, 0, 85));
	assert_false(after_round(295, 0, 85));
	/* nothing is complete that was not handed over */
	assert_true(after_round(95, 100, 80));
}

/* a record behind the bound, of a thread that was preempted within it */
static void held_threads_hold_back(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_true(scene__is_in_order(&scene, 40));
	/* one that says no less than the others */
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(96), 102, T_MS(95));
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_false(scene__is_in_order(&scene, 40));
	/* all of them count, not the last one */
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__held(&scene.synth, T_MS(60), 103, T_MS(50));
	synth__held(&scene.synth, T_MS(70), 103, REC_HELD_NONE);
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_true(scene__is_in_order(&scene, 40));
	/* and they do without a word of how much is complete */
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__round(&scene.synth, T_MS(400));
	assert_true(scene__is_in_order(&scene, 40));
}

static void held_threads_that_went_on_do_not(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__held(&scene.synth, T_MS(50), 102, REC_HELD_NONE);
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_false(scene__is_in_order(&scene, 40));
	/* it went on on another CPU, whose buffer was read before */
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(50), 102, REC_HELD_NONE);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_false(scene__is_in_order(&scene, 40));
	/* again, at the same time */
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(50), 102, REC_HELD_NONE);
	synth__held(&scene.synth, T_MS(50), 102, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_true(scene__is_in_order(&scene, 40));
}

/* a thread that was stopped within a point holds nobody up for longer than a second */
static void nobody_is_waited_for_for_ever(void **state)
{
	struct scene scene;

	(void)state;
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(1040), T_MS(1035));
	assert_true(scene__is_in_order(&scene, 40));
	scene__begin(&scene);
	synth__held(&scene.synth, T_MS(45), 102, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(1050), T_MS(1045));
	assert_false(scene__is_in_order(&scene, 40));
}

/* a file can say what it likes */
static void any_number_of_threads_is_held(void **state)
{
	struct rec_header brief = {.size = sizeof(brief), .kind = REC_HELD, .time = T_MS(40)};
	struct scene scene;
	uint32_t tid;

	(void)state;
	scene__begin(&scene);
	synth__record(&scene.synth, &brief, sizeof(brief));
	for (tid = 1000; tid < 7000; tid++)
		synth__held(&scene.synth, T_MS(45), tid, T_MS(30));
	synth__round_complete(&scene.synth, T_MS(96), T_MS(95));
	assert_true(scene__is_in_order(&scene, 40));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete_is_the_bound),
		cmocka_unit_test(held_threads_hold_back),
		cmocka_unit_test(held_threads_that_went_on_do_not),
		cmocka_unit_test(nobody_is_waited_for_for_ever),
		cmocka_unit_test(any_number_of_threads_is_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
