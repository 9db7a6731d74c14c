// SPDX-License-Identifier: BSD-2-Clause
/* Asio's records become tasks: what comes out for what goes in, also in orders that are not usual.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "trace/asio.h"

#define OUT_SIZE 4096

static struct strings *strings;
static struct asio *asio;
static char out[OUT_SIZE];
static uint32_t process; /* whose events they are */

static int setup(void **state)
{
	(void)state;
	strings = strings__new();
	asio = asio__new(strings);
	out[0] = '\0';
	process = 0;
	return !strings || !asio;
}

static int teardown(void **state)
{
	(void)state;
	asio__free(asio);
	strings__free(strings);
	return 0;
}

static const char *in(const char *text)
{
	return strings__add(strings, text, strlen(text));
}

static void say(const struct event *e)
{
	size_t used = strlen(out), room = OUT_SIZE - used;
	unsigned long long first = e->args[0].u;
	const char *s = e->args[1].s;

	switch (e->type) {
	case EV_task_created:
		snprintf(out + used, room, "created %llu '%s' by %llu\n", first, s,
			 (unsigned long long)e->args[2].u);
		break;
	case EV_task_waits:
		snprintf(out + used, room, "waits %llu %s %llx\n", first, s,
			 (unsigned long long)e->args[2].u);
		break;
	case EV_task_resumed:
		snprintf(out + used, room, "resumed %llu %s %llx\n", first, s,
			 (unsigned long long)e->args[2].u);
		break;
	case EV_task_begin:
		snprintf(out + used, room, "begin %llu w%llu\n", first,
			 (unsigned long long)e->args[1].u);
		break;
	case EV_task_completed:
		snprintf(out + used, room, "completed %llu\n", first);
		break;
	case EV_task_destroyed:
		snprintf(out + used, room, "destroyed %llu\n", first);
		break;
	case EV_handler_created:
		snprintf(out + used, room, "path '%s' descriptor %llu\n",
			 e->args[2].s ? e->args[2].s : "", (unsigned long long)e->args[3].u);
		break;
	case EV_handler_invoked:
		snprintf(out + used, room, "error %s%s\n", s ? s : "none",
			 e->args[3].u == EVENT_HANDLER_TEXT ? e->args[2].s : "");
		break;
	case EV_handler_syscall:
		snprintf(out + used, room, "syscall %llu %s %s\n", first, s, e->args[2].s);
		break;
	case EV_task_known:
		snprintf(out + used, room, "known %llu '%s' in %u\n", first, s, e->process);
		break;
	case EV_task_state:
		if (e->args[1].u == EVENT_TASK_SUSPENDED)
			snprintf(out + used, room, "suspended %llu %s %llx\n", first, e->args[2].s,
				 (unsigned long long)e->args[3].u);
		break;
	case EV_zone_begin:
		snprintf(out + used, room, "zone %s %s\n", e->args[0].s, e->args[2].s);
		break;
	case EV_asio_run_begin:
		snprintf(out + used, room, "run %s%s\n", s, e->derived ? " assumed" : "");
		break;
	default:
		break;
	}
}

static void take(uint32_t tid, uint16_t type, union event_arg a, union event_arg b,
		 union event_arg c, union event_arg d)
{
	struct event event = {
		.time = 1,
		.process = process,
		.type = type,
		.nargs = 4,
		.pid = 1,
		.tid = tid,
		.args = {a, b, c, d},
	};

	if (!asio__concerns(asio, &event))
		return;
	assert_int_equal(asio__take(asio, &event), 0);
	while (asio__give(asio, &event))
		say(&event);
}

#define U(value) ((union event_arg){.u = (value)})
#define S(text) ((union event_arg){.s = in(text)})
#define NONE U(0)

static void created(uint32_t tid, uint64_t id, const char *operation)
{
	take(tid, EV_asio_created, U(id), U(0xab), S("socket"), S(operation));
}

