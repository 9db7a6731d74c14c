// SPDX-License-Identifier: BSD-2-Clause
/* trace: files that are not whole, not ours, of other versions, or written by an enemy. */
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

/* a small capture with everything in it; two streams of 40 records each in 8 chunks */
static void sample(struct synth *synth, bool zstd)
{
	struct synth_ring a, b;
	uint64_t i, key, from_a = 0, from_b = 0;

	synth__init(synth);
	synth->zstd = zstd;
	synth__dso(synth, "{\"id\":1,\"image\":[[256,5]]}", "text", 5);
	synth__json(synth, FILE_MAP,
		    "{\"pid\":100,\"time\":1,\"dso_id\":1,\"base\":4096,\"dso\":8192}");
	synth__json(synth, FILE_PROCESS, "{\"pid\":100,\"time\":%llu,\"name\":\"p\"}", T(0));
	ring__init(&a, 0, 0);
	ring__init(&b, 4096, 0);
	ring__window(&a, T(0), TRACER_CLOCK_CYCLES);
	ring__window(&b, T(0), TRACER_CLOCK_MONOTONIC);
	key = ring__name(&a, "key");
	for (i = 0; i < 40; i++) {
		ring__event(&a, EV_task_created, T(i * 20), i, i % 2 ? key : 4096 + 256, 0ULL);
		ring__event(&b, EV_task_end, T(i * 20 + 10), i);
		if (i % 5 != 4)
			continue;
		synth__chunk(synth, &a, from_a, a.size,
			     (struct synth_chunk){.stream = 1,
						  .tid = 101,
						  .dso = 8192,
						  .time = T(i * 20 + 11),
						  .flags = (i == 4 ? REC_CHUNK_FIRST : 0) |
							   (i == 39 ? REC_CHUNK_LAST : 0)});
		synth__chunk(synth, &b, from_b, b.size,
			     (struct synth_chunk){.stream = 2,
						  .tid = 102,
						  .dso = 8192,
						  .time = T(i * 20 + 11),
						  .flags = (i == 4 ? REC_CHUNK_FIRST : 0) |
							   (i == 39 ? REC_CHUNK_LAST : 0)});
		synth__round(synth, T(i * 20 + 12));
		from_a = a.size;
		from_b = b.size;
	}
	synth__end(synth);
	ring__free(&a);
	ring__free(&b);
}

/* points' events only, a line each, of a trace that may end anywhere */
static char *points(struct trace *trace)
{
	struct event event;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	while (trace__next(trace, &event) > 0) {
		if (event.type < EV_process)
			fprintf(out, "%llu %u %u %s\n", (unsigned long long)event.time, event.tid,
				event.type, event.nargs > 1 ? event.args[1].s : "-");
	}
	fclose(out);
	return text;
}

static void truncated_at_every_byte(void **state)
{
	char *whole, *part, *err;
	struct synth synth;
	struct trace *trace;
	size_t size, lines = 0, most = 0;
	int zstd;

	(void)state;
	for (zstd = 0; zstd < 2; zstd++) {
		sample(&synth, zstd);
		trace = synth__open(&synth);
		whole = points(trace);
		assert_true(trace__totals(trace)->complete);
		assert_int_equal(trace__totals(trace)->records, 80);
		trace__close(trace);
		for (size = 0; size < synth.size; size++) {
			err = NULL;
			trace = trace__open(synth__write(&synth, size), &err);
			if (size < sizeof(struct file_header)) {
				assert_null(trace);
				assert_non_null(strstr(err, "is not a capture"));
				free(err);
				continue;
			}
			assert_non_null(trace);
			part = points(trace);
			/* no clock snapshot: times are what they are, but the events are there */
			if (size > 400)
				assert_memory_equal(part, whole, strlen(part));
			lines = trace__totals(trace)->records;
			assert_true(lines >= most || size <= 400);
			most = lines > most ? lines : most;
			/* the last bytes are padding */
			assert_true(!trace__totals(trace)->complete || size + 8 > synth.size);
			assert_int_equal(trace__totals(trace)->recorded,
					 trace__totals(trace)->records +
						 trace__totals(trace)->lost);
			free(part);
			trace__close(trace);
		}
		assert_int_equal(most, 80);
		most = 0;
		free(whole);
		unlink(synth__write(&synth, 0));
		synth__free(&synth);
	}
}

