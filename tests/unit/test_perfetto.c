// SPDX-License-Identifier: BSD-2-Clause
/* The Perfetto exporter: scripts of events through the model, the trace it writes read back as
 * text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include "exported.h"
#include "script.h"

static void expect_in(enum export_tracks tracks, bool compact, const char *script,
		      const char *expected, const char *never)
{
	struct exported e;
	char *text;

	exported__open(&e, tracks);
	e.px.info.compact = compact;
	script__run(script, exported__feed, &e);
	exported__finish(&e);
	text = perfetto_text__new(e.data, e.size, true);
	if (!*expected)
		fprintf(stderr, "%s", text);
	text__contains(text, expected);
	if (never && strstr(text, never))
		fail_msg("%s\nhas: %s", text, never);
	free(text);
	exported__free(&e);
}

static void expect(enum export_tracks tracks, const char *script, const char *expected,
		   const char *never)
{
	expect_in(tracks, false, script, expected, never);
}

static const char life[] = "0 t1 process demo demo\n"
			   "1 t1 worker_start w0 -\n"
			   "2 t2 worker_start w1 second\n"
			   "10 t1 created a fib 0\n"
			   "20 t1 begin a w0\n"
			   "30 t1 created b leaf a\n"
			   "40 t1 suspended a future::wait f\n"
			   "50 t2 begin b w1\n"
			   "60 t2 future_set f\n"
			   "65 t2 resumed a future::set f\n"
			   "70 t2 completed b\n"
			   "80 t2 begin a w1\n"
			   "90 t2 completed a\n"
			   "100 t1 finish\n";

static void life_of_a_task(void **state)
{
	(void)state;
	expect(EXPORT_LANES, life,
	       "row demo\n"
	       "row demo/Workers\n"
	       "row demo/Workers/worker 0\n"
	       "row demo/Workers/second\n"
	       "row demo/Tasks\n"
	       "row demo/Tasks/fib 0x61\n"
	       "10 demo/Workers/worker 0 instant task.spawn task=0x61 >1\n"
	       "10 demo/Tasks/fib 0x61 instant task.created task=0x61 name=fib\n"
	       "10 demo/Tasks/fib 0x61 begin task.ready 'ready' task=0x61\n"
	       "20 demo/Tasks/fib 0x61 end\n"
	       "20 demo/Workers/worker 0 begin worker.task 'fib' task=0x61 worker=0\n"
	       "20 demo/Tasks/fib 0x61 begin task.run 'fib' task=0x61 worker=0 <1\n"
	       "row demo/Tasks/leaf 0x62\n"
	       "30 demo/Tasks/fib 0x61 instant task.spawn task=0x62 >2\n"
	       "30 demo/Tasks/leaf 0x62 instant task.created task=0x62 name=leaf parent=0x61\n"
	       "40 demo/Tasks/fib 0x61 end\n"
	       "40 demo/Workers/worker 0 end\n"
	       "40 demo/Tasks/fib 0x61 begin task.suspended 'suspended: future::wait' task=0x61 "
	       "object=0x66\n"
	       "50 demo/Tasks/leaf 0x62 begin task.run 'leaf' task=0x62 worker=1 <2\n"
	       "60 demo/Tasks/leaf 0x62 instant future.set object=0x66 >3 >4\n"
	       "65 demo/Tasks/fib 0x61 end cause=future::set waker=0x62\n"
	       "65 demo/Tasks/fib 0x61 begin task.ready 'ready' task=0x61\n"
	       "70 demo/Tasks/leaf 0x62 instant task.completed task=0x62\n"
	       "80 demo/Tasks/fib 0x61 end\n"
	       "80 demo/Workers/second begin worker.task 'fib' task=0x61 worker=1\n"
	       "80 demo/Tasks/fib 0x61 begin task.run 'fib' task=0x61 worker=1 <4\n",
	       NULL);
	/* the arrow to the resumed run starts on an instant inside the waker */
	expect(EXPORT_LANES, life,
	       "65 demo/Tasks/leaf 0x62 instant task.wake task=0x61 object=0x66 cause=future::set "
	       ">4\n",
	       NULL);
}

