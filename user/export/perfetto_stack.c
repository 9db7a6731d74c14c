// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call stacks of events, as Perfetto has them: an event names a callstack, which is a list of
 * frames, which are functions in mappings. Each is told once, before the event that needs it.
 *
 * A frame that was inlined has the address of the function it is inlined in, so it is told apart
 * from that by its name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "perfetto.h"

#define STACKS_MAX 262144U

enum {
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
};

static uint8_t *entry__begin(struct perfetto *px, uint32_t field, uint64_t iid)
{
	uint8_t *mark = proto__begin(&px->proto, field);

	proto__uint(&px->proto, 1, iid);
	return mark;
}

/* id of a thing in @map, or 0: it is new, and then *iid is the one that it gets */
static uint64_t iid__find(struct perfetto *px, struct map *map, uint64_t a, uint64_t b,
			  uint64_t *iid)
{
	void *known = map__get(map, a, b);

	if (known)
		return (uintptr_t)known;
	*iid = map->count + 1;
	if (map__put(map, a, b, (void *)(uintptr_t)*iid)) {
		px->error = -ENOMEM;
		*iid = 0;
	}
	return 0;
}

/* strings are interned in the trace: an address stands for its text */
static uint64_t string__iid(struct perfetto *px, struct map *map, uint32_t field, const char *text)
{
	uint64_t iid = 0, known;
	uint8_t *mark, *entry;

	if (!text || !*text)
		return 0;
	known = iid__find(px, map, (uintptr_t)text, 0, &iid);
	if (known || !iid)
		return known;
	mark = interned__open(px);
	entry = entry__begin(px, field, iid);
	proto__string(&px->proto, 2, text);
	proto__end(&px->proto, entry);
	interned__close(px, mark);
	return iid;
}

/* readers want the build id's bytes */
static uint64_t build_id__iid(struct perfetto *px, const char *hex)
{
	uint8_t bytes[64], *mark, *entry, *field;
	uint64_t iid = 0, known;
	unsigned int byte;
	size_t size = 0;

	if (!hex || !*hex)
		return 0;
	known = iid__find(px, &px->stacks.build_ids, (uintptr_t)hex, 0, &iid);
	if (known || !iid)
		return known;
	while (size < sizeof(bytes) && sscanf(hex + 2 * size, "%2x", &byte) == 1)
		bytes[size++] = (uint8_t)byte;
	mark = interned__open(px);
	entry = entry__begin(px, INTERNED_BUILD_IDS, iid);
	field = proto__begin(&px->proto, 2);
	proto__raw(&px->proto, bytes, size);
	proto__end(&px->proto, field);
	proto__end(&px->proto, entry);
	interned__close(px, mark);
	return iid;
}

static uint64_t mapping__iid(struct perfetto *px, const struct trace_frame *frame)
{
	uint64_t iid = 0, known, path, build_id;
	uint8_t *mark, *entry;

	if (!frame->binary || !*frame->binary)
		return 0;
	known = iid__find(px, &px->stacks.mappings, (uintptr_t)frame->binary,
			  (uintptr_t)frame->build_id, &iid);
	if (known || !iid)
		return known;
	path = string__iid(px, &px->stacks.paths, INTERNED_PATHS, frame->binary);
	build_id = build_id__iid(px, frame->build_id);
	mark = interned__open(px);
	entry = entry__begin(px, INTERNED_MAPPINGS, iid);
	if (build_id)
		proto__uint(&px->proto, 2, build_id);
	proto__uint(&px->proto, 7, path);
	proto__end(&px->proto, entry);
	interned__close(px, mark);
	return iid;
}

static uint64_t frame__iid(struct perfetto *px, const struct trace_frame *frame)
{
	uint64_t iid = 0, known, function, mapping, source;
	uint8_t *mark, *entry;

	known = iid__find(px, &px->stacks.frames,
			  (uintptr_t)frame->function ^ (uintptr_t)frame->binary << 20,
			  frame->address ^ (uint64_t)(uint32_t)frame->line << 44, &iid);
	if (known || !iid)
		return known;
	function = string__iid(px, &px->stacks.functions, INTERNED_FUNCTIONS, frame->function);
	mapping = mapping__iid(px, frame);
	source = string__iid(px, &px->stacks.sources, INTERNED_SOURCES, frame->file);
	mark = interned__open(px);
	entry = entry__begin(px, INTERNED_FRAMES, iid);
	if (function)
		proto__uint(&px->proto, 2, function);
	if (mapping) {
		proto__uint(&px->proto, 3, mapping);
		proto__uint(&px->proto, 4, frame->address);
	}
	if (source)
		proto__uint(&px->proto, 5, source);
	if (frame->line > 0)
		proto__uint(&px->proto, 6, (uint64_t)frame->line);
	proto__end(&px->proto, entry);
	interned__close(px, mark);
	return iid;
}

/* where a stack goes on that was captured only in part */
static const struct trace_frame truncated = {.function = "[truncated]"};

static void callstack__tell(struct perfetto *px, const struct trace_stack *stack, uint32_t iid)
{
	uint64_t frames[512];
	uint32_t count = 0;
	uint8_t *mark, *entry;

	for (uint32_t i = 0; i < stack->count && count < 511; i++)
		frames[count++] = frame__iid(px, &stack->frames[i]);
	if (stack->truncated)
		frames[count++] = frame__iid(px, &truncated);
	mark = interned__open(px);
	entry = entry__begin(px, INTERNED_CALLSTACKS, iid);
	while (count) /* outermost first */
		proto__uint(&px->proto, 2, frames[--count]);
	proto__end(&px->proto, entry);
	interned__close(px, mark);
}

void stack__next(struct perfetto *px, uint32_t number)
{
	const struct trace_stack *stack;

	px->stacks.next = 0;
	if (!number || !px->info.stack)
		return;
	if (!map__get(&px->stacks.told, number, 0)) {
		stack = px->info.stack(px->info.stack_ctx, number);
		if (!stack || !stack->count || px->stacks.told.count >= STACKS_MAX)
			return;
		if (map__put(&px->stacks.told, number, 0, px)) {
			px->error = -ENOMEM;
			return;
		}
		callstack__tell(px, stack, number);
	}
	px->stacks.next = number;
}

void stacks__forget(struct perfetto_stacks *stacks)
{
	struct map *maps[] = {&stacks->told,	 &stacks->functions, &stacks->frames,
			      &stacks->mappings, &stacks->paths,     &stacks->build_ids,
			      &stacks->sources};

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		map__free(maps[i]);
}
