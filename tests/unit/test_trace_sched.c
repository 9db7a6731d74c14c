// SPDX-License-Identifier: BSD-2-Clause
/* trace: records of the kernel's scheduling, to events in the order of time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "synth.h"

/* microseconds of the capture */
#define T(us) (SYNTH_START + (us)*1000ULL)

static struct trace *expect(struct synth *synth, const char *text)
{
	struct trace *trace = synth__open(synth);
	char *dump = synth__dump(trace);

	assert_string_equal(dump, text);
	free(dump);
	return trace;
}

/* one record is one thread's end and another's begin; the idle thread is nobody */
static void switches(void **state)
{
	struct synth synth;

	(void)state;
	synth__init(&synth);
	synth__switch(&synth, T(10), 3, REC_SWITCH_TO, 0, 0, 101, 0);
	synth__switch(&synth, T(20), 3, REC_SWITCH_FROM, 101, 0, 900, 0);
	synth__switch(&synth, T(30), 3, 0, 900, 1, 901, 0);
	synth__switch(&synth, T(40), 3, REC_SWITCH_TO, 902, 0, 101, 0);
	synth__switch(&synth, T(50), 3, REC_SWITCH_FROM | REC_SWITCH_TO, 101, 2, 102, 0);
	synth__waking(&synth, T(55), 1, 101, 77, REC_WAKING_INTERRUPT);
	synth__switch(&synth, T(60), 3, REC_SWITCH_FROM, 102, 1, 0, 0);
	synth__end(&synth);
	trace__close(expect(&synth, "10 100 process pid 100 \n"
				    "10 101 on_cpu 3 99 t101 0\n"
				    "20 101 off_cpu 3 0 900 t900\n"
				    "20 900 foreign_on_cpu 3 99 t900 101\n"
				    "30 900 foreign_off_cpu 3 1 901 t901\n"
				    "40 902 foreign_off_cpu 3 0 101 t101\n"
				    "40 101 on_cpu 3 99 t101 902\n"
				    "50 101 off_cpu 3 2 102 t102\n"
				    "50 102 on_cpu 3 99 t102 101\n"
				    "55 101 waking 77 waker-16-bytes.. 1 1\n"
				    "60 102 off_cpu 3 1 0 t0\n"
				    "60000000 0 end\n"));
	synth__free(&synth);
}

/* CPUs' records stand one after the other in the file, and points' between them */
static void order_across_cpus_and_streams(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&ring, T(15), 1);
	ring__begin(&ring, T(25), 2);
	synth__switch(&synth, T(10), 1, REC_SWITCH_TO, 0, 0, 101, 0);
	synth__switch(&synth, T(20), 1, REC_SWITCH_FROM, 101, 1, 0, 0);
	/* an interrupt came between taking the time and the place */
	synth__waking(&synth, T(19), 1, 101, 9, 0);
	synth__switch(&synth, T(12), 0, REC_SWITCH_TO, 0, 0, 102, 0);
	synth__switch(&synth, T(22), 0, REC_SWITCH_FROM, 102, 1, 0, 0);
	synth__stream(&synth, &ring, 1, 101, T(30));
	synth__end(&synth);
	trace = expect(&synth, "10 100 process pid 100 \n"
			       "10 101 on_cpu 1 99 t101 0\n"
			       "12 102 on_cpu 0 99 t102 0\n"
			       "15 101 task_begin 1 0\n"
			       "19 101 waking 9 waker-16-bytes.. 1 0\n"
			       "20 101 off_cpu 1 1 0 t0\n"
			       "22 102 off_cpu 0 1 0 t0\n"
			       "25 101 task_begin 2 0\n"
			       "60000000 0 end\n");
	/* they are no records of points */
	assert_int_equal(trace__totals(trace)->records, 2);
	assert_int_equal(trace__totals(trace)->late, 0);
	assert_true(trace__totals(trace)->complete);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

static void losses_and_what_the_capture_says(void **state)
{
	struct rec_switch cut = {.h = {sizeof(cut) - 8, REC_SWITCH, 0, T(50)}};
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init_bare(&synth, FILE_MAJOR, FILE_MINOR);
	synth__json(&synth, FILE_META, "{\"sched\":true}");
	synth__clock(&synth, SYNTH_START * 3, SYNTH_START, 60);
	synth__switch(&synth, T(10), 65535, REC_SWITCH_TO, 0, 0, 101, 3);
	synth__record(&synth, &cut, sizeof(cut) - 8);
	synth__json(&synth, FILE_END, "{\"finished\":true,\"sched_lost\":5}");
	trace = expect(&synth, "10 0 sched_lost 3 65535\n"
			       "10 100 process pid 100 \n"
			       "10 101 on_cpu 65535 99 t101 0\n"
			       "10 0 end\n");
	assert_true(trace__totals(trace)->sched);
	assert_int_equal(trace__totals(trace)->sched_lost, 5);
	assert_int_equal(trace__totals(trace)->lost, 0);
	assert_int_equal(trace__totals(trace)->damaged, 1);
	trace__close(trace);
	synth__free(&synth);
	synth__init(&synth);
	synth__end(&synth);
	trace = expect(&synth, "60000000 0 end\n");
	assert_false(trace__totals(trace)->sched);
	trace__close(trace);
	synth__free(&synth);
}

/* a process that asked for it shows nothing of this kind either */
static void capture_off(void **state)
{
	struct synth_ring ring;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_capture_off, T(15));
	ring__event(&ring, EV_capture_on, T(25));
	synth__switch(&synth, T(10), 0, REC_SWITCH_TO, 0, 0, 101, 0);
	synth__switch(&synth, T(20), 0, REC_SWITCH_FROM, 101, 0, 900, 0);
	synth__switch(&synth, T(30), 0, REC_SWITCH_TO, 900, 0, 101, 0);
	synth__stream(&synth, &ring, 1, 101, T(40));
	synth__end(&synth);
	trace__close(expect(&synth, "10 100 process pid 100 \n"
				    "10 101 on_cpu 0 99 t101 0\n"
				    "15 101 capture_off\n"
				    "20 900 foreign_on_cpu 0 99 t900 101\n"
				    "25 101 capture_on\n"
				    "30 900 foreign_off_cpu 0 0 101 t101\n"
				    "30 101 on_cpu 0 99 t101 900\n"
				    "60000000 0 end\n"));
	ring__free(&ring);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switches),
		cmocka_unit_test(order_across_cpus_and_streams),
		cmocka_unit_test(losses_and_what_the_capture_says),
		cmocka_unit_test(capture_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
