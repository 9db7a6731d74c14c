/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks: which waits were some, and for whom; several holders, recursion, tries, hand-overs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "script.h"

struct told {
	FILE *out;
	char *text;
	size_t size;
	struct model *model;
};

static void put_party(struct told *told, const char *what, const struct model_lock_party *party)
{
	if (party->task)
		fprintf(told->out, " %s %s", what, script__word(party->task));
	else if (party->tid)
		fprintf(told->out, " %s t%u", what, party->tid);
}

static void on_lock(void *ctx, const struct model_lock_change *change, struct model_task *task,
		    struct model_thread *thread, uint64_t time)
{
	static const char *const kinds[] = {"wait", "acquired", "released"};
	struct model_lock_party self = {.task = task ? task->identity : 0, .tid = thread->tid};
	struct told *told = ctx;

	fprintf(told->out, "%" PRIu64, time / 1000);
	put_party(told, kinds[change->kind - EV_lock_wait], &self);
	if (change->contended)
		fputs(" contended", told->out);
	if (change->recursive)
		fputs(" recursive", told->out);
	put_party(told, change->kind == EV_lock_released ? "of" : "holder", &change->holder);
	put_party(told, "after", &change->releaser);
	if (change->kind != EV_lock_wait)
		fprintf(told->out, " holders %u", change->holders);
	if (change->waiters)
		fprintf(told->out, " waiters %u", change->waiters);
	fputc('\n', told->out);
}

static const struct model_ops ops = {.lock = on_lock};

static void feed(void *ctx, const struct event *event)
{
	struct told *told = ctx;

	if (event->type == EV_end)
		assert_int_equal(model__end(told->model, event->time), 0);
	else
		assert_int_equal(model__event(told->model, event), 0);
}

static void expect(const char *script, const char *expected)
{
	struct told told = {.model = model__new()};

	told.out = open_memstream(&told.text, &told.size);
	assert_int_equal(model__add_sink(told.model, &ops, &told), 0);
	script__run(script, feed, &told);
	fflush(told.out);
	assert_string_equal(told.text, expected);
	fclose(told.out);
	free(told.text);
	model__free(told.model);
}

static void held_when_the_wait_began(void **state)
{
	(void)state;
	expect("1 t1 lock_acquired L\n2 t2 lock_wait L -\n5 t1 lock_released L\n"
	       "6 t2 lock_acquired L\n7 t2 lock_released L\n8 t1 lock_wait L -\n"
	       "9 t1 lock_acquired L\n10 t1 lock_released L\n20 t1 finish\n",
	       "1 acquired t1 holders 1\n"
	       "2 wait t2 contended holder t1 waiters 1\n"
	       "5 released t1 of t1 holders 0 waiters 1\n"
	       "6 acquired t2 contended holder t1 after t1 holders 1\n"
	       "7 released t2 of t2 holders 0\n"
	       "8 wait t1 waiters 1\n"
	       "9 acquired t1 holders 1\n"
	       "10 released t1 of t1 holders 0\n");
}

/* between RELEASED and the next waiter's ACQUIRED the lock is on its way to that one */
static void on_its_way_to_another(void **state)
{
	(void)state;
	expect("1 t1 lock_acquired L\n2 t2 lock_wait L -\n5 t1 lock_released L\n"
	       "6 t3 lock_wait L -\n7 t2 lock_acquired L\n8 t2 lock_released L\n"
	       "9 t3 lock_acquired L\n10 t3 lock_released L\n20 t1 finish\n",
	       "1 acquired t1 holders 1\n"
	       "2 wait t2 contended holder t1 waiters 1\n"
	       "5 released t1 of t1 holders 0 waiters 1\n"
	       "6 wait t3 waiters 2\n"
	       "7 acquired t2 contended holder t1 after t1 holders 1 waiters 1\n"
	       "8 released t2 of t2 holders 0 waiters 1\n"
	       "9 acquired t3 contended holder t2 after t2 holders 1\n"
	       "10 released t3 of t3 holders 0\n");
}

static void a_task_goes_on_elsewhere(void **state)
{
	(void)state;
	expect("1 t1 begin A w0\n2 t1 lock_wait L -\n3 t1 suspended A lock L\n"
	       "4 t2 resumed A unlock L\n5 t2 begin A w1\n6 t2 lock_acquired L\n"
	       "7 t2 yielded A\n8 t1 begin A w0\n9 t1 lock_released L\n20 t1 finish\n",
	       "2 wait A waiters 1\n"
	       "6 acquired A contended holders 1\n"
	       "9 released A of A holders 0\n");
}

static void readers_recursion_and_tries(void **state)
{
	(void)state;
	/* two readers, and a writer that waits for both */
	expect("1 t1 lock_acquired R\n2 t2 lock_acquired R\n3 t3 lock_wait R -\n"
	       "4 t1 lock_released R\n5 t2 lock_released R\n6 t3 lock_acquired R\n"
	       "7 t3 lock_acquired R\n8 t3 lock_released R\n9 t3 lock_released R\n"
	       /* released by nobody's holder */
	       "10 t3 lock_released R\n"
	       /* a wait that was given up, and another */
	       "11 t1 lock_acquired R\n12 t2 lock_wait R -\n13 t1 lock_released R\n"
	       "14 t2 lock_wait R -\n15 t2 lock_acquired R\n"
	       /* by another thread than who acquired it */
	       "16 t1 lock_released R\n20 t1 finish\n",
	       "1 acquired t1 holders 1\n"
	       "2 acquired t2 holders 2\n"
	       "3 wait t3 contended holder t2 waiters 1\n"
	       "4 released t1 of t1 holders 1 waiters 1\n"
	       "5 released t2 of t2 holders 0 waiters 1\n"
	       "6 acquired t3 contended holder t2 after t2 holders 1\n"
	       "7 acquired t3 recursive holders 1\n"
	       "8 released t3 recursive of t3 holders 1\n"
	       "9 released t3 of t3 holders 0\n"
	       "10 released t3 holders 0\n"
	       "11 acquired t1 holders 1\n"
	       "12 wait t2 contended holder t1 waiters 1\n"
	       "13 released t1 of t1 holders 0 waiters 1\n"
	       "14 wait t2 waiters 1\n"
	       "15 acquired t2 holders 1\n"
	       "16 released t1 of t2 holders 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_when_the_wait_began),
		cmocka_unit_test(on_its_way_to_another),
		cmocka_unit_test(a_task_goes_on_elsewhere),
		cmocka_unit_test(readers_recursion_and_tries),
	};

	return cmocka_run_group_tests_name("model_locks", tests, NULL, NULL);
}
