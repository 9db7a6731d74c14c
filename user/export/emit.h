/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text on its way to a file: a buffer, and numbers and strings into it without printf, which would
 * be most of an export's time. emit__room() comes first, for all that is put until the next one;
 * the puts themselves do not look.
 *
 * An error sticks: what is put after it goes nowhere, emit__close() tells.
 */
#ifndef TRACER_EXPORT_EMIT_H
#define TRACER_EXPORT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "outfile.h"

/* A string argument is 1,023 bytes at most; a command line may be longer, and is cut here. */
#define EMIT_STRING_MAX 4096U
#define EMIT_NUMBER_MAX 24U

struct emit {
	struct outfile *output;
	char *base, *at, *end;
	int err;
};

/* emit__open() - to a file, "-" is standard output; 0 or -errno */
int emit__open(struct emit *emit, const char *path, enum export_compression compression);
/* emit__flush() - what is in the buffer to the file; the error, if there was one */
int emit__flush(struct emit *emit);
/* emit__close() - flushes and frees; 0 or the first error. A zeroed struct is closed. */
int emit__close(struct emit *emit);
uint64_t emit__bytes(const struct emit *emit);

/* two digits each of 00 to 99 */
extern const char emit_pairs[200];

/* so many bytes can be put */
static inline void emit__room(struct emit *emit, size_t size)
{
	if ((size_t)(emit->end - emit->at) < size)
		emit__flush(emit);
}

static inline void emit__char(struct emit *emit, char c)
{
	*emit->at++ = c;
}

static inline void emit__put(struct emit *emit, const char *bytes, size_t size)
{
	memcpy(emit->at, bytes, size);
	emit->at += size;
}

/* a string literal: its length is known to the compiler */
#define emit__lit(emit, literal) emit__put(emit, "" literal, sizeof(literal) - 1)

static inline void emit__text(struct emit *emit, const char *string)
{
	emit__put(emit, string, strlen(string));
}

static inline unsigned int emit__digits(uint64_t value)
{
	static const uint64_t powers[] = {0,
					  10,
					  100,
					  1000,
					  10000,
					  100000,
					  1000000,
					  10000000,
					  100000000,
					  1000000000,
					  10000000000,
					  100000000000,
					  1000000000000,
					  10000000000000,
					  100000000000000,
					  1000000000000000,
					  10000000000000000,
					  100000000000000000,
					  1000000000000000000,
					  10000000000000000000U};
	/* 1233 / 4096 is a little over log10(2) */
	unsigned int guess = (64U - (unsigned int)__builtin_clzll(value | 1)) * 1233 >> 12;

	return guess + (value >= powers[guess]);
}

static inline void emit__u64(struct emit *emit, uint64_t value)
{
	unsigned int size = value ? emit__digits(value) : 1;
	char *at = emit->at + size;

	emit->at = at;
	while (value >= 100) {
		at -= 2;
		memcpy(at, emit_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(at - 2, emit_pairs + value * 2, 2);
	else
		at[-1] = (char)('0' + value);
}

static inline void emit__i64(struct emit *emit, int64_t value)
{
	if (value < 0)
		emit__char(emit, '-');
	emit__u64(emit, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* 0x and the digits it takes */
static inline void emit__hex(struct emit *emit, uint64_t value)
{
	unsigned int digits = (67U - (unsigned int)__builtin_clzll(value | 1)) / 4;

	emit__lit(emit, "0x");
	for (unsigned int i = digits; i-- > 0; value >>= 4)
		emit->at[i] = "0123456789abcdef"[value & 15];
	emit->at += digits;
}

/* nanoseconds as microseconds with three decimals: exact */
static inline void emit__us(struct emit *emit, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);

	emit__u64(emit, ns / 1000);
	emit->at[0] = '.';
	emit->at[1] = (char)('0' + rest / 100);
	memcpy(emit->at + 2, emit_pairs + rest % 100 * 2, 2);
	emit->at += 4;
}

/* a JSON number that reads back as the same double; null if it is not finite */
void emit__double(struct emit *emit, double value);

/*
 * emit__json() - a JSON string with its quotes; what is no UTF-8 becomes U+FFFD, a missing one ""
 * At most EMIT_STRING_MAX bytes of it; room for six times as many is needed.
 */
void emit__json(struct emit *emit, const char *string);
#define EMIT_JSON_MAX (6 * EMIT_STRING_MAX + 2)

/*
 * emit__line() - a string that has to stay on its line: control characters become spaces, what is
 * no UTF-8 a '?', and characters in @refused an underscore
 */
void emit__line(struct emit *emit, const char *string, const char *refused);

#endif /* TRACER_EXPORT_EMIT_H */
