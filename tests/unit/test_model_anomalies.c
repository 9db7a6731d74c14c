/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each kind of repair: what it makes of the impossible, and that it is counted once, as that kind.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

/* its stay is ended; the stop that comes there later is part of the same mistake */
static void begin_while_running(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "3 t2 begin A w1\n"
		     "6 t1 suspended A wait F\n"
		     "7 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "! begin_while_running\n"
		     "3 stop A#1 cut after 2\n"
		     "3 run A#1 t2 w1 number 1 migrated\n"
		     "7 stop A#1 completed after 4\n"
		     "7 completed A#1 t2\n"
		     "9 gone A#1 finished completed name task run 6 self 6 suspended 0 ready 0\n");
}

/* on the same thread */
static void begin_twice_here(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 begin A w0\n"
			       "3 t1 begin A w0\n"
			       "6 t1 completed A\n"
			       "9 t1 finish\n",
			       ANOMALY_BEGIN_WHILE_RUNNING, 1);
}

/* of a task that is not running: ignored; COMPLETED ends its life */
static void stop_without_begin(void **state)
{
	(void)state;
	told__expect("0.5 t1 exec\n"
		     "1 t1 worker_start w0 -\n"
		     "1 t1 created A a 0\n"
		     "2 t1 suspended A wait F\n"
		     "4 t1 completed A\n"
		     "5 t1 yielded B\n"
		     "9 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "! stop_without_begin\n"
		     "! stop_without_begin\n"
		     "4 over A#1 ready 3\n"
		     "4 completed A#1 t1\n"
		     "! stop_without_begin\n"
		     "9 gone A#1 finished completed name a run 0 self 0 suspended 0 ready 3\n");
}

/* a third END and other stops after a stop, of tasks seen from their creation */
static void every_stop_without_begin(void **state)
{
	(void)state;
	told__expect_anomalies("0.5 t1 exec\n"
			       "1 t1 worker_start w0 -\n"
			       "1 t1 created A a 0\n"
			       "2 t1 end A\n"
			       "3 t1 begin A w0\n"
			       "4 t1 suspended A wait F\n"
			       "5 t1 suspended A wait F\n"
			       "6 t1 yielded A\n"
			       "7 t1 completed A\n"
			       "8 t1 completed A\n"
			       "9 t1 finish\n",
			       ANOMALY_STOP_WITHOUT_BEGIN, 4);
}

/* ends the stay all the same */
static void stop_on_other_thread(void **state)
{
	(void)state;
	told__expect(
		"1 t1 begin A w0\n"
		"5 t2 suspended A wait F\n"
		"7 t1 finish\n",

		"1 born A#1 task parent 0#0\n"
		"1 run A#1 t1 w0 number 0\n"
		"! stop_on_other_thread\n"
		"5 stop A#1 suspended after 4\n"
		"5 gap A#1 suspended for wait on F\n"
		"7 over A#1 suspended 2 cut\n"
		"7 gone A#1 unfinished suspended name task run 4 self 4 suspended 2 ready 0\n");
}

/* the stays inside are cut, and stopped until they go on */
static void stop_not_innermost(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 begin B w0\n"
		     "3 t1 begin C w0\n"
		     "5 t1 completed A\n"
		     "6 t1 suspended C wait F\n"
		     "7 t2 begin C w1\n"
		     "8 t2 completed C\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 born B#2 task parent 0#0\n"
		     "2 run B#2 t1 w0 number 0 inside A#1\n"
		     "3 born C#3 task parent 0#0\n"
		     "3 run C#3 t1 w0 number 0 inside B#2\n"
		     "! stop_not_innermost\n"
		     "5 stop C#3 cut after 2\n"
		     "5 gap C#3 stopped\n"
		     "5 stop B#2 cut after 3\n"
		     "5 gap B#2 stopped\n"
		     "5 stop A#1 completed after 4\n"
		     "5 completed A#1 t1\n"
		     "6 over C#3 stopped 1\n"
		     "6 gap C#3 suspended for wait on F\n"
		     "7 over C#3 suspended 1\n"
		     "7 run C#3 t2 w1 number 1 migrated\n"
		     "8 stop C#3 completed after 1\n"
		     "8 completed C#3 t2\n"
		     "9 gone A#1 finished completed name task run 4 self 1 suspended 0 ready 0\n"
		     "9 over B#2 stopped 4 cut\n"
		     "9 gone B#2 unfinished stopped name task run 3 self 1 suspended 0 ready 0\n"
		     "9 gone C#3 finished completed name task run 3 self 3 suspended 1 ready 0\n");
}

