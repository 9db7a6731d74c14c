// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call stacks of a capture.
 *
 * A STACK record says which record of which stream it belongs to (bpf/stack_record.h), and stands
 * before that in the file. It waits in a queue of its stream until the event is given out. Its
 * bytes are unwound when they are read, once for all records that share them, and thrown away;
 * frames get their names when somebody asks. Stacks that are the same, return address by return
 * address, have one number.
 */
#include "stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/map.h"
#include "dso.h"
#include "stack_record.h"
#include "symbol.h"
#include "unwind.h"

#define QUEUE_MAX (1U << 16)
#define STACKS_MAX (1U << 22)
#define OBJECTS_MAX (1U << 16)
#define CODE_MAPS_MAX (1U << 20)

struct code_map {
	uint64_t start, end, offset;
	struct object *object; /* NULL: of no file */
};

struct code_maps {	       /* a CODE block */
	struct code_map *maps; /* in order */
	size_t count;
};

struct use {
	uint64_t records;
	uint32_t stack;
	uint16_t type;
};

struct use_queue {
	struct use *uses; /* a ring */
	uint32_t head, count, room;
};

struct place {		       /* one of a stack's return addresses */
	struct object *object; /* or NULL */
	uint64_t address;      /* link-time, of the call; without an object the pc */
};

struct stack {			  /* once unwound */
	struct trace_stack shown; /* frames NULL: not yet named */
	struct trace_frame *frames;
	struct place *places;
	size_t count;
	bool truncated;
	struct stack *next; /* of the same hash */
};

struct stack_table {
	struct strings *strings;
	struct debug_dirs dirs;
	bool aarch64;
	struct map code;    /* number -> struct code_maps */
	struct map objects; /* number -> struct object */
	struct map by_id;   /* id in the file -> number, as a pointer */
	struct map by_hash; /* of places -> struct stack */
	struct stack **all; /* by number; the first is none */
	uint32_t count, room;
	struct map queues;  /* stream -> struct use_queue */
	struct map waiting; /* tid, dso: of threads without a ring yet -> struct use_queue */
	const struct code_maps *maps; /* of the stack that is being unwound */
};

struct stack_table *stack_table__new(struct strings *strings, bool aarch64)
{
	struct stack_table *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->strings = strings;
	stacks->aarch64 = aarch64;
	stacks->count = 1;
	return stacks;
}

void stack_table__set_debug_dirs(struct stack_table *stacks, const char *const *dirs, size_t count)
{
	stacks->dirs = (struct debug_dirs){dirs, count};
}

/* --- blocks --- */

static int stack_table__object(struct stack_table *stacks, struct json_object *json)
{
	int64_t id = json__integer(json, "id", 0);
	struct object *object;

	if (id <= 0 || stacks->objects.count > OBJECTS_MAX ||
	    map__get(&stacks->objects, (uint64_t)id, 0))
		return 0;
	object = object__new(id, json__string(json, "path", ""), json__string(json, "build_id", ""),
			     (uint64_t)json__integer(json, "size", 0),
			     (uint64_t)json__integer(json, "changed", 0));
	if (!object || map__put(&stacks->objects, (uint64_t)id, 0, object)) {
		object__free(object);
		return -ENOMEM;
	}
	return 0;
}

static uint64_t item(struct json_object *array, size_t i)
{
	return json_object_get_uint64(json_object_array_get_idx(array, i));
}

