/* SPDX-License-Identifier: BSD-2-Clause */
/* What records look like: from events.def, and from the capture for events that came later. */
#ifndef TRACER_TRACE_SCHEMA_H
#define TRACER_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "strings.h"
#include "trace.h"

#define SCHEMA_TYPES 256
#define SCHEMA_FIRST 16 /* types below belong to the ring itself */

struct schema_row {
	struct event_schema event; /* type: that of the row, also in the one after a `num` row */
	uint8_t offsets[EVENT_ARGS];
	bool real;
	bool unasked; /* of a category that this capture did not ask for */
};

struct schema {
	struct schema_row rows[SCHEMA_TYPES];
	uint16_t sizes[SCHEMA_TYPES]; /* bytes of a record; 0: no such event */
};

/* the events that this build knows */
void schema__init(struct schema *schema);

/*
 * schema__learn() - take a schema text, as in tracer_info.schema
 * @sizes: becomes a copy of schema->sizes, with what this text says of its own records
 *
 * Rows of numbers not known yet are added. A row of a known number counts only if it adds arguments
 * at the end of those known: these are skipped. Any other contradiction is ignored, as the
 * consumers of events rely on the types in events.def.
 */
void schema__learn(struct schema *schema, struct strings *strings, const char *text, size_t len,
		   uint16_t sizes[SCHEMA_TYPES]);

/*
 * schema__ask() - the capture asked for these categories only
 * @categories: bit n for category n of events.def; `capture` is always asked for
 *
 * The gates of a target are open to all tracers, so another one's records come along.
 */
void schema__ask(struct schema *schema, uint32_t categories);

/* names of what the capture itself saw (types from EV_process on), or NULL */
const struct event_schema *schema__own(uint16_t type);

#endif /* TRACER_TRACE_SCHEMA_H */