static void refuse(const struct synth *synth, size_t size, const char *because)
{
	char *err = NULL;
	const char *path = synth__write(synth, size);

	assert_null(trace__open(path, &err));
	assert_non_null(strstr(err, because));
	assert_non_null(strstr(err, path));
	free(err);
	assert_null(trace__open(path, NULL));
	unlink(path);
}

static void other_files_are_refused_in_a_sentence(void **state)
{
	struct synth synth;
	char *err = NULL;

	(void)state;
	synth__init_bare(&synth, FILE_MAJOR + 1, 3);
	refuse(&synth, synth.size, "format 2.3, this tracer reads format 1");
	synth__free(&synth);
	synth__init_bare(&synth, FILE_MAJOR, 0);
	memcpy(synth.data, "\177ELF", 4);
	refuse(&synth, synth.size, "is not a capture");
	refuse(&synth, 0, "is not a capture");
	synth__free(&synth);
	assert_null(trace__open("/nonexistent/file.trc", &err));
	assert_string_equal(err, "cannot open capture /nonexistent/file.trc: "
				 "No such file or directory");
	free(err);
	assert_null(trace__open("/tmp", &err));
	assert_non_null(strstr(err, "not a regular file"));
	free(err);
}

/* unknown block types, kinds of records and flags; another minor version; a longer header */
static void what_is_not_known_is_skipped(void **state)
{
	struct file_header header = {FILE_MAGIC, FILE_MAJOR, 99, 32};
	struct {
		struct rec_header h;
		uint32_t more;
	} unknown = {{.size = 20, .kind = 77, .time = T(1)}, 5};
	static const uint8_t junk[123] = {1, 2, 3};
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	char *text;

	(void)state;
	synth__init_bare(&synth, 1, 0);
	synth.size = 0;
	synth.data = realloc(synth.data, 4096);
	synth.capacity = 4096;
	memset(synth.data, 0, 32);
	memcpy(synth.data, &header, sizeof(header));
	synth.size = 32;
	synth__clock(&synth, T(0) * 3, T(0), 0);
	synth__clock(&synth, T(1000) * 3, T(1000), 0);
	synth__block(&synth, 999, junk, sizeof(junk));
	synth__block(&synth, FILE_META, "{ not JSON", 10);
	synth__block(&synth, FILE_MAP, "[1,2]", 5);
	synth__block(&synth, FILE_DSO, junk, 0);
	synth__block(&synth, FILE_ROUND, junk, 3);
	synth__block(&synth, FILE_CLOCK, junk, 3);
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__event(&ring, EV_task_end, T(1), 1ULL);
	synth__record(&synth, &unknown, unknown.h.size);
	synth__stream(&synth, &ring, 1, 100, T(100));
	synth__record(&synth, &unknown, unknown.h.size);
	trace = synth__open(&synth);
	text = synth__dump(trace);
	assert_string_equal(text, "1 100 process pid 100 \n1 100 task_end 1\n1000 0 end\n");
	assert_int_equal(trace__totals(trace)->damaged, 0);
	free(text);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

/* a block that does not unpack costs what it held, exactly, and is no reason to stop */
static void damaged_block_is_a_loss(void **state)
{
	struct synth synth;
	struct trace *trace;
	const struct trace_totals *totals;
	size_t at, n = 0;
	struct file_block head;

	(void)state;
	sample(&synth, true);
	for (at = sizeof(struct file_header); at < synth.size;
	     at += sizeof(head) + ((head.stored + 7) & ~7U)) {
		memcpy(&head, synth.data + at, sizeof(head));
		if (head.type == FILE_RECORDS && ++n == 3)
			memset(synth.data + at + sizeof(head), 0xff, head.stored);
	}
	assert_int_equal(n, 8);
	trace = synth__open(&synth);
	free(points(trace));
	totals = trace__totals(trace);
	assert_int_equal(totals->recorded, 80);
	/* the chunk behind the hole begins nowhere known, so it is lost too */
	assert_int_equal(totals->records, 60);
	assert_int_equal(totals->lost_by[LOSS_READ_FAULT], 20);
	assert_false(totals->complete);
	trace__close(trace);
	synth__free(&synth);
}

/* nothing is lost, but of a process that the tracer came too late for nothing was written */
static void missed_process_makes_it_incomplete(void **state)
{
	const struct trace_totals *totals;
	struct synth synth;
	struct trace *trace;

	(void)state;
	sample(&synth, true);
	synth__json(&synth, FILE_END, "{\"finished\":true,\"missed\":2}");
	trace = synth__open(&synth);
	free(points(trace));
	totals = trace__totals(trace);
	assert_int_equal(totals->records, 80);
	assert_int_equal(totals->lost, 0);
	assert_int_equal(totals->missed, 2);
	assert_true(totals->finished);
	assert_false(totals->complete);
	trace__close(trace);
	synth__free(&synth);
}

/* a good stream beside a bad one: the good one is untouched, whatever the bad one holds */
static void hostile(const struct synth_ring *bad, struct synth_chunk options, uint64_t good_lost)
{
	struct synth_ring good;
	struct synth synth;
	struct event event;
	struct trace *trace;
	uint64_t i, n = 0;

	ring__init(&good, 0, 0);
	ring__window(&good, T(0), TRACER_CLOCK_CYCLES);
	for (i = 0; i < 100; i++)
		ring__event(&good, EV_task_end, T(i), i);
	synth__init(&synth);
	options.stream = 66;
	options.tid = 166;
	options.time = T(50);
	options.flags |= REC_CHUNK_FIRST | REC_CHUNK_LAST;
	synth__chunk(&synth, bad, 0, bad->size, options);
	synth__stream(&synth, &good, 1, 101, T(100));
	synth__end(&synth);
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0) {
		if (event.type == EV_lost)
			assert_int_equal(event.tid, 166);
		if (event.tid != 101 || event.type != EV_task_end)
			continue;
		assert_int_equal(event.time, T(n));
		assert_int_equal(event.args[0].u, n);
		n++;
	}
	assert_int_equal(n, 100 - good_lost);
	assert_int_equal(trace__totals(trace)->late, 0);
	assert_true(trace__totals(trace)->damaged > 0);
	assert_in_range(trace__totals(trace)->last_time, T(99), T(99));
	assert_in_range(trace__totals(trace)->first_time, SYNTH_START - 45 * MS, T(0));
	trace__close(trace);
	ring__free(&good);
	synth__free(&synth);
}

