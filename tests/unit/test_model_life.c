/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lifetimes, stays and gaps: interface, section 5, "Life of a task", and what honest runtimes do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

/* and the name and parent of CREATED win */
static void staged_and_created_are_one_life(void **state)
{
	(void)state;
	told__expect(
		"1 t1 begin P w0\n"
		"2 t1 staged A fib P\n"
		"3 t1 created A fib(30) 0\n"
		"4 t1 ready A\n"
		"6 t1 completed P\n"
		"7 t2 begin A w1\n"
		"9 t2 completed A\n"
		"10 t2 destroyed A\n"
		"11 t2 finish\n",

		"1 born P#1 task parent 0#0\n"
		"1 run P#1 t1 w0 number 0\n"
		"2 born A#2 fib parent P#1\n"
		"2 staged A#2 t1\n"
		"3 created A#2 t1\n"
		"3 gap A#2 ready presumed\n"
		"4 ready A#2 t1\n"
		"4 over A#2 ready 1 superseded\n"
		"4 gap A#2 ready\n"
		"6 stop P#1 completed after 5\n"
		"6 completed P#1 t1\n"
		"7 over A#2 ready 3\n"
		"7 run A#2 t2 w1 number 0\n"
		"9 stop A#2 completed after 2\n"
		"9 completed A#2 t2\n"
		"10 destroyed A#2 t2\n"
		"10 gone A#2 finished completed name fib(30) run 2 self 2 suspended 0 ready 3\n"
		"11 gone P#1 finished completed name task run 5 self 5 suspended 0 ready 0\n");
}

/* COMPLETED, or DESTROYED, then CREATED: a new lifetime each, no anomaly */
static void reuse_is_a_new_life(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t1 begin A w0\n"
		     "3 t1 completed A\n"
		     "4 t1 created A b 0\n"
		     "5 t1 destroyed A\n"
		     "6 t1 created A c 0\n"
		     "9 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 completed after 1\n"
		     "3 completed A#1 t1\n"
		     "4 gone A#1 finished completed name a run 1 self 1 suspended 0 ready 1\n"
		     "4 born A#2 b parent 0#0\n"
		     "4 created A#2 t1\n"
		     "4 gap A#2 ready presumed\n"
		     "5 over A#2 ready 1\n"
		     "5 destroyed A#2 t1\n"
		     "5 gone A#2 finished created name b run 0 self 0 suspended 0 ready 1\n"
		     "6 born A#3 c parent 0#0\n"
		     "6 created A#3 t1\n"
		     "6 gap A#3 ready presumed\n"
		     "9 over A#3 ready 3 cut\n"
		     "9 gone A#3 unfinished created name c run 0 self 0 suspended 0 ready 3\n");
}

/* self time is without them, run time is with them */
static void inline_tasks_nest(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 begin B w0\n"
		     "3 t1 begin C w0\n"
		     "5 t1 completed C\n"
		     "6 t1 completed B\n"
		     "9 t1 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 born B#2 task parent 0#0\n"
		     "2 run B#2 t1 w0 number 0 inside A#1\n"
		     "3 born C#3 task parent 0#0\n"
		     "3 run C#3 t1 w0 number 0 inside B#2\n"
		     "5 stop C#3 completed after 2\n"
		     "5 completed C#3 t1\n"
		     "6 stop B#2 completed after 4\n"
		     "6 completed B#2 t1\n"
		     "9 stop A#1 completed after 8\n"
		     "9 completed A#1 t1\n"
		     "9 gone A#1 finished completed name task run 8 self 4 suspended 0 ready 0\n"
		     "9 gone B#2 finished completed name task run 4 self 2 suspended 0 ready 0\n"
		     "9 gone C#3 finished completed name task run 2 self 2 suspended 0 ready 0\n");
}

