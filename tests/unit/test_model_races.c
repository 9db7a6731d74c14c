/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of two threads that are stamped in the wrong order, by less than a microsecond: put right
 * by looking ahead. And that nothing is put right that was not wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

/* BEGIN on one thread before SUSPENDED on the other */
static void begin_before_the_stop(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "3 t2 begin A w1\n"
		     "3.2 t3 resumed A set F\n"
		     "3.4 t1 suspended A wait F\n"
		     "5 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 suspended after 2\n"
		     "3 gap A#1 suspended for wait on F\n"
		     "3 resumed A#1 t3\n"
		     "3 over A#1 suspended 0 by set\n"
		     "3 waker #0 t3 object F\n"
		     "3 gap A#1 ready\n"
		     "3 over A#1 ready 0\n"
		     "3 run A#1 t2 w1 number 1 migrated\n"
		     "5 stop A#1 completed after 2\n"
		     "5 completed A#1 t2\n"
		     "9 gone A#1 finished completed name task run 4 self 4 suspended 0 ready 0\n");
}

/* RESUMED up to a microsecond after the BEGIN it caused */
static void begin_before_its_resumed(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "5 t2 begin A w1\n"
		     "5.9 t1 resumed A set F\n"
		     "8 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "5 resumed A#1 t1\n"
		     "5 over A#1 suspended 3 by set\n"
		     "5 waker #0 t1 object F\n"
		     "5 gap A#1 ready\n"
		     "5 over A#1 ready 0\n"
		     "5 run A#1 t2 w1 number 1 migrated\n"
		     "8 stop A#1 completed after 3\n"
		     "8 completed A#1 t2\n"
		     "9 gone A#1 finished completed name task run 4 self 4 suspended 3 ready 0\n");
}

/* more than a microsecond after: kept for the next SUSPENDED */
static void resumed_later_is_for_the_next(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "5 t2 begin A w1\n"
		     "6.1 t1 resumed A set F\n"
		     "8 t2 suspended A wait G\n"
		     "9 t2 begin A w1\n"
		     "10 t2 completed A\n"
		     "12 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "5 over A#1 suspended 3\n"
		     "5 run A#1 t2 w1 number 1 migrated\n"
		     "6.100 resumed A#1 t1\n"
		     "8 stop A#1 suspended after 3\n"
		     "8 gap A#1 suspended for wait on G\n"
		     "8 over A#1 suspended 0 by set\n"
		     "8 waker #0 t1 object F\n"
		     "8 gap A#1 ready\n"
		     "9 over A#1 ready 1\n"
		     "9 run A#1 t2 w1 number 2\n"
		     "10 stop A#1 completed after 1\n"
		     "10 completed A#1 t2\n"
		     "12 gone A#1 finished completed name task run 5 self 5 suspended 3 ready 1\n");
}

/* one life, and ready for no time */
static void begin_before_its_created(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "2 t2 begin A w1\n"
		     "2.5 t1 created A a 0\n"
		     "4 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "2 born A#1 a parent 0#0\n"
		     "2 created A#1 t1\n"
		     "2 gap A#1 ready presumed\n"
		     "2 over A#1 ready 0\n"
		     "2 run A#1 t2 w1 number 0\n"
		     "4 stop A#1 completed after 2\n"
		     "4 completed A#1 t2\n"
		     "9 gone A#1 finished completed name a run 2 self 2 suspended 0 ready 0\n");
}

/* the READY behind the push */
static void begin_before_its_ready(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t2 begin A w1\n"
		     "2.5 t1 ready A\n"
		     "3 t2 yielded A\n"
		     "3.5 t2 begin A w1\n"
		     "4.9 t1 ready A\n"
		     "6 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 ready A#1 t1\n"
		     "2 over A#1 ready 1 superseded\n"
		     "2 gap A#1 ready\n"
		     "2 over A#1 ready 0\n"
		     "2 run A#1 t2 w1 number 0\n"
		     "3 stop A#1 yielded after 1\n"
		     "3 yielded A#1 t2\n"
		     "3 gap A#1 ready\n"
		     "3.500 over A#1 ready 0.500\n"
		     "3.500 run A#1 t2 w1 number 1\n"
		     "4.900 ready A#1 t1\n"
		     "6 stop A#1 completed after 2.500\n"
		     "6 completed A#1 t2\n"
		     "9 gone A#1 finished completed name a run 3.500 self 3.500 suspended 0 ready "
		     "0.500\n");
}