static void workers_only(void **state)
{
	(void)state;
	expect(EXPORT_WORKERS, life,
	       "20 demo/Workers/worker 0 begin worker.task 'fib' task=0x61 worker=0 <1\n"
	       "60 demo/Workers/second instant future.set object=0x66 >3 >4\n"
	       "65 demo/Workers/second instant task.wake task=0x61 object=0x66 cause=future::set "
	       ">4\n"
	       "80 demo/Workers/second begin worker.task 'fib' task=0x61 worker=1 <4\n",
	       "Tasks");
}

static void counts(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t1 queue_depth w0 7\n"
	       "10 t1 created a fib 0\n20 t1 begin a w0\n25 t1 counter bytes 12\n26 t1 counter "
	       "load 1.5\n"
	       "30 t1 suspended a why 0\n50 t1 finish\n",
	       "row demo/Counters\nrow demo/Counters/queue depth 0 counter\n"
	       "2 demo/Counters/queue depth 0 count 7\n"
	       "10 demo/Counters/ready tasks count 1\n"
	       "20 demo/Counters/running tasks count 1\n"
	       "25 demo/Counters/bytes count 12\n"
	       "26 demo/Counters/load count 1.5\n"
	       "30 demo/Counters/suspended tasks count 1\n",
	       NULL);
}

/* in the events that change them; a sample of its own where there is none, or what is there has
 * some */
static void counts_of_a_large_trace(void **state)
{
	(void)state;
	expect_in(EXPORT_LANES, true,
		  "0 t1 process demo demo\n1 t1 worker_start w0 -\n"
		  "10 t1 created a fib 0\n20 t1 begin a w0\n30 t1 suspended a why 0\n"
		  "40 t1 resumed a because 0\n50 t1 begin a w0\n60 t1 end a\n61 t1 finish\n",
		  "10 demo/Counters/running tasks count 0\n"
		  "10 demo/Counters/ready tasks count 1\n"
		  "10 demo/Counters/suspended tasks count 0\n"
		  "20 demo/Tasks/fib 0x61 begin task.run 'fib' task=0x61 worker=0 <1 "
		  "{ready tasks 0} {running tasks 1}\n"
		  "30 demo/Tasks/fib 0x61 begin task.suspended 'suspended: why' task=0x61 "
		  "{ready tasks 0} {running tasks 0} {suspended tasks 1}\n"
		  "40 demo/Tasks/fib 0x61 begin task.ready 'ready' task=0x61 "
		  "{ready tasks 1} {running tasks 0} {suspended tasks 0}\n",
		  NULL);
	/* a second process names its counters itself */
	expect_in(EXPORT_LANES, true,
		  "0 t1 process demo demo\n10 t1 created a fib 0\n"
		  "11 u9 process other other\n20 u9 created b leaf 0\n30 u9 begin b w0\n"
		  "40 t1 begin a w0\n50 t1 finish\n",
		  "20 other/Counters/ready tasks count 1\n"
		  "30 other/Tasks/leaf 0x62 begin task.run 'leaf' task=0x62 worker=0 <2 "
		  "{ready tasks 0} {running tasks 1}\n"
		  "40 demo/Tasks/fib 0x61 begin task.run 'fib' task=0x61 worker=0 <1 "
		  "{ready tasks 0} {running tasks 1}\n",
		  NULL);
	/* no row of the task's, and two changes at one time */
	expect_in(EXPORT_WORKERS, true,
		  "0 t1 process demo demo\n10 t1 created a fib 0\n11 t1 ready a\n20 t1 begin a w0\n"
		  "30 t1 suspended a why 0\n30 t2 resumed a because 0\n50 t1 finish\n",
		  "30 demo/thread end {ready tasks 0} {running tasks 0} {suspended tasks 1}\n"
		  "30 demo/thread instant task.wake task=0x61 cause=because >2 "
		  "{ready tasks 1} {running tasks 0} {suspended tasks 0}\n",
		  NULL);
}