static int compare_maps(const void *left, const void *right)
{
	const struct code_map *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static struct code_maps *code_maps__new(const struct stack_table *stacks, struct json_object *list)
{
	struct code_maps *maps = calloc(1, sizeof(*maps));
	size_t count = json_object_array_length(list);
	struct json_object *row;

	if (count > CODE_MAPS_MAX)
		count = CODE_MAPS_MAX;
	if (maps)
		maps->maps = calloc(count + 1, sizeof(*maps->maps));
	if (!maps || !maps->maps) {
		free(maps);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		row = json_object_array_get_idx(list, i);
		if (!json_object_is_type(row, json_type_array) || json_object_array_length(row) < 4)
			continue;
		maps->maps[maps->count++] =
			(struct code_map){item(row, 0), item(row, 1), item(row, 2),
					  map__get(&stacks->objects, item(row, 3), 0)};
	}
	qsort(maps->maps, maps->count, sizeof(*maps->maps), compare_maps);
	return maps;
}

int stack_table__code(struct stack_table *stacks, struct json_object *json)
{
	int64_t id = json__integer(json, "id", 0);
	struct json_object *list;
	struct code_maps *maps;
	int err = 0;

	if (json_object_object_get_ex(json, "files", &list) &&
	    json_object_is_type(list, json_type_array))
		for (size_t i = 0; i < json_object_array_length(list) && !err; i++)
			err = stack_table__object(stacks, json_object_array_get_idx(list, i));
	if (err || id <= 0 || map__get(&stacks->code, (uint64_t)id, 0) ||
	    !json_object_object_get_ex(json, "maps", &list) ||
	    !json_object_is_type(list, json_type_array))
		return err;
	maps = code_maps__new(stacks, list);
	if (!maps || map__put(&stacks->code, (uint64_t)id, 0, maps)) {
		if (maps)
			free(maps->maps);
		free(maps);
		return -ENOMEM;
	}
	return 0;
}

int stack_table__binary(struct stack_table *stacks, struct json_object *json, const uint8_t *bytes,
			size_t size)
{
	struct object *object =
		map__get(&stacks->objects, (uint64_t)json__integer(json, "id", 0), 0);

	if (object)
		object__keep(object, json, bytes, size);
	return 0;
}

/* --- unwinding --- */

static const struct code_map *code_maps__find(const struct code_maps *maps, uint64_t pc)
{
	size_t low = 0, high = maps->count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (pc >= maps->maps[middle].end)
			low = middle + 1;
		else if (pc < maps->maps[middle].start)
			high = middle;
		else
			return &maps->maps[middle];
	}
	return NULL;
}

static struct object *find_code(void *ctx, uint64_t pc, uint64_t *address, bool *is_code)
{
	struct stack_table *stacks = ctx;
	const struct code_map *map = code_maps__find(stacks->maps, pc);

	*is_code = map != NULL;
	if (!map || !map->object)
		return NULL;
	object__open(map->object, &stacks->dirs);
	return object__address(map->object, pc - map->start + map->offset, address) ? map->object
										    : NULL;
}

static uint64_t places__hash(const struct place *places, size_t count, bool truncated)
{
	uint64_t hash = count * 2 + truncated;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ places[i].address ^ (uintptr_t)places[i].object) *
		       0x9fb21c651e98df25ULL;
		hash ^= hash >> 31;
	}
	return hash;
}

static bool stack__equals(const struct stack *stack, const struct place *places, size_t count,
			  bool truncated)
{
	if (stack->count != count || stack->truncated != truncated)
		return false;
	for (size_t i = 0; i < count; i++)
		if (stack->places[i].address != places[i].address ||
		    stack->places[i].object != places[i].object)
			return false;
	return true;
}

/* the number of these places; 0 without memory, or if there are too many */
static uint32_t stack_table__number(struct stack_table *stacks, const struct place *places,
				    size_t count, bool truncated)
{
	uint64_t hash = places__hash(places, count, truncated);
	struct stack *first = map__get(&stacks->by_hash, hash, 0), *stack, **all;
	uint32_t room;

	for (stack = first; stack; stack = stack->next)
		if (stack__equals(stack, places, count, truncated))
			return stack->shown.number;
	if (stacks->count == STACKS_MAX)
		return 0;
	if (stacks->count >= stacks->room) {
		room = stacks->room ? stacks->room * 2 : 256;
		all = reallocarray(stacks->all, room, sizeof(*all));
		if (!all)
			return 0;
		stacks->all = all;
		stacks->room = room;
	}
	stack = calloc(1, sizeof(*stack));
	if (stack)
		stack->places = calloc(count, sizeof(*places));
	if (!stack || !stack->places || map__put(&stacks->by_hash, hash, 0, stack)) {
		if (stack)
			free(stack->places);
		free(stack);
		return 0;
	}
	memcpy(stack->places, places, count * sizeof(*places));
	stack->count = count;
	stack->truncated = truncated;
	stack->next = first;
	stack->shown.number = stacks->count;
	stacks->all[stacks->count] = stack;
	return stacks->count++;
}

