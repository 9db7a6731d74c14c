// SPDX-License-Identifier: BSD-2-Clause
/*
 * Gauges of a process: tasks by state, active continuations, steals per second.
 *
 * Tasks change their state a million times a second, and each change is a sample of one or two
 * gauges. As packets of their own, which is what the simplest reader understands, they are a third
 * of a trace. So in one that becomes large (`compact`) they stand in the packet of the event that
 * brought the change, as the format's "extra counter values", and are differences: then hardly
 * anything in them is new to a compressor. No sample is left out, and none moves.
 */
#include "perfetto.h"

/*
 * The order in which an event gives them. One that does not change has to be said too (difference
 * 0) if one behind it does, so those that change most often come first.
 */
static const uint8_t gauges[PERFETTO_GAUGES] = {COUNT_READY, COUNT_RUNNING, COUNT_SUSPENDED};

static struct row *count__row(struct perfetto *px, struct drawn_process *process, int which)
{
	static const char *const names[COUNTS] = {
		[COUNT_RUNNING] = "running tasks",
		[COUNT_READY] = "ready tasks",
		[COUNT_SUSPENDED] = "suspended tasks",
		[COUNT_CONTINUATIONS] = "active continuations",
		[COUNT_STEALS] = "steals per s",
	};
	struct row *row = &process->counts[which];
	struct descriptor d = {
		.name = names[which],
		.kind = TRACK_COUNTER,
		.no_merge = true,
		.rank = which,
	};

	if (row->declared)
		return row;
	d.parent = row__group(px, process, ROW_COUNTERS)->uuid;
	d.incremental = px->info.compact && which < PERFETTO_GAUGES;
	row__name(px, row,
		  perfetto__hash(process->seed ^ px->session, ROW_COUNTER, (uint64_t)which));
	d.uuid = row->uuid;
	row->declared = true;
	descriptor__write(px, &d);
	return row;
}

/* what the file says for a gauge that has a new value, if it says it now */
static int64_t gauge__say(const struct perfetto *px, struct drawn_process *process, int which,
			  int64_t value)
{
	int64_t before = process->counted[which];

	process->counted[which] = value;
	/* nothing said yet (-1): readers start at 0 */
	return px->info.compact && before > 0 ? value - before : value;
}

void process__count(struct perfetto *px, struct drawn_process *process, int which, int64_t value,
		    uint64_t time)
{
	struct row *row;

	if (which != COUNT_STEALS)
		steals__tell(px, process, time);
	if (process->counted[which] == value)
		return;
	row = count__row(px, process, which);
	if (which < PERFETTO_GAUGES) {
		counter__write(px, row, time, gauge__say(px, process, which, value));
		return;
	}
	process->counted[which] = value;
	if (which == COUNT_STEALS)
		counter__write_at(px, row, time, value);
	else
		counter__write(px, row, time, value);
}

static void gauges__declare(struct perfetto *px, struct drawn_process *process)
{
	uint64_t uuids[PERFETTO_GAUGES];

	if (process->counts[gauges[0]].declared)
		return;
	for (int i = 0; i < PERFETTO_GAUGES; i++)
		uuids[i] = count__row(px, process, gauges[i])->uuid;
	if (px->info.compact && !px->default_gauges) {
		px->default_gauges = process;
		perfetto__default_gauges(px, uuids, PERFETTO_GAUGES);
	}
}

/* true if the last event could take them */
static bool gauges__ride(struct perfetto *px, struct drawn_process *process, const int64_t *counts,
			 uint64_t time)
{
	uint64_t uuids[PERFETTO_GAUGES];
	int64_t said[PERFETTO_GAUGES];
	uint32_t count = 0;

	if (!px->info.compact || !event__takes_gauges(px, time))
		return false;
	for (uint32_t i = 0; i < PERFETTO_GAUGES; i++) {
		if (counts[gauges[i]] != process->counted[gauges[i]])
			count = i + 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		uuids[i] = process->counts[gauges[i]].uuid;
		said[i] = gauge__say(px, process, gauges[i], counts[gauges[i]]);
	}
	event__gauges(px, px->default_gauges == process ? NULL : uuids, said, count);
	return true;
}

void op__task_counts(void *ctx, struct model_process *model, uint32_t running, uint32_t ready,
		     uint32_t suspended, uint64_t time)
{
	struct perfetto *px = ctx;
	struct drawn_process *process = drawn_process__get(px, model);
	const int64_t counts[PERFETTO_GAUGES] = {
		[COUNT_RUNNING] = running,
		[COUNT_READY] = ready,
		[COUNT_SUSPENDED] = suspended,
	};

	if (!process)
		return;
	steals__tell(px, process, time);
	gauges__declare(px, process);
	if (gauges__ride(px, process, counts, time))
		return;
	for (int i = 0; i < PERFETTO_GAUGES; i++)
		process__count(px, process, i, counts[i], time);
}

void op__active_continuations(void *ctx, struct model_process *model, int64_t count, uint64_t time)
{
	struct drawn_process *process = drawn_process__get(ctx, model);

	if (process)
		process__count(ctx, process, COUNT_CONTINUATIONS, count, time);
}