static void zones_are_cut_at_gaps(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n10 t1 created a fib 0\n20 t1 begin "
	       "a w0\n"
	       "21 t1 zone_begin outer func dir/a.c:12\n22 t1 zone_begin inner - -\n"
	       "23 t1 zone_value size 5\n23 t1 zone_text hello\n24 t1 zone_text again\n"
	       "24 t1 zone_color 255\n"
	       "30 t1 suspended a why 0\n40 t1 resumed a because 0\n50 t1 begin a w0\n"
	       "60 t1 zone_end\n70 t1 zone_end\n80 t1 completed a\n90 t1 finish\n",
	       "21 demo/Tasks/fib 0x61 begin zone 'outer' zone_id=1 function=func file=dir/a.c "
	       "line=12 part=0\n"
	       "22 demo/Tasks/fib 0x61 begin zone 'inner' zone_id=2 part=0\n"
	       "30 demo/Tasks/fib 0x61 end size=5 color=#0000ff text=+hello+again\n"
	       "30 demo/Tasks/fib 0x61 end\n"
	       "30 demo/Tasks/fib 0x61 end\n"
	       "30 demo/Tasks/fib 0x61 begin task.suspended 'suspended: why' task=0x61\n"
	       "50 demo/Tasks/fib 0x61 begin task.run 'fib' task=0x61 worker=0 <2\n"
	       "50 demo/Tasks/fib 0x61 begin zone 'outer' zone_id=1 function=func file=dir/a.c "
	       "line=12 part=1\n"
	       "50 demo/Tasks/fib 0x61 begin zone 'inner' zone_id=2 part=1\n"
	       "60 demo/Tasks/fib 0x61 end\n"
	       "70 demo/Tasks/fib 0x61 end\n"
	       "80 demo/Tasks/fib 0x61 end\n",
	       "part=2");
}

/* a sleep that ends inside what began in it: the task's run is cut, and goes on outside */
static void what_does_not_nest_is_cut(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n10 t1 worker_sleep_begin w0 idle\n"
	       "20 t1 begin a w0\n30 t1 worker_sleep_end w0 notify\n40 t1 completed a\n50 t1 "
	       "finish\n",
	       "10 demo/Workers/worker 0 begin worker.sleep 'sleep: idle' reason=idle\n"
	       "20 demo/Workers/worker 0 begin worker.task 'task' task=0x61 worker=0\n"
	       "30 demo/Workers/worker 0 end\n"
	       "30 demo/Workers/worker 0 end cause=notify\n"
	       "30 demo/Workers/worker 0 begin worker.task 'task' task=0x61 worker=0 part=1\n"
	       "40 demo/Workers/worker 0 end\n",
	       NULL);
}

static void inline_runs_nest(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n30 t1 begin b "
	       "w0\n"
	       "35 t1 zone_begin z - -\n38 t1 zone_end\n"
	       "40 t1 completed b\n50 t1 completed a\n60 t1 finish\n",
	       "20 demo/Workers/worker 0 begin worker.task 'task' task=0x61 worker=0\n"
	       "30 demo/Workers/worker 0 begin worker.task 'task' task=0x62 worker=0\n"
	       "35 demo/Tasks/task 0x62 begin zone 'z' zone_id=1 part=0\n"
	       "40 demo/Workers/worker 0 end\n"
	       "50 demo/Workers/worker 0 end\n",
	       NULL);
}

static void steals_point_from_victim_to_thief(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t2 worker_start w1 -\n10 t1 "
	       "created a fib 0\n"
	       "20 t2 steal w1 w0 a 3\n30 t2 steal_failed w1 w0\n40 t2 steal w1 w9 0 -\n50 t1 "
	       "finish\n",
	       "20 demo/Workers/worker 0 instant stolen thief=1 victim=0 >2\n"
	       "20 demo/Workers/worker 1 instant steal task=0x61 thief=1 victim=0 victim_depth=3 "
	       "<2\n"
	       "30 demo/Workers/worker 1 instant steal.failed thief=1 victim=0\n"
	       "40 demo/Workers/worker 1 instant steal thief=1 victim=9\n",
	       NULL);
}