/* BEGIN and READY make a new lifetime */
static void run_after_completed(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 completed A\n"
		     "4 t1 begin A w0\n"
		     "5 t1 completed A\n"
		     "6 t1 ready A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 completed after 1\n"
		     "2 completed A#1 t1\n"
		     "! run_after_completed\n"
		     "4 gone A#1 finished completed name task run 1 self 1 suspended 0 ready 0\n"
		     "4 born A#2 task parent 0#0\n"
		     "4 run A#2 t1 w0 number 0\n"
		     "5 stop A#2 completed after 1\n"
		     "5 completed A#2 t1\n"
		     "! run_after_completed\n"
		     "6 gone A#2 finished completed name task run 1 self 1 suspended 0 ready 0\n"
		     "6 born A#3 task parent 0#0\n"
		     "6 ready A#3 t1\n"
		     "6 gap A#3 ready\n"
		     "9 over A#3 ready 3 cut\n"
		     "9 gone A#3 unfinished ready name task run 0 self 0 suspended 0 ready 3\n");
}

/* ignored, not counted as an event of tasks */
static void event_without_task(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 created 0 a 0\n"
			       "2 t1 begin 0 w0\n"
			       "3 t1 completed 0\n"
			       "9 t1 finish\n",
			       ANOMALY_EVENT_WITHOUT_TASK, 3);
}

/* of a task that is alive: a new lifetime, the old one unfinished */
static void created_twice(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t1 begin A w0\n"
		     "4 t2 created A b 0\n"
		     "6 t1 completed A\n"
		     "8 t1 begin A w0\n"
		     "9 t1 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "! created_twice\n"
		     "4 stop A#1 cut after 2\n"
		     "4 gone A#1 unfinished running name a run 2 self 2 suspended 0 ready 1\n"
		     "4 born A#2 b parent 0#0\n"
		     "4 created A#2 t2\n"
		     "4 gap A#2 ready presumed\n"
		     "8 over A#2 ready 4\n"
		     "8 run A#2 t1 w0 number 0\n"
		     "9 stop A#2 completed after 1\n"
		     "9 completed A#2 t1\n"
		     "9 gone A#2 finished completed name b run 1 self 1 suspended 0 ready 4\n");
}

/* likewise */
static void staged_twice(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 staged A a 0\n"
			       "4 t1 staged A b 0\n"
			       "9 t1 finish\n",
			       ANOMALY_CREATED_TWICE, 1);
}

/* of a ready or completed task, twice while it runs, and never used */
static void resumed_not_suspended(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 created A a 0\n"
			       "2 t2 resumed A set F\n"
			       "4 t1 begin A w0\n"
			       "5 t2 resumed A set F\n"
			       "6 t2 resumed A set F\n"
			       "7 t1 completed A\n"
			       "9 t2 resumed A set F\n"
			       "12 t1 finish\n",
			       ANOMALY_RESUMED_NOT_SUSPENDED, 4);
}

/* where all zones were seen */
static void zone_end_without_begin(void **state)
{
	(void)state;
	told__expect_anomalies("0.5 t1 exec\n"
			       "1 t1 worker_start w0 -\n"
			       "2 t1 zone_end\n"
			       "3 t1 created A a 0\n"
			       "4 t1 begin A w0\n"
			       "5 t1 zone_end\n"
			       "6 t1 completed A\n"
			       "9 t1 finish\n",
			       ANOMALY_ZONE_END_WITHOUT_BEGIN, 2);
}

