// SPDX-License-Identifier: BSD-2-Clause
/* trace: streams out of chunks, and their merge: order, completeness, exact losses. */
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

#define STREAM_FIRST_LAST (REC_CHUNK_FIRST | REC_CHUNK_LAST)

/* opens, dumps, checks the text and that totals say what is expected; the trace is left for more */
static struct trace *expect(struct synth *synth, const char *text)
{
	struct trace *trace = synth__open(synth);
	char *dump = synth__dump(trace);

	assert_string_equal(dump, text);
	free(dump);
	return trace;
}

static void assert_totals(const struct trace *trace, uint64_t records, uint64_t lost)
{
	const struct trace_totals *totals = trace__totals(trace);

	assert_int_equal(totals->records, records);
	assert_int_equal(totals->lost, lost);
	assert_int_equal(totals->recorded, records + lost);
	assert_int_equal(totals->lost_by[0] + totals->lost_by[1] + totals->lost_by[2], lost);
	assert_int_equal(totals->complete, totals->finished && !lost);
}

static void order_across_streams(void **state)
{
	struct synth_ring a, b;
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&a, T(10), 1);
	ring__begin(&a, T(30), 3);
	ring__begin(&a, T(50), 5);
	ring__init(&b, 4096, 77);
	ring__window(&b, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&b, T(20), 2);
	ring__begin(&b, T(30), 4);
	ring__begin(&b, T(60), 6);
	synth__stream(&synth, &a, 1, 101, T(100));
	synth__stream(&synth, &b, 2, 102, T(100));
	synth__end(&synth);
	trace = expect(&synth, "10 100 process pid 100 \n"
			       "10 101 task_begin 1 0\n"
			       "20 102 task_begin 2 0\n"
			       "30 101 task_begin 3 0\n"
			       "30 102 task_begin 4 0\n"
			       "50 101 task_begin 5 0\n"
			       "60 102 task_begin 6 0\n"
			       "60000000 0 end\n");
	assert_totals(trace, 6, 0);
	assert_int_equal(trace__totals(trace)->first_time, T(10));
	assert_int_equal(trace__totals(trace)->last_time, T(60));
	assert_int_equal(trace__totals(trace)->late, 0);
	assert_int_equal(trace__totals(trace)->damaged, 0);
	assert_int_equal(trace__totals(trace)->duration_ns, 60 * SEC);
	assert_true(trace__totals(trace)->complete);
	assert_string_equal(trace__totals(trace)->clock, "tsc");
	trace__close(trace);
	ring__free(&a);
	ring__free(&b);
	synth__free(&synth);
}

/* the ring's next record, @cycles (of which there are three a nanosecond) later than its time says */
static void begin_and(struct synth_ring *ring, uint64_t time, unsigned int cycles, uint64_t task)
{
	size_t at = ring->size;
	uint64_t word;

	ring__begin(ring, time, task);
	memcpy(&word, ring->data + at, sizeof(word));
	word += (uint64_t)cycles << 8;
	memcpy(ring->data + at, &word, sizeof(word));
}

/* two libraries of one thread, whose points are a cycle apart */
static void stamps_decide_within_a_nanosecond(void **state)
{
	struct synth_ring a, b;
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	begin_and(&a, T(10), 1, 2);
	begin_and(&a, T(20), 0, 3);
	begin_and(&a, T(20), 2, 5);
	ring__init(&b, 4096, 77);
	ring__window(&b, T(0), TRACER_CLOCK_CYCLES);
	begin_and(&b, T(10), 0, 1);
	begin_and(&b, T(20), 1, 4);
	begin_and(&b, T(20), 2, 6);
	synth__stream(&synth, &a, 1, 101, T(100));
	synth__stream(&synth, &b, 2, 101, T(100));
	synth__end(&synth);
	trace = expect(&synth, "10 100 process pid 100 \n"
			       "10 101 task_begin 1 0\n"
			       "10 101 task_begin 2 0\n"
			       "20 101 task_begin 3 0\n"
			       "20 101 task_begin 4 0\n"
			       "20 101 task_begin 5 0\n"
			       "20 101 task_begin 6 0\n"
			       "60000000 0 end\n");
	assert_totals(trace, 6, 0);
	trace__close(trace);
	ring__free(&a);
	ring__free(&b);
	synth__free(&synth);
}