static void markers_and_arrows_of_the_program(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t1 channel_name 4 phases\n"
	       "3 t1 marker_color red 16711680\n"
	       "10 t1 marker_set 4 red 17\n20 t1 marker_set 4 blue 0\n21 t1 marker_flow_start 4 x\n"
	       "30 t1 marker_reset 4\n31 t1 marker_set 5 red 0\n32 t1 marker_flow_end 5 x\n"
	       "40 t1 flow_start y\n41 t1 flow_step y\n42 t1 flow_end y\n43 t1 flow_end y\n"
	       "50 t1 sent m d 64\n60 t1 received m s 64\n61 t1 received n s 64\n"
	       "70 t1 message hello\n80 t1 frame f\n90 t1 frame f\n100 t1 finish\n",
	       "10 demo/Markers/phases begin marker 'red' extra=17 color=#ff0000\n"
	       "20 demo/Markers/phases end\n"
	       "20 demo/Markers/phases begin marker 'blue' extra=0 color=#0082c8\n"
	       "21 demo/Markers/phases instant flow.start id=0x78 >1\n"
	       "30 demo/Markers/phases end\n"
	       "32 demo/Markers/channel 5 instant flow.end id=0x78 <1\n"
	       "40 demo/Workers/worker 0 instant flow.start id=0x79 >2\n"
	       "41 demo/Workers/worker 0 instant flow.step id=0x79 >2\n"
	       "42 demo/Workers/worker 0 instant flow.end id=0x79 <2\n"
	       /* an end without a start here may have it elsewhere; readers would call it an error
		*/
	       "43 demo/Workers/worker 0 instant flow.end id=0x79 >2\n"
	       "50 demo/Workers/worker 0 instant sent id=0x6d destination=0x64 bytes=64 >3\n"
	       "60 demo/Workers/worker 0 instant received id=0x6d source=0x73 bytes=64 <3\n"
	       "61 demo/Workers/worker 0 instant received id=0x6e source=0x73 bytes=64 >4\n"
	       "70 demo/Workers/worker 0 instant message 'hello'\n"
	       "80 demo/Markers/f begin frame 'f'\n"
	       "90 demo/Markers/f end\n"
	       "90 demo/Markers/f begin frame 'f'\n",
	       NULL);
}

static void continuations_carry_their_future(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n"
	       "21 t1 continuation_attached f c\n22 t1 future_set f\n23 t1 continuation_begin f c\n"
	       "24 t1 continuation_end f c\n25 t1 future_exception g\n26 t1 future_callback g\n"
	       "30 t1 continuation_begin g d\n31 t1 suspended a why 0\n40 t1 begin a w0\n"
	       "50 t1 continuation_end g d\n60 t1 completed a\n70 t1 finish\n",
	       "21 demo/Tasks/task 0x61 instant continuation.attached object=0x66 "
	       "continuation=0x63\n"
	       "22 demo/Tasks/task 0x61 instant future.set object=0x66 >1\n"
	       "23 demo/Tasks/task 0x61 begin continuation object=0x66 continuation=0x63 inline=1\n"
	       "24 demo/Tasks/task 0x61 end\n"
	       "25 demo/Tasks/task 0x61 instant future.exception object=0x67 >2\n"
	       "26 demo/Tasks/task 0x61 instant future.callback object=0x67\n"
	       "31 demo/Tasks/task 0x61 begin task.suspended 'suspended: why' task=0x61\n"
	       "40 demo/Tasks/task 0x61 begin task.run 'task' task=0x61 worker=0\n"
	       "50 demo/Tasks/task 0x61 end\n",
	       NULL);
}

