/* SPDX-License-Identifier: BSD-2-Clause */
/* From the points' stamps to CLOCK_BOOTTIME nanoseconds, by the capture's clock snapshots. */
#ifndef TRACER_TRACE_TIMEBASE_H
#define TRACER_TRACE_TIMEBASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/file.h"

struct timebase_segment { /* from one snapshot to the next */
	uint64_t cycles;
	uint64_t boottime;
	uint64_t monotonic;
	uint64_t mult; /* ns per cycle, times 2^48 */
};

struct timebase {
	struct file_clock *snapshots;
	struct timebase_segment *segments; /* as many as snapshots; the last has no end */
	size_t count;
	size_t capacity;
	uint64_t mult;	   /* of the whole capture: for what lies outside of the snapshots */
	uint64_t error_ns; /* see timebase__finish() */
};

/* a snapshot that cannot follow the one before is left out; 0 or -ENOMEM */
int timebase__add(struct timebase *base, const struct file_clock *snapshot);

/*
 * timebase__finish() - all snapshots are there: prepare for conversions
 * @hz: the counter's frequency if the capture states one, else 0; used if there is one snapshot
 * only
 *
 * error_ns becomes the largest of: half the time a snapshot took, and the distance of a snapshot
 * from the line between its neighbours.
 */
int timebase__finish(struct timebase *base, double hz);

/*
 * timebase__extend() - a further snapshot, while stamps are being converted
 *
 * What was converted stays right: the line goes on from where it has got to, and is led to the
 * snapshots' line until the next one comes. Only so many are kept as a stamp can be late. 0 or
 * -ENOMEM.
 */
int timebase__extend(struct timebase *base, const struct file_clock *snapshot);

/*
 * timebase__boottime() - time of a stamp
 * @monotonic: stamp is of CLOCK_MONOTONIC, not of the cycle counter
 * @hint: segment of the caller's stamp before, kept by it; start with 0
 */
uint64_t timebase__boottime(const struct timebase *base, uint64_t stamp, bool monotonic,
			    uint32_t *hint);
/* the stamp that time has, about: to restore a stamp's upper bits */
uint64_t timebase__stamp(const struct timebase *base, uint64_t boottime, bool monotonic);
void timebase__free(struct timebase *base);

#endif /* TRACER_TRACE_TIMEBASE_H */
