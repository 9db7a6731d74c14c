// SPDX-License-Identifier: BSD-2-Clause
/* The events that a spec can make, from the one list. */
#include <string.h>
#include "spec.h"

enum {
#define TRACER_CATEGORY(number, name, doc) CATEGORY_##name = 1U << (number),
#include "../../usdt/tracer/events.def"
};

#define ROW(n, name, category, by) n, #name, #category, CATEGORY_##category, #by

static const struct spec_event_row rows[] = {
#define TRACER_EVENT0(n, name, category, by, doc) {ROW(n, name, category, by), 0, {0}, {0}},
#define TRACER_EVENT1(n, name, category, by, t1, a1, doc) \
	{ROW(n, name, category, by), 1, {#t1}, {#a1}},
#define TRACER_EVENT2(n, name, category, by, t1, a1, t2, a2, doc) \
	{ROW(n, name, category, by), 2, {#t1, #t2}, {#a1, #a2}},
#define TRACER_EVENT3(n, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	{ROW(n, name, category, by), 3, {#t1, #t2, #t3}, {#a1, #a2, #a3}},
#define TRACER_EVENT4(n, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	{ROW(n, name, category, by), 4, {#t1, #t2, #t3, #t4}, {#a1, #a2, #a3, #a4}},
#include "../../usdt/tracer/events.def"
};

uint8_t spec_event__sampled_by(const struct spec_event_row *row)
{
	return !strncmp(row->by, "arg", 3) ? (uint8_t)(row->by[3] - '0') : 0;
}

const struct spec_event_row *spec_event__at(size_t index)
{
	return index < sizeof(rows) / sizeof(*rows) ? &rows[index] : NULL;
}

const struct spec_event_row *spec_event__find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strlen(rows[i].name) == len && !memcmp(rows[i].name, name, len))
			return &rows[i];
	}
	return NULL;
}