static void hostile_rings_hurt_only_themselves(void **state)
{
	static const uint64_t words[] = {
		0,				   /* type 0 */
		15,				   /* a ring type that is none */
		TRACER_EV_PAD,			   /* PAD of nothing: would stay where it is */
		7ULL << 8 | TRACER_EV_PAD,	   /* less than itself */
		12ULL << 8 | TRACER_EV_PAD,	   /* not aligned */
		(1ULL << 40) << 8 | TRACER_EV_PAD, /* far away */
		1024ULL << 8 | TRACER_EV_NAME,	   /* too long */
		(~0ULL) << 8 | TRACER_EV_NAME,
		255,				 /* an event that nobody knows */
		(1ULL << 55) << 8 | EV_task_end, /* absurd stamps */
		0ULL << 8 | EV_task_end,
		(~0ULL) << 8 | EV_task_end,
	};
	struct synth_ring ring;
	uint64_t clock[2] = {TRACER_EV_WINDOW, 2};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		ring__init(&ring, 0, 0);
		ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
		for (j = 0; j < 64; j++)
			ring__bytes(&ring, &words[i], 8);
		ring.records = 32;
		hostile(&ring, (struct synth_chunk){0}, 0);
		ring__free(&ring);
	}
	/* no such clock */
	ring__init(&ring, 0, 0);
	ring__bytes(&ring, clock, sizeof(clock));
	hostile(&ring, (struct synth_chunk){0}, 0);
	ring__free(&ring);
	/* a PAD beyond the head */
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	clock[0] = 4096ULL << 8 | TRACER_EV_PAD;
	ring__bytes(&ring, clock, 8);
	hostile(&ring, (struct synth_chunk){0}, 0);
	ring__free(&ring);
}

