/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaving out a part of a trace: stands between the merged events and who asks for them
 * (trace__filter()), so whatever reads a trace is filtered alike.
 *
 * What comes out is a trace like any other: what is open where the window begins is told anew there
 * (the workers, the tasks alive with their names and states, what runs, zones, markers), what ends
 * has begun, and nothing that comes out refers to what did not. What has no event of its own is
 * told by EV_task_known and EV_task_state, which no figure counts.
 *
 *	tasks		only tasks whose name matches one of the patterns (fnmatch(3)), and what was
 *			done while they ran. What workers do besides tasks stays.
 *	workers		only what these workers did. A task that ran there is shown between its
 *			stays there too, but for the time it ran elsewhere.
 *	from, to	ns since the first event of the trace; what is alive at `from` is shown as
 *			alive, what is alive at `to` as unfinished
 *	categories	as if the others had not been recorded
 */
#ifndef TRACER_TRACE_FILTER_H
#define TRACER_TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event.h"

struct filter_range {
	uint32_t first, last;
};

struct trace_filter {
	const char *const *tasks; /* patterns; task_count 0: all */
	size_t task_count;
	const struct filter_range *workers; /* worker_count 0: all */
	size_t worker_count;
	uint64_t from, to;   /* `to` UINT64_MAX: to the end */
	uint32_t categories; /* bit n: category n of events.def; 0: all */
};

struct filter;

/* the strings and lists of @what outlive the filter; NULL without memory */
struct filter *filter__new(const struct trace_filter *what);
/* the next event of the whole trace; 0 or -ENOMEM */
int filter__take(struct filter *filter, const struct event *event);
/* an event that came out; false: there is none, take another */
bool filter__give(struct filter *filter, struct event *event);
/*
 * filter__retell_all() - tell anew at @time what is open, as where a window begins: what came out
 * so far and what comes out now are two traces. False: events wait to be given, ask again after
 * them.
 */
bool filter__retell_all(struct filter *filter, uint64_t time);
void filter__free(struct filter *filter);

#endif /* TRACER_TRACE_FILTER_H */
