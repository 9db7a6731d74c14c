/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's view: what threads do by its account, who took their CPU, who woke them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "told.h"

static const char *by(const struct model_kernel *k)
{
	static char text[100];

	if (k->interrupt)
		return "interrupt";
	snprintf(text, sizeof(text), "%s/%u%s", k->by ? k->by : "?", k->by_tid,
		 k->by_thread && k->by_thread->worker != MODEL_NO_WORKER ? " worker" : "");
	return text;
}

static void kernel(void *ctx, struct model_thread *thread, const struct model_kernel *k,
		   uint64_t time)
{
	static const char *const states[] = {"unknown", "running", "runnable", "blocked", "gone"};
	char cpu[16] = "";

	if (k->cpu != MODEL_NO_CPU)
		snprintf(cpu, sizeof(cpu), " cpu %u", k->cpu);
	if (k->state == KERNEL_RUNNING)
		told__line(ctx, time, "t%u running since %s%s", thread->tid, told__us(k->begin),
			   cpu);
	else
		told__line(ctx, time, "t%u %s since %s%s%s %s%s%s", thread->tid, states[k->state],
			   told__us(k->begin), cpu, k->preempted ? " preempted" : "", by(k),
			   k->task ? " running " : "", k->task_name ? k->task_name : "");
}

static void sched(void *ctx, const struct model_sched *change, uint64_t time)
{
	static const char *const states[] = {"lost", "runs", "could run", "sleeps", "is gone"};
	char cpu[32] = "";

	if (change->cpu != MODEL_NO_CPU)
		snprintf(cpu, sizeof(cpu), " on %u", change->cpu);
	told__line(ctx, time, "%s %u %s%s%s%s", change->process ? "thread" : "foreign", change->tid,
		   states[change->state], change->uninterruptible ? " deeply" : "", cpu,
		   change->since != time ? " since earlier" : "");
}

static const struct model_ops kernel_ops = {.kernel = kernel};
static const struct model_ops sched_ops = {.sched = sched};

static void expect(const struct model_ops *ops, const char *script, const char *expected)
{
	struct told told = {0};

	told.model = model__new();
	told.out = open_memstream(&told.text, &told.size);
	assert_non_null(told.model);
	assert_int_equal(model__add_sink(told.model, ops, &told), 0);
	script__run(script, told__feed, &told);
	fclose(told.out);
	assert_string_equal(told.text, expected);
	free(told.text);
	model__free(told.model);
}

/* tN is the thread, its arguments: on_cpu CPU PRIO COMM PREVIOUS; off_cpu CPU STATE NEXT COMM */
static const char hog[] = "0 t1 process demo demo\n"
			  "1 t1 on_cpu 1 120 demo 0\n"
			  "2 t1 worker_start w0 -\n"
			  "10 t1 created A fib 0\n"
			  "20 t1 begin A w0\n"
			  "30 t1 off_cpu 1 0 900 hog\n"
			  "30 f900 foreign_on_cpu 1 120 hog 1\n"
			  "50 f900 foreign_off_cpu 1 0 1 demo\n"
			  "50 t1 on_cpu 1 120 demo 900\n"
			  "60 t1 completed A\n"
			  "70 t1 off_cpu 1 1 0 swapper\n"
			  "80 t1 waking 2 demo 0 0\n"
			  "85 t1 on_cpu 0 120 demo 2\n"
			  "90 t1 finish\n";

static void who_took_the_cpu_from_which_task(void **state)
{
	(void)state;
	expect(&kernel_ops, hog,
	       "2 t1 running since 1 cpu 1\n"
	       "30 t1 running since 2 cpu 1\n"
	       "50 t1 runnable since 30 cpu 1 preempted hog/900 running fib\n"
	       "70 t1 running since 50 cpu 1\n"
	       "80 t1 blocked since 70 cpu 1 demo/2\n"
	       "85 t1 runnable since 80 cpu 1 demo/2\n"
	       "90 t1 running since 85 cpu 0\n");
	expect(&sched_ops, hog,
	       "1 thread 1 runs on 1\n"
	       "30 thread 1 could run on 1\n"
	       "30 foreign 900 runs on 1\n"
	       "50 foreign 900 could run on 1\n"
	       "50 thread 1 runs on 1\n"
	       "70 thread 1 sleeps on 1\n"
	       "80 thread 1 could run\n"
	       "85 thread 1 runs on 0\n");
}

/* what the first event tells of the time before, since the process is a target and events come */
static void the_first_event_tells_what_was_before(void **state)
{
	(void)state;
	expect(&kernel_ops,
	       "0 t1 process demo demo\n"
	       "1 t1 worker_start w0 -\n"
	       "1 t2 worker_start w1 -\n"
	       "1 t3 worker_start w2 -\n"
	       "4 u9 waking 3 other 5 0\n"
	       "10 t1 off_cpu 0 2 0 swapper\n"
	       "20 t2 waking 1 demo 3 1\n"
	       "30 t3 on_cpu 0 120 demo 0\n"
	       "40 t1 finish\n",
	       "10 t1 running since 4 cpu 0\n"
	       "20 t2 blocked since 4 interrupt\n"
	       "40 t3 running since 30 cpu 0\n"
	       "40 t2 runnable since 20 interrupt\n"
	       "40 t1 blocked since 10 cpu 0 ?/0\n");
}