/* a further END is ignored, COMPLETED after a stop only ends the life */
static void one_stop_per_stay(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t1 begin A w0\n"
		     "3 t1 suspended A wait F\n"
		     "4 t1 end A\n"
		     "5 t2 resumed A set F\n"
		     "7 t1 begin A w0\n"
		     "8 t1 yielded A\n"
		     "8 t1 end A\n"
		     "9 t1 begin A w0\n"
		     "10 t1 end A\n"
		     "11 t1 completed A\n"
		     "11 t1 end A\n"
		     "12 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 suspended after 1\n"
		     "3 gap A#1 suspended for wait on F\n"
		     "5 resumed A#1 t2\n"
		     "5 over A#1 suspended 2 by set\n"
		     "5 waker #0 t2 object F\n"
		     "5 gap A#1 ready\n"
		     "7 over A#1 ready 2\n"
		     "7 run A#1 t1 w0 number 1\n"
		     "8 stop A#1 yielded after 1\n"
		     "8 yielded A#1 t1\n"
		     "8 gap A#1 ready\n"
		     "9 over A#1 ready 1\n"
		     "9 run A#1 t1 w0 number 2\n"
		     "10 stop A#1 ended after 1\n"
		     "10 gap A#1 stopped\n"
		     "11 over A#1 stopped 1\n"
		     "11 completed A#1 t1\n"
		     "12 gone A#1 finished completed name a run 3 self 3 suspended 2 ready 4\n");
}

/* that READY, RESUMED or BEGIN end */
static void end_leaves_a_gap_stopped(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 end A\n"
		     "3 t2 ready A\n"
		     "5 t1 begin A w0\n"
		     "6 t1 end A\n"
		     "8 t2 resumed A set F\n"
		     "10 t1 begin A w0\n"
		     "11 t1 end A\n"
		     "13 t1 begin A w0\n"
		     "14 t1 completed A\n"
		     "15 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 ended after 1\n"
		     "2 gap A#1 stopped\n"
		     "3 ready A#1 t2\n"
		     "3 over A#1 stopped 1\n"
		     "3 gap A#1 ready\n"
		     "5 over A#1 ready 2\n"
		     "5 run A#1 t1 w0 number 1\n"
		     "6 stop A#1 ended after 1\n"
		     "6 gap A#1 stopped\n"
		     "8 resumed A#1 t2\n"
		     "8 over A#1 stopped 2 by set\n"
		     "8 waker #0 t2 object F\n"
		     "8 gap A#1 ready\n"
		     "10 over A#1 ready 2\n"
		     "10 run A#1 t1 w0 number 2\n"
		     "11 stop A#1 ended after 1\n"
		     "11 gap A#1 stopped\n"
		     "13 over A#1 stopped 2\n"
		     "13 run A#1 t1 w0 number 3\n"
		     "14 stop A#1 completed after 1\n"
		     "14 completed A#1 t1\n"
		     "15 gone A#1 finished completed name task run 4 self 4 suspended 0 ready 4\n");
}

/* else from CREATED */
static void ready_counts_from_ready_if_there_is_one(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "4 t1 ready A\n"
		     "6 t1 begin A w0\n"
		     "7 t1 completed A\n"
		     "8 t1 created B b 0\n"
		     "11 t1 begin B w0\n"
		     "12 t1 completed B\n"
		     "13 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "4 ready A#1 t1\n"
		     "4 over A#1 ready 3 superseded\n"
		     "4 gap A#1 ready\n"
		     "6 over A#1 ready 2\n"
		     "6 run A#1 t1 w0 number 0\n"
		     "7 stop A#1 completed after 1\n"
		     "7 completed A#1 t1\n"
		     "8 born B#2 b parent 0#0\n"
		     "8 created B#2 t1\n"
		     "8 gap B#2 ready presumed\n"
		     "11 over B#2 ready 3\n"
		     "11 run B#2 t1 w0 number 0\n"
		     "12 stop B#2 completed after 1\n"
		     "12 completed B#2 t1\n"
		     "13 gone A#1 finished completed name a run 1 self 1 suspended 0 ready 2\n"
		     "13 gone B#2 finished completed name b run 1 self 1 suspended 0 ready 3\n");
}

/* the whole gap is suspended and nothing is ready */
static void no_resumed_all_suspended(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "9 t1 begin A w0\n"
		     "10 t1 completed A\n"
		     "11 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "9 over A#1 suspended 7\n"
		     "9 run A#1 t1 w0 number 1\n"
		     "10 stop A#1 completed after 1\n"
		     "10 completed A#1 t1\n"
		     "11 gone A#1 finished completed name task run 2 self 2 suspended 7 ready 0\n");
}

