/* SPDX-License-Identifier: BSD-2-Clause */
/* The same pair as tracepoints of LTTng, which includes this file several times, as it wants it. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "pair_lttng.h"

#if !defined(TRACER_BENCH_PAIR_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TRACER_BENCH_PAIR_LTTNG_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	bench, task_begin, LTTNG_UST_TP_ARGS(uint64_t, task, uint32_t, worker),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, task, task)
			    lttng_ust_field_integer(uint32_t, worker, worker)))

LTTNG_UST_TRACEPOINT_EVENT(
	bench, task_end, LTTNG_UST_TP_ARGS(uint64_t, task),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, task, task)))

#endif

#include <lttng/tracepoint-event.h>
