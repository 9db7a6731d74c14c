/* SPDX-License-Identifier: BSD-2-Clause */
/* A log-linear histogram, see hist.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "hist.h"

#define SUB (1U << HIST_SUB_BITS)

/*
 * Row 0 holds the values below SUB; row r > 0 those from SUB << (r - 1) to twice that, in SUB
 * buckets that are 1 << (r - 1) wide.
 */
static unsigned int row_of(uint64_t value)
{
	return value < SUB ? 0 : 64 - (unsigned int)__builtin_clzll(value) - HIST_SUB_BITS;
}

static unsigned int bucket_of(uint64_t value, unsigned int row)
{
	return (row ? value >> (row - 1) : value) & (SUB - 1);
}

static uint64_t middle_of(unsigned int row, unsigned int bucket)
{
	uint64_t width = row ? 1ULL << (row - 1) : 1;

	return (row ? (SUB + bucket) * width : bucket) + (width - 1) / 2;
}

int hist__add(struct hist *hist, uint64_t value)
{
	unsigned int row = row_of(value);

	if (!hist->rows[row]) {
		hist->rows[row] = calloc(SUB, sizeof(**hist->rows));
		if (!hist->rows[row])
			return -ENOMEM;
	}
	hist->rows[row][bucket_of(value, row)]++;
	if (!hist->count || value < hist->min)
		hist->min = value;
	if (value > hist->max)
		hist->max = value;
	hist->sum += value;
	hist->count++;
	return 0;
}

uint64_t hist__percentile(const struct hist *hist, double percent)
{
	/* this order of operations is exact for whole percents: 7 / 100 * 20000 is above 1400 */
	uint64_t rank = (uint64_t)ceil(percent * (double)hist->count / 100), seen = 0;

	if (!hist->count || rank <= 1)
		return hist->min;
	if (rank >= hist->count)
		return hist->max;
	for (unsigned int row = 0; row < HIST_ROWS; row++) {
		for (unsigned int i = 0; hist->rows[row] && i < SUB; i++) {
			seen += hist->rows[row][i];
			if (seen >= rank) {
				uint64_t value = middle_of(row, i);

				value = value > hist->max ? hist->max : value;
				return value < hist->min ? hist->min : value;
			}
		}
	}
	return hist->max;
}

uint64_t hist__mean(const struct hist *hist)
{
	return hist->count ? hist->sum / hist->count : 0;
}

void hist__free(struct hist *hist)
{
	for (unsigned int row = 0; row < HIST_ROWS; row++)
		free(hist->rows[row]);
	*hist = (struct hist){0};
}