/* every way to cut a ring in three, handed over in every order */
static void chunks_out_of_order_and_cut_anywhere(void **state)
{
	static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					 {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t a, b, cut[4];
	int order, i, piece;

	(void)state;
	ring__init(&ring, 8000, 5);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__name(&ring, "a name of some length");
	ring__event(&ring, EV_task_created, T(1), 1ULL, ring__name(&ring, "one"), 0ULL);
	ring__pad(&ring, 40);
	ring__begin(&ring, T(2), 1);
	ring__event(&ring, EV_task_end, T(3), 1ULL);
	for (a = 0; a <= ring.size; a += 4) {
		for (b = a; b <= ring.size; b += 4) {
			order = (a / 4 + b / 4) % 6;
			cut[0] = 0;
			cut[1] = a;
			cut[2] = b;
			cut[3] = ring.size;
			synth__init(&synth);
			for (i = 0; i < 3; i++) {
				piece = orders[order][i];
				synth__chunk(&synth, &ring, cut[piece], cut[piece + 1],
					     (struct synth_chunk){
						     .stream = 9,
						     .time = T(100 + piece),
						     .flags = (piece == 0 ? REC_CHUNK_FIRST : 0) |
							      (piece == 2 ? REC_CHUNK_LAST : 0)});
				if (a % 3)
					synth__flush(&synth);
			}
			trace = expect(&synth, "1 100 process pid 100 \n"
					       "1 100 task_created 1 one 0\n"
					       "2 100 task_begin 1 0\n"
					       "3 100 task_end 1\n"
					       "60000000 0 end\n");
			assert_totals(trace, 3, 0);
			assert_int_equal(trace__totals(trace)->damaged, 0);
			trace__close(trace);
			synth__free(&synth);
		}
	}
	ring__free(&ring);
}

/* a ring of @windows windows of two records each; returns where each begins */
static void ring_of_windows(struct synth_ring *ring, uint64_t start, uint64_t records,
			    unsigned int windows, size_t *at)
{
	unsigned int i;

	ring__init(ring, start, records);
	for (i = 0; i < windows; i++) {
		at[i] = ring->size;
		ring__window(ring, T(i * 10), TRACER_CLOCK_CYCLES);
		ring__begin(ring, T(i * 10 + 1), i);
		ring__begin(ring, T(i * 10 + 2), 100 + i);
	}
	at[windows] = ring->size;
}

static void gaps_are_exact_losses_with_their_cause(void **state)
{
	static const struct {
		unsigned int flag;
		enum event_loss cause;
	} kinds[] = {{REC_CHUNK_LOST_FULL, LOSS_RING_FULL},
		     {REC_CHUNK_LOST_OVERRUN, LOSS_TARGET_OVERRUN},
		     {REC_CHUNK_LOST_FAULT, LOSS_READ_FAULT}};
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	char text[512];
	size_t at[7], kind;

	(void)state;
	ring_of_windows(&ring, 1 << 20, 1000, 6, at);
	for (kind = 0; kind < 3; kind++) {
		synth__init(&synth);
		/* windows 1 to 3 are missing, and the first piece ends in the middle of a record */
		synth__chunk(
			&synth, &ring, 0, at[1] - 12,
			(struct synth_chunk){.stream = 1, .time = T(5), .flags = REC_CHUNK_FIRST});
		synth__chunk(&synth, &ring, at[4], at[6],
			     (struct synth_chunk){.stream = 1,
						  .time = T(60),
						  .flags = kinds[kind].flag | REC_CHUNK_LAST,
						  .start_records = 1008});
		synth__end(&synth);
		snprintf(text, sizeof(text),
			 "1 100 process pid 100 \n"
			 "1 100 task_begin 0 0\n"
			 "41 100 lost 7 %d\n"
			 "41 100 task_begin 4 0\n"
			 "42 100 task_begin 104 0\n"
			 "51 100 task_begin 5 0\n"
			 "52 100 task_begin 105 0\n"
			 "60000000 0 end\n",
			 kinds[kind].cause);
		trace = expect(&synth, text);
		assert_totals(trace, 5, 7);
		assert_int_equal(trace__totals(trace)->lost_by[kinds[kind].cause], 7);
		assert_false(trace__totals(trace)->complete);
		trace__close(trace);
		synth__free(&synth);
	}
	ring__free(&ring);
}

static void loss_says_from_and_to(void **state)
{
	struct synth_ring ring;
	struct event event;
	struct trace *trace;
	struct synth synth;
	size_t at[4];

	(void)state;
	ring_of_windows(&ring, 0, 0, 3, at);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, at[1],
		     (struct synth_chunk){.stream = 1, .time = T(5), .flags = REC_CHUNK_FIRST});
	synth__chunk(&synth, &ring, at[2], at[3],
		     (struct synth_chunk){.stream = 1,
					  .time = T(60),
					  .flags = REC_CHUNK_LOST_FULL | REC_CHUNK_LAST,
					  .start_records = 4});
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0 && event.type != EV_lost)
		;
	assert_int_equal(event.type, EV_lost);
	assert_int_equal(event.args[0].u, 2);
	assert_int_equal(event.args[1].u, T(2));
	assert_int_equal(event.args[2].u, T(21));
	assert_int_equal(event.tid, 100);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* what the last known head counts and nobody handed over is lost; END adds what only the kernel
 * knew */
