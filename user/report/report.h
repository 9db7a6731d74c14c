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
/* all of interface section 3, to @out; 0 or -errno */
int report__json(const struct report *report, FILE *out);
/* a page for people */
int report__text(const struct report *report, FILE *out);
/* the `capture` object alone (for --summary); needs no report, as only the trace is counted */
int report__summary(const struct trace_totals *totals, FILE *out);
void report__free(struct report *report);

#endif /* TRACER_REPORT_REPORT_H */