/* READY of a suspended task ends its suspension by an unknown waker; RESUMED may follow */
static void ready_wakes_too(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "4 t2 ready A\n"
		     "5 t2 resumed A set F\n"
		     "9 t1 begin A w0\n"
		     "10 t1 completed A\n"
		     "11 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "4 ready A#1 t2\n"
		     "4 over A#1 suspended 2\n"
		     "4 gap A#1 ready\n"
		     "5 resumed A#1 t2\n"
		     "9 over A#1 ready 5\n"
		     "9 run A#1 t1 w0 number 1\n"
		     "10 stop A#1 completed after 1\n"
		     "10 completed A#1 t1\n"
		     "11 gone A#1 finished completed name task run 2 self 2 suspended 2 ready 5\n");
}

/* its suspension lasts 0 and it is ready from there, also after a yield */
static void overtaking_resumed_is_kept(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t2 begin W w1\n"
		     "3 t2 resumed A set F\n"
		     "4 t1 yielded A\n"
		     "5 t1 begin A w0\n"
		     "6 t1 suspended A wait F\n"
		     "9 t1 begin A w0\n"
		     "10 t1 completed A\n"
		     "11 t2 completed W\n"
		     "12 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 born W#2 task parent 0#0\n"
		     "2 run W#2 t2 w1 number 0\n"
		     "3 resumed A#1 t2\n"
		     "4 stop A#1 yielded after 3\n"
		     "4 yielded A#1 t1\n"
		     "4 gap A#1 ready\n"
		     "5 over A#1 ready 1\n"
		     "5 run A#1 t1 w0 number 1\n"
		     "6 stop A#1 suspended after 1\n"
		     "6 gap A#1 suspended for wait on F\n"
		     "6 over A#1 suspended 0 by set\n"
		     "6 waker #2 t2 object F\n"
		     "6 gap A#1 ready\n"
		     "9 over A#1 ready 3\n"
		     "9 run A#1 t1 w0 number 2\n"
		     "10 stop A#1 completed after 1\n"
		     "10 completed A#1 t1\n"
		     "11 stop W#2 completed after 9\n"
		     "11 completed W#2 t2\n"
		     "12 gone A#1 finished completed name task run 5 self 5 suspended 0 ready 4\n"
		     "12 gone W#2 finished completed name task run 9 self 9 suspended 0 ready 0\n");
}

/* just before it goes on, and just after */
static void resumed_by_itself(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "9 t1 resumed A self F\n"
		     "9.2 t1 begin A w0\n"
		     "10 t1 suspended A wait F\n"
		     "12 t1 begin A w0\n"
		     "13 t1 resumed A self F\n"
		     "15 t1 suspended A wait F\n"
		     "19 t1 begin A w0\n"
		     "20 t1 completed A\n"
		     "21 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "9 resumed A#1 t1\n"
		     "9 over A#1 suspended 7 by self\n"
		     "9 waker #0 t1 object F itself\n"
		     "9 gap A#1 ready\n"
		     "9.200 over A#1 ready 0.200\n"
		     "9.200 run A#1 t1 w0 number 1\n"
		     "10 stop A#1 suspended after 0.800\n"
		     "10 gap A#1 suspended for wait on F\n"
		     "12 over A#1 suspended 2\n"
		     "12 run A#1 t1 w0 number 2\n"
		     "13 resumed A#1 t1\n"
		     "15 stop A#1 suspended after 3\n"
		     "15 gap A#1 suspended for wait on F\n"
		     "19 over A#1 suspended 4\n"
		     "19 run A#1 t1 w0 number 3\n"
		     "20 stop A#1 completed after 1\n"
		     "20 completed A#1 t1\n"
		     "21 gone A#1 finished completed name task run 5.800 self 5.800 suspended 13 "
		     "ready 0.200\n");
}

/* the running task, its thread, and what for */
static void waker_is_known(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 suspended A wait F\n"
		     "3 t2 begin W w1\n"
		     "5 t2 resumed A set F\n"
		     "6 t2 completed W\n"
		     "7 t2 begin A w1\n"
		     "8 t2 completed A\n"
		     "9 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 suspended after 1\n"
		     "2 gap A#1 suspended for wait on F\n"
		     "3 born W#2 task parent 0#0\n"
		     "3 run W#2 t2 w1 number 0\n"
		     "5 resumed A#1 t2\n"
		     "5 over A#1 suspended 3 by set\n"
		     "5 waker #2 t2 object F\n"
		     "5 gap A#1 ready\n"
		     "6 stop W#2 completed after 3\n"
		     "6 completed W#2 t2\n"
		     "7 over A#1 ready 2\n"
		     "7 run A#1 t2 w1 number 1 migrated\n"
		     "8 stop A#1 completed after 1\n"
		     "8 completed A#1 t2\n"
		     "9 gone A#1 finished completed name task run 2 self 2 suspended 3 ready 2\n"
		     "9 gone W#2 finished completed name task run 3 self 3 suspended 0 ready 0\n");
}