static void tail_that_never_came_is_lost(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[4];

	(void)state;
	ring_of_windows(&ring, 0, 0, 3, at);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, at[2],
		     (struct synth_chunk){.stream = 1, .time = T(50), .flags = REC_CHUNK_FIRST});
	synth__json(&synth, FILE_END,
		    "{\"finished\":true,\"target_exit\":3,\"lost\":{\"ring_full\":10,"
		    "\"target_ring_overrun\":20,\"read_fault\":30}}");
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_begin 0 0\n"
			       "2 100 task_begin 100 0\n"
			       "11 100 task_begin 1 0\n"
			       "12 100 task_begin 101 0\n"
			       "50 100 lost 2 2\n"
			       "60000000 0 end\n");
	assert_totals(trace, 4, 62);
	assert_int_equal(trace__totals(trace)->lost_by[LOSS_RING_FULL], 10);
	assert_int_equal(trace__totals(trace)->lost_by[LOSS_TARGET_OVERRUN], 20);
	assert_int_equal(trace__totals(trace)->lost_by[LOSS_READ_FAULT], 32);
	assert_true(trace__totals(trace)->has_target_exit);
	assert_int_equal(trace__totals(trace)->target_exit, 3);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* LAST may come without data: then its head is the stream's final count */
static void last_chunk_without_data_counts_the_loss(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[3];

	(void)state;
	ring_of_windows(&ring, 0, 50, 2, at);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, at[1],
		     (struct synth_chunk){.stream = 1,
					  .time = T(5),
					  .flags = REC_CHUNK_FIRST,
					  .head = at[1],
					  .head_records = 52});
	synth__chunk(&synth, &ring, at[2], at[2],
		     (struct synth_chunk){.stream = 1,
					  .time = T(70),
					  .flags = REC_CHUNK_LAST | REC_CHUNK_LOST_OVERRUN,
					  .start_records = 54});
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_begin 0 0\n"
			       "2 100 task_begin 100 0\n"
			       "70 100 lost 2 1\n"
			       "60000000 0 end\n");
	assert_totals(trace, 2, 2);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* positions beyond 2^48 and counts beyond 2^16, which the ring itself cannot hold */
static void positions_and_counts_beyond_the_rings_own_words(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[5];

	(void)state;
	ring_of_windows(&ring, (1ULL << 48) - 96, 65533, 4, at);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, at[1],
		     (struct synth_chunk){.stream = 1, .time = T(5), .flags = REC_CHUNK_FIRST});
	synth__chunk(&synth, &ring, at[3], at[4],
		     (struct synth_chunk){.stream = 1,
					  .time = T(60),
					  .flags = REC_CHUNK_LOST_FULL | REC_CHUNK_LAST,
					  .start_records = 65539});
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_begin 0 0\n"
			       "2 100 task_begin 100 0\n"
			       "31 100 lost 4 0\n"
			       "31 100 task_begin 3 0\n"
			       "32 100 task_begin 103 0\n"
			       "60000000 0 end\n");
	assert_totals(trace, 4, 4);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* counts are from a stream's beginning, so they say what is missing there too */
