// SPDX-License-Identifier: BSD-2-Clause
/*
 * From stamps to CLOCK_BOOTTIME: straight lines between snapshots, and beyond the first and the last
 * one the slope of the whole capture, which is the steadiest there is. The reader collects all
 * snapshots before it decodes anything, so a stamp means the same time whenever it is converted.
 */
#include <errno.h>
#include <stdlib.h>
#include "clock.h"

#define SHIFT 48
/* Slopes beyond these are no clock: 0.01 to 1000 ns a cycle. */
#define MULT_MIN ((1ULL << SHIFT) / 100)
#define MULT_MAX ((1ULL << SHIFT) * 1000)

static uint64_t slope(uint64_t cycles, uint64_t ns)
{
	unsigned __int128 mult = 0;

	if (cycles)
		mult = (((unsigned __int128)ns << SHIFT) + cycles / 2) / cycles;
	return mult < MULT_MIN || mult > MULT_MAX ? 0 : (uint64_t)mult;
}

int clock__add(struct clock *clock, const struct file_clock *snapshot)
{
	const struct file_clock *last;
	struct file_clock *bigger;
	size_t capacity;

	/* beyond 2^62 no sum of ours may overflow, and no clock of this century gets there */
	if ((snapshot->cycles | snapshot->boottime | snapshot->monotonic | snapshot->realtime) >> 62)
		return 0;
	if (clock->count) {
		last = &clock->snapshots[clock->count - 1];
		if (snapshot->cycles <= last->cycles || snapshot->boottime <= last->boottime ||
		    snapshot->monotonic < last->monotonic ||
		    !slope(snapshot->cycles - last->cycles, snapshot->boottime - last->boottime))
			return 0;
	}
	if (clock->count == clock->capacity) {
		capacity = clock->capacity ? clock->capacity * 2 : 16;
		bigger = realloc(clock->snapshots, capacity * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		clock->snapshots = bigger;
		clock->capacity = capacity;
	}
	clock->snapshots[clock->count++] = *snapshot;
	return 0;
}

static uint64_t scale(uint64_t cycles, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)cycles * mult + (1ULL << (SHIFT - 1))) >> SHIFT);
}

static void clock__measure_error(struct clock *clock)
{
	const struct file_clock *s = clock->snapshots;
	uint64_t mult, line, error;
	size_t i;

	for (i = 0; i < clock->count; i++) {
		error = scale(s[i].spread / 2, clock->mult);
		if (error > clock->error_ns)
			clock->error_ns = error;
		if (i == 0 || i + 1 == clock->count)
			continue;
		mult = slope(s[i + 1].cycles - s[i - 1].cycles,
			     s[i + 1].boottime - s[i - 1].boottime);
		line = s[i - 1].boottime + scale(s[i].cycles - s[i - 1].cycles, mult);
		error = line > s[i].boottime ? line - s[i].boottime : s[i].boottime - line;
		if (error > clock->error_ns)
			clock->error_ns = error;
	}
}

int clock__finish(struct clock *clock, double hz)
{
	const struct file_clock *s = clock->snapshots;
	struct clock_segment *to;
	size_t i;

	clock->mult = 1ULL << SHIFT;
	if (clock->count >= 2)
		clock->mult = slope(s[clock->count - 1].cycles - s[0].cycles,
				    s[clock->count - 1].boottime - s[0].boottime);
	else if (hz >= 1e6 && hz <= 1e11)
		clock->mult = (uint64_t)(1e9 / hz * (double)(1ULL << SHIFT));
	if (!clock->count)
		return 0;
	clock->segments = calloc(clock->count, sizeof(*clock->segments));
	if (!clock->segments)
		return -ENOMEM;
	for (i = 0; i < clock->count; i++) {
		to = &clock->segments[i];
		to->cycles = s[i].cycles;
		to->boottime = s[i].boottime;
		to->monotonic = s[i].monotonic;
		to->mult = i + 1 < clock->count ? slope(s[i + 1].cycles - s[i].cycles,
							s[i + 1].boottime - s[i].boottime)
						: clock->mult;
	}
	clock__measure_error(clock);
	return 0;
}

enum axis { AXIS_CYCLES, AXIS_MONOTONIC, AXIS_BOOTTIME };

static uint64_t at(const struct clock_segment *segment, enum axis axis)
{
	switch (axis) {
	case AXIS_CYCLES:
		return segment->cycles;
	case AXIS_MONOTONIC:
		return segment->monotonic;
	default:
		return segment->boottime;
	}
}

/* the last segment that begins at or before @value, or the first */
static uint32_t clock__find(const struct clock *clock, uint64_t value, enum axis axis)
{
	uint32_t low = 0, high = clock->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (at(&clock->segments[middle], axis) <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint64_t sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint64_t clock__boottime(const struct clock *clock, uint64_t stamp, bool monotonic, uint32_t *hint)
{
	enum axis axis = monotonic ? AXIS_MONOTONIC : AXIS_CYCLES;
	const struct clock_segment *segment;
	uint32_t i = *hint;

	if (!clock->count)
		return monotonic ? stamp : scale(stamp, clock->mult);
	if (i >= clock->count || at(&clock->segments[i], axis) > stamp ||
	    (i + 1 < clock->count && at(&clock->segments[i + 1], axis) <= stamp))
		*hint = i = clock__find(clock, stamp, axis);
	segment = &clock->segments[i];
	if (monotonic)
		return stamp + segment->boottime - segment->monotonic;
	if (stamp >= segment->cycles)
		return segment->boottime + scale(stamp - segment->cycles, segment->mult);
	return sub(segment->boottime, scale(segment->cycles - stamp, clock->mult));
}

uint64_t clock__stamp(const struct clock *clock, uint64_t boottime, bool monotonic)
{
	const struct clock_segment *segment;
	uint64_t mult = clock->mult;
	uint64_t distance;

	if (!clock->count)
		return monotonic ? boottime
				 : (uint64_t)(((unsigned __int128)boottime << SHIFT) / mult);
	segment = &clock->segments[clock__find(clock, boottime, AXIS_BOOTTIME)];
	if (monotonic)
		return sub(boottime, segment->boottime - segment->monotonic);
	if (boottime < segment->boottime) {
		distance = segment->boottime - boottime;
		return sub(segment->cycles,
			   (uint64_t)(((unsigned __int128)distance << SHIFT) / mult));
	}
	distance = boottime - segment->boottime;
	return segment->cycles +
	       (uint64_t)(((unsigned __int128)distance << SHIFT) / segment->mult);
}

void clock__free(struct clock *clock)
{
	free(clock->snapshots);
	free(clock->segments);
	*clock = (struct clock){0};
}
