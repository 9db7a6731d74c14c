// SPDX-License-Identifier: BSD-2-Clause
/*
 * From stamps to CLOCK_BOOTTIME: straight lines between snapshots, and beyond the first and the
 * last one the slope of the whole capture, which is the steadiest there is. The reader collects all
 * snapshots before it decodes anything, so a stamp means the same time whenever it is converted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "timebase.h"

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

int timebase__add(struct timebase *base, const struct file_clock *snapshot)
{
	const struct file_clock *last;
	struct file_clock *bigger;
	size_t capacity;

	/* beyond 2^62 no sum of ours may overflow, and no clock of this century gets there */
	if ((snapshot->cycles | snapshot->boottime | snapshot->monotonic | snapshot->realtime) >>
	    62)
		return 0;
	if (base->count) {
		last = &base->snapshots[base->count - 1];
		if (snapshot->cycles <= last->cycles || snapshot->boottime <= last->boottime ||
		    snapshot->monotonic < last->monotonic ||
		    !slope(snapshot->cycles - last->cycles, snapshot->boottime - last->boottime))
			return 0;
	}
	if (base->count == base->capacity) {
		capacity = base->capacity ? base->capacity * 2 : 16;
		bigger = realloc(base->snapshots, capacity * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		base->snapshots = bigger;
		base->capacity = capacity;
	}
	base->snapshots[base->count++] = *snapshot;
	return 0;
}

static uint64_t scale(uint64_t cycles, uint64_t mult)
{
	return (uint64_t)(((unsigned __int128)cycles * mult + (1ULL << (SHIFT - 1))) >> SHIFT);
}

static void timebase__measure_error(struct timebase *base)
{
	const struct file_clock *s = base->snapshots;
	uint64_t mult, line, error;
	size_t i;

	for (i = 0; i < base->count; i++) {
		error = scale(s[i].spread / 2, base->mult);
		if (error > base->error_ns)
			base->error_ns = error;
		if (i == 0 || i + 1 == base->count)
			continue;
		mult = slope(s[i + 1].cycles - s[i - 1].cycles,
			     s[i + 1].boottime - s[i - 1].boottime);
		line = s[i - 1].boottime + scale(s[i].cycles - s[i - 1].cycles, mult);
		error = line > s[i].boottime ? line - s[i].boottime : s[i].boottime - line;
		if (error > base->error_ns)
			base->error_ns = error;
	}
}

int timebase__finish(struct timebase *base, double hz)
{
	const struct file_clock *s = base->snapshots;
	struct timebase_segment *to;
	size_t i;

	base->mult = 1ULL << SHIFT;
	if (base->count >= 2)
		base->mult = slope(s[base->count - 1].cycles - s[0].cycles,
				   s[base->count - 1].boottime - s[0].boottime);
	else if (hz >= 1e6 && hz <= 1e11)
		base->mult = (uint64_t)(1e9 / hz * (double)(1ULL << SHIFT));
	if (!base->count)
		return 0;
	base->segments = calloc(base->count, sizeof(*base->segments));
	if (!base->segments)
		return -ENOMEM;
	for (i = 0; i < base->count; i++) {
		to = &base->segments[i];
		to->cycles = s[i].cycles;
		to->boottime = s[i].boottime;
		to->monotonic = s[i].monotonic;
		to->mult = i + 1 < base->count ? slope(s[i + 1].cycles - s[i].cycles,
						       s[i + 1].boottime - s[i].boottime)
					       : base->mult;
	}
	timebase__measure_error(base);
	return 0;
}

#define EXTENDED_MAX 4096U /* snapshots that are kept, one a second; then the older half goes */

static void timebase__forget(struct timebase *base)
{
	size_t half = base->count / 2;

	memmove(base->snapshots, base->snapshots + half,
		(base->count - half) * sizeof(*base->snapshots));
	memmove(base->segments, base->segments + half,
		(base->count - half) * sizeof(*base->segments));
	base->count -= half;
}

int timebase__extend(struct timebase *base, const struct file_clock *snapshot)
{
	struct timebase_segment *bigger, *last, *next;
	uint64_t line, span, mult, behind;
	int err;

	if (base->count >= EXTENDED_MAX)
		timebase__forget(base);
	bigger = realloc(base->segments, (base->count + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	base->segments = bigger;
	line = base->count;
	err = timebase__add(base, snapshot);
	if (err || base->count == line)
		return err;
	next = &base->segments[base->count - 1];
	if (base->count == 1) {
		*next = (struct timebase_segment){snapshot->cycles, snapshot->boottime,
						  snapshot->monotonic, base->mult};
		return 0;
	}
	last = next - 1;
	span = snapshot->cycles - last->cycles;
	line = last->boottime + scale(span, last->mult);
	mult = slope(span, snapshot->boottime - base->snapshots[base->count - 2].boottime);
	behind = line < snapshot->boottime ? snapshot->boottime - line : line - snapshot->boottime;
	if (behind > base->error_ns)
		base->error_ns = behind;
	base->mult = mult;
	/* what the line is off now is made good over as long a time as it took */
	behind = (uint64_t)(((unsigned __int128)behind << SHIFT) / span);
	if (line < snapshot->boottime)
		mult += behind;
	else if (behind < mult / 2)
		mult -= behind;
	*next = (struct timebase_segment){snapshot->cycles, line, snapshot->monotonic, mult};
	return 0;
}

enum axis { AXIS_CYCLES, AXIS_MONOTONIC, AXIS_BOOTTIME };

static uint64_t at(const struct timebase_segment *segment, enum axis axis)
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
static uint32_t timebase__find(const struct timebase *base, uint64_t value, enum axis axis)
{
	uint32_t low = 0, high = base->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (at(&base->segments[middle], axis) <= value)
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

uint64_t timebase__boottime(const struct timebase *base, uint64_t stamp, bool monotonic,
			    uint32_t *hint)
{
	enum axis axis = monotonic ? AXIS_MONOTONIC : AXIS_CYCLES;
	const struct timebase_segment *segment;
	uint32_t i = *hint;

	if (!base->count)
		return monotonic ? stamp : scale(stamp, base->mult);
	if (i >= base->count || at(&base->segments[i], axis) > stamp ||
	    (i + 1 < base->count && at(&base->segments[i + 1], axis) <= stamp))
		*hint = i = timebase__find(base, stamp, axis);
	segment = &base->segments[i];
	if (monotonic)
		return stamp + segment->boottime - segment->monotonic;
	if (stamp >= segment->cycles)
		return segment->boottime + scale(stamp - segment->cycles, segment->mult);
	return sub(segment->boottime, scale(segment->cycles - stamp, base->mult));
}

uint64_t timebase__stamp(const struct timebase *base, uint64_t boottime, bool monotonic)
{
	const struct timebase_segment *segment;
	uint64_t mult = base->mult;
	uint64_t distance;

	if (!base->count)
		return monotonic ? boottime
				 : (uint64_t)(((unsigned __int128)boottime << SHIFT) / mult);
	segment = &base->segments[timebase__find(base, boottime, AXIS_BOOTTIME)];
	if (monotonic)
		return sub(boottime, segment->boottime - segment->monotonic);
	if (boottime < segment->boottime) {
		distance = segment->boottime - boottime;
		return sub(segment->cycles,
			   (uint64_t)(((unsigned __int128)distance << SHIFT) / mult));
	}
	distance = boottime - segment->boottime;
	return segment->cycles + (uint64_t)(((unsigned __int128)distance << SHIFT) / segment->mult);
}

void timebase__free(struct timebase *base)
{
	free(base->snapshots);
	free(base->segments);
	*base = (struct timebase){0};
}
