/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be said of a ring's record before it is decoded; the format is usdt/tracer/ring.h's. */
#ifndef TRACER_BASE_RING_RECORD_H
#define TRACER_BASE_RING_RECORD_H

#include <stdint.h>
#include "../../usdt/tracer/ring.h"

/*
 * ring_record__size() - what has to be there to decode a record
 * @word: its first
 * @sizes: bytes of each type of point's record, 0: no such point
 *
 * Returns bytes, of a PAD 8, as nothing is read of what it skips; 0: there is no such record.
 */
static inline uint32_t ring_record__size(uint64_t word, const uint16_t sizes[256])
{
	uint64_t rest = word >> 8;

	switch (word & 0xff) {
	case TRACER_EV_PAD:
		return rest >= 8 && rest <= TRACER_RING_SIZE && rest % 8 == 0 ? 8 : 0;
	case TRACER_EV_NAME:
		return rest <= TRACER_NAME_MAX ? 16 + (((uint32_t)rest + 7) & ~7U) : 0;
	case TRACER_EV_WINDOW:
		return 16;
	default:
		return sizes[word & 0xff];
	}
}

#endif /* TRACER_BASE_RING_RECORD_H */