static void lost_beginning_is_counted(void **state)
{
	static const struct {
		unsigned int flags;
		uint64_t records, lost;
		enum event_loss cause;
	} kinds[] = {
		{REC_CHUNK_FIRST | REC_CHUNK_LOST_FULL, 2, 4, LOSS_RING_FULL},
		{REC_CHUNK_LOST_OVERRUN, 2, 4, LOSS_TARGET_OVERRUN},
		{0, 0, 6, LOSS_READ_FAULT}, /* the file lost it: not known where a record begins */
	};
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[4], i, names;

	(void)state;
	for (i = 0; i < 6; i++) {
		names = i >= 3;
		ring_of_windows(&ring, 1 << 20, 0, 3, at);
		synth__init(&synth);
		if (names)
			synth__chunk(&synth, &ring, 0, 0,
				     (struct synth_chunk){
					     .stream = 1, .time = T(1), .flags = REC_CHUNK_NAMES});
		synth__chunk(&synth, &ring, at[2], at[3],
			     (struct synth_chunk){.stream = 1,
						  .time = T(60),
						  .flags = kinds[i % 3].flags | REC_CHUNK_LAST,
						  .start_records = 4});
		trace = synth__open(&synth);
		free(synth__dump(trace));
		assert_totals(trace, kinds[i % 3].records, kinds[i % 3].lost);
		assert_int_equal(trace__totals(trace)->lost_by[kinds[i % 3].cause],
				 kinds[i % 3].lost);
		trace__close(trace);
		synth__free(&synth);
		ring__free(&ring);
	}
}

/* a gap that no chunk speaks of is a chunk further down, whatever a ROUND promised */
static void silent_gap_waits_for_its_chunk(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[4];
	int first;

	(void)state;
	ring_of_windows(&ring, 0, 0, 3, at);
	for (first = 0; first < 2; first++) {
		synth__init(&synth);
		if (!first)
			synth__chunk(&synth, &ring, 0, at[1],
				     (struct synth_chunk){
					     .stream = 1, .time = T(5), .flags = REC_CHUNK_FIRST});
		synth__chunk(
			&synth, &ring, at[2], at[3],
			(struct synth_chunk){.stream = 1, .time = T(30), .flags = REC_CHUNK_LAST});
		synth__round(&synth, T(1000000));
		synth__chunk(&synth, &ring, at[1], at[2],
			     (struct synth_chunk){.stream = 1, .time = T(20)});
		if (first)
			synth__chunk(&synth, &ring, 0, at[1],
				     (struct synth_chunk){
					     .stream = 1, .time = T(5), .flags = REC_CHUNK_FIRST});
		trace = expect(&synth, "1 100 process pid 100 \n"
				       "1 100 task_begin 0 0\n"
				       "2 100 task_begin 100 0\n"
				       "11 100 task_begin 1 0\n"
				       "12 100 task_begin 101 0\n"
				       "21 100 task_begin 2 0\n"
				       "22 100 task_begin 102 0\n"
				       "60000000 0 end\n");
		assert_totals(trace, 6, 0);
		assert_int_equal(trace__totals(trace)->damaged, 0);
		trace__close(trace);
		synth__free(&synth);
	}
	ring__free(&ring);
}