static void a_life(void **state)
{
	(void)state;
	take(1, EV_asio_run_begin, U(9), S("wait_one"), NONE, NONE);
	take(1, EV_asio_location_begin, S("f"), S("x.cpp"), U(7), NONE);
	take(1, EV_asio_native, U(1), U(5), NONE, NONE);
	created(1, 1, "async_send");
	take(1, EV_asio_location_end, NONE, NONE, NONE, NONE);
	take(1, EV_asio_syscall, U(1), U(0), S("send"), U(11));
	take(1, EV_asio_syscall, U(1), U(3), S("send"), U(0));
	take(1, EV_asio_invoked_bytes, U(1), U(3), S("system"), U(0));
	created(1, 2, "post");
	take(1, EV_asio_left, U(1), NONE, NONE, NONE);
	take(1, EV_asio_abandoned, U(2), NONE, NONE, NONE);
	assert_string_equal(out, "run run_one\n"
				 "zone f x.cpp:7\n"
				 "path 'in 'f' (x.cpp:7)' descriptor 5\n"
				 "created 1 'socket@0xab.async_send completion' by 0\n"
				 "waits 1 socket.async_send ab\n"
				 "syscall 1 send system:11\n"
				 "syscall 1 send system:0\n"
				 "resumed 1 send ab\n"
				 "begin 1 w0\n"
				 "error system:0\n"
				 "path '' descriptor 0\n"
				 "created 2 'socket@0xab.post completion' by 1\n"
				 "completed 1\n"
				 "destroyed 2\n");
}

/* stamps of two threads are inverted: the handler must not be told to wait once it runs */
static void invoked_before_it_was_created(void **state)
{
	(void)state;
	take(2, EV_asio_run_begin, U(9), S("run"), NONE, NONE);
	take(2, EV_asio_invoked, U(1), NONE, NONE, NONE);
	take(2, EV_asio_left, U(1), NONE, NONE, NONE);
	created(1, 1, "async_send");
	created(1, 3, "async_send");
	assert_string_equal(out, "run run\n"
				 "begin 1 w0\n"
				 "error none\n"
				 "completed 1\n"
				 "path '' descriptor 0\n"
				 "created 1 'socket@0xab.async_send completion' by 0\n"
				 "path '' descriptor 0\n"
				 "created 3 'socket@0xab.async_send completion' by 0\n"
				 "waits 3 socket.async_send ab\n");
}

static void texts_go_to_the_next_event(void **state)
{
	(void)state;
	take(1, EV_asio_text, U(0), S("my type"), NONE, NONE);
	take(1, EV_asio_text, U(1), S("async_thing"), NONE, NONE);
	take(1, EV_asio_created, U(1), U(0x10), S(""), S(""));
	take(1, EV_asio_text, U(2), S("mine"), NONE, NONE);
	take(1, EV_asio_syscall, U(1), U(0), S("call"), U(11));
	created(1, 2, "post");
	take(1, EV_asio_run_begin, U(9), S("run"), NONE, NONE);
	take(1, EV_asio_text, U(3), S("..."), NONE, NONE);
	take(1, EV_asio_invoked_error, U(1), S("system"), U(2), NONE);
	take(1, EV_asio_invoked_error, U(2), S("system"), U(3), NONE);
	assert_string_equal(out, "path '' descriptor 0\n"
				 "created 1 'my type@0x10.async_thing completion' by 0\n"
				 "waits 1 my type.async_thing 10\n"
				 "syscall 1 call mine:11\n"
				 "resumed 1 call 10\n"
				 "path '' descriptor 0\n"
				 "created 2 'socket@0xab.post completion' by 0\n"
				 "run run\n"
				 "begin 1 w0\n"
				 "error system:2...\n"
				 "begin 2 w0\n"
				 "error system:3\n");
}

/* standalone Asio's errors have a category of their own, also the one that says "not yet" */
static void waits_go_on_in_any_category(void **state)
{
	(void)state;
	created(1, 1, "async_receive");
	out[0] = '\0';
	take(1, EV_asio_text, U(2), S("asio.system"), NONE, NONE);
	take(1, EV_asio_syscall, U(1), U(0), S("recv"), U(11));
	assert_string_equal(out, "syscall 1 recv asio.system:11\n");
	take(1, EV_asio_text, U(2), S("asio.misc"), NONE, NONE);
	take(1, EV_asio_syscall, U(1), U(0), S("recv"), U(11));
	assert_string_equal(out, "syscall 1 recv asio.system:11\n"
				 "syscall 1 recv asio.misc:11\n"
				 "resumed 1 recv ab\n");
}

