// SPDX-License-Identifier: BSD-2-Clause
/* What a filter remembers of a trace; memory is that of what lives at one time. */
#include "filter_state.h"

#include <stdlib.h>

struct owner *state__owner(struct state *state, uint32_t process)
{
	struct owner **owners;
	size_t count;

	if (process >= state->count) {
		count = process < 8 ? 16 : (size_t)process * 2;
		owners = reallocarray(state->owners, count, sizeof(struct owner *));
		if (!owners) {
			state->no_memory = true;
			return NULL;
		}
		for (size_t i = state->count; i < count; i++)
			owners[i] = NULL;
		state->owners = owners;
		state->count = count;
	}
	if (!state->owners[process]) {
		state->owners[process] = calloc(1, sizeof(struct owner));
		if (state->owners[process])
			state->owners[process]->index = process;
		else
			state->no_memory = true;
	}
	return state->owners[process];
}

struct place *state__place(struct state *state, const struct event *event)
{
	struct place *place = map__get(&state->places, event->process, event->tid);
	struct owner *owner = place ? NULL : state__owner(state, event->process);

	if (place || !owner)
		return place;
	place = calloc(1, sizeof(*place));
	if (!place || map__put(&state->places, event->process, event->tid, place)) {
		free(place);
		state->no_memory = true;
		return NULL;
	}
	place->tid = event->tid;
	place->next = owner->places;
	owner->places = place;
	return place;
}

struct life *state__find(const struct state *state, uint32_t process, uint64_t identity)
{
	return map__get(&state->lives, process, identity);
}

struct life *state__life(struct state *state, struct owner *owner, uint64_t identity)
{
	struct life *life = state__find(state, owner->index, identity);

	if (life)
		return life;
	life = calloc(1, sizeof(*life));
	if (!life || map__put(&state->lives, owner->index, identity, life)) {
		free(life);
		state->no_memory = true;
		return NULL;
	}
	life->identity = identity;
	life->state = EVENT_TASK_AWAY;
	life->prev = owner->last;
	if (owner->last)
		owner->last->next = life;
	else
		owner->first = life;
	owner->last = life;
	return life;
}

void state__push(struct state *state, struct kept **stack, const struct event *event, bool told)
{
	struct kept *kept = malloc(sizeof(*kept));

	if (!kept) {
		state->no_memory = true;
		return;
	}
	*kept = (struct kept){.event = *event, .told = told, .below = *stack};
	*stack = kept;
}

void kept__pop(struct kept **stack)
{
	struct kept *kept = *stack;

	*stack = kept->below;
	free(kept);
}

void life__run(struct life *life, struct place *place, const struct event *begin)
{
	life__stop(life);
	life->place = place;
	life->outer = place->top;
	life->begin = *begin;
	life->state = EVENT_TASK_AWAY;
	life->early = false;
	place->top = life;
}

void life__stop(struct life *life)
{
	struct life **at;

	if (!life->place)
		return;
	for (at = &life->place->top; *at && *at != life; at = &(*at)->outer)
		;
	if (*at)
		*at = life->outer;
	life->place = NULL;
	life->outer = NULL;
}

void state__end_life(struct state *state, struct owner *owner, struct life *life)
{
	life__stop(life);
	while (life->zones)
		kept__pop(&life->zones);
	*(life->prev ? &life->prev->next : &owner->first) = life->next;
	*(life->next ? &life->next->prev : &owner->last) = life->prev;
	map__remove(&state->lives, owner->index, life->identity);
	free(life);
}

void state__end_place(struct state *state, struct owner *owner, struct place *place)
{
	struct place **at;

	while (place->top)
		life__stop(place->top);
	while (place->zones)
		kept__pop(&place->zones);
	for (at = &owner->places; *at && *at != place; at = &(*at)->next)
		;
	if (*at)
		*at = place->next;
	map__remove(&state->places, owner->index, place->tid);
	free(place);
}

static uint64_t thing_key(const struct owner *owner, const struct event *event)
{
	return (uint64_t)owner->index << 16 | event->type;
}

void state__end_owner(struct state *state, struct owner *owner)
{
	while (owner->first)
		state__end_life(state, owner, owner->first);
	while (owner->places)
		state__end_place(state, owner, owner->places);
	while (owner->things) {
		map__remove(&state->things, thing_key(owner, &owner->things->event),
			    owner->things->key);
		kept__pop(&owner->things);
	}
}

void state__set_thing(struct state *state, struct owner *owner, const struct event *event,
		      uint64_t key)
{
	struct kept *kept = map__get(&state->things, thing_key(owner, event), key);

	if (kept) {
		kept->event = *event;
		return;
	}
	state__push(state, &owner->things, event, false);
	if (state->no_memory)
		return;
	owner->things->key = key;
	if (map__put(&state->things, thing_key(owner, event), key, owner->things))
		state->no_memory = true;
}

void state__free(struct state *state)
{
	for (size_t i = 0; i < state->count; i++) {
		if (state->owners[i])
			state__end_owner(state, state->owners[i]);
		free(state->owners[i]);
	}
	free(state->owners);
	map__free(&state->lives);
	map__free(&state->places);
	map__free(&state->things);
	map__free(&state->continuations);
}
