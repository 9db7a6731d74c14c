/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of a capture (interface, section 3), as JSON or for people. */
#ifndef TRACER_REPORT_REPORT_H
#define TRACER_REPORT_REPORT_H

#include <stdio.h>
#include "../trace/trace.h"
#include "../model/model.h"

struct report;

/*
 * report__new() - figures of @trace
 * Use: report__read() runs the trace through a model of its own.
 */
struct report *report__new(void);
int report__read(struct report *report, struct trace *trace, char **err);
/*
 * The same in the caller's hands: report__event() for each event of the trace, then
 * report__ended(). In between report__so_far() makes the report say what is known by now, but for
 * what is still open.
 */
int report__event(struct report *report, const struct event *event);
int report__so_far(struct report *report, const struct trace *trace);
int report__ended(struct report *report, const struct trace *trace);
/* all of interface section 3, to @out; 0 or -errno */
int report__json(const struct report *report, FILE *out);
/* a page for people */
int report__text(const struct report *report, FILE *out);
/* the `capture` object alone (for --summary); needs no report, as only the trace is counted */
int report__summary(const struct trace_totals *totals, FILE *out);
/* both: the `capture` object's members, and all others beside them (--summary of --stats-only) */
int report__figures(const struct report *report, FILE *out);
void report__free(struct report *report);

#endif /* TRACER_REPORT_REPORT_H */