static void locks_are_waits_and_holds(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n"
	       "21 t1 lock_wait m big\n30 t1 suspended a lock m\n40 t2 resumed a unlock m\n"
	       "50 t1 begin a w0\n51 t1 lock_acquired m\n60 t1 lock_released m\n"
	       "61 t1 lock_acquired n\n62 t2 lock_released n\n63 t2 lock_released n\n"
	       "70 t1 completed a\n80 t1 finish\n",
	       "21 demo/Tasks/task 0x61 begin lock 'wait: big' object=0x6d\n"
	       "30 demo/Tasks/task 0x61 end\n"
	       "50 demo/Tasks/task 0x61 begin lock 'wait: big' object=0x6d part=1\n"
	       "51 demo/Tasks/task 0x61 end contended=1\n"
	       "51 demo/Tasks/task 0x61 begin lock 'held: big' object=0x6d\n"
	       "60 demo/Tasks/task 0x61 end\n"
	       "61 demo/Tasks/task 0x61 begin lock 'held' object=0x6e\n"
	       "62 demo/Tasks/task 0x61 end\n"
	       "63 demo/thread instant lock.released object=0x6e\n"
	       "70 demo/Tasks/task 0x61 end\n",
	       NULL);
}

static void a_contended_lock_tells_for_whom(void **state)
{
	(void)state;
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t2 worker_start w1 -\n"
	       "10 t1 created a first 0\n11 t1 created b second 0\n"
	       "20 t1 begin a w0\n21 t1 lock_wait m big\n22 t1 lock_acquired m\n"
	       "30 t2 begin b w1\n31 t2 lock_wait m big\n32 t2 suspended b lock m\n"
	       "40 t1 lock_released m\n41 t1 resumed b unlock m\n42 t1 completed a\n"
	       "50 t1 begin b w0\n51 t1 lock_acquired m\n60 t1 lock_released m\n"
	       "70 t1 completed b\n80 t1 finish\n",
	       "22 demo/Tasks/first 0x61 end contended=0\n"
	       "22 demo/Tasks/first 0x61 begin lock 'held: big' object=0x6d\n"
	       "32 demo/Tasks/second 0x62 end contended=1 holder=0x61 holder_name=first "
	       "holder_tid=1\n"
	       "40 demo/Tasks/first 0x61 end >3\n"
	       "51 demo/Tasks/second 0x62 end contended=1 holder=0x61 holder_name=first "
	       "holder_tid=1\n"
	       "51 demo/Tasks/second 0x62 begin lock 'held: big' object=0x6d <3\n"
	       "60 demo/Tasks/second 0x62 end\n",
	       NULL);
}

/* neither a future of before at the same address, nor one that is set again, is taken for another
 */
static void a_set_leads_to_the_wakes_of_its_future_only(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n"
	       "10 t2 future_set f\n11 t2 future_created f\n20 t1 begin a w0\n"
	       "30 t1 suspended a why f\n40 t2 resumed a because f\n"
	       "41 t2 future_set f\n50 t1 begin a w0\n60 t1 suspended a why f\n"
	       "70 t2 resumed a because f\n80 t1 begin a w0\n90 t1 finish\n",
	       "10 demo/thread instant future.set object=0x66 >1\n"
	       "40 demo/thread instant task.wake task=0x61 object=0x66 cause=because >2\n"
	       "41 demo/thread instant future.set object=0x66 >3 >4\n"
	       "70 demo/thread instant task.wake task=0x61 object=0x66 cause=because >3 >5\n",
	       NULL);
}

/* an id is drawn as a chain, so those who wait each have one from the set; a third wake shares the
 * last */