/* COMPLETED and DESTROYED of the life before, stamped after CREATED of the next */
static void created_before_the_old_one_is_gone(void **state)
{
	(void)state;
	told__expect("1 t1 created A old 0\n"
		     "2 t1 begin A w0\n"
		     "4 t2 created A new 0\n"
		     "4.2 t1 completed A\n"
		     "4.3 t1 destroyed A\n"
		     "4.4 t1 end A\n"
		     "6 t2 begin A w1\n"
		     "7 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 old parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "4 stop A#1 completed after 2\n"
		     "4 completed A#1 t1\n"
		     "4 destroyed A#1 t1\n"
		     "4 gone A#1 finished completed name old run 2 self 2 suspended 0 ready 1\n"
		     "4 born A#2 new parent 0#0\n"
		     "4 created A#2 t2\n"
		     "4 gap A#2 ready presumed\n"
		     "6 over A#2 ready 2\n"
		     "6 run A#2 t2 w1 number 0\n"
		     "7 stop A#2 completed after 1\n"
		     "7 completed A#2 t2\n"
		     "9 gone A#2 finished completed name new run 1 self 1 suspended 0 ready 2\n");
}

/* does not end the new one */
static void destroyed_of_the_old_after_created(void **state)
{
	(void)state;
	told__expect("1 t1 created A old 0\n"
		     "2 t1 begin A w0\n"
		     "3 t1 completed A\n"
		     "5 t2 created A new 0\n"
		     "5.3 t1 destroyed A\n"
		     "7 t2 begin A w1\n"
		     "8 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 old parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 completed after 1\n"
		     "3 completed A#1 t1\n"
		     "5 destroyed A#1 t1\n"
		     "5 gone A#1 finished completed name old run 1 self 1 suspended 0 ready 1\n"
		     "5 born A#2 new parent 0#0\n"
		     "5 created A#2 t2\n"
		     "5 gap A#2 ready presumed\n"
		     "7 over A#2 ready 2\n"
		     "7 run A#2 t2 w1 number 0\n"
		     "8 stop A#2 completed after 1\n"
		     "8 completed A#2 t2\n"
		     "9 gone A#2 finished completed name new run 1 self 1 suspended 0 ready 2\n");
}

/* by whoever waited for it */
static void destroyed_before_completed(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t1 begin A w0\n"
		     "4 t2 destroyed A\n"
		     "4.5 t1 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "4 stop A#1 completed after 2\n"
		     "4 completed A#1 t1\n"
		     "4 destroyed A#1 t2\n"
		     "4 gone A#1 finished completed name a run 2 self 2 suspended 0 ready 1\n");
}

/* which COMPLETED only ends */
static void destroyed_before_completed_of_a_stopped_task(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "1 t1 begin A w0\n"
		     "2 t1 end A\n"
		     "4 t2 destroyed A\n"
		     "4.5 t1 completed A\n"
		     "9 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 ended after 1\n"
		     "2 gap A#1 stopped\n"
		     "4 over A#1 stopped 2\n"
		     "4 completed A#1 t1\n"
		     "4 destroyed A#1 t2\n"
		     "4 gone A#1 finished completed name task run 1 self 1 suspended 0 ready 0\n");
}

/* a DESTROYED that belongs to the new life stays behind its BEGIN */
static void short_lives_are_not_mixed_up(void **state)
{
	(void)state;
	told__expect("1 t1 created A old 0\n"
		     "2 t1 begin A w0\n"
		     "3 t1 completed A\n"
		     "4 t1 created A new 0\n"
		     "4.2 t2 begin A w1\n"
		     "4.4 t2 completed A\n"
		     "4.6 t2 destroyed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 old parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 completed after 1\n"
		     "3 completed A#1 t1\n"
		     "4 gone A#1 finished completed name old run 1 self 1 suspended 0 ready 1\n"
		     "4 born A#2 new parent 0#0\n"
		     "4 created A#2 t1\n"
		     "4 gap A#2 ready presumed\n"
		     "4.200 over A#2 ready 0.200\n"
		     "4.200 run A#2 t2 w1 number 0\n"
		     "4.400 stop A#2 completed after 0.200\n"
		     "4.400 completed A#2 t2\n"
		     "4.600 destroyed A#2 t2\n"
		     "4.600 gone A#2 finished completed name new run 0.200 self 0.200 suspended 0 "
		     "ready 0.200\n");
}