/* the wakened is still on its way to sleep: it never sleeps, but waits for a CPU */
static void a_wake_that_comes_first(void **state)
{
	(void)state;
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n1 t2 worker_start w1 -\n"
	       "2 t1 on_cpu 0 120 demo 0\n"
	       "10 t1 waking 2 demo 1 0\n"
	       "11 t1 off_cpu 0 1 0 swapper\n"
	       "30 t1 on_cpu 1 120 demo 0\n"
	       "40 t1 finish\n",
	       "11 t1 running since 2 cpu 0\n"
	       "30 t1 runnable since 11 cpu 0 demo/2 worker\n"
	       "40 t1 running since 30 cpu 1\n");
	/* but if another comes, the first was for nothing */
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n"
	       "2 t1 on_cpu 0 120 demo 0\n"
	       "3 t1 waking 2 demo 1 0\n"
	       "11 t1 off_cpu 0 1 0 swapper\n"
	       "20 t1 waking 7 other 1 0\n"
	       "30 t1 on_cpu 1 120 demo 0\n"
	       "40 t1 finish\n",
	       "11 t1 running since 2 cpu 0\n"
	       "20 t1 blocked since 11 cpu 0 other/7\n"
	       "30 t1 runnable since 20 cpu 0 other/7\n"
	       "40 t1 running since 30 cpu 1\n");
}

static void a_thread_that_dies(void **state)
{
	(void)state;
	expect(&sched_ops,
	       "0 t1 process demo demo\n1 t1 begin A w0\n2 t1 on_cpu 0 120 demo 0\n"
	       "5 t1 thread_exit\n"
	       "6 t1 off_cpu 0 128 0 swapper\n"
	       "7 t1 on_cpu 1 120 again 0\n"
	       "8 t1 process_exit 9\n"
	       "9 t1 finish\n",
	       "2 thread 1 runs on 0\n"
	       "6 thread 1 is gone on 0\n"
	       "7 thread 1 runs on 1\n"
	       "8 thread 1 is gone on 1\n");
	/* its last stretch ends with it, what the kernel does with what is left is nobody's time */
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t1 on_cpu 0 120 demo 0\n"
	       "5 t1 thread_exit\n6 t1 off_cpu 0 0 9 hog\n7 t1 on_cpu 0 120 demo 9\n"
	       "8 t1 off_cpu 0 128 0 swapper\n9 t2 worker_start w0 -\n10 t2 finish\n",
	       "5 t1 running since 2 cpu 0\n");
}

/* after a loss nothing is taken for granted: no thread runs on, none is waited for */
static void a_loss(void **state)
{
	(void)state;
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n1 t2 worker_start w1 -\n"
	       "2 t1 on_cpu 0 120 demo 0\n"
	       "3 t2 on_cpu 1 120 demo 0\n"
	       "20 f0 sched_lost 5 0\n"
	       "30 t1 off_cpu 1 1 0 swapper\n"
	       "35 t2 on_cpu 1 120 demo 0\n"
	       "40 t1 finish\n",
	       "20 t2 running since 3 cpu 1\n"
	       "20 t1 running since 2 cpu 0\n"
	       "30 t1 running since 20 cpu 1\n"
	       "40 t2 running since 35 cpu 1\n"
	       "40 t1 blocked since 30 cpu 1 ?/0\n");
	/* also if it is not told: a CPU has one thread, a thread one CPU */
	expect(&sched_ops,
	       "0 t1 process demo demo\n"
	       "2 t1 on_cpu 0 120 demo 0\n"
	       "3 t2 on_cpu 0 120 demo 0\n"
	       "4 t2 on_cpu 1 120 demo 0\n"
	       "5 f9 foreign_on_cpu 1 120 hog 0\n"
	       "6 t2 off_cpu 0 1 0 swapper\n"
	       "7 t1 finish\n",
	       "2 thread 1 runs on 0\n"
	       "3 thread 1 lost on 0\n"
	       "3 thread 2 runs on 0\n"
	       "4 thread 2 lost on 0\n"
	       "4 thread 2 runs on 1\n"
	       "5 thread 2 lost on 1\n"
	       "5 foreign 9 runs on 1\n"
	       "6 thread 2 runs on 0 since earlier\n"
	       "6 thread 2 sleeps on 0\n");
}

static void muted_and_exec(void **state)
{
	(void)state;
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t1 on_cpu 0 120 demo 0\n"
	       "5 t1 capture_off\n7 t1 off_cpu 0 1 0 swapper\n9 t1 capture_on\n"
	       "15 t1 off_cpu 0 1 0 swapper\n20 t1 finish\n",
	       "5 t1 running since 2 cpu 0\n"
	       "15 t1 running since 9 cpu 0\n"
	       "20 t1 blocked since 15 cpu 0 ?/0\n");
	/* the thread goes on, the worker does not */
	expect(&kernel_ops,
	       "0 t1 process demo demo\n1 t1 worker_start w0 -\n2 t1 on_cpu 0 120 demo 0\n"
	       "5 t1 exec\n8 t1 worker_start w0 -\n10 t1 off_cpu 0 1 0 swapper\n10 t1 finish\n",
	       "5 t1 running since 2 cpu 0\n"
	       "8 t1 running since 5 cpu 0\n"
	       "10 t1 running since 8 cpu 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_took_the_cpu_from_which_task),
		cmocka_unit_test(the_first_event_tells_what_was_before),
		cmocka_unit_test(a_wake_that_comes_first),
		cmocka_unit_test(a_thread_that_dies),
		cmocka_unit_test(a_loss),
		cmocka_unit_test(muted_and_exec),
	};

	(void)told__expect;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