static void hostile_heads_hurt_only_themselves(void **state)
{
	static const struct synth_chunk heads[] = {
		{.head = 1, .head_records = 7},
		{.head = ~0ULL >> 1, .head_records = ~0ULL},
		{.head = 1ULL << 47, .head_records = 1ULL << 40},
		{.head_records = 3},
		{.start_records = 1ULL << 60},
	};
	struct synth_ring ring;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		ring__init(&ring, 4096, 10);
		ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
		ring__event(&ring, EV_task_end, T(1), 1ULL);
		ring__event(&ring, EV_task_end, T(2), 2ULL);
		ring__raw(&ring, 255, T(3), NULL, 0);
		hostile(&ring, heads[i], 0);
		ring__free(&ring);
	}
}

/* names as an enemy writes them: NULs, no end, control characters, 1023 bytes, keys of others */
static void hostile_names(void **state)
{
	static char longest[1023];
	struct synth_ring ring;
	struct trace *trace;
	struct synth synth;
	struct event event;
	size_t seen = 0;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	ring__init(&ring, 0, 0);
	ring__window(&ring, T(0), TRACER_CLOCK_CYCLES);
	ring__name_key(&ring, TRACER_NAME_KEY | 1, longest, sizeof(longest));
	ring__name_key(&ring, TRACER_NAME_KEY | 2, "a\0b", 3);
	ring__name_key(&ring, TRACER_NAME_KEY | 3, "", 0);
	ring__name_key(&ring, 4, "no key", 6);
	ring__event(&ring, EV_message, T(1), TRACER_NAME_KEY | 1);
	ring__event(&ring, EV_message, T(2), TRACER_NAME_KEY | 2);
	ring__event(&ring, EV_message, T(3), TRACER_NAME_KEY | 3);
	ring__event(&ring, EV_message, T(4), 4ULL);
	synth__init(&synth);
	synth__stream(&synth, &ring, 1, 100, T(100));
	trace = synth__open(&synth);
	while (trace__next(trace, &event) > 0) {
		if (event.type != EV_message)
			continue;
		assert_non_null(event.args[0].s);
		if (seen == 0)
			assert_int_equal(strlen(event.args[0].s), 1023);
		else
			assert_string_equal(event.args[0].s, seen == 1	 ? "a"
							     : seen == 2 ? ""
									 : "<0x4>");
		seen++;
	}
	assert_int_equal(seen, 4);
	trace__close(trace);
	ring__free(&ring);
	synth__free(&synth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_at_every_byte),
		cmocka_unit_test(other_files_are_refused_in_a_sentence),
		cmocka_unit_test(what_is_not_known_is_skipped),
		cmocka_unit_test(damaged_block_is_a_loss),
		cmocka_unit_test(missed_process_makes_it_incomplete),
		cmocka_unit_test(hostile_rings_hurt_only_themselves),
		cmocka_unit_test(hostile_heads_hurt_only_themselves),
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
