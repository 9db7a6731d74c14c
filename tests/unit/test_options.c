/* SPDX-License-Identifier: BSD-2-Clause */
/* cmd/options and cmd/record_options: values with units, the environment, who wins. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/record.h"
#include "cmd/specs.h"

static const struct option_origin origin = {"--test", false};

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"500ms", 500000000},  {"5s", 5000000000}, {"2m", 120000000000},
		{"1h", 3600000000000}, {"10us", 10000},	   {"7ns", 7},
		{"1.5s", 1500000000},  {"0", 0},
	};
	static const char *const bad[] = {"",	  "5",	 "5x",	"-5s", "s",  "5 s",    "1e3s ",
					  "0x5s", "5sm", "inf", "nan", "5S", "1e300s", "9999999h"};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(option__duration(good[i].text, &origin, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_not_equal(option__duration(bad[i], &origin, &ns), 0);
}

static void sizes(void **state)
{
	static const char *const bad[] = {"", "K", "64k", "64KB", "-1", "1T", "1 M", "99999999G"};
	uint64_t bytes;

	(void)state;
	assert_int_equal(option__size("64K", &origin, &bytes), 0);
	assert_int_equal(bytes, 65536);
	assert_int_equal(option__size("16M", &origin, &bytes), 0);
	assert_int_equal(bytes, 16 << 20);
	assert_int_equal(option__size("1G", &origin, &bytes), 0);
	assert_int_equal(bytes, 1 << 30);
	assert_int_equal(option__size("4096", &origin, &bytes), 0);
	assert_int_equal(bytes, 4096);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_not_equal(option__size(bad[i], &origin, &bytes), 0);
}

static void categories(void **state)
{
	uint32_t bits;

	(void)state;
	assert_int_equal(option__categories("task", &origin, &bits), 0);
	assert_int_equal(bits, 1U << 0 | 1U << 11); /* and `capture`, always */
	assert_int_equal(option__categories("zone,task,steal", &origin, &bits), 0);
	assert_int_equal(bits, 1U << 0 | 1U << 2 | 1U << 5 | 1U << 11);
	assert_int_not_equal(option__categories("", &origin, &bits), 0);
	assert_int_not_equal(option__categories("task,", &origin, &bits), 0);
	assert_int_not_equal(option__categories("tasks", &origin, &bits), 0);
}

static struct record record;

static int parse(const char *const words[])
{
	static char *argv[32];
	int argc = 0;

	argv[argc++] = "tracer";
	while (words[argc - 1] && argc < 31) {
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	specs__free(record.capture.specs);
	record.capture.specs = NULL;
	return record__parse(&record, argc, argv);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-p", "12"), 0);
	assert_int_equal(record.capture.pid_count, 1);
	assert_int_equal(record.capture.pids[0], 12);
	assert_null(record.capture.command);
	assert_int_equal(record.capture.categories, 0xfff);
	assert_int_equal(record.capture.sample, 1);
	assert_true(record.capture.follow && record.capture.sched);
	assert_int_equal(record.capture.ready_fd, -1);
	assert_int_equal(record.capture.cpu, -1);
	assert_int_equal(record.capture.poll_interval_ns, UINT64_MAX);
	assert_int_equal(record.capture.flush_interval_ns, UINT64_MAX);
	assert_int_equal(record.capture.duration_ns, 0);
}

static void every_option_of_the_interface(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-p", "12", "-p13", "--pid=14", "-o", "x.trc", "-d", "5s", "-c",
			       "task", "--sample", "4", "--tracks", "task", "--no-follow",
			       "--no-sched", "--on-full", "stop", "--buffer-size", "1M",
			       "--flush-interval", "10ms", "--poll-interval", "0", "--cpu", "0",
			       "--clock", "monotonic", "--report"),
			 0);
	assert_int_equal(record.capture.pid_count, 3);
	assert_string_equal(record.output, "x.trc");
	assert_int_equal(record.capture.duration_ns, 5000000000);
	assert_int_equal(record.capture.sample, 4);
	assert_int_equal(record.tracks, EXPORT_TASK);
	assert_false(record.capture.follow || record.capture.sched);
	assert_int_equal(record.capture.on_full, CAPTURE_ON_FULL_STOP);
	assert_int_equal(record.capture.buffer_size, 1 << 20);
	assert_int_equal(record.capture.flush_interval_ns, 10000000);
	assert_int_equal(record.capture.poll_interval_ns, 0);
	assert_int_equal(record.capture.cpu, 0);
	assert_int_equal(record.capture.clock, CAPTURE_CLOCK_MONOTONIC);
	assert_true(record.report);
}

static void a_commands_options_are_its_own(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-o", "x.trc", "--", "ls", "-d", "--", "-p"), 0);
	assert_string_equal(record.capture.command[0], "ls");
	assert_string_equal(record.capture.command[1], "-d");
	assert_string_equal(record.capture.command[2], "--");
	assert_string_equal(record.capture.command[3], "-p");
	assert_null(record.capture.command[4]);
	assert_int_equal(record.capture.pid_count, 0);
}

static void the_environment_is_asked_and_loses(void **state)
{
	(void)state;
	setenv("TRACER_PID", "7,8", 1);
	setenv("TRACER_DURATION", "9s", 1);
	setenv("TRACER_NO_SCHED", "1", 1);
	setenv("TRACER_NO_FOLLOW", "0", 1);
	setenv("TRACER_BUFFER_SIZE", "2M", 1);
	assert_int_equal(PARSE("-d", "1s"), 0);
	assert_int_equal(record.capture.pid_count, 2);
	assert_int_equal(record.capture.pids[1], 8);
	assert_int_equal(record.capture.duration_ns, 1000000000);
	assert_false(record.capture.sched);
	assert_true(record.capture.follow);
	assert_int_equal(record.capture.buffer_size, 2 << 20);
	/* named here, none of there is traced */
	assert_int_equal(PARSE("-p", "12", "-p", "13"), 0);
	assert_int_equal(record.capture.pid_count, 2);
	assert_int_equal(record.capture.pids[0], 12);
	assert_int_equal(PARSE("--", "ls"), 0);
	assert_int_equal(record.capture.pid_count, 0);
	setenv("TRACER_NO_SCHED", "perhaps", 1);
	assert_int_equal(PARSE("-p", "12"), STATUS_USAGE);
	unsetenv("TRACER_PID");
	unsetenv("TRACER_DURATION");
	unsetenv("TRACER_NO_SCHED");
	unsetenv("TRACER_NO_FOLLOW");
	unsetenv("TRACER_BUFFER_SIZE");
}

static void senseless_command_lines(void **state)
{
	(void)state;
	assert_int_equal(PARSE("-d", "1s"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "0"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "--sample", "0"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "--clock", "sundial"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "ls"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "--stacks", "nothing"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "--stacks", "task:1000"), STATUS_USAGE);
	assert_int_equal(PARSE("-p", "12", "--stacks", "suspend:16,steal,task_created"), 0);
	assert_int_equal(PARSE("-p", "12", "--", "ls"), STATUS_TRACER_FAILED);
	assert_int_equal(PARSE("-d", "x", "--", "ls"), STATUS_TRACER_FAILED);
	assert_int_equal(PARSE("--"), STATUS_TRACER_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(sizes),
		cmocka_unit_test(categories),
		cmocka_unit_test(defaults),
		cmocka_unit_test(every_option_of_the_interface),
		cmocka_unit_test(a_commands_options_are_its_own),
		cmocka_unit_test(the_environment_is_asked_and_loses),
		cmocka_unit_test(senseless_command_lines),
	};

	say__set_level(SAY_QUIET);
	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
