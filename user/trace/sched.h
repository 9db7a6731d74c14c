/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of the kernel's scheduling, to events. */
#ifndef TRACER_TRACE_SCHED_H
#define TRACER_TRACE_SCHED_H

#include <records.h>
#include "merge.h"

/* a SWITCH or WAKING record; its size is header->size. 0 or -ENOMEM */
int sched__record(struct merge *merge, const struct rec_header *header);

#endif /* TRACER_TRACE_SCHED_H */
