// SPDX-License-Identifier: BSD-2-Clause
/* Text on its way to a file, see emit.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/utf8.h"
#include "emit.h"

/* Large enough that a write costs nothing beside what fills it: 256 KiB take a tenth longer. */
#define EMIT_BUFFER (1U << 20)

const char emit_pairs[200] = "00010203040506070809101112131415161718192021222324252627282930313233"
			     "34353637383940414243444546474849505152535455565758596061626364656667"
			     "6869707172737475767778798081828384858687888990919293949596979899";

int emit__open(struct emit *emit, const char *path, enum export_compression compression)
{
	int err;

	memset(emit, 0, sizeof(*emit));
	emit->base = emit->at = malloc(EMIT_BUFFER);
	if (!emit->base)
		return -ENOMEM;
	emit->end = emit->base + EMIT_BUFFER;
	err = outfile__open(&emit->output, path, compression);
	if (err)
		emit__close(emit);
	return err;
}

int emit__flush(struct emit *emit)
{
	size_t size = (size_t)(emit->at - emit->base);

	emit->at = emit->base;
	if (!emit->err && emit->output)
		emit->err = outfile__write(emit->output, emit->base, size);
	return emit->err;
}

int emit__close(struct emit *emit)
{
	int err = 0, closed = 0;

	if (emit->output) {
		err = emit__flush(emit);
		closed = outfile__close(emit->output);
	}
	free(emit->base);
	memset(emit, 0, sizeof(*emit));
	return err ? err : closed;
}

uint64_t emit__bytes(const struct emit *emit)
{
	return (emit->output ? outfile__bytes(emit->output) : 0) +
	       (uint64_t)(emit->at - emit->base);
}

void emit__double(struct emit *emit, double value)
{
	char number[40];

	if (!isfinite(value)) {
		emit__lit(emit, "null");
		return;
	}
	/* the shortest that reads back as the same */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(number, sizeof(number), "%.*g", digits, value);
		if (strtod(number, NULL) == value)
			break;
	}
	emit__text(emit, number);
	if (!strpbrk(number, ".e"))
		emit__lit(emit, ".0");
}

static void json__escape(struct emit *emit, unsigned char c)
{
	static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
		if (c == (unsigned char)letters[i]) {
			emit__char(emit, '\\');
			emit__char(emit, letters[i + 1]);
			return;
		}
	}
	emit__lit(emit, "\\u00");
	emit__char(emit, "0123456789abcdef"[c >> 4]);
	emit__char(emit, "0123456789abcdef"[c & 15]);
}

/* what stands for itself in JSON; 0 ends a string, so is none */
static const bool plain[256] = {[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};

void emit__json(struct emit *emit, const char *string)
{
	const unsigned char *s = (const unsigned char *)(string ? string : "");
	const unsigned char *end = s + EMIT_STRING_MAX;
	char *at = emit->at;
	size_t length;

	*at++ = '"';
	for (;;) {
		while (s < end && plain[*s])
			*at++ = (char)*s++;
		if (s == end || !*s)
			break;
		emit->at = at;
		length = utf8__length(s, strnlen((const char *)s, (size_t)(end - s)));
		if (length > 1)
			emit__put(emit, (const char *)s, length);
		else if (length == 1)
			json__escape(emit, *s);
		else
			emit__lit(emit, "\xef\xbf\xbd");
		at = emit->at;
		s += length + !length;
	}
	*at++ = '"';
	emit->at = at;
}

void emit__line(struct emit *emit, const char *string, const char *refused)
{
	const unsigned char *s = (const unsigned char *)string;
	size_t left = strnlen(string, EMIT_STRING_MAX), length;

	for (; left; s += length, left -= length) {
		length = utf8__length(s, left);
		if (length > 1) {
			emit__put(emit, (const char *)s, length);
			continue;
		}
		emit__char(emit, !length		   ? '?'
				 : *s < 0x20 || *s == 0x7f ? ' '
				 : strchr(refused, *s)	   ? '_'
							   : (char)*s);
		length = 1;
	}
}