static uint32_t stack_table__unwind(struct stack_table *stacks, const struct rec_stack *record)
{
	struct place places[256];
	struct unwind unwind = {
		.stack = (const uint8_t *)record + STACK_FULL_SIZE(0),
		.size = record->len,
		.aarch64 = stacks->aarch64,
		.cut = record->truncated,
		.find = find_code,
		.ctx = stacks,
	};
	bool is_code, more;
	size_t count = 0;

	stacks->maps = map__get(&stacks->code, record->code, 0);
	if (!stacks->maps)
		return 0;
	memcpy(unwind.registers, record->registers, sizeof(unwind.registers));
	unwind.from = unwind.registers[stacks->aarch64 ? 31 : 7];
	more = unwind__begin(&unwind);
	while (more && count < record->depth) {
		struct place *place = &places[count++];

		place->object = find_code(stacks, unwind.pc - 1, &place->address, &is_code);
		if (!place->object)
			place->address = unwind.pc - 1;
		more = unwind__next(&unwind);
	}
	return count ? stack_table__number(stacks, places, count, unwind.truncated) : 0;
}

/* --- which event has which --- */

static int use_queue__add(struct use_queue *queue, const struct use *use)
{
	struct use *uses;
	uint32_t room;

	if (queue->count == QUEUE_MAX) { /* of records that never came */
		queue->head = (queue->head + 1) & (queue->room - 1);
		queue->count--;
	}
	if (queue->count == queue->room) {
		room = queue->room ? queue->room * 2 : 16;
		uses = calloc(room, sizeof(*uses));
		if (!uses)
			return -ENOMEM;
		for (uint32_t i = 0; i < queue->count; i++)
			uses[i] = queue->uses[(queue->head + i) & (queue->room - 1)];
		free(queue->uses);
		*queue = (struct use_queue){uses, 0, queue->count, room};
	}
	queue->uses[(queue->head + queue->count++) & (queue->room - 1)] = *use;
	return 0;
}

static int queues__add(struct map *queues, uint64_t a, uint64_t b, const struct use *use)
{
	struct use_queue *queue = map__get(queues, a, b);

	if (!queue) {
		queue = calloc(1, sizeof(*queue));
		if (!queue || map__put(queues, a, b, queue)) {
			free(queue);
			return -ENOMEM;
		}
	}
	return use_queue__add(queue, use);
}

int stack_table__record(struct stack_table *stacks, const struct rec_header *header)
{
	const struct rec_stack *record = (const void *)header;
	struct use use;
	void *known;

	if (header->size < sizeof(*record) || record->len > STACK_BYTES_MAX + STACK_PIECE ||
	    record->len % 8 || (record->len && header->size < STACK_FULL_SIZE(record->len)))
		return -EINVAL;
	known = map__get(&stacks->by_id, record->id, 0);
	if (!known && record->len) {
		known = (void *)(uintptr_t)stack_table__unwind(stacks, record);
		if (known && map__put(&stacks->by_id, record->id, 0, known))
			return -ENOMEM;
	}
	if (!known)
		return 0;
	use = (struct use){record->records, (uint32_t)(uintptr_t)known, record->type};
	/* a thread's stacks stand in the file in their order, as they came through one buffer */
	if (record->stream)
		return queues__add(&stacks->queues, record->stream, 0, &use);
	return queues__add(&stacks->waiting, record->tid, record->dso, &use);
}

