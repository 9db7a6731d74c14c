// SPDX-License-Identifier: BSD-2-Clause
/* A capture that is read while it is written: blocks as they come, times that never go back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "trace/reader.h"
#include "trace/timebase.h"

#define SECOND 1000000000ULL

/* ns that a clock whose counter runs at 3 GHz, 40 ppm too fast, shows */
static struct file_clock clock_at(uint64_t ns, int64_t error)
{
	uint64_t cycles = ns * 3 + ns * 3 / 25000;

	return (struct file_clock){
		.cycles = 1000 + cycles,
		.spread = 60,
		.monotonic = 5 * SECOND + ns + (uint64_t)error,
		.boottime = 7 * SECOND + ns + (uint64_t)error,
		.realtime = 9 * SECOND + ns,
	};
}

static uint64_t time_at(const struct timebase *base, uint64_t ns, uint32_t *hint)
{
	return timebase__boottime(base, clock_at(ns, 0).cycles, false, hint);
}

static void the_line_goes_on_where_it_was(void **state)
{
	struct timebase base = {0};
	struct file_clock clock = clock_at(0, 0);
	uint64_t ns, last = 0, time, second;
	uint32_t hint = 0;

	(void)state;
	assert_int_equal(timebase__add(&base, &clock), 0);
	/* a tenth of a second apart, and 80 ns off: what is to come is off by a microsecond a
	 * second */
	clock = clock_at(SECOND / 10, 80);
	assert_int_equal(timebase__add(&base, &clock), 0);
	assert_int_equal(timebase__finish(&base, 0), 0);
	for (second = 1; second < 20; second++) {
		for (ns = 0; ns < SECOND; ns += SECOND / 50) {
			time = time_at(&base, second * SECOND + ns, &hint);
			assert_true(time >= last);
			last = time;
		}
		clock = clock_at((second + 1) * SECOND, second % 2 ? 30 : -30);
		assert_int_equal(timebase__extend(&base, &clock), 0);
		/* never a step: a stamp at the snapshot is where the line had got to */
		time = time_at(&base, (second + 1) * SECOND, &hint);
		assert_true(time >= last && time - last < SECOND / 50 + 2000);
	}
	/* and by then it is where the snapshots are */
	time = time_at(&base, 20 * SECOND + SECOND / 2, &hint);
	assert_in_range(time, 7 * SECOND + 20 * SECOND + SECOND / 2 - 200,
			7 * SECOND + 20 * SECOND + SECOND / 2 + 200);
	timebase__free(&base);
}

static void days_take_no_more_memory(void **state)
{
	struct timebase base = {0};
	struct file_clock clock;
	uint64_t second;
	uint32_t hint = 0;

	(void)state;
	for (second = 0; second < 2; second++) {
		clock = clock_at(second * SECOND, 0);
		assert_int_equal(timebase__add(&base, &clock), 0);
	}
	assert_int_equal(timebase__finish(&base, 0), 0);
	for (; second < 50000; second++) {
		clock = clock_at(second * SECOND, 0);
		assert_int_equal(timebase__extend(&base, &clock), 0);
		/* the older half may go: hints are only hints */
		assert_in_range(time_at(&base, second * SECOND, &hint),
				7 * SECOND + second * SECOND - 20,
				7 * SECOND + second * SECOND + 20);
	}
	assert_true(base.count <= 4096);
	timebase__free(&base);
}

/* what another thread does in earnest: each time it is asked it writes a little more */
struct writer {
	FILE *file;
	const unsigned char *bytes;
	size_t size, done, step;
	unsigned int asked;
};

static bool write_more(void *ctx, uint64_t *size)
{
	struct writer *writer = ctx;
	size_t part = writer->size - writer->done < writer->step ? writer->size - writer->done
								 : writer->step;

	writer->asked++;
	if (!part)
		return false;
	assert_int_equal(fwrite(writer->bytes + writer->done, 1, part, writer->file), part);
	assert_int_equal(fflush(writer->file), 0);
	writer->done += part;
	*size = writer->done;
	return true;
}

static size_t put_block(unsigned char *to, uint16_t type, const char *payload)
{
	struct file_block block = {.magic = FILE_BLOCK_MAGIC, .type = type};
	size_t length = strlen(payload), padded = (length + 7) & ~(size_t)7;

	block.stored = block.raw = (uint32_t)length;
	memcpy(to, &block, sizeof(block));
	memset(to + sizeof(block), 0, padded);
	memcpy(to + sizeof(block), payload, length);
	return sizeof(block) + padded;
}

/* whatever the pieces it comes in, the blocks are the same */
static void blocks_come_in_pieces(void **state)
{
	static const char *const payloads[] = {"{\"a\":1}", "", "second, a longer one than that",
					       "x"};
	unsigned char bytes[1024];
	struct file_header header = {FILE_MAGIC, FILE_MAJOR, FILE_MINOR, sizeof(header)};
	size_t size = sizeof(header), step, i;
	const char *folder = getenv("TMPDIR");
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/growing-%d", folder ? folder : "/tmp", (int)getpid());
	memcpy(bytes, &header, sizeof(header));
	for (i = 0; i < 4; i++)
		size += put_block(bytes + size, FILE_META, payloads[i]);
	for (step = 1; step < size; step++) {
		struct writer writer = {fopen(path, "we"), bytes, size, 0, step, 0};
		struct reader_growth growth = {write_more, &writer};
		struct reader_block block;
		struct reader reader;
		uint64_t there = 0;
		char *err = NULL;

		assert_non_null(writer.file);
		while (there < sizeof(header))
			assert_true(write_more(&writer, &there));
		assert_int_equal(reader__open(&reader, path, &err), 0);
		reader.growth = &growth;
		for (i = 0; i < 4; i++) {
			assert_int_equal(reader__next(&reader, 0, &block), 1);
			assert_int_equal(block.size, strlen(payloads[i]));
			assert_memory_equal(block.data, payloads[i], block.size);
		}
		assert_int_equal(reader__next(&reader, 0, &block), 0);
		assert_false(reader.truncated);
		reader__close(&reader);
		fclose(writer.file);
	}
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_goes_on_where_it_was),
		cmocka_unit_test(days_take_no_more_memory),
		cmocka_unit_test(blocks_come_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
