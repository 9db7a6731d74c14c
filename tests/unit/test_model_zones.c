/* SPDX-License-Identifier: BSD-2-Clause */
/* Zones, futures and continuations. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

/* and go where it goes; their gaps are known */
static void zones_nest_on_the_task(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 zone_begin outer f a.c:1\n"
		     "3 t1 zone_begin inner f a.c:2\n"
		     "4 t1 suspended A wait F\n"
		     "5 t1 begin B w0\n"
		     "5 t1 zone_begin other f a.c:3\n"
		     "6 t1 zone_end\n"
		     "6 t1 completed B\n"
		     "7 t2 begin A w1\n"
		     "8 t2 zone_end\n"
		     "9 t2 yielded A\n"
		     "11 t2 begin A w1\n"
		     "12 t2 zone_end\n"
		     "13 t2 completed A\n"
		     "14 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 zone outer depth 0 on A#1\n"
		     "3 zone inner depth 1 on A#1\n"
		     "4 stop A#1 suspended after 3\n"
		     "4 gap A#1 suspended for wait on F\n"
		     "5 born B#2 task parent 0#0\n"
		     "5 run B#2 t1 w0 number 0\n"
		     "5 zone other depth 0 on B#2\n"
		     "6 zone over other t1 from t1 1 gap 0 inner 0\n"
		     "6 stop B#2 completed after 1\n"
		     "6 completed B#2 t1\n"
		     "7 over A#1 suspended 3\n"
		     "7 run A#1 t2 w1 number 1 migrated\n"
		     "8 zone over inner t2 from t1 5 gap 3 inner 0\n"
		     "9 stop A#1 yielded after 2\n"
		     "9 yielded A#1 t2\n"
		     "9 gap A#1 ready\n"
		     "11 over A#1 ready 2\n"
		     "11 run A#1 t2 w1 number 2\n"
		     "12 zone over outer t2 from t1 10 gap 5 inner 2\n"
		     "13 stop A#1 completed after 2\n"
		     "13 completed A#1 t2\n"
		     "14 gone A#1 finished completed name task run 7 self 7 suspended 3 ready 2\n"
		     "14 gone B#2 finished completed name task run 1 self 1 suspended 0 ready 0\n");
}

/* also through another call site */
static void recursion_is_known(void **state)
{
	(void)state;
	told__expect("1 t1 zone_begin fib f a.c:1\n"
		     "2 t1 zone_begin other f a.c:2\n"
		     "3 t1 zone_begin fib f a.c:1\n"
		     "4 t1 zone_end\n"
		     "5 t1 zone_end\n"
		     "6 t1 zone_end\n"
		     "7 t1 finish\n",

		     "1 zone fib depth 0 on nobody\n"
		     "2 zone other depth 1 on nobody\n"
		     "3 zone fib depth 2 on nobody recursive\n"
		     "4 zone over fib t1 from t1 1 gap 0 inner 0\n"
		     "5 zone over other t1 from t1 3 gap 0 inner 1\n"
		     "6 zone over fib t1 from t1 5 gap 0 inner 3\n");
}

/* lives on with its task */
static void zone_of_a_gone_thread(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 zone_begin z f a.c:1\n"
		     "3 t1 yielded A\n"
		     "4 t1 thread_exit\n"
		     "5 t2 begin A w1\n"
		     "6 t2 zone_end\n"
		     "7 t2 completed A\n"
		     "8 t2 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 zone z depth 0 on A#1\n"
		     "3 stop A#1 yielded after 2\n"
		     "3 yielded A#1 t1\n"
		     "3 gap A#1 ready\n"
		     "5 over A#1 ready 2\n"
		     "5 run A#1 t2 w1 number 1 migrated\n"
		     "6 zone over z t2 from t1 4 gap 2 inner 0\n"
		     "7 stop A#1 completed after 2\n"
		     "7 completed A#1 t2\n"
		     "8 gone A#1 finished completed name task run 4 self 4 suspended 0 ready 2\n");
}