/* stays on another worker than the one before; no worker is none */
static void migrations(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 yielded A\n"
		     "3 t2 begin A w1\n"
		     "4 t2 yielded A\n"
		     "5 t2 begin A w1\n"
		     "6 t2 yielded A\n"
		     "7 t3 begin A -\n"
		     "8 t3 yielded A\n"
		     "9 t1 begin A w0\n"
		     "10 t1 completed A\n"
		     "11 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 yielded after 1\n"
		     "2 yielded A#1 t1\n"
		     "2 gap A#1 ready\n"
		     "3 over A#1 ready 1\n"
		     "3 run A#1 t2 w1 number 1 migrated\n"
		     "4 stop A#1 yielded after 1\n"
		     "4 yielded A#1 t2\n"
		     "4 gap A#1 ready\n"
		     "5 over A#1 ready 1\n"
		     "5 run A#1 t2 w1 number 2\n"
		     "6 stop A#1 yielded after 1\n"
		     "6 yielded A#1 t2\n"
		     "6 gap A#1 ready\n"
		     "7 over A#1 ready 1\n"
		     "7 run A#1 t3 w-1 number 3\n"
		     "8 stop A#1 yielded after 1\n"
		     "8 yielded A#1 t3\n"
		     "8 gap A#1 ready\n"
		     "9 over A#1 ready 1\n"
		     "9 run A#1 t1 w0 number 4\n"
		     "10 stop A#1 completed after 1\n"
		     "10 completed A#1 t1\n"
		     "11 gone A#1 finished completed name task run 5 self 5 suspended 0 ready 4\n");
}

/* first seen by any event, no anomaly */
static void alive_before_the_capture(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "1 t2 suspended B wait F\n"
		     "1 t3 resumed C set F\n"
		     "1 t4 end D\n"
		     "1 t5 completed E\n"
		     "1 t6 ready G\n"
		     "1 t7 yielded H\n"
		     "1 t8 renamed I name\n"
		     "1 t9 destroyed J\n"
		     "2 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "1 born B#2 task parent 0#0\n"
		     "1 gap B#2 suspended for wait on F\n"
		     "1 born C#3 task parent 0#0\n"
		     "1 resumed C#3 t3\n"
		     "1 gap C#3 ready\n"
		     "1 born D#4 task parent 0#0\n"
		     "1 gap D#4 stopped\n"
		     "1 born E#5 task parent 0#0\n"
		     "1 completed E#5 t5\n"
		     "1 born G#6 task parent 0#0\n"
		     "1 ready G#6 t6\n"
		     "1 gap G#6 ready\n"
		     "1 born H#7 task parent 0#0\n"
		     "1 yielded H#7 t7\n"
		     "1 gap H#7 ready\n"
		     "1 born I#8 name parent 0#0\n"
		     "1 renamed I#8 t8\n"
		     "2 stop A#1 cut after 1\n"
		     "2 gone A#1 unfinished running name task run 1 self 1 suspended 0 ready 0\n"
		     "2 over B#2 suspended 1 cut\n"
		     "2 gone B#2 unfinished suspended name task run 0 self 0 suspended 1 ready 0\n"
		     "2 over C#3 ready 1 cut\n"
		     "2 gone C#3 unfinished ready name task run 0 self 0 suspended 0 ready 1\n"
		     "2 over D#4 stopped 1 cut\n"
		     "2 gone D#4 unfinished stopped name task run 0 self 0 suspended 0 ready 0\n"
		     "2 gone E#5 finished completed name task run 0 self 0 suspended 0 ready 0\n"
		     "2 over G#6 ready 1 cut\n"
		     "2 gone G#6 unfinished ready name task run 0 self 0 suspended 0 ready 1\n"
		     "2 over H#7 ready 1 cut\n"
		     "2 gone H#7 unfinished ready name task run 0 self 0 suspended 0 ready 1\n"
		     "2 gone I#8 unfinished stopped name name run 0 self 0 suspended 0 ready 0\n");
}

