// SPDX-License-Identifier: BSD-2-Clause
/* trace: what records say: strings by key, address and offset, numbers, clocks, unknown events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "synth.h"

/* microseconds of the capture */
#define T(us) (SYNTH_START + (us)*1000ULL)

static struct trace *expect(struct synth *synth, const char *text)
{
	struct trace *trace = synth__open(synth);
	char *dump = synth__dump(trace);

	assert_string_equal(dump, text);
	free(dump);
	return trace;
}

#define BASE 0x555500000000ULL
#define DSO_AT (BASE + 0x4000)

/* "first" at 0x1000, "second" at 0x1006, "literal" at 0x3001, "no end!" up to the end of 0x3010 */
static const char image[] = "first\0second\0\0\0ABliteral\0no end!";

static void add_dso(struct synth *synth)
{
	synth__dso(synth,
		   "{\"id\":4,\"path\":\"/bin/x\",\"schema\":\"\",\"image_size\":32,"
		   "\"image\":[[4096,16],[12288,16]]}",
		   image, 32);
	synth__json(synth, FILE_MAP,
		    "{\"pid\":100,\"time\":%llu,\"dso_id\":4,\"base\":%llu,\"dso\":%llu}", T(0),
		    BASE, DSO_AT);
}

static void strings_by_address_key_and_literal(void **state)
{
	struct synth_ring ring;
	struct event event;
	struct trace *trace;
	struct synth synth;
	const char *once = NULL;
	uint64_t key;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	key = ring__name(&ring, "by key");
	ring__event(&ring, EV_task_created, T(1), 1ULL, BASE + 0x1000, 0ULL);
	ring__event(&ring, EV_task_created, T(2), 2ULL, BASE + 0x1006, 1ULL);
	ring__event(&ring, EV_task_created, T(3), 3ULL, key, 1ULL);
	ring__event(&ring, EV_task_created, T(4), 4ULL, 0ULL, 1ULL);
	ring__event(&ring, EV_task_created, T(5), 5ULL, BASE + 0x2000, 0ULL);
	ring__event(&ring, EV_task_created, T(6), 6ULL, 0x8000000000000123ULL, 0ULL);
	ring__event(&ring, EV_zone_begin, T(7), BASE + 0x1003, 0x3001ULL, 0x1000ULL);
	ring__event(&ring, EV_zone_begin, T(8), BASE + 0x3009, 0ULL, 0x5000ULL);
	ring__event(&ring, EV_task_created, T(9), 7ULL, 0x10ULL, 0ULL);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, ring.size,
		     (struct synth_chunk){.stream = 1,
					  .dso = DSO_AT,
					  .time = T(100),
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
	/* the binary is explained after its records */
	add_dso(&synth);
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_created 1 first 0\n"
			       "2 100 task_created 2 second 1\n"
			       "3 100 task_created 3 by key 1\n"
			       "4 100 task_created 4 NULL 1\n"
			       "5 100 task_created 5 <0x555500002000> 0\n"
			       "6 100 task_created 6 <name 0x8000000000000123> 0\n"
			       "7 100 zone_begin st literal first\n"
			       "8 100 zone_begin no end! NULL <+0x5000>\n"
			       "9 100 task_created 7 <0x10> 0\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->damaged, 0);
	trace__close(trace);

	/* equal strings, equal pointers, however they were given */
	ring__name(&ring, "first");
	ring__event(&ring, EV_task_created, T(10), 1ULL, ring__name(&ring, "first"), 0ULL);
	synth__chunk(&synth, &ring, 0, ring.size,
		     (struct synth_chunk){.stream = 2,
					  .dso = DSO_AT,
					  .time = T(100),
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0) {
		if (event.type != EV_task_created || !event.args[1].s ||
		    strcmp(event.args[1].s, "first"))
			continue;
		if (once)
			assert_ptr_equal(once, event.args[1].s);
		once = event.args[1].s;
	}
	assert_non_null(once);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* a name holds for all threads of its process, and for no other process */
static void names_hold_in_their_process(void **state)
{
	struct synth_ring a, b;
	struct synth synth;
	char text[256];
	uint64_t key;

	(void)state;
	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	key = ring__name(&a, "shared");
	ring__event(&a, EV_message, T(1), key);
	ring__init(&b, 0, 0);
	ring__event(&b, EV_message, T(2), key);
	synth__init(&synth);
	synth__stream(&synth, &a, 1, 101, T(100));
	synth__stream(&synth, &b, 2, 102, T(100));
	synth__chunk(&synth, &b, 0, b.size,
		     (struct synth_chunk){.pid = 200,
					  .stream = 3,
					  .tid = 200,
					  .time = T(100),
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
	snprintf(text, sizeof(text),
		 "1 100 process pid 100 \n"
		 "1 101 message shared\n"
		 "2 102 message shared\n"
		 "2 200 process pid 200 \n"
		 "2 200 message <name 0x%llx>\n"
		 "60000000 0 end\n",
		 (unsigned long long)key);
	trace__close(expect(&synth, text));
	ring__free(&a);
	ring__free(&b);
	synth__free(&synth);
}

static void numbers_of_all_kinds(void **state)
{
	const double real = -0.25;
	struct synth_ring ring;
	struct synth synth;
	uint64_t bits;

	(void)state;
	memcpy(&bits, &real, sizeof(bits));
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_counter, T(1), 0ULL, (uint64_t)-5);
	ring__event(&ring, EV_counter + 1, T(2), 0ULL, bits);
	ring__event(&ring, EV_steal, T(3), 1ULL, 0xffffffffULL, ~0ULL, 77ULL);
	ring__event(&ring, EV_zone_end, T(4));
	synth__init(&synth);
	synth__stream(&synth, &ring, 1, 100, T(100));
	trace__close(expect(&synth, "1 100 process pid 100 \n"
				    "1 100 counter NULL -5\n"
				    "2 100 counter NULL -0.250\n"
				    "3 100 steal 1 4294967295 18446744073709551615 77\n"
				    "4 100 zone_end\n"
				    "60000000 0 end\n"));
	ring__free(&ring);
	synth__free(&synth);
}

static void window_switches_the_clock(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(1), 1ULL);
	ring__window(&ring, T(2), TRACER_CLOCK_MONOTONIC);
	ring__event(&ring, EV_task_end, T(3), 2ULL);
	ring__window(&ring, T(4), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(5), 3ULL);
	synth__init(&synth);
	synth__stream(&synth, &ring, 1, 100, T(100));
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_end 1\n"
			       "3 100 task_end 2\n"
			       "5 100 task_end 3\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->damaged, 0);
	assert_int_equal(trace__monotonic_offset(trace), -(int64_t)SYNTH_MONOTONIC);
	assert_int_equal(trace__realtime_offset(trace), 1000 * SEC);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* Straight lines between snapshots, the whole capture's slope outside, and the error stated. */
static void clock_bends_at_snapshots(void **state)
{
	struct synth_ring ring;
	struct event event;
	struct trace *trace;
	struct synth synth;
	/* cycles of stamps, and the ns after the start that they are */
	static const uint64_t stamps[][2] = {{1000000000, 0},	       {1500000000, 250000000},
					     {2000000000, 500000000},  {2500000000, 1000000000},
					     {3000000000, 1500000000}, {3400000000, 1800000000}};
	size_t i;
	uint64_t word[2] = {0, 1};

	(void)state;
	synth__init_bare(&synth, 1, 0);
	synth__clock(&synth, 1000000000, SYNTH_START, 100);
	synth__clock(&synth, 2000000000, SYNTH_START + 500000000, 4000);
	synth__clock(&synth, 2000000000, SYNTH_START + 600000000, 100); /* cannot be: left out */
	synth__clock(&synth, 3000000000, SYNTH_START + 1500000000, 100);
	ring__init(&ring, 0, 0);
	for (i = 0; i < 6; i++) {
		word[0] = stamps[i][0] << 8 | EV_task_end;
		ring__bytes(&ring, word, sizeof(word));
		ring.records++;
	}
	synth__stream(&synth, &ring, 1, 100, SYNTH_START + 2 * SEC);
	trace = synth__open(&synth);
	for (i = 0; i < 6;) {
		assert_int_equal(trace__next(trace, &event), 1);
		if (event.type == EV_task_end)
			assert_int_equal(event.time, SYNTH_START + stamps[i++][1]);
	}
	/* the middle one is 250 ms off the line between its neighbours */
	assert_int_equal(trace__totals(trace)->clock_error_ns, 250000000);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);

	synth__init_bare(&synth, 1, 0);
	synth__clock(&synth, 1000000000, SYNTH_START, 600);
	synth__clock(&synth, 4000000000, SYNTH_START + SEC, 60);
	trace = synth__open(&synth);
	assert_int_equal(trace__totals(trace)->clock_error_ns, 100);
	trace__close(trace);
	synth__free(&synth);
}

/* 56 bits of a stamp last 278 days at 3 GHz; a machine may be up for longer. */
static void upper_bits_of_stamps_are_restored(void **state)
{
	const uint64_t wrap = (1ULL << 56) / 3; /* ns */
	uint64_t start = wrap * 5 - 10000000;	/* crosses 5 * 2^56 10 ms after the start */
	struct synth_ring ring;
	struct event event;
	struct trace *trace;
	struct synth synth;
	uint64_t n = 0;

	(void)state;
	synth__init_bare(&synth, 1, 0);
	synth__clock(&synth, start * 3, start, 60);
	synth__clock(&synth, (start + 60 * SEC) * 3, start + 60 * SEC, 60);
	ring__init(&ring, 0, 0);
	for (n = 0; n < 20; n++)
		ring__event(&ring, EV_task_end, start + n * MS, n);
	synth__stream(&synth, &ring, 1, 100, start + 25 * MS);
	trace = synth__open(&synth);
	for (n = 0; n < 20;) {
		assert_int_equal(trace__next(trace, &event), 1);
		if (event.type != EV_task_end)
			continue;
		assert_int_equal(event.args[0].u, n);
		assert_in_range(event.time, start + n * MS - 1, start + n * MS + 1);
		n++;
	}
	assert_int_equal(trace__totals(trace)->damaged, 0);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* events of a newer tracer: skipped by the size that the DSO's schema says, and shown */
static void unknown_events_are_shown(void **state)
{
	static const char schema[] =
		"{\"id\":4,\"schema\":\"19 task_begin task arg1 id:task u32:worker "
		"u64:more\\n200 novelty gadget always u32:small str:word id:what"
		"\\n20 task_end task arg1 str:task\\nrubbish\\n300 x y z\\n"
		"201 bad\\u001bname x always\\n\",\"image\":[]}";
	struct {
		uint32_t small, hole;
		uint64_t word, what;
	} novelty = {7, 0, 0, 9};
	struct {
		uint64_t task;
		uint32_t worker, hole;
		uint64_t more;
	} longer = {1, 2, 0, 3};
	const struct event_schema *row;
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	novelty.word = ring__name(&ring, "new");
	ring__raw(&ring, 200, T(1), &novelty, sizeof(novelty));
	ring__raw(&ring, EV_task_begin, T(2), &longer, sizeof(longer));
	ring__event(&ring, EV_task_end, T(3), 5ULL);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, ring.size,
		     (struct synth_chunk){.stream = 1,
					  .dso = DSO_AT,
					  .time = T(100),
					  .flags = REC_CHUNK_FIRST | REC_CHUNK_LAST});
	synth__flush(&synth);
	synth__dso(&synth, schema, "", 0);
	synth__json(&synth, FILE_MAP,
		    "{\"pid\":100,\"time\":1,\"dso_id\":4,\"base\":\"0x1000\",\"dso\":%llu}",
		    DSO_AT);
	/* the known events keep their arguments, whatever the schema says of them */
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 novelty 7 new 9\n"
			       "2 100 task_begin 1 2\n"
			       "3 100 task_end 5\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->records, 3);
	assert_int_equal(trace__totals(trace)->damaged, 0);
	row = trace__schema(trace, 200);
	assert_non_null(row);
	assert_string_equal(row->category, "gadget");
	assert_string_equal(row->arg_names[1], "word");
	assert_null(trace__schema(trace, 201));
	assert_null(trace__schema(trace, 17 + 256 + 100));
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* without a schema its size is not known: the rest of the window goes, and nothing else */
static void unexplained_event_costs_its_window(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t middle;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(1), 1ULL);
	ring__raw(&ring, 222, T(2), "12345678", 8);
	ring__event(&ring, EV_task_end, T(3), 2ULL);
	middle = ring.size;
	ring__window(&ring, T(4), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(5), 3ULL);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, middle,
		     (struct synth_chunk){.stream = 1,
					  .time = T(3),
					  .flags = REC_CHUNK_FIRST,
					  .head = middle,
					  .head_records = 3});
	synth__chunk(&synth, &ring, middle, ring.size,
		     (struct synth_chunk){.stream = 1, .time = T(6), .flags = REC_CHUNK_LAST});
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_end 1\n"
			       "5 100 lost 2 2\n"
			       "5 100 task_end 3\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->records, 2);
	assert_int_equal(trace__totals(trace)->lost, 2);
	assert_true(trace__totals(trace)->damaged > 0);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* the gates of a target are open to all tracers: another one's records are not this capture's */
static void only_categories_that_were_asked_for(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;

	(void)state;
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(1), 1ULL);
	ring__event(&ring, EV_zone_end, T(2));
	ring__event(&ring, EV_counter + 1, T(3), 0ULL, 0ULL);
	ring__event(&ring, EV_capture_off, T(4));
	ring__event(&ring, EV_capture_on, T(5));
	ring__event(&ring, EV_task_end, T(6), 2ULL);
	synth__init_bare(&synth, 1, 0);
	synth__json(&synth, FILE_META, "{\"categories\":1}");
	synth__clock(&synth, T(0) * 3, T(0), 0);
	synth__clock(&synth, T(1000) * 3, T(1000), 0);
	synth__stream(&synth, &ring, 1, 100, T(100));
	synth__end(&synth);
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_end 1\n"
			       "4 100 capture_off\n"
			       "5 100 capture_on\n"
			       "6 100 task_end 2\n"
			       "1000 0 end\n");
	assert_int_equal(trace__totals(trace)->records, 4);
	assert_true(trace__totals(trace)->complete);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_by_address_key_and_literal),
		cmocka_unit_test(names_hold_in_their_process),
		cmocka_unit_test(numbers_of_all_kinds),
		cmocka_unit_test(window_switches_the_clock),
		cmocka_unit_test(clock_bends_at_snapshots),
		cmocka_unit_test(upper_bits_of_stamps_are_restored),
		cmocka_unit_test(unknown_events_are_shown),
		cmocka_unit_test(unexplained_event_costs_its_window),
		cmocka_unit_test(only_categories_that_were_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
