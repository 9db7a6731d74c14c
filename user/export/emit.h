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

#include <endian.h>
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

/* the same for what is mostly a few bytes: a call would cost more than they do */
static inline void emit__short(struct emit *emit, const char *bytes, size_t size)
{
	char *at = emit->at;

	emit->at += size;
	if (size > 16) {
		memcpy(at, bytes, size);
	} else if (size >= 8) {
		memcpy(at, bytes, 8);
		memcpy(at + size - 8, bytes + size - 8, 8);
	} else if (size >= 4) {
		memcpy(at, bytes, 4);
		memcpy(at + size - 4, bytes + size - 4, 4);
	} else {
		for (size_t i = 0; i < size; i++)
			at[i] = bytes[i];
	}
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

/* eight digits of a number, each in a byte, the highest in the lowest one */
static inline uint64_t emit__hex_digits(uint32_t value)
{
	uint64_t x = __builtin_bswap32(value), letters;

	/* bytes apart, then the two halves of each */
	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0fULL;
	/* in all eight at once: six more than nine is sixteen */
	letters = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return htole64(x + 0x3030303030303030ULL + letters * ('a' - '0' - 10));
}

/* 0x and the digits it takes; 16 bytes more are written than are kept */
static inline void emit__hex(struct emit *emit, uint64_t value)
{
	unsigned int digits = (67U - (unsigned int)__builtin_clzll(value | 1)) / 4;
	uint64_t text[2];

	emit__lit(emit, "0x");
	/* the highest digit first */
	value <<= 64 - 4 * digits;
	text[0] = emit__hex_digits((uint32_t)(value >> 32));
	text[1] = emit__hex_digits((uint32_t)value);
	memcpy(emit->at, text, sizeof(text));
	emit->at += digits;
}

/* the milliseconds of the last time that was put: those of the next are mostly the same */
struct emit_time {
	uint64_t ms;
	char text[24];
	uint8_t size; /* 0: none yet */
};

/* the digits of whole milliseconds, which more follow; how many there are, 0 if none */
static inline unsigned int emit__ms(struct emit *emit, struct emit_time *last, uint64_t ms)
{
	char *at = emit->at;

	if (ms != last->ms || !last->size) {
		emit__u64(emit, ms);
		last->size = (uint8_t)(ms ? emit->at - at : 0);
		last->ms = ms;
		memcpy(last->text, at, sizeof(last->text));
		emit->at = at;
	} else {
		memcpy(at, last->text, sizeof(last->text));
	}
	return last->size;
}

/* a number below 1,000 as three digits */
static inline void emit__three(char *at, unsigned int value)
{
	at[0] = (char)('0' + value / 100);
	memcpy(at + 1, emit_pairs + value % 100 * 2, 2);
}

/* nanoseconds; more is written than kept: 24 bytes in all, as of the next one */
static inline void emit__ns(struct emit *emit, struct emit_time *last, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000000);
	unsigned int digits = emit__ms(emit, last, ns / 1000000);

	if (!digits) {
		emit__u64(emit, rest);
		return;
	}
	emit__three(emit->at + digits, rest / 1000);
	emit__three(emit->at + digits + 3, rest % 1000);
	emit->at += digits + 6;
}

/* nanoseconds as microseconds with three decimals: exact */
static inline void emit__us(struct emit *emit, struct emit_time *last, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000000);
	unsigned int digits = emit__ms(emit, last, ns / 1000000);

	if (digits) {
		emit__three(emit->at + digits, rest / 1000);
		emit->at += digits + 3;
	} else {
		emit__u64(emit, rest / 1000);
	}
	*emit->at = '.';
	emit__three(emit->at + 1, rest % 1000);
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