/* several stops without a BEGIN, each with its further END */
static void nested_before_the_capture(void **state)
{
	(void)state;
	told__expect("1 t1 completed C\n"
		     "1 t1 end C\n"
		     "2 t1 suspended B wait F\n"
		     "2 t1 end B\n"
		     "3 t1 destroyed C\n"
		     "3 t1 begin D w0\n"
		     "4 t1 completed D\n"
		     "4 t1 end D\n"
		     "5 t1 completed A\n"
		     "5 t1 end A\n"
		     "6 t1 finish\n",

		     "1 born C#1 task parent 0#0\n"
		     "1 completed C#1 t1\n"
		     "2 born B#2 task parent 0#0\n"
		     "2 gap B#2 suspended for wait on F\n"
		     "3 destroyed C#1 t1\n"
		     "3 gone C#1 finished completed name task run 0 self 0 suspended 0 ready 0\n"
		     "3 born D#3 task parent 0#0\n"
		     "3 run D#3 t1 w0 number 0\n"
		     "4 stop D#3 completed after 1\n"
		     "4 completed D#3 t1\n"
		     "5 born A#4 task parent 0#0\n"
		     "5 completed A#4 t1\n"
		     "6 over B#2 suspended 4 cut\n"
		     "6 gone B#2 unfinished suspended name task run 0 self 0 suspended 4 ready 0\n"
		     "6 gone D#3 finished completed name task run 1 self 1 suspended 0 ready 0\n"
		     "6 gone A#4 finished completed name task run 0 self 0 suspended 0 ready 0\n");
}

/* when the task already runs elsewhere, or lives anew */
static void scheduler_says_end_too_late(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "1 t2 worker_start w1 -\n"
		     "2 t1 begin A w0\n"
		     "3 t1 suspended A wait F\n"
		     "5 t2 resumed A set F\n"
		     "7 t2 begin A w1\n"
		     "9 t1 end A\n"
		     "11 t2 completed A\n"
		     "12 t1 created A new 0\n"
		     "14 t1 begin A w0\n"
		     "16 t2 end A\n"
		     "18 t1 completed A\n"
		     "20 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "1 worker t2 w1 -\n"
		     "2 born A#1 task parent 0#0\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 suspended after 1\n"
		     "3 gap A#1 suspended for wait on F\n"
		     "5 resumed A#1 t2\n"
		     "5 over A#1 suspended 2 by set\n"
		     "5 waker #0 t2 object F\n"
		     "5 gap A#1 ready\n"
		     "7 over A#1 ready 2\n"
		     "7 run A#1 t2 w1 number 1 migrated\n"
		     "11 stop A#1 completed after 4\n"
		     "11 completed A#1 t2\n"
		     "12 gone A#1 finished completed name task run 5 self 5 suspended 2 ready 2\n"
		     "12 born A#2 new parent 0#0\n"
		     "12 created A#2 t1\n"
		     "12 gap A#2 ready presumed\n"
		     "14 over A#2 ready 2\n"
		     "14 run A#2 t1 w0 number 0\n"
		     "18 stop A#2 completed after 4\n"
		     "18 completed A#2 t1\n"
		     "20 gone A#2 finished completed name new run 4 self 4 suspended 0 ready 2\n");
}

/* DESTROYED inside its own stay; the scheduler's END and COMPLETED come after it */
static void a_task_deletes_itself(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "2 t1 begin A w0\n"
		     "3 t1 destroyed A\n"
		     "4 t1 completed A\n"
		     "5 t1 begin A w0\n"
		     "6 t1 destroyed A\n"
		     "7 t1 end A\n"
		     "9 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "2 born A#1 task parent 0#0\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 stop A#1 ended after 1\n"
		     "3 destroyed A#1 t1\n"
		     "3 gone A#1 finished running name task run 1 self 1 suspended 0 ready 0\n"
		     "5 born A#2 task parent 0#0\n"
		     "5 run A#2 t1 w0 number 0\n"
		     "6 stop A#2 ended after 1\n"
		     "6 destroyed A#2 t1\n"
		     "6 gone A#2 finished running name task run 1 self 1 suspended 0 ready 0\n");
}

