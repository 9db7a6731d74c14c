// SPDX-License-Identifier: BSD-2-Clause
/* export/text: the line format, and that nothing in a capture can break it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "export/export.h"
#include "synth.h"

/* microseconds of the capture */
#define T(us) (SYNTH_START + (us)*1000ULL)

/* exports to a file and returns its text */
static char *export(struct synth *synth)
{
	struct trace *trace = synth__open(synth);
	struct export_options options = {0};
	char path[64], *text = calloc(1, 1 << 20), *err = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/tracer-text-%d.txt", getpid());
	options.path = path;
	assert_int_equal(export__text(trace, &options, &err), 0);
	assert_null(err);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	unlink(path);
	trace__close(trace);
	return text;
}

static void lines_of_all_kinds(void **state)
{
	const double reals[] = {2, -0.5, 1e300};
	struct synth_ring ring;
	struct synth synth;
	uint64_t bits, i;
	char *text;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_suspended, T(1), 0x7f00c0deULL,
		    ring__name(&ring, "future::wait"), 0x7f00beefULL);
	ring__event(&ring, EV_task_created, T(2), 0xffffffffffffffffULL, 0ULL, 0ULL);
	ring__event(&ring, EV_steal, T(3), 1ULL, 0xffffffffULL, 5ULL, ~0ULL);
	ring__event(&ring, EV_counter, T(4), ring__name(&ring, "n"), (uint64_t)INT64_MIN);
	for (i = 0; i < 3; i++) {
		memcpy(&bits, &reals[i], sizeof(bits));
		ring__event(&ring, EV_counter + 1, T(5 + i), ring__name(&ring, "n"), bits);
	}
	ring__event(&ring, EV_zone_end, T(8));
	synth__init(&synth);
	synth__json(&synth, FILE_PROCESS,
		    "{\"pid\":100,\"time\":%llu,\"name\":\"prog\",\"cmdline\":\"prog \\\"x\\\"\"}",
		    T(0));
	synth__stream(&synth, &ring, 1, 101, T(9));
	synth__task(&synth, REC_FORK, T(20), 200, 200, 100, 0);
	synth__task(&synth, REC_PROCESS_EXIT, T(30), 200, 200, 0, -1);
	text = export(&synth);
	assert_string_equal(
		text, "5.000000000 100/100 process name=\"prog\" cmdline=\"prog \\\"x\\\"\"\n"
		      "5.000001000 100/101 task_suspended task=0x7f00c0de reason=\"future::wait\" "
		      "object=0x7f00beef\n"
		      "5.000002000 100/101 task_created task=0xffffffffffffffff name=null "
		      "parent=0x0\n"
		      "5.000003000 100/101 steal thief=1 victim=none task=0x5 victim_depth=none\n"
		      "5.000004000 100/101 counter name=\"n\" value=-9223372036854775808\n"
		      "5.000005000 100/101 counter name=\"n\" value=2.0\n"
		      "5.000006000 100/101 counter name=\"n\" value=-0.5\n"
		      "5.000007000 100/101 counter name=\"n\" value=1.0000000000000001e+300\n"
		      "5.000008000 100/101 zone_end\n"
		      "5.000020000 200/200 process name=\"pid 200\" cmdline=\"\"\n"
		      "5.000020000 200/200 fork parent=100\n"
		      "5.000030000 200/200 process_exit status=-1\n"
		      "65.000000000 0/0 end\n"
		      "# mismatch 5.000001000 100/0 task_suspended name=\"task\" "
		      "task=0x7f00c0de\n"
		      "# mismatches 1: task_suspended 1\n");
	free(text);
	ring__free(&ring);
	synth__free(&synth);
}

static void strings_cannot_break_a_line(void **state)
{
	static const struct {
		const char *bytes, *shown;
	} strings[] = {
		{"a\nb\tc\rd", "\"a\\nb\\tc\\rd\""},
		{"\"\\", "\"\\\"\\\\\""},
		{"\x1b[31m\x7f", "\"\\x1b[31m\\x7f\""},
		{"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
		{"\xe2\x82\xac \xf0\x9f\x98\x80", "\"\xe2\x82\xac \xf0\x9f\x98\x80\""},
		{"\xc3", "\"\\xc3\""},			 /* cut */
		{"\xc0\xaf", "\"\\xc0\\xaf\""},		 /* longer than it need be */
		{"\xed\xa0\x80", "\"\\xed\\xa0\\x80\""}, /* half of a pair */
		{"\xc2\x85", "\"\\xc2\\x85\""},		 /* control */
		{"\xff\xfe", "\"\\xff\\xfe\""},
	};
	struct synth_ring ring;
	struct synth synth;
	char expected[128], *text;
	size_t i;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		ring__event(&ring, EV_message, T(i), ring__name(&ring, strings[i].bytes));
	synth__init(&synth);
	synth__stream(&synth, &ring, 1, 101, T(9));
	text = export(&synth);
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		snprintf(expected, sizeof(expected), "5.00000%zu000 100/101 message text=%s\n", i,
			 strings[i].shown);
		assert_non_null(strstr(text, expected));
	}
	free(text);
	ring__free(&ring);
	synth__free(&synth);
}

static void lost_records_have_a_line(void **state)
{
	struct synth_ring ring;
	struct synth synth;
	char *text;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(1), 1ULL);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, ring.size,
		     (struct synth_chunk){.stream = 1,
					  .time = T(2),
					  .flags = REC_CHUNK_FIRST,
					  .head = ring.size,
					  .head_records = 1});
	/* 800 bytes further on */
	ring.start += 800;
	synth__chunk(&synth, &ring, ring.size, ring.size,
		     (struct synth_chunk){.stream = 1,
					  .time = T(4),
					  .flags = REC_CHUNK_LAST | REC_CHUNK_LOST_FULL,
					  .start_records = 51,
					  .head_records = 51});
	text = export(&synth);
	assert_non_null(strstr(text, "5.000004000 100/100 lost records=50 from=5.000001000 "
				     "to=5.000004000 cause=ring_full\n"));
	free(text);
	ring__free(&ring);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_all_kinds),
		cmocka_unit_test(strings_cannot_break_a_line),
		cmocka_unit_test(lost_records_have_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
