// SPDX-License-Identifier: BSD-2-Clause
/* Byte planes, and blocks of records that are packed by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/planes.h"
#include "trace/reader.h"
#include "synth.h"

static void split_is_by_byte_of_word(void **state)
{
	static const uint8_t from[19] = {1,  2,	 3,  4,	 5,  6,	 7,  8,	 11, 12,
					 13, 14, 15, 16, 17, 18, 21, 22, 23};
	static const uint8_t want[19] = {1, 11, 2, 12, 3, 13, 4,  14, 5, 15,
					 6, 16, 7, 17, 8, 18, 21, 22, 23};
	uint8_t to[19];

	(void)state;
	planes__split(to, from, sizeof(from));
	assert_memory_equal(to, want, sizeof(want));
}

static void join_undoes_split_at_any_size(void **state)
{
	uint8_t from[300], split[300], joined[300];
	size_t size, i;

	(void)state;
	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 37 + i / 7);
	for (size = 0; size <= sizeof(from); size++) {
		memset(joined, 0, sizeof(joined));
		planes__split(split, from, size);
		planes__join(joined, split, size);
		assert_memory_equal(joined, from, size);
	}
}

/* a capture with one block of records, by the writer; returns the path */
static const char *write_records(uint64_t *words, size_t count, bool pressure)
{
	static char path[64];
	struct file_writer *writer;

	snprintf(path, sizeof(path), "/tmp/tracer-planes-%d.trc", getpid());
	assert_int_equal(file_writer__create(&writer, path, true), 0);
	file_writer__set_pressure(writer, pressure);
	file_writer__record(writer, words, count * 8);
	assert_int_equal(file_writer__close(writer), 0);
	return path;
}

static void check_block(const char *path, unsigned int flags, const uint64_t *words, size_t size)
{
	struct file_block head;
	struct reader_block block;
	struct reader reader;
	char *err = NULL;

	assert_int_equal(reader__open(&reader, path, &err), 0);
	assert_int_equal(pread(reader.fd, &head, sizeof(head), (off_t)reader.first), sizeof(head));
	assert_int_equal(head.type, FILE_RECORDS);
	assert_int_equal(head.flags, flags);
	assert_int_equal(reader__next(&reader, 0, &block), 1);
	assert_int_equal(block.size, size);
	assert_memory_equal(block.data, words, size);
	assert_int_equal(reader__next(&reader, 0, &block), 0);
	assert_false(reader.truncated);
	reader__close(&reader);
	unlink(path);
}

static void records_are_packed_by_planes_and_come_back(void **state)
{
	uint64_t words[1000];
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		words[i] = 0x7f0012340000U + i * 131;
	check_block(write_records(words, 1000, false), FILE_BLOCK_ZSTD | FILE_BLOCK_PLANES, words,
		    sizeof(words));
	check_block(write_records(words, 1000, true), 0, words, sizeof(words));
}

static void blocks_with_unknown_flags_are_skipped(void **state)
{
	static const uint16_t flags[] = {4, FILE_BLOCK_ZSTD | 0x8000, FILE_BLOCK_PLANES};
	uint64_t words[100] = {1, 2, 3};
	struct file_block *head;
	struct reader_block block;
	struct reader reader;
	struct synth synth;
	char *err = NULL;
	size_t i, at;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		synth__init_bare(&synth, FILE_MAJOR, FILE_MINOR);
		synth.zstd = flags[i] & FILE_BLOCK_ZSTD;
		at = synth.size;
		synth__block(&synth, FILE_RECORDS, words, sizeof(words));
		head = (struct file_block *)(synth.data + at);
		head->flags = flags[i];
		synth__round(&synth, 5);
		assert_int_equal(reader__open(&reader, synth__write(&synth, synth.size), &err), 0);
		assert_int_equal(reader__next(&reader, 0, &block), 1);
		assert_int_equal(block.type, FILE_ROUND);
		assert_int_equal(reader.skipped, 1);
		reader__close(&reader);
		synth__free(&synth);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split_is_by_byte_of_word),
		cmocka_unit_test(join_undoes_split_at_any_size),
		cmocka_unit_test(records_are_packed_by_planes_and_come_back),
		cmocka_unit_test(blocks_with_unknown_flags_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