/* a task or thread that was there before may have zones open */
static void zone_end_of_unseen_begin(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 zone_end\n"
			       "4 t1 begin A w0\n"
			       "5 t1 zone_end\n"
			       "6 t1 completed A\n"
			       "9 t1 finish\n",
			       ANOMALY_ZONE_END_WITHOUT_BEGIN, 0);
}

/* what began before the first event of a category may have begun unseen */
static void gates_open_one_by_one(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_start w0 -\n"
			       "2 t1 completed A\n"
			       "3 t1 created B b 0\n"
			       "4 t1 begin B w0\n"
			       "5 t1 zone_end\n"
			       "6 t1 continuation_end F C\n"
			       "7 t1 completed B\n"
			       "8 t1 zone_end\n"
			       "9 t1 finish\n",
			       ANOMALY_ZONE_END_WITHOUT_BEGIN, 0);
}

/* in what begins later */
static void and_then_all_is_seen(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 zone_begin z f a.c:1\n"
			       "2 t1 zone_end\n"
			       "2 t1 future_created F\n"
			       "3 t1 begin A w0\n"
			       "4 t2 worker_start w1 -\n"
			       "5 t2 zone_end\n"
			       "6 t1 completed A\n"
			       "9 t1 finish\n",
			       ANOMALY_ZONE_END_WITHOUT_BEGIN, 1);
}

/* by a task that completes, or by a thread that its process outlives */
static void zone_left_open(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 created A a 0\n"
			       "2 t1 begin A w0\n"
			       "3 t1 zone_begin z f a.c:1\n"
			       "4 t1 completed A\n"
			       "5 t1 zone_begin y f a.c:2\n"
			       "6 t1 thread_exit\n"
			       "200000 t2 finish\n",
			       ANOMALY_ZONE_LEFT_OPEN, 2);
}

/* is none when the process ends, by a signal or by exit */
static void zone_open_at_exit(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 zone_begin z f a.c:1\n"
			       "2 t2 begin A w0\n"
			       "2 t2 zone_begin y f a.c:2\n"
			       "6 t1 thread_exit\n"
			       "7 t2 thread_exit\n"
			       "8 t1 process_exit 9\n"
			       "200000 t2 finish\n",
			       ANOMALY_ZONE_LEFT_OPEN, 0);
}

/* only on a thread that was seen from its start, or had such a span before */
static void span_end_without_begin(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_sleep_end w0 -\n"
			       "1 t2 worker_start w1 -\n"
			       "2 t1 worker_sleep_end w0 -\n"
			       "3 t2 worker_background_end w1\n"
			       "4 t1 worker_bulk_end w0\n"
			       "9 t1 finish\n",
			       ANOMALY_SPAN_END_WITHOUT_BEGIN, 2);
}

/* ends the one before */
static void span_begin_twice(void **state)
{
	(void)state;
	told__expect("1 t1 worker_sleep_begin w0 a\n"
		     "2 t1 worker_sleep_begin w0 b\n"
		     "3 t1 worker_sleep_end w0 -\n"
		     "9 t1 finish\n",

		     "1 span 0 t1 a\n"
		     "! span_begin_twice\n"
		     "2 span over 0 t1 - after 1\n"
		     "2 span 0 t1 b\n"
		     "3 span over 0 t1 - after 1\n");
}

/* ignored */
static void continuation_end_without_begin(void **state)
{
	(void)state;
	told__expect_anomalies("0.5 t1 exec\n"
			       "1 t1 worker_start w0 -\n"
			       "2 t1 continuation_begin F C\n"
			       "3 t1 continuation_end F C\n"
			       "4 t1 continuation_end F C\n"
			       "9 t1 finish\n",
			       ANOMALY_CONTINUATION_END_WITHOUT_BEGIN, 1);
}