static void each_wake_has_its_own_arrow_from_the_set(void **state)
{
	(void)state;
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n"
	       "20 t1 begin a w0\n21 t1 future_wait f a\n22 t1 suspended a why f\n"
	       "30 t1 begin b w0\n31 t1 suspended b why f\n"
	       "40 t2 future_set f\n41 t2 resumed a because f\n42 t2 resumed b because f\n"
	       "50 t1 begin c w0\n51 t1 suspended c why f\n52 t2 resumed c because f\n"
	       "60 t1 begin a w0\n61 t1 completed a\n62 t1 begin b w0\n63 t1 completed b\n"
	       "70 t1 begin c w0\n71 t1 completed c\n80 t1 finish\n",
	       "40 demo/thread instant future.set object=0x66 >1 >2 >3\n"
	       "41 demo/thread instant task.wake task=0x61 object=0x66 cause=because >3\n"
	       "42 demo/thread instant task.wake task=0x62 object=0x66 cause=because >1\n"
	       "52 demo/thread instant task.wake task=0x63 object=0x66 cause=because >2 >4\n"
	       "60 demo/Tasks/task 0x61 begin task.run 'task' task=0x61 worker=0 <3\n"
	       "62 demo/Tasks/task 0x62 begin task.run 'task' task=0x62 worker=0 <1\n"
	       "70 demo/Tasks/task 0x63 begin task.run 'task' task=0x63 worker=0 <4\n",
	       NULL);
}

/* b waits since after the set, and is woken first: the arrow that is a's is left to a */
static void who_waits_after_a_set_shares_its_last_arrow(void **state)
{
	(void)state;
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n"
	       "20 t1 begin a w0\n21 t1 suspended a why f\n30 t1 begin b w0\n40 t2 future_set f\n"
	       "50 t1 suspended b why f\n60 t2 resumed b because f\n61 t2 resumed a because f\n"
	       "70 t1 begin b w0\n71 t1 completed b\n72 t1 begin a w0\n73 t1 completed a\n"
	       "80 t1 finish\n",
	       "40 demo/thread instant future.set object=0x66 >1 >2\n"
	       "60 demo/thread instant task.wake task=0x62 object=0x66 cause=because >1 >3\n"
	       "61 demo/thread instant task.wake task=0x61 object=0x66 cause=because >2\n"
	       "70 demo/Tasks/task 0x62 begin task.run 'task' task=0x62 worker=0 <3\n"
	       "72 demo/Tasks/task 0x61 begin task.run 'task' task=0x61 worker=0 <2\n",
	       NULL);
}

/* told by the task itself, in the run that it led to: it is there, and leads to no other run */
static void a_wake_told_late(void **state)
{
	(void)state;
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n"
	       "30 t1 suspended a why x\n40 t1 begin a w0\n41 t1 resumed a because x\n"
	       "50 t1 suspended a why x\n60 t1 begin a w0\n70 t1 finish\n",
	       "41 demo/Tasks/task 0x61 instant task.wake task=0x61 object=0x78 cause=because\n"
	       "60 demo/Tasks/task 0x61 begin task.run 'task' task=0x61 worker=0\n",
	       NULL);
	/* READY before RESUMED: the arrow starts at the latter */
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n"
	       "30 t1 suspended a why x\n40 t2 ready a\n42 t2 resumed a because x\n"
	       "60 t1 begin a w0\n70 t1 finish\n",
	       "42 demo/thread instant task.wake task=0x61 object=0x78 cause=because >1\n"
	       "60 demo/Tasks/task 0x61 begin task.run 'task' task=0x61 worker=0 <1\n",
	       NULL);
}

static void renames_and_workers_are_instants(void **state)
{
	(void)state;
	expect(EXPORT_TASK,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n20 t1 begin a w0\n"
	       "21 t1 renamed a other\n30 t1 suspended a why 0\n40 t1 worker_stop w0\n50 t1 "
	       "finish\n",
	       "1 demo/Workers/worker 0 instant worker.start worker=0\n"
	       "21 demo/Tasks/task 0x61 instant task.renamed task=0x61 name=other\n"
	       "30 demo/Tasks/task 0x61 begin task.suspended 'suspended: why'\n"
	       "40 demo/Workers/worker 0 instant worker.stop worker=0\n",
	       NULL);
}

static void losses_have_a_row(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n50 t1 lost 7 20 40 0\n"
	       "50 t2 lost 3 30 45 1\n60 t1 finish\n",
	       "row demo/Capture\n"
	       "20 demo/Capture begin lost records=7 tid=1 cause=ring_full from=20000 to=40000\n"
	       "40 demo/Capture end\n"
	       "40 demo/Capture begin lost records=3 tid=2 cause=target_ring_overrun from=30000 "
	       "to=45000\n"
	       "45 demo/Capture end\n",
	       NULL);
}

