/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What makes a flight recorder write its window by itself: a task that ran, was ready or suspended
 * for longer than it should.
 */
#ifndef TRACER_CAPTURE_TRIGGER_H
#define TRACER_CAPTURE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture.h"
#include "follow.h"

struct triggers;

/*
 * triggers__new() - watch for any of @count conditions
 * @fire: told what has happened, in words
 */
struct triggers *triggers__new(const struct capture_trigger *triggers, size_t count,
			       struct follow *follow, void (*fire)(void *ctx, const char *what),
			       void *ctx);
void triggers__free(struct triggers *triggers);
/* the counter's cycles in a ns */
void triggers__set_rate(struct triggers *triggers, double cycles);
/* everything before the moment has been followed: is there a task that is still at it? */
void triggers__look(struct triggers *triggers, const struct moment *moment);

#endif /* TRACER_CAPTURE_TRIGGER_H */
