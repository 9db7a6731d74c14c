/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte planes: all first bytes of a row of 8-byte words, then all second ones, and so on. Words of
 * records are addresses, counts and stamps, whose upper bytes hardly change from one to the next,
 * so a compressor that sees each plane by itself finds runs, and is done in half the time.
 */
#ifndef TRACER_BASE_PLANES_H
#define TRACER_BASE_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* both: @size bytes, what is over after the last whole word stays as it is; buffers must not
 * overlap */
void planes__split(uint8_t *to, const uint8_t *from, size_t size);
void planes__join(uint8_t *to, const uint8_t *from, size_t size);

#endif /* TRACER_BASE_PLANES_H */