static void overlaps_are_refused(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t at[4];

	(void)state;
	ring_of_windows(&ring, 0, 0, 3, at);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, at[2],
		     (struct synth_chunk){.stream = 1, .time = T(30), .flags = REC_CHUNK_FIRST});
	synth__chunk(&synth, &ring, 0, at[1], (struct synth_chunk){.stream = 1, .time = T(31)});
	synth__chunk(&synth, &ring, at[1], at[3],
		     (struct synth_chunk){.stream = 1, .time = T(40), .flags = REC_CHUNK_LAST});
	trace = expect(&synth, "1 100 process pid 100 \n"
			       "1 100 task_begin 0 0\n"
			       "2 100 task_begin 100 0\n"
			       "11 100 task_begin 1 0\n"
			       "12 100 task_begin 101 0\n"
			       "21 100 task_begin 2 0\n"
			       "22 100 task_begin 102 0\n"
			       "60000000 0 end\n");
	assert_totals(trace, 6, 0);
	assert_int_equal(trace__totals(trace)->damaged, 2);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* NAME, WINDOW: yes; events, counts: no */
static void older_than_the_capture_teaches_names_only(void **state)
{
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	size_t middle;
	uint64_t key;

	(void)state;
	ring__init(&ring, 0, 40);
	ring__window(&ring, T(0), TRACER_CLOCK_MONOTONIC);
	key = ring__name(&ring, "taught");
	ring__event(&ring, EV_task_created, T(1), 1ULL, key, 0ULL);
	middle = ring.size;
	ring__event(&ring, EV_task_created, T(2), 2ULL, key, 0ULL);
	synth__init(&synth);
	synth__chunk(&synth, &ring, 0, middle,
		     (struct synth_chunk){.stream = 1,
					  .time = T(10),
					  .flags = REC_CHUNK_NAMES,
					  .head = middle,
					  .head_records = 41});
	synth__chunk(&synth, &ring, middle, ring.size,
		     (struct synth_chunk){.stream = 1,
					  .time = T(20),
					  .flags = STREAM_FIRST_LAST,
					  .start_records = 41});
	synth__end(&synth);
	trace = expect(&synth, "2 100 process pid 100 \n"
			       "2 100 task_created 2 taught 0\n"
			       "60000000 0 end\n");
	assert_totals(trace, 1, 0);
	assert_true(trace__totals(trace)->complete);
	assert_string_equal(trace__totals(trace)->clock, "monotonic");
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* A stream of which nothing is queued holds back what is younger than the ROUND less its delay. */
static void rounds_hold_back_what_may_still_be_overtaken(void **state)
{
	struct synth_ring a, b;
	struct trace *trace;
	struct synth synth;

	(void)state;
	synth__init(&synth);
	ring__init(&a, 0, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&a, T(10000), 1);
	ring__begin(&a, T(90000), 3);
	ring__init(&b, 0, 0);
	ring__window(&b, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&b, T(60000), 2);
	synth__stream(&synth, &a, 1, 101, T(90001));
	synth__round(&synth, T(95000));
	synth__round(&synth, T(100000));
	synth__stream(&synth, &b, 2, 102, T(100010));
	synth__round(&synth, T(200000));
	trace = expect(&synth, "10000 100 process pid 100 \n"
			       "10000 101 task_begin 1 0\n"
			       "60000 102 task_begin 2 0\n"
			       "90000 101 task_begin 3 0\n"
			       "60000000 0 end\n");
	assert_int_equal(trace__totals(trace)->late, 0);
	trace__close(trace);
	ring__free(&a);
	ring__free(&b);
	synth__free(&synth);
}

/* Bytes that a chunk left in the ring hold back for as long as they wait, unless their thread
 * ended. */
static void undrained_bytes_hold_back(void **state)
{
	struct synth_ring a, b, c;
	struct trace *trace;
	struct synth synth;
	size_t at[3];
	int ends;

	(void)state;
	ring_of_windows(&a, 0, 0, 2, at); /* to 12 us */
	ring__init(&b, 0, 0);
	ring__window(&b, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&b, T(13), 7);
	ring__init(&c, 0, 0);
	ring__window(&c, T(0), TRACER_CLOCK_CYCLES);
	ring__begin(&c, T(12), 8);
	for (ends = 0; ends < 2; ends++) {
		synth__init(&synth);
		synth__chunk(&synth, &a, 0, at[1],
			     (struct synth_chunk){.stream = 1,
						  .tid = 101,
						  .time = T(15),
						  .cause = REC_CAUSE_SWITCH,
						  .flags = REC_CHUNK_FIRST});
		synth__stream(&synth, &b, 2, 102, T(20));
		if (ends)
			synth__task(&synth, REC_THREAD_EXIT, T(30), 100, 101, 0, 0);
		synth__round(&synth, T(10000000));
		/* what comes now shows by its place whether the ROUND let go what is younger */
		if (ends)
			synth__stream(&synth, &c, 3, 103, T(10000010));
		else
			synth__chunk(&synth, &a, at[1], at[2],
				     (struct synth_chunk){.stream = 1,
							  .tid = 101,
							  .time = T(10000010),
							  .flags = REC_CHUNK_LAST});
		trace = expect(&synth, ends ? "1 100 process pid 100 \n"
					      "1 101 task_begin 0 0\n"
					      "2 101 task_begin 100 0\n"
					      "13 102 task_begin 7 0\n"
					      "15 101 lost 2 2\n"
					      "30 101 thread_exit\n"
					      "12 103 task_begin 8 0\n"
					      "60000000 0 end\n"
					    : "1 100 process pid 100 \n"
					      "1 101 task_begin 0 0\n"
					      "2 101 task_begin 100 0\n"
					      "11 101 task_begin 1 0\n"
					      "12 101 task_begin 101 0\n"
					      "13 102 task_begin 7 0\n"
					      "60000000 0 end\n");
		assert_totals(trace, ends ? 4 : 5, ends ? 2 : 0);
		assert_int_equal(trace__totals(trace)->late, ends);
		trace__close(trace);
		synth__free(&synth);
	}
	ring__free(&a);
	ring__free(&b);
	ring__free(&c);
}

/* Beyond the limit nothing waits: all events come, those overtaken are counted. */
static void too_much_held_back_goes_on(void **state)
{
	struct synth_ring a, b;
	struct event event;
	struct trace *trace;
	struct synth synth;
	uint64_t records = 0, i, n;
	size_t at[3];

	(void)state;
	synth__init(&synth);
	synth.zstd = true;
	ring_of_windows(&a, 0, 0, 2, at);
	synth__chunk(&synth, &a, 0, at[1],
		     (struct synth_chunk){.stream = 1, .time = T(15), .flags = REC_CHUNK_FIRST});
	for (n = 0; n < 160; n++) {
		ring__init(&b, n << 20, n * 65536);
		for (i = 0; i < 65536; i++)
			ring__event(&b, EV_task_end, T(20 + n), 1ULL);
		synth__chunk(&synth, &b, 0, b.size,
			     (struct synth_chunk){.stream = 2,
						  .tid = 102,
						  .time = T(20 + n),
						  .flags = n ? 0 : REC_CHUNK_FIRST});
		synth__round(&synth, T(21 + n));
		ring__free(&b);
	}
	synth__chunk(
		&synth, &a, at[1], at[2],
		(struct synth_chunk){.stream = 1, .time = T(10000010), .flags = REC_CHUNK_LAST});
	synth__end(&synth);
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0)
		records += event.type < 256;
	assert_int_equal(records, 160 * 65536 + 4);
	assert_totals(trace, records, 0);
	assert_int_equal(trace__totals(trace)->late, 2);
	trace__close(trace);
	ring__free(&a);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_across_streams),
		cmocka_unit_test(stamps_decide_within_a_nanosecond),
		cmocka_unit_test(chunks_out_of_order_and_cut_anywhere),
		cmocka_unit_test(gaps_are_exact_losses_with_their_cause),
		cmocka_unit_test(loss_says_from_and_to),
		cmocka_unit_test(tail_that_never_came_is_lost),
		cmocka_unit_test(last_chunk_without_data_counts_the_loss),
		cmocka_unit_test(positions_and_counts_beyond_the_rings_own_words),
		cmocka_unit_test(lost_beginning_is_counted),
		cmocka_unit_test(silent_gap_waits_for_its_chunk),
		cmocka_unit_test(overlaps_are_refused),
		cmocka_unit_test(older_than_the_capture_teaches_names_only),
		cmocka_unit_test(rounds_hold_back_what_may_still_be_overtaken),
		cmocka_unit_test(undrained_bytes_hold_back),
		cmocka_unit_test(too_much_held_back_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