/* what the awaited stop's thread did before goes before it */
static void a_thread_keeps_its_own_order(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "3 t2 begin A w1\n"
		     "3.1 t1 zone_begin z f a.c:1\n"
		     "3.2 t1 zone_end\n"
		     "3.3 t1 suspended A wait F\n"
		     "5 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "3 zone z depth 0 on A#1\n"
		     "3 zone over z t1 from t1 0 gap 0 inner 0\n"
		     "3 stop A#1 suspended after 2\n"
		     "3 gap A#1 suspended for wait on F\n"
		     "3 over A#1 suspended 0\n"
		     "3 run A#1 t2 w1 number 1 migrated\n"
		     "5 stop A#1 completed after 2\n"
		     "5 completed A#1 t2\n"
		     "9 gone A#1 finished completed name task run 4 self 4 suspended 0 ready 0\n");
}

/* RESUMED, BEGIN, SUSPENDED where BEGIN is stamped last but one */
static void early_resumed_of_a_ready_task(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 yielded A\n"
		     "4 t2 resumed A set F\n"
		     "4.2 t1 begin A w0\n"
		     "6 t1 suspended A wait F\n"
		     "8 t1 begin A w0\n"
		     "9 t1 completed A\n"
		     "10 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 yielded after 1\n"
		     "2 yielded A#1 t1\n"
		     "2 gap A#1 ready\n"
		     "4 over A#1 ready 2\n"
		     "4 run A#1 t1 w0 number 1\n"
		     "4 resumed A#1 t2\n"
		     "6 stop A#1 suspended after 2\n"
		     "6 gap A#1 suspended for wait on F\n"
		     "6 over A#1 suspended 0 by set\n"
		     "6 waker #0 t2 object F\n"
		     "6 gap A#1 ready\n"
		     "8 over A#1 ready 2\n"
		     "8 run A#1 t1 w0 number 2\n"
		     "9 stop A#1 completed after 1\n"
		     "9 completed A#1 t1\n"
		     "10 gone A#1 finished completed name task run 4 self 4 suspended 0 ready 4\n");
}

/* nothing is pulled past its end */
static void a_process_ends_while_looking_ahead(void **state)
{
	(void)state;
	told__expect(
		"1 t1 begin A w0\n"
		"3 t2 begin A w1\n"
		"3.2 t1 process_exit 0\n"
		"3.4 t1 suspended A wait F\n"
		"9 t1 finish\n",

		"1 born A#1 task parent 0#0\n"
		"1 run A#1 t1 w0 number 0\n"
		"! begin_while_running\n"
		"3 stop A#1 cut after 2\n"
		"3 run A#1 t2 w1 number 1 migrated\n"
		"3.200 stop A#1 cut after 0.200\n"
		"3.200 gone A#1 unfinished running name task run 2.200 self 2.200 suspended 0 "
		"ready 0\n"
		"3.400 born A#2 task parent 0#0\n"
		"3.400 gap A#2 suspended for wait on F\n"
		"9 over A#2 suspended 5.600 cut\n"
		"9 gone A#2 unfinished suspended name task run 0 self 0 suspended 5.600 ready 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_before_the_stop),
		cmocka_unit_test(begin_before_its_resumed),
		cmocka_unit_test(resumed_later_is_for_the_next),
		cmocka_unit_test(begin_before_its_created),
		cmocka_unit_test(begin_before_its_ready),
		cmocka_unit_test(created_before_the_old_one_is_gone),
		cmocka_unit_test(destroyed_of_the_old_after_created),
		cmocka_unit_test(destroyed_before_completed),
		cmocka_unit_test(destroyed_before_completed_of_a_stopped_task),
		cmocka_unit_test(short_lives_are_not_mixed_up),
		cmocka_unit_test(a_thread_keeps_its_own_order),
		cmocka_unit_test(early_resumed_of_a_ready_task),
		cmocka_unit_test(a_process_ends_while_looking_ahead),
	};

	(void)told__expect;
	(void)told__expect_anomalies;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
