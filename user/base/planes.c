// SPDX-License-Identifier: BSD-2-Clause
/* A plane at a time: the compiler turns each of these loops into vector code. */
#include <string.h>
#include "planes.h"

#define WORD 8U

void planes__split(uint8_t *restrict to, const uint8_t *restrict from, size_t size)
{
	size_t words = size / WORD, plane, i;

	for (plane = 0; plane < WORD; plane++)
		for (i = 0; i < words; i++)
			to[plane * words + i] = from[i * WORD + plane];
	memcpy(to + words * WORD, from + words * WORD, size % WORD);
}

void planes__join(uint8_t *restrict to, const uint8_t *restrict from, size_t size)
{
	size_t words = size / WORD, plane, i;
	uint64_t word;

	/* a word at a time: eight strided passes would write every line eight times */
	for (i = 0; i < words; i++) {
		for (word = 0, plane = 0; plane < WORD; plane++)
			word |= (uint64_t)from[plane * words + i] << (8 * plane);
		for (plane = 0; plane < WORD; plane++)
			to[i * WORD + plane] = (uint8_t)(word >> (8 * plane));
	}
	memcpy(to + words * WORD, from + words * WORD, size % WORD);
}
