// SPDX-License-Identifier: BSD-2-Clause
/* The protobuf writer, byte by byte, and the compressed files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <cmocka.h>
#include "export/outfile.h"
#include "export/proto.h"

static void open_proto(struct proto *p)
{
	assert_int_equal(proto__new(p, 1 << 16), 0);
}

#define assert_bytes(p, ...)                                                \
	do {                                                                \
		const uint8_t expected[] = {__VA_ARGS__};                   \
		assert_int_equal(proto__used(p), sizeof(expected));         \
		assert_memory_equal((p)->base, expected, sizeof(expected)); \
	} while (0)

static void numbers(void **state)
{
	struct proto p;

	(void)state;
	open_proto(&p);
	proto__uint(&p, 1, 0);
	proto__uint(&p, 1, 127);
	proto__uint(&p, 1, 128);
	proto__uint(&p, 16, 300);
	assert_bytes(&p, 8, 0, 8, 127, 8, 0x80, 1, 0x80, 1, 0xac, 2);
	proto__free(&p);
	open_proto(&p);
	proto__uint(&p, 1, UINT64_MAX);
	assert_bytes(&p, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1);
	proto__free(&p);
	open_proto(&p);
	proto__int(&p, 1, -1);
	assert_bytes(&p, 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1);
	proto__free(&p);
	open_proto(&p);
	proto__fixed64(&p, 47, 0x0102030405060708);
	assert_bytes(&p, 0xf9, 2, 8, 7, 6, 5, 4, 3, 2, 1);
	proto__free(&p);
	open_proto(&p);
	proto__double(&p, 5, 1.0);
	assert_bytes(&p, 0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
	proto__free(&p);
}

static void messages(void **state)
{
	struct proto p;
	uint8_t *outer, *inner;

	(void)state;
	open_proto(&p);
	outer = proto__begin(&p, 1);
	proto__uint(&p, 1, 5);
	inner = proto__begin(&p, 2);
	proto__end(&p, inner);
	inner = proto__begin(&p, 2);
	proto__string(&p, 3, "ab");
	proto__end(&p, inner);
	proto__end(&p, outer);
	assert_bytes(&p, 10, 10, 8, 5, 0x12, 0, 0x12, 4, 0x1a, 2, 'a', 'b');
	proto__free(&p);
}

/* at each size where a length takes one byte more, also inside another message */
static void long_messages(void **state)
{
	static const size_t sizes[] = {125, 126, 127, 128, 129, 16380, 16383, 16384, 20000};
	struct proto p;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *outer, *inner;
		size_t size = sizes[i], at;

		open_proto(&p);
		outer = proto__begin(&p, 1);
		inner = proto__begin(&p, 2);
		for (size_t n = 0; n < size; n++)
			*p.pos++ = (uint8_t)n;
		proto__end(&p, inner);
		proto__uint(&p, 1, 7);
		proto__end(&p, outer);
		at = 1 + (size + 5 < 128 ? 1 : size < 16378 ? 2 : 3);
		assert_int_equal(p.base[at], 0x12);
		at += 1 + (size < 128 ? 1 : size < 16384 ? 2 : 3);
		for (size_t n = 0; n < size; n++)
			assert_int_equal(p.base[at + n], (uint8_t)n);
		assert_int_equal(p.base[at + size], 8);
		assert_int_equal(p.base[at + size + 1], 7);
		assert_int_equal(proto__used(&p), at + size + 2);
		proto__free(&p);
	}
}

static void expect_text(const char *text, const char *expected)
{
	struct proto p;

	open_proto(&p);
	proto__string(&p, 1, text);
	assert_int_equal(p.base[1], strlen(expected));
	assert_memory_equal(p.base + 2, expected, strlen(expected));
	proto__free(&p);
}

static void strings_are_utf8(void **state)
{
	struct proto p;
	char *longest = malloc(10000);

	(void)state;
	expect_text("", "");
	expect_text("plain", "plain");
	expect_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	expect_text("a\xff"
		    "b",
		    "a?b");
	expect_text("cut\xe2\x82", "cut??");
	expect_text("\xc0\xaf", "??"); /* overlong */
	expect_text("\xe0\x80\xaf", "???");
	expect_text("\xed\xa0\x80", "???");	 /* a surrogate */
	expect_text("\xf4\x90\x80\x80", "????"); /* beyond the last */
	expect_text("\xf5\x80\x80\x80", "????");
	memset(longest, 'x', 9999);
	longest[9999] = 0;
	open_proto(&p);
	proto__string(&p, 1, longest);
	assert_int_equal(proto__used(&p), 3 + PROTO_STRING_MAX);
	proto__free(&p);
	free(longest);
}

static size_t read_file(const char *path, void *to, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t got;

	assert_non_null(file);
	got = fread(to, 1, size, file);
	fclose(file);
	return got;
}

static void files(void **state)
{
	const size_t size = 3 << 20;
	uint8_t *data = malloc(size), *back = malloc(size), *raw = malloc(size);

	(void)state;
	for (size_t i = 0; i < size; i++)
		data[i] = (uint8_t)(i * 2654435761U >> 22);
	for (int how = EXPORT_PLAIN; how <= EXPORT_ZSTD; how++) {
		char path[256];
		struct outfile *file;
		size_t got;
		int fd;

		snprintf(path, sizeof(path), "%s/tracer-test-XXXXXX",
			 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
		fd = mkstemp(path);
		assert_true(fd >= 0);
		close(fd);
		assert_int_equal(outfile__open(&file, path, how), 0);
		for (size_t at = 0; at < size; at += size / 3)
			assert_int_equal(outfile__write(file, data + at, size / 3), 0);
		assert_int_equal(outfile__close(file), 0);
		got = read_file(path, raw, size);
		if (how == EXPORT_PLAIN) {
			memcpy(back, raw, got);
		} else if (how == EXPORT_GZIP) {
			gzFile gz = gzopen(path, "r");

			got = (size_t)gzread(gz, back, (unsigned int)size);
			gzclose(gz);
		} else {
			got = ZSTD_decompress(back, size, raw, got);
		}
		assert_int_equal(got, size);
		assert_memory_equal(back, data, size);
		unlink(path);
	}
	free(data);
	free(back);
	free(raw);
}

static void files_that_cannot_be(void **state)
{
	static char data[1 << 20];
	struct outfile *file;
	int err;

	(void)state;
	assert_int_equal(outfile__open(&file, "/nowhere/at/all", EXPORT_ZSTD), -ENOENT);
	for (int how = EXPORT_PLAIN; how <= EXPORT_ZSTD; how++) {
		assert_int_equal(outfile__open(&file, "/dev/full", how), 0);
		err = outfile__write(file, data, sizeof(data));
		/* a compressor may keep it to itself until the end */
		assert_true(err == -ENOSPC || (err == 0 && how != EXPORT_PLAIN));
		assert_int_equal(outfile__close(file), -ENOSPC);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),	 cmocka_unit_test(messages),
		cmocka_unit_test(long_messages), cmocka_unit_test(strings_are_utf8),
		cmocka_unit_test(files),	 cmocka_unit_test(files_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
