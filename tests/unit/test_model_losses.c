/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of the model when it misses something: losses, CAPTURE_OFF, bounded memory. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

/* and any event may follow, on that thread and elsewhere */
static void loss_cuts_what_runs(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "2 t1 created A a 0\n"
		     "3 t1 begin A w0\n"
		     "4 t1 begin B w0\n"
		     "4 t1 zone_begin z f a.c:1\n"
		     "5 t1 worker_sleep_begin w0 -\n"
		     "6 t1 lost 10 6 9 0\n"
		     "10 t1 worker_sleep_end w0 -\n"
		     "10 t1 zone_end\n"
		     "10 t1 suspended A wait F\n"
		     "11 t1 completed C\n"
		     "12 t2 resumed A set F\n"
		     "13 t2 begin A w1\n"
		     "14 t2 zone_end\n"
		     "15 t2 completed A\n"
		     "16 t1 begin B w0\n"
		     "17 t1 completed B\n"
		     "20 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "2 born A#1 a parent 0#0\n"
		     "2 created A#1 t1\n"
		     "2 gap A#1 ready presumed\n"
		     "3 over A#1 ready 1\n"
		     "3 run A#1 t1 w0 number 0\n"
		     "4 born B#2 task parent 0#0\n"
		     "4 run B#2 t1 w0 number 0 inside A#1\n"
		     "4 zone z depth 0 on B#2\n"
		     "5 span 0 t1 -\n"
		     "6 zone over z t1 from t1 2 gap 0 inner 0 left open\n"
		     "6 span over 0 t1 - after 1\n"
		     "6 stop B#2 cut after 2\n"
		     "6 stop A#1 cut after 3\n"
		     "6 lost t1 10\n"
		     "10 gap A#1 suspended for wait on F\n"
		     "11 born C#3 task parent 0#0\n"
		     "11 completed C#3 t1\n"
		     "12 resumed A#1 t2\n"
		     "12 over A#1 suspended 2 by set\n"
		     "12 waker #0 t2 object F itself\n"
		     "12 gap A#1 ready\n"
		     "13 over A#1 ready 1\n"
		     "13 run A#1 t2 w1 number 1 migrated\n"
		     "15 stop A#1 completed after 2\n"
		     "15 completed A#1 t2\n"
		     "16 run B#2 t1 w0 number 1\n"
		     "17 stop B#2 completed after 1\n"
		     "17 completed B#2 t1\n"
		     "20 gone A#1 finished completed name a run 5 self 3 suspended 2 ready 2\n"
		     "20 gone B#2 finished completed name task run 3 self 3 suspended 0 ready 0\n"
		     "20 gone C#3 finished completed name task run 0 self 0 suspended 0 ready 0\n");
}

/* SUSPENDED twice: the BEGIN between was lost */
static void loss_hides_a_begin(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "2 t1 created A a 0\n"
		     "3 t1 begin A w0\n"
		     "4 t1 suspended A one F\n"
		     "5 t2 lost 10 5 9 0\n"
		     "10 t3 suspended A two G\n"
		     "12 t2 finish\n",

		     "1 worker t1 w0 -\n"
		     "2 born A#1 a parent 0#0\n"
		     "2 created A#1 t1\n"
		     "2 gap A#1 ready presumed\n"
		     "3 over A#1 ready 1\n"
		     "3 run A#1 t1 w0 number 0\n"
		     "4 stop A#1 suspended after 1\n"
		     "4 gap A#1 suspended for one on F\n"
		     "5 lost t2 10\n"
		     "10 over A#1 suspended 6\n"
		     "10 gap A#1 suspended for two on G\n"
		     "12 over A#1 suspended 2 cut\n"
		     "12 gone A#1 unfinished suspended name a run 1 self 1 suspended 8 ready 1\n");
}

/* with their thread and count */
static void losses_are_told(void **state)
{
	(void)state;
	told__expect("1 t1 lost 7 1 2 1\n"
		     "2 t2 lost 9 1 2 2\n"
		     "3 t1 finish\n",

		     "1 lost t1 7\n"
		     "2 lost t2 9\n");
}

/* shows nothing in between, and knows nothing after */
static void capture_off(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "2 t1 created A a 0\n"
		     "3 t1 begin A w0\n"
		     "3 t1 zone_begin z f a.c:1\n"
		     "4 t2 created B b 0\n"
		     "5 t2 begin B w1\n"
		     "6 t2 suspended B wait F\n"
		     "7 t1 capture_off\n"
		     "8 t1 completed A\n"
		     "8 t2 begin D w1\n"
		     "9 t1 capture_on\n"
		     "10 t1 zone_end\n"
		     "11 t1 suspended A wait F\n"
		     "12 t2 begin B w1\n"
		     "13 t2 completed B\n"
		     "14 t2 completed D\n"
		     "15 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "2 born A#1 a parent 0#0\n"
		     "2 created A#1 t1\n"
		     "2 gap A#1 ready presumed\n"
		     "3 over A#1 ready 1\n"
		     "3 run A#1 t1 w0 number 0\n"
		     "3 zone z depth 0 on A#1\n"
		     "4 born B#2 b parent 0#0\n"
		     "4 created B#2 t2\n"
		     "4 gap B#2 ready presumed\n"
		     "5 over B#2 ready 1\n"
		     "5 run B#2 t2 w1 number 0\n"
		     "6 stop B#2 suspended after 1\n"
		     "6 gap B#2 suspended for wait on F\n"
		     "7 zone over z t1 from t1 4 gap 0 inner 0 left open\n"
		     "7 stop A#1 cut after 4\n"
		     "7 over B#2 suspended 1 cut\n"
		     "11 gap A#1 suspended for wait on F\n"
		     "12 run B#2 t2 w1 number 1\n"
		     "13 stop B#2 completed after 1\n"
		     "13 completed B#2 t2\n"
		     "14 born D#3 task parent 0#0\n"
		     "14 completed D#3 t2\n"
		     "15 over A#1 suspended 4 cut\n"
		     "15 gone A#1 unfinished suspended name a run 4 self 4 suspended 4 ready 1\n"
		     "15 gone B#2 finished completed name b run 2 self 2 suspended 1 ready 1\n"
		     "15 gone D#3 finished completed name task run 0 self 0 suspended 0 ready 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loss_cuts_what_runs),
		cmocka_unit_test(loss_hides_a_begin),
		cmocka_unit_test(losses_are_told),
		cmocka_unit_test(capture_off),
	};

	(void)told__expect;
	(void)told__expect_anomalies;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