/* on the thread that set the future, before the next stop of the task that set it */
static void inline_continuations(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 future_set F\n"
		     "3 t1 begin B w0\n"
		     "4 t1 continuation_begin F C1\n"
		     "5 t1 continuation_end F C1\n"
		     "6 t1 completed B\n"
		     "7 t1 continuation_begin F C2\n"
		     "8 t1 continuation_end F C2\n"
		     "9 t2 continuation_begin F C3\n"
		     "10 t2 continuation_end F C3\n"
		     "11 t1 yielded A\n"
		     "12 t1 begin A w0\n"
		     "13 t1 continuation_begin F C4\n"
		     "14 t1 continuation_end F C4\n"
		     "15 t1 completed A\n"
		     "16 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "3 born B#2 task parent 0#0\n"
		     "3 run B#2 t1 w0 number 0 inside A#1\n"
		     "4 continuation C1 of F t1 inline\n"
		     "4 active 1 pid 100\n"
		     "5 active 0 pid 100\n"
		     "6 stop B#2 completed after 3\n"
		     "6 completed B#2 t1\n"
		     "7 continuation C2 of F t1 inline\n"
		     "7 active 1 pid 100\n"
		     "8 active 0 pid 100\n"
		     "9 continuation C3 of F t2 scheduled\n"
		     "9 active 1 pid 100\n"
		     "10 active 0 pid 100\n"
		     "11 stop A#1 yielded after 10\n"
		     "11 yielded A#1 t1\n"
		     "11 gap A#1 ready\n"
		     "12 over A#1 ready 1\n"
		     "12 run A#1 t1 w0 number 1\n"
		     "13 continuation C4 of F t1 scheduled\n"
		     "13 active 1 pid 100\n"
		     "14 active 0 pid 100\n"
		     "15 stop A#1 completed after 3\n"
		     "15 completed A#1 t1\n"
		     "16 gone A#1 finished completed name task run 13 self 10 suspended 0 ready 1\n"
		     "16 gone B#2 finished completed name task run 3 self 3 suspended 0 ready 0\n");
}

/* inline until a task begins there */
static void continuations_outside_tasks(void **state)
{
	(void)state;
	told__expect("1 t1 future_exception F\n"
		     "2 t1 continuation_begin F C1\n"
		     "3 t1 continuation_end F C1\n"
		     "4 t1 begin A w0\n"
		     "5 t1 continuation_begin F C2\n"
		     "6 t1 continuation_end F C2\n"
		     "7 t1 completed A\n"
		     "8 t1 continuation_begin F C3\n"
		     "9 t1 continuation_end F C3\n"
		     "10 t1 finish\n",

		     "2 continuation C1 of F t1 inline\n"
		     "2 active 1 pid 100\n"
		     "3 active 0 pid 100\n"
		     "4 born A#1 task parent 0#0\n"
		     "4 run A#1 t1 w0 number 0\n"
		     "5 continuation C2 of F t1 scheduled\n"
		     "5 active 1 pid 100\n"
		     "6 active 0 pid 100\n"
		     "7 stop A#1 completed after 3\n"
		     "7 completed A#1 t1\n"
		     "8 continuation C3 of F t1 scheduled\n"
		     "8 active 1 pid 100\n"
		     "9 active 0 pid 100\n"
		     "10 gone A#1 finished completed name task run 3 self 3 suspended 0 ready 0\n");
}

/* from begin to end, and none when the process ends */
static void active_continuations(void **state)
{
	(void)state;
	told__expect("1 t1 continuation_begin F C\n"
		     "2 t2 continuation_begin F D\n"
		     "3 t1 continuation_end F C\n"
		     "4 t1 continuation_attached F E\n"
		     "5 t1 process_exit 0\n"
		     "6 t1 finish\n",

		     "1 continuation C of F t1 scheduled\n"
		     "1 active 1 pid 100\n"
		     "2 continuation D of F t2 scheduled\n"
		     "2 active 2 pid 100\n"
		     "3 active 1 pid 100\n"
		     "5 active 0 pid 100\n");
}

