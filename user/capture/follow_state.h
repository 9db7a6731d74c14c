/* SPDX-License-Identifier: BSD-2-Clause */
/* What follow.c knows of the targets' streams, and follow_tell.c writes down. */
#ifndef TRACER_CAPTURE_FOLLOW_STATE_H
#define TRACER_CAPTURE_FOLLOW_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <tracer/ring.h>
#include "../base/event_type.h"
#include "../base/map.h"
#include "alive.h"
#include "follow.h"

#define CONTEXT_WORDS 4 /* of a record that is kept; longer ones are not */

/* a record that holds on: who this worker is, what a channel is called */
struct context {
	uint32_t pid, tid;
	uint64_t dso;
	uint32_t size;
	uint32_t name_size;
	uint64_t record[CONTEXT_WORDS];
	uint8_t *name; /* the NAME record of its string, or NULL */
};

struct stream {
	uint64_t id, dso;
	uint32_t pid, tid;
	struct stream *next, **link;
	bool known; /* pos and records mean something */
	bool monotonic;
	bool held;
	uint64_t ended; /* time, 0: not that we know */
	uint64_t pos, records;
	uint64_t skip_to, skip_records; /* beyond pos: not understood up to there */
	bool skip_counts;
	uint32_t carried;
	uint8_t carry[TRACER_RECORD_MAX];
	uint8_t *names; /* NAME records of the present window */
	uint32_t names_size, names_room;
	uint32_t name_at[TRACER_NAME_SLOTS]; /* the newest of a slot, plus one; as the target keeps
						them */
	struct context *worker;
};

struct follow {
	struct map by_id;
	struct stream *streams;
	struct map contexts; /* pid, kind and number: struct context */
	struct alive *alive;
	uint16_t sizes[256];
	uint8_t asks[256]; /* bits below */
	void (*watch)(void *ctx, const struct follow_event *event);
	void *watch_ctx;
	uint64_t count;
};

#endif /* TRACER_CAPTURE_FOLLOW_STATE_H */
