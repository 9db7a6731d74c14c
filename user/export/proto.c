// SPDX-License-Identifier: BSD-2-Clause
/* The parts of the protobuf writer that are not worth inlining, see proto.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "../base/utf8.h"
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

void proto__string(struct proto *proto, uint32_t field, const char *text)
{
	size_t size = strnlen(text, PROTO_STRING_MAX);

	proto__bytes(proto, field, text, size);
	utf8__clean((char *)proto->pos - size, size);
}