/* goes by the last name */
static void renamed(void **state)
{
	(void)state;
	told__expect("1 t1 created A one 0\n"
		     "2 t1 begin A w0\n"
		     "3 t1 renamed A two\n"
		     "4 t1 completed A\n"
		     "5 t1 finish\n",

		     "1 born A#1 one parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 over A#1 ready 1\n"
		     "2 run A#1 t1 w0 number 0\n"
		     "3 renamed A#1 t1\n"
		     "4 stop A#1 completed after 2\n"
		     "4 completed A#1 t1\n"
		     "5 gone A#1 finished completed name two run 2 self 2 suspended 0 ready 1\n");
}

/* state, reason and object as they were, the oldest first */
static void unfinished_tasks_go_as_they_are(void **state)
{
	(void)state;
	told__expect("1 t1 created A a 0\n"
		     "2 t1 begin B w0\n"
		     "3 t2 begin C w1\n"
		     "4 t2 suspended C wait F\n"
		     "5 t3 staged D d 0\n"
		     "9 t1 thread_exit\n"
		     "9 t2 thread_exit\n"
		     "9 t1 process_exit 9\n"
		     "10 t1 finish\n",

		     "1 born A#1 a parent 0#0\n"
		     "1 created A#1 t1\n"
		     "1 gap A#1 ready presumed\n"
		     "2 born B#2 task parent 0#0\n"
		     "2 run B#2 t1 w0 number 0\n"
		     "3 born C#3 task parent 0#0\n"
		     "3 run C#3 t2 w1 number 0\n"
		     "4 stop C#3 suspended after 1\n"
		     "4 gap C#3 suspended for wait on F\n"
		     "5 born D#4 d parent 0#0\n"
		     "5 staged D#4 t3\n"
		     "9 stop B#2 cut after 7\n"
		     "9 over A#1 ready 8 cut\n"
		     "9 gone A#1 unfinished created name a run 0 self 0 suspended 0 ready 8\n"
		     "9 gone B#2 unfinished running name task run 7 self 7 suspended 0 ready 0\n"
		     "9 over C#3 suspended 5 cut\n"
		     "9 gone C#3 unfinished suspended name task run 1 self 1 suspended 5 ready 0\n"
		     "9 gone D#4 unfinished staged name d run 0 self 0 suspended 0 ready 0\n");
}

/* and what follows starts from nothing: a stop without a BEGIN is an anomaly */
static void exec_clears_everything(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 exec\n"
		     "3 t1 completed A\n"
		     "4 t1 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 stop A#1 cut after 1\n"
		     "2 gone A#1 unfinished running name task run 1 self 1 suspended 0 ready 0\n"
		     "! stop_without_begin\n");
}

/* the task may go on elsewhere */
static void thread_exit_cuts(void **state)
{
	(void)state;
	told__expect("1 t1 begin A w0\n"
		     "2 t1 begin B w0\n"
		     "3 t1 thread_exit\n"
		     "5 t2 begin A w1\n"
		     "6 t2 completed A\n"
		     "7 t2 finish\n",

		     "1 born A#1 task parent 0#0\n"
		     "1 run A#1 t1 w0 number 0\n"
		     "2 born B#2 task parent 0#0\n"
		     "2 run B#2 t1 w0 number 0 inside A#1\n"
		     "3 stop B#2 cut after 1\n"
		     "3 stop A#1 cut after 2\n"
		     "5 run A#1 t2 w1 number 1 migrated\n"
		     "6 stop A#1 completed after 1\n"
		     "6 completed A#1 t2\n"
		     "7 gone A#1 finished completed name task run 3 self 2 suspended 0 ready 0\n"
		     "7 gone B#2 unfinished running name task run 1 self 1 suspended 0 ready 0\n");
}

