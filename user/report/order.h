/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables that are kept in maps, as lists in the order in which they are shown. */
#ifndef TRACER_REPORT_ORDER_H
#define TRACER_REPORT_ORDER_H

#include "figures.h"

/* the map's values, sorted, NULL at the end, to be freed with free(); NULL without memory */
struct steal_pair **order__pairs(const struct report *report);
struct lock_figures **order__locks(const struct report *report);
struct counter_figures **order__counters(const struct report *report);
/* workers of a process by number */
struct worker **order__workers(const struct report *report, uint32_t process);

#endif /* TRACER_REPORT_ORDER_H */