static void a_forked_child_has_its_parents_handlers(void **state)
{
	(void)state;
	created(1, 1, "async_receive");
	created(1, 2, "post");
	created(1, 3, "post");
	take(1, EV_asio_invoked, U(3), NONE, NONE, NONE);
	take(1, EV_asio_left, U(3), NONE, NONE, NONE);
	out[0] = '\0';
	process = 1;
	take(2, EV_fork, U(0), NONE, NONE, NONE);
	assert_string_equal(out, "");
	take(2, EV_asio_syscall, U(1), U(1), S("recv"), U(0));
	take(2, EV_asio_invoked, U(1), NONE, NONE, NONE);
	take(2, EV_asio_abandoned, U(2), NONE, NONE, NONE);
	process = 0;
	take(1, EV_asio_invoked, U(2), NONE, NONE, NONE);
	assert_string_equal(out, "known 1 'socket@0xab.async_receive completion' in 1\n"
				 "suspended 1 socket.async_receive ab\n"
				 "syscall 1 recv system:0\n"
				 "resumed 1 recv ab\n"
				 "run run assumed\n"
				 "begin 1 w0\n"
				 "error none\n"
				 "known 2 'socket@0xab.post completion' in 1\n"
				 "destroyed 2\n"
				 "begin 2 w0\n"
				 "error none\n");
}

static void runs_from_before_the_capture(void **state)
{
	(void)state;
	take(1, EV_asio_found, U(1), NONE, NONE, NONE);
	take(1, EV_asio_invoked, U(1), NONE, NONE, NONE);
	take(1, EV_asio_left, U(1), NONE, NONE, NONE);
	take(1, EV_asio_run_end, U(9), NONE, NONE, NONE);
	take(1, EV_asio_run_begin, U(9), S("poll"), NONE, NONE);
	take(1, EV_asio_invoked, U(2), NONE, NONE, NONE);
	assert_string_equal(out, "known 1 'handler created before the capture' in 0\n"
				 "run run assumed\n"
				 "begin 1 w0\n"
				 "error none\n"
				 "completed 1\n"
				 "run poll\n"
				 "begin 2 w0\n"
				 "error none\n");
}

static void a_loss_forgets_where_the_thread_is(void **state)
{
	(void)state;
	take(1, EV_asio_run_begin, U(9), S("run"), NONE, NONE);
	take(1, EV_asio_invoked, U(1), NONE, NONE, NONE);
	take(1, EV_lost, U(5), U(0), U(1), U(0));
	created(1, 2, "post");
	assert_string_equal(out, "run run\n"
				 "begin 1 w0\n"
				 "error none\n"
				 "path '' descriptor 0\n"
				 "created 2 'socket@0xab.post completion' by 0\n");
}

static void workers_of_others_keep_their_numbers(void **state)
{
	(void)state;
	take(1, EV_worker_start, U(4), S("mine"), NONE, NONE);
	take(2, EV_asio_invoked, U(1), NONE, NONE, NONE);
	take(1, EV_asio_invoked, U(2), NONE, NONE, NONE);
	assert_string_equal(out, "run run assumed\n"
				 "begin 1 w5\n"
				 "error none\n"
				 "run run assumed\n"
				 "begin 2 w4\n"
				 "error none\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_life, setup, teardown),
		cmocka_unit_test_setup_teardown(invoked_before_it_was_created, setup, teardown),
		cmocka_unit_test_setup_teardown(texts_go_to_the_next_event, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_go_on_in_any_category, setup, teardown),
		cmocka_unit_test_setup_teardown(a_forked_child_has_its_parents_handlers, setup,
						teardown),
		cmocka_unit_test_setup_teardown(runs_from_before_the_capture, setup, teardown),
		cmocka_unit_test_setup_teardown(a_loss_forgets_where_the_thread_is, setup,
						teardown),
		cmocka_unit_test_setup_teardown(workers_of_others_keep_their_numbers, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
