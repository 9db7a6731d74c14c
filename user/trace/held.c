// SPDX-License-Identifier: BSD-2-Clause
/*
 * Threads that left their CPU with something that they had stamped, but not handed over: REC_HELD
 * records say so, and others that it has come. They stand in the file by CPU, so the two may have
 * changed places: what was told last counts, and is remembered until a ROUND says that all that was
 * told before has been read.
 */
#include "held.h"

#include <errno.h>
#include <stdlib.h>

/* A thread that was stopped within a point, by a signal say, is not waited for any longer. */
#define HELD_NS 1000000000ULL
/* More than a capture of any sense has at one time. */
#define HELD_THREADS_MAX 4096

static struct held_thread *held__find(struct held *held, uint32_t tid)
{
	size_t i;

	for (i = 0; i < held->count; i++) {
		if (held->threads[i].tid == tid)
			return &held->threads[i];
	}
	return NULL;
}

static int held__grow(struct held *held)
{
	size_t capacity = held->capacity ? held->capacity * 2 : 16;
	struct held_thread *bigger = reallocarray(held->threads, capacity, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	held->threads = bigger;
	held->capacity = capacity;
	return 0;
}

int held__tell(struct held *held, const struct rec_held *record)
{
	struct held_thread *thread = held__find(held, record->tid);
	int err;

	if (!thread && held->count == HELD_THREADS_MAX)
		return 0;
	if (!thread && held->count == held->capacity) {
		err = held__grow(held);
		if (err)
			return err;
	}
	if (!thread)
		thread = &held->threads[held->count++];
	else if (thread->told > record->h.time)
		return 0;
	*thread = (struct held_thread){record->tid, record->since, record->h.time};
	return 0;
}

/* is it of no use any more? */
static bool thread__is_over(const struct held_thread *thread, uint64_t round)
{
	if (thread->since == REC_HELD_NONE)
		return round > thread->told;
	return round > thread->told && round - thread->told > HELD_NS;
}

uint64_t held__bound(struct held *held, uint64_t round, uint64_t bound)
{
	size_t i = 0;

	while (i < held->count) {
		if (thread__is_over(&held->threads[i], round)) {
			held->threads[i] = held->threads[--held->count];
			continue;
		}
		if (held->threads[i].since < bound)
			bound = held->threads[i].since;
		i++;
	}
	return bound;
}

void held__free(struct held *held)
{
	free(held->threads);
	*held = (struct held){0};
}