/* the capture begins in the middle: ends of what began before take nothing from the gauge */
static void active_continuations_from_the_middle(void **state)
{
	(void)state;
	told__expect("1 t1 continuation_end F A\n"
		     "2 t2 continuation_begin F C\n"
		     "3 t1 continuation_end F B\n"
		     "4 t1 continuation_begin F D\n"
		     "5 t1 continuation_end F D\n"
		     "6 t2 continuation_end F C\n"
		     "7 t1 continuation_end F E\n"
		     "8 t1 continuation_begin F E\n"
		     "9 t1 continuation_end F E\n"
		     "10 t1 finish\n",

		     "2 continuation C of F t2 scheduled\n"
		     "2 active 1 pid 100\n"
		     "4 continuation D of F t1 scheduled\n"
		     "4 active 2 pid 100\n"
		     "5 active 1 pid 100\n"
		     "6 active 0 pid 100\n"
		     "8 continuation E of F t1 scheduled\n"
		     "8 active 1 pid 100\n"
		     "9 active 0 pid 100\n");
}

/* its END was lost: it ends with its task at the latest, so nothing is left in the gauge */
static void active_continuations_after_a_loss(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n2 t2 future_set F\n3 t1 begin a w0\n"
		     "4 t1 continuation_begin F C\n8 t1 lost 9 5 7 0\n9 t1 completed a\n"
		     "10 t1 continuation_begin F D\n11 t1 continuation_end F D\n12 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "3 born a#1 task parent 0#0\n"
		     "3 run a#1 t1 w0 number 0\n"
		     "4 continuation C of F t1 scheduled\n"
		     "4 active 1 pid 100\n"
		     "8 stop a#1 cut after 5\n"
		     "8 lost t1 9\n"
		     "9 completed a#1 t1\n"
		     "9 active 0 pid 100\n"
		     "10 continuation D of F t1 scheduled\n"
		     "10 active 1 pid 100\n"
		     "11 active 0 pid 100\n"
		     "12 gone a#1 finished completed name task run 5 self 5 suspended 0 ready 0\n");
}

/* without a loss another thread may still end it, though its task is over */
static void a_continuation_that_outlives_its_task(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n3 t1 begin a w0\n4 t1 continuation_begin F C\n"
		     "9 t1 completed a\n10 t2 continuation_end F C\n11 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "3 born a#1 task parent 0#0\n"
		     "3 run a#1 t1 w0 number 0\n"
		     "4 continuation C of F t1 scheduled\n"
		     "4 active 1 pid 100\n"
		     "9 stop a#1 completed after 6\n"
		     "9 completed a#1 t1\n"
		     "10 active 0 pid 100\n"
		     "11 gone a#1 finished completed name task run 6 self 6 suspended 0 ready 0\n");
}

/* at a reused address counts for the last one who set it */
static void a_future_set_again(void **state)
{
	(void)state;
	told__expect("1 t1 future_set F\n"
		     "2 t2 future_set F\n"
		     "3 t1 continuation_begin F C\n"
		     "4 t1 continuation_end F C\n"
		     "5 t2 continuation_begin F C\n"
		     "6 t2 continuation_end F C\n"
		     "7 t1 finish\n",

		     "3 continuation C of F t1 scheduled\n"
		     "3 active 1 pid 100\n"
		     "4 active 0 pid 100\n"
		     "5 continuation C of F t2 inline\n"
		     "5 active 1 pid 100\n"
		     "6 active 0 pid 100\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_nest_on_the_task),
		cmocka_unit_test(recursion_is_known),
		cmocka_unit_test(zone_of_a_gone_thread),
		cmocka_unit_test(inline_continuations),
		cmocka_unit_test(continuations_outside_tasks),
		cmocka_unit_test(active_continuations),
		cmocka_unit_test(active_continuations_from_the_middle),
		cmocka_unit_test(active_continuations_after_a_loss),
		cmocka_unit_test(a_continuation_that_outlives_its_task),
		cmocka_unit_test(a_future_set_again),
	};

	(void)told__expect;
	(void)told__expect_anomalies;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