/* runnable and off the CPU is not idle, and says for whom */
static void the_kernels_view(void **state)
{
	static const char script[] =
		"0 t1 process demo demo\n1 t1 on_cpu 1 120 demo 0\n2 t1 worker_start w0 -\n"
		"3 t2 worker_start w1 second\n10 t1 created a fib 0\n20 t1 begin a w0\n"
		"30 t1 off_cpu 1 0 900 hog\n30 f900 foreign_on_cpu 1 120 hog 1\n"
		"50 f900 foreign_off_cpu 1 0 1 demo\n50 t1 on_cpu 1 120 demo 900\n"
		"60 t1 completed a\n70 t1 off_cpu 1 1 0 swapper\n80 t1 waking 2 demo 0 0\n"
		"85 t1 on_cpu 0 120 demo 2\n90 t1 off_cpu 0 2 0 swapper\n"
		"95 t1 waking 2 demo 0 1\n99 t1 finish\n";

	(void)state;
	expect(EXPORT_LANES, script,
	       "row demo/Workers/worker 0\n"
	       "row demo/Workers/worker 0 kernel\n"
	       "2 demo/Workers/worker 0 kernel begin kernel.state 'running' cpu=1\n"
	       "30 demo/Workers/worker 0 kernel end\n"
	       "30 demo/Workers/worker 0 kernel begin kernel.state 'preempted by hog' "
	       "task=0x61 cpu=1 by=hog tid=900\n"
	       "50 demo/Workers/worker 0 kernel end\n"
	       "50 demo/Workers/worker 0 kernel begin kernel.state 'running' cpu=1\n"
	       "70 demo/Workers/worker 0 kernel begin kernel.state 'blocked' cpu=1 waker=second "
	       "tid=2\n"
	       "80 demo/Workers/worker 0 kernel begin kernel.state 'waits for a CPU' cpu=1 "
	       "waker=second tid=2\n"
	       "85 demo/Workers/worker 0 kernel begin kernel.state 'running' cpu=0\n"
	       "90 demo/Workers/worker 0 kernel begin kernel.state 'blocked' cpu=0 "
	       "waker=interrupt\n"
	       "95 demo/Workers/worker 0 kernel begin kernel.state 'waits for a CPU' cpu=0 "
	       "waker=interrupt\n"
	       "99 demo/Workers/worker 0 kernel end\n",
	       NULL);
	expect(EXPORT_WORKERS, script,
	       "1 thread 1 running on 1 demo\n"
	       "30 thread 1 runnable on 1 worker 0\n"
	       "30 thread 900 running on 1 hog\n"
	       "50 thread 900 runnable on 1 hog\n"
	       "50 thread 1 running on 1 worker 0\n"
	       "70 thread 1 sleeps on 1 worker 0\n"
	       "80 thread 1 runnable on 0 worker 0\n"
	       "85 thread 1 running on 0 worker 0\n"
	       "90 thread 1 sleeps deeply on 0 worker 0\n"
	       "95 thread 1 runnable on 0 worker 0\n",
	       NULL);
}

static void what_is_open_at_the_end_is_closed(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n10 t1 created b leaf 0\n20 t1 "
	       "begin a w0\n"
	       "21 t1 zone_begin z - -\n22 t1 continuation_begin f c\n23 t1 marker_set 1 m 0\n"
	       "24 t2 worker_start w1 -\n25 t2 worker_sleep_begin w1 idle\n60 t1 finish\n",
	       "60 demo/Tasks/task 0x61 end cut=1\n60 demo/Workers/worker 0 end cut=1\n", NULL);
}