/* the last one for that record is its; those before it were for what was left out */
static uint32_t use_queue__take(struct use_queue *queue, uint64_t records, uint16_t type)
{
	const struct use *use;
	uint32_t stack = 0;

	while (queue->count) {
		use = &queue->uses[queue->head];
		if (use->records > records)
			break;
		if (use->records == records)
			stack = use->type == type ? use->stack : 0;
		queue->head = (queue->head + 1) & (queue->room - 1);
		queue->count--;
	}
	return stack;
}

uint32_t stack_table__take(struct stack_table *stacks, uint64_t stream, uint32_t tid, uint64_t dso,
			   uint64_t records, uint16_t type)
{
	struct use_queue *queue = map__get(&stacks->queues, stream, 0);
	uint32_t stack = queue ? use_queue__take(queue, records, type) : 0;

	if (records)
		return stack;
	/* the stream's first: taken before the thread had a ring */
	queue = map__get(&stacks->waiting, tid, dso);
	if (!stack && queue)
		stack = use_queue__take(queue, records, type);
	return stack;
}

/* --- names --- */

/* the point's own inlined functions say nothing about its caller */
static bool is_of_point(const struct trace_frame *frame)
{
	return frame->inlined && frame->function &&
	       (!strncmp(frame->function, "tracer__", 8) ||
		!strncmp(frame->function, "tracer_detail::", 15));
}

static void stack__name(struct stack_table *stacks, struct stack *stack)
{
	struct trace_frame frames[SYMBOL_INLINED_MAX];
	size_t room = 0, count;

	for (size_t i = 0; i < stack->count; i++) {
		const struct place *place = &stack->places[i];
		struct trace_frame *more;

		if (place->object) {
			count = symbol__frames(place->object, place->address, frames,
					       stacks->strings);
		} else {
			memset(frames, 0, sizeof(frames[0]));
			frames[0].address = place->address;
			count = 1;
		}
		more = reallocarray(stack->frames, room + count, sizeof(*more));
		if (!more)
			break;
		memcpy(more + room, frames, count * sizeof(*more));
		stack->frames = more;
		room += count;
	}
	stack->shown.frames = stack->frames;
	stack->shown.count = (uint32_t)room;
	while (stack->shown.count && is_of_point(stack->shown.frames)) {
		stack->shown.frames++;
		stack->shown.count--;
	}
	stack->shown.truncated = stack->truncated;
}

const struct trace_stack *stack_table__get(struct stack_table *stacks, uint32_t number)
{
	struct stack *stack;

	if (!number || number >= stacks->count)
		return NULL;
	stack = stacks->all[number];
	if (!stack->frames)
		stack__name(stacks, stack);
	return &stack->shown;
}

/* --- end --- */

static void queues__free(struct map *queues)
{
	for (struct map_entry *e = NULL; (e = map__next(queues, e));) {
		free(((struct use_queue *)e->value)->uses);
		free(e->value);
	}
	map__free(queues);
}

void stack_table__free(struct stack_table *stacks)
{
	if (!stacks)
		return;
	queues__free(&stacks->queues);
	queues__free(&stacks->waiting);
	for (uint32_t i = 1; i < stacks->count; i++) {
		free(stacks->all[i]->places);
		free(stacks->all[i]->frames);
		free(stacks->all[i]);
	}
	free(stacks->all);
	for (struct map_entry *e = NULL; (e = map__next(&stacks->code, e));) {
		free(((struct code_maps *)e->value)->maps);
		free(e->value);
	}
	for (struct map_entry *e = NULL; (e = map__next(&stacks->objects, e));)
		object__free(e->value);
	map__free(&stacks->code);
	map__free(&stacks->objects);
	map__free(&stacks->by_id);
	map__free(&stacks->by_hash);
	free(stacks);
}