/* taken at the time of the newest */
static void late_event(void **state)
{
	(void)state;
	told__expect(
		"5 t1 begin A w0\n"
		"3 t1 suspended A wait F\n"
		"9 t1 finish\n",

		"! late_event\n"
		"5 born A#1 task parent 0#0\n"
		"5 run A#1 t1 w0 number 0\n"
		"5 stop A#1 suspended after 0\n"
		"5 gap A#1 suspended for wait on F\n"
		"9 over A#1 suspended 4 cut\n"
		"9 gone A#1 unfinished suspended name task run 0 self 0 suspended 4 ready 0\n");
}

/* of a newer version */
static void unknown_event(void **state)
{
	(void)state;
	told__expect_anomalies("5 t1 from_the_future\n"
			       "9 t1 finish\n",
			       ANOMALY_UNKNOWN_EVENT, 1);
}

/* one kind for all that a loss explains; what has nothing to do with it keeps its own */
static void after_loss(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_start w0 -\n"
			       "1 t2 worker_start w1 -\n"
			       "2 t1 created A a 0\n"
			       "3 t1 lost 10 3 8 0\n"
			       "4 t2 created A b 0\n"
			       "9 t2 created B b 0\n"
			       "11 t2 begin B w0\n"
			       "12 t2 completed B\n"
			       "20 t1 finish\n",
			       ANOMALY_AFTER_LOSS, 1);
}

/* the thread's SUSPENDED was lost, which is told only later */
static void anomaly_before_a_loss_is_known(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_start w0 -\n"
			       "2 t1 begin A w0\n"
			       "3 t2 begin A w1\n"
			       "8 t1 lost 10 2 8 0\n"
			       "20 t1 finish\n",
			       ANOMALY_AFTER_LOSS, 1);
}

/* keeps its kind */
static void anomaly_long_before_a_loss(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_start w0 -\n"
			       "2 t1 begin A w0\n"
			       "3 t2 begin A w1\n"
			       "8 t1 lost 10 5 8 0\n"
			       "20 t1 finish\n",
			       ANOMALY_BEGIN_WHILE_RUNNING, 1);
}

/* that the loss does not explain */
static void anomaly_after_a_loss(void **state)
{
	(void)state;
	told__expect_anomalies("1 t1 worker_start w0 -\n"
			       "1 t2 worker_start w1 -\n"
			       "3 t1 lost 10 3 8 0\n"
			       "9 t2 created B b 0\n"
			       "11 t2 created B b 0\n"
			       "20 t1 finish\n",
			       ANOMALY_CREATED_TWICE, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_while_running),
		cmocka_unit_test(begin_twice_here),
		cmocka_unit_test(stop_without_begin),
		cmocka_unit_test(every_stop_without_begin),
		cmocka_unit_test(stop_on_other_thread),
		cmocka_unit_test(stop_not_innermost),
		cmocka_unit_test(run_after_completed),
		cmocka_unit_test(event_without_task),
		cmocka_unit_test(created_twice),
		cmocka_unit_test(staged_twice),
		cmocka_unit_test(resumed_not_suspended),
		cmocka_unit_test(zone_end_without_begin),
		cmocka_unit_test(zone_end_of_unseen_begin),
		cmocka_unit_test(gates_open_one_by_one),
		cmocka_unit_test(and_then_all_is_seen),
		cmocka_unit_test(zone_left_open),
		cmocka_unit_test(zone_open_at_exit),
		cmocka_unit_test(span_end_without_begin),
		cmocka_unit_test(span_begin_twice),
		cmocka_unit_test(continuation_end_without_begin),
		cmocka_unit_test(late_event),
		cmocka_unit_test(unknown_event),
		cmocka_unit_test(after_loss),
		cmocka_unit_test(anomaly_before_a_loss_is_known),
		cmocka_unit_test(anomaly_long_before_a_loss),
		cmocka_unit_test(anomaly_after_a_loss),
	};

	(void)told__expect;
	(void)told__expect_anomalies;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
