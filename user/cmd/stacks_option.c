/* SPDX-License-Identifier: BSD-2-Clause */
/* record --stacks: which events' call stacks are wanted, and how deep. */
#include "stacks_option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/event_type.h"
#include "../base/say.h"

#define DEPTH_DEFAULT 64
#define DEPTH_MAX 127

/* what people call them: of a category the events whose stacks say why, not each of them */
static const struct {
	const char *name;
	uint8_t events[8];
} words[] = {
	{"task", {EV_task_suspended, EV_task_yielded}},
	{"suspend", {EV_task_suspended}},
	{"steal", {EV_steal}},
	{"message", {EV_message, EV_message_color, EV_sent, EV_received}},
	{"zone", {EV_zone_begin, EV_zone_begin_at}},
	{"lock", {EV_lock_wait}},
	{"future", {EV_future_wait, EV_future_set, EV_future_exception}},
	{"worker", {EV_worker_sleep_begin}},
	{"marker", {EV_marker_set}},
	{"flow", {EV_flow_start, EV_flow_step, EV_flow_end}},
	{"counter", {EV_counter}},
	{"frame", {EV_frame}},
	{"yield", {EV_task_yielded}},
};

static const struct {
	const char *name;
	uint8_t number;
} events[] = {
#define ROW(number, name) {#name, number},
#define TRACER_EVENT0(number, name, ...) ROW(number, name)
#define TRACER_EVENT1(number, name, ...) ROW(number, name)
#define TRACER_EVENT2(number, name, ...) ROW(number, name)
#define TRACER_EVENT3(number, name, ...) ROW(number, name)
#define TRACER_EVENT4(number, name, ...) ROW(number, name)
#include "../../usdt/tracer/events.def"
#undef ROW
};

/* "steals" is "steal", "suspended" and "suspension" are "suspend" */
static bool is_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *rest = text + length;

	if (strncmp(text, word, length) != 0)
		return !strcmp(word, "suspend") &&
		       (!strcmp(text, "suspension") || !strcmp(text, "suspensions"));
	return !*rest || !strcmp(rest, "s") || !strcmp(rest, "ed");
}

static bool stacks__want(struct capture_stacks *stacks, const char *text, uint8_t depth)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!is_word(text, words[i].name))
			continue;
		for (size_t k = 0; k < sizeof(words[i].events) && words[i].events[k]; k++)
			stacks->depth[words[i].events[k]] = depth;
		return true;
	}
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (!strcmp(text, events[i].name)) {
			stacks->depth[events[i].number] = depth;
			return true;
		}
	}
	return false;
}

int option__stacks(const char *text, const struct option_origin *origin,
		   struct capture_stacks *stacks)
{
	char *copy = strdup(text), *rest = copy, *word, *colon;
	uint64_t depth;
	int rc = copy ? 0 : -ENOMEM;

	while (!rc && (word = strsep(&rest, ","))) {
		depth = DEPTH_DEFAULT;
		colon = strchr(word, ':');
		if (colon) {
			*colon = '\0';
			rc = option__number(colon + 1, origin, 1, DEPTH_MAX, &depth);
		}
		if (rc || stacks__want(stacks, word, (uint8_t)depth))
			continue;
		say__error(
			"%s: '%s' is not known here; it is one of: task, suspend, yield, steal, "
			"message, zone, lock, future, worker, marker, flow, counter, frame, or an "
			"event of 'tracer list', such as task_created",
			origin->name, word);
		rc = -EINVAL;
	}
	stacks->any = true;
	free(copy);
	return rc;
}
