/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of probe specs, to events. */
#ifndef TRACER_TRACE_FOREIGN_H
#define TRACER_TRACE_FOREIGN_H

#include <json-c/json.h>
#include <records.h>
#include "merge.h"

/* a FOREIGN record; its size is header->size. 0 or -ENOMEM */
int foreign__record(struct merge *merge, const struct rec_header *header);
/* the END block: losses that no record came after */
void foreign__end(struct merge *merge, struct json_object *json);

#endif /* TRACER_TRACE_FOREIGN_H */