static void too_deep(void **state)
{
	struct exported e;
	uint64_t time = 1000000;
	struct event event = {.pid = 100, .tid = 1, .nargs = 3, .type = EV_zone_begin};

	(void)state;
	exported__open(&e, EXPORT_LANES);
	event.args[0].s = "deep";
	for (int i = 0; i < 700; i++) {
		event.time = time += 1000;
		exported__feed(&e, &event);
	}
	event.type = EV_zone_end;
	for (int i = 0; i < 650; i++) {
		event.time = time += 1000;
		exported__feed(&e, &event);
	}
	exported__finish(&e);
	assert_int_equal(e.px.tally.too_deep, 200);
	assert_int_equal(e.px.tally.begins[CATEGORY_ZONE], 500);
	exported__free(&e);
}

/* more names than are interned, with bytes that are no UTF-8: written out, and made valid */
static void names_without_end(void **state)
{
	struct exported e;
	uint64_t time = 1000000;
	char(*names)[16] = calloc(70000, 16);

	(void)state;
	exported__open(&e, EXPORT_LANES);
	for (int i = 0; i < 70000; i++) {
		struct event event = {.pid = 100, .tid = 1, .nargs = 1, .type = EV_message};

		snprintf(names[i], 16, "m\xff%d", i);
		event.args[0].s = names[i];
		event.time = time += 1000;
		exported__feed(&e, &event);
	}
	exported__finish(&e);
	assert_int_equal(e.px.tally.instants[CATEGORY_MESSAGE], 70000);
	assert_int_equal(e.px.interned[TABLE_NAMES].count, PERFETTO_INTERNED_MAX);
	exported__free(&e);
	free(names);
}

static void two_processes_and_exec(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process one one\n1 u1 process two two\n10 t1 created a x 0\n11 u1 created a y "
	       "0\n"
	       "20 t1 begin a w0\n21 u1 begin a w0\n30 t1 completed a\n31 u1 completed a\n40 t1 "
	       "finish\n",
	       "row one\nrow two\nrow one/Tasks/x 0x61\nrow two/Tasks/y 0x61\n", NULL);
}

/* the same tid twice: first a thread that is no worker, then a worker */
static void a_tid_used_again(void **state)
{
	(void)state;
	expect(EXPORT_LANES,
	       "0 t1 process one one\n10 t2 message first\n20 t2 thread_exit\n"
	       "30 t2 worker_start w0 -\n40 t2 message second\n50 t1 finish\n",
	       "10 one/thread instant message 'first'\nrow one/Workers/worker 0\n"
	       "40 one/Workers/worker 0 instant message 'second'\n",
	       NULL);
}

static void empty(void **state)
{
	struct exported e;

	(void)state;
	exported__open(&e, EXPORT_LANES);
	perfetto__start(&e.px, 5);
	e.last = 5;
	exported__finish(&e);
	assert_true(e.size > 0);
	exported__free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life_of_a_task),
		cmocka_unit_test(workers_only),
		cmocka_unit_test(counts),
		cmocka_unit_test(counts_of_a_large_trace),
		cmocka_unit_test(zones_are_cut_at_gaps),
		cmocka_unit_test(what_does_not_nest_is_cut),
		cmocka_unit_test(inline_runs_nest),
		cmocka_unit_test(steals_point_from_victim_to_thief),
		cmocka_unit_test(markers_and_arrows_of_the_program),
		cmocka_unit_test(continuations_carry_their_future),
		cmocka_unit_test(locks_are_waits_and_holds),
		cmocka_unit_test(a_contended_lock_tells_for_whom),
		cmocka_unit_test(a_set_leads_to_the_wakes_of_its_future_only),
		cmocka_unit_test(each_wake_has_its_own_arrow_from_the_set),
		cmocka_unit_test(who_waits_after_a_set_shares_its_last_arrow),
		cmocka_unit_test(a_wake_told_late),
		cmocka_unit_test(renames_and_workers_are_instants),
		cmocka_unit_test(losses_have_a_row),
		cmocka_unit_test(the_kernels_view),
		cmocka_unit_test(what_is_open_at_the_end_is_closed),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(names_without_end),
		cmocka_unit_test(two_processes_and_exec),
		cmocka_unit_test(a_tid_used_again),
		cmocka_unit_test(empty),
	};

	(void)script__word; /* only other tests print identities */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