/* the same identity and thread number in two of them */
static void processes_are_apart(void **state)
{
	(void)state;
	told__expect(
		"1 t1 begin A w0\n"
		"2 u1 begin A w0\n"
		"3 t1 completed A\n"
		"4 u1 suspended A wait F\n"
		"5 t1 finish\n",

		"1 born A#1 task parent 0#0\n"
		"1 run A#1 t1 w0 number 0\n"
		"2 born A#2 task parent 0#0\n"
		"2 run A#2 t1 w0 number 0\n"
		"3 stop A#1 completed after 2\n"
		"3 completed A#1 t1\n"
		"4 stop A#2 suspended after 2\n"
		"4 gap A#2 suspended for wait on F\n"
		"5 gone A#1 finished completed name task run 2 self 2 suspended 0 ready 0\n"
		"5 over A#2 suspended 1 cut\n"
		"5 gone A#2 unfinished suspended name task run 2 self 2 suspended 1 ready 0\n");
}

/* threads of thief and victim, and the task */
static void steals_know_both_sides(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 -\n"
		     "1 t2 worker_start w1 -\n"
		     "2 t1 created A a 0\n"
		     "3 t2 steal w1 w0 A 7\n"
		     "4 t2 steal w1 w5 0 -\n"
		     "5 t2 steal_failed w1 w0\n"
		     "6 t1 finish\n",

		     "1 worker t1 w0 -\n"
		     "1 worker t2 w1 -\n"
		     "2 born A#1 a parent 0#0\n"
		     "2 created A#1 t1\n"
		     "2 gap A#1 ready presumed\n"
		     "3 steal t2<-t1 w1<-w0 A#1 depth 7\n"
		     "4 steal t2<-t0 w1<-w5 nobody depth -1\n"
		     "6 over A#1 ready 4 cut\n"
		     "6 gone A#1 unfinished created name a run 0 self 0 suspended 0 ready 4\n");
}

/* a thread becomes a worker by name, by BEGIN, by a span */
static void workers_and_spans(void **state)
{
	(void)state;
	told__expect("1 t1 worker_start w0 alpha\n"
		     "2 t1 worker_sleep_begin w0 idle\n"
		     "4 t1 worker_sleep_end w0 notify\n"
		     "5 t1 worker_background_begin w0 poll\n"
		     "6 t1 worker_bulk_begin w0 for\n"
		     "7 t1 worker_bulk_end w0\n"
		     "8 t1 worker_background_end w0\n"
		     "9 t1 worker_stop w0\n"
		     "10 t2 worker_sleep_begin w3 idle\n"
		     "11 t2 worker_sleep_end w3 -\n"
		     "12 t2 steal w3 w0 0 0\n"
		     "13 t3 steal w9 w3 0 0\n"
		     "14 t1 finish\n",

		     "1 worker t1 w0 alpha\n"
		     "2 span 0 t1 idle\n"
		     "4 span over 0 t1 notify after 2\n"
		     "5 span 1 t1 poll\n"
		     "6 span 2 t1 for\n"
		     "7 span over 2 t1 - after 1\n"
		     "8 span over 1 t1 - after 3\n"
		     "9 worker stop t1 w0\n"
		     "10 span 0 t2 idle\n"
		     "11 span over 0 t2 - after 1\n"
		     "12 steal t2<-t0 w3<-w0 nobody depth 0\n"
		     "13 steal t3<-t2 w9<-w3 nobody depth 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(staged_and_created_are_one_life),
		cmocka_unit_test(reuse_is_a_new_life),
		cmocka_unit_test(inline_tasks_nest),
		cmocka_unit_test(one_stop_per_stay),
		cmocka_unit_test(end_leaves_a_gap_stopped),
		cmocka_unit_test(ready_counts_from_ready_if_there_is_one),
		cmocka_unit_test(no_resumed_all_suspended),
		cmocka_unit_test(ready_wakes_too),
		cmocka_unit_test(overtaking_resumed_is_kept),
		cmocka_unit_test(resumed_by_itself),
		cmocka_unit_test(waker_is_known),
		cmocka_unit_test(migrations),
		cmocka_unit_test(alive_before_the_capture),
		cmocka_unit_test(nested_before_the_capture),
		cmocka_unit_test(scheduler_says_end_too_late),
		cmocka_unit_test(a_task_deletes_itself),
		cmocka_unit_test(renamed),
		cmocka_unit_test(unfinished_tasks_go_as_they_are),
		cmocka_unit_test(exec_clears_everything),
		cmocka_unit_test(thread_exit_cuts),
		cmocka_unit_test(processes_are_apart),
		cmocka_unit_test(steals_know_both_sides),
		cmocka_unit_test(workers_and_spans),
	};

	(void)told__expect;
	(void)told__expect_anomalies;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
