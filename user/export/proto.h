/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming protobuf writer: fields go straight into one buffer, in the order of the calls. No
 * allocation, no tree, no copy but the last.
 *
 * The length of a message stands before its content, so proto__begin() reserves one byte for it and
 * proto__end() patches it: most messages of a trace are shorter than 128 bytes. A longer one is
 * moved up by the bytes that its length needs; what lies outside began before it and so stays where
 * it is.
 *
 * Nothing here checks for room: whoever writes makes sure, once per packet, of proto__room() bytes
 * for the most that a packet can take. Strings are cut to PROTO_STRING_MAX.
 */
#ifndef TRACER_EXPORT_PROTO_H
#define TRACER_EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PROTO_STRING_MAX 4096U
#define PROTO_VARINT_MAX 10U

struct proto {
	uint8_t *pos;
	uint8_t *base;
	uint8_t *limit;
};

int proto__new(struct proto *proto, size_t size);
void proto__free(struct proto *proto);

static inline size_t proto__used(const struct proto *proto)
{
	return (size_t)(proto->pos - proto->base);
}

static inline size_t proto__room(const struct proto *proto)
{
	return (size_t)(proto->limit - proto->pos);
}

static inline uint8_t *proto__encode(uint8_t *to, uint64_t value)
{
	while (value >= 0x80) {
		*to++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*to++ = (uint8_t)value;
	return to;
}

static inline void proto__key(struct proto *proto, uint32_t field, uint32_t wire)
{
	proto->pos = proto__encode(proto->pos, field << 3 | wire);
}

static inline void proto__uint(struct proto *proto, uint32_t field, uint64_t value)
{
	proto__key(proto, field, 0);
	proto->pos = proto__encode(proto->pos, value);
}

/* int32 and int64: negative ones take ten bytes */
static inline void proto__int(struct proto *proto, uint32_t field, int64_t value)
{
	proto__uint(proto, field, (uint64_t)value);
}

static inline void proto__fixed64(struct proto *proto, uint32_t field, uint64_t value)
{
	proto__key(proto, field, 1);
	for (int i = 0; i < 8; i++)
		*proto->pos++ = (uint8_t)(value >> (8 * i));
}

static inline void proto__double(struct proto *proto, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto__fixed64(proto, field, bits);
}

#define PROTO_RAW 16

/*
 * bytes that are encoded already, key and all. All of the array is copied, whatever its size: a
 * copy of any length would cost more than the rest of a packet.
 */
static inline void proto__raw(struct proto *proto, const uint8_t bytes[PROTO_RAW], size_t size)
{
	memcpy(proto->pos, bytes, PROTO_RAW);
	proto->pos += size;
}

void proto__bytes(struct proto *proto, uint32_t field, const char *bytes, size_t size);

/* bytes that are no UTF-8 become '?': a reader may refuse the whole file for one of them */
void proto__string(struct proto *proto, uint32_t field, const char *text);

/* proto__begin() - open a message; returns the mark that proto__end() takes */
static inline uint8_t *proto__begin(struct proto *proto, uint32_t field)
{
	proto__key(proto, field, 2);
	return proto->pos++;
}

void proto__end_long(struct proto *proto, uint8_t *mark);

static inline void proto__end(struct proto *proto, uint8_t *mark)
{
	size_t size = (size_t)(proto->pos - mark) - 1;

	if (size < 0x80)
		*mark = (uint8_t)size;
	else
		proto__end_long(proto, mark);
}

#endif /* TRACER_EXPORT_PROTO_H */
