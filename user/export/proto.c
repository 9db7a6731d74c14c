// SPDX-License-Identifier: BSD-2-Clause
/* The parts of the protobuf writer that are not worth inlining, see proto.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "proto.h"

int proto__new(struct proto *proto, size_t size)
{
	proto->base = malloc(size);
	if (!proto->base)
		return -ENOMEM;
	proto->pos = proto->base;
	proto->limit = proto->base + size;
	return 0;
}

void proto__free(struct proto *proto)
{
	free(proto->base);
	memset(proto, 0, sizeof(*proto));
}

void proto__end_long(struct proto *proto, uint8_t *mark)
{
	size_t size = (size_t)(proto->pos - mark) - 1;
	uint8_t length[PROTO_VARINT_MAX];
	size_t more = (size_t)(proto__encode(length, size) - length) - 1;

	memmove(mark + 1 + more, mark + 1, size);
	memcpy(mark, length, more + 1);
	proto->pos += more;
}

void proto__bytes(struct proto *proto, uint32_t field, const char *bytes, size_t size)
{
	if (size > PROTO_STRING_MAX)
		size = PROTO_STRING_MAX;
	proto__key(proto, field, 2);
	proto->pos = proto__encode(proto->pos, size);
	memcpy(proto->pos, bytes, size);
	proto->pos += size;
}

/* bytes of the UTF-8 sequence at @s (at least one byte long), or 0 if it is none */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (length == 0 || s[0] > 0xf4 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong forms, surrogates, and what lies beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void proto__string(struct proto *proto, uint32_t field, const char *text)
{
	size_t size = strnlen(text, PROTO_STRING_MAX);
	uint8_t *at;

	proto__bytes(proto, field, text, size);
	at = proto->pos - size;
	while (at < proto->pos) {
		size_t length = utf8_length(at, (size_t)(proto->pos - at));

		if (length == 0) {
			*at = '?';
			length = 1;
		}
		at += length;
	}
}
