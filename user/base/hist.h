/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Percentiles of any number of values in fixed memory: a log-linear histogram. A power of two is
 * split into 64 equal buckets and a bucket is answered by its middle, so a percentile is off by at
 * most 0.8 % of the value (values below 128 are exact); count, sum, minimum and maximum are exact.
 * Rows of 64 buckets are allocated when first used: half a kilobyte per power of two that occurs,
 * 30 KiB at most. A zeroed struct is an empty histogram.
 */
#ifndef TRACER_BASE_HIST_H
#define TRACER_BASE_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_ROWS (64 - HIST_SUB_BITS + 1)

struct hist {
	uint64_t count, sum, min, max;
	uint64_t *rows[HIST_ROWS];
};

/* 0 or -ENOMEM */
int hist__add(struct hist *hist, uint64_t value);
/* @percent of the values are at most this; 0 if there are none. 0 gives min, 100 max. */
uint64_t hist__percentile(const struct hist *hist, double percent);
uint64_t hist__mean(const struct hist *hist);
void hist__free(struct hist *hist);

#endif /* TRACER_BASE_HIST_H */
