// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tasks that live. A table of those, and beside it those that ended since an earlier cut at
 * which they lived: one that begins and ends between two cuts leaves nothing behind.
 *
 * Streams are followed one chunk after the other, so a task's end may be seen before its beginning,
 * told by another thread, and both after the beginning of the next task with its identity. So the
 * stamps decide what belongs to whom, and the last ends are remembered.
 */
#include "alive.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "../base/map.h"
#include "../base/pool.h"

#define EARLY_ENDS 4096U /* a power of two */

struct name {
	uint64_t key;
	uint64_t uses;
	uint32_t length;
	char bytes[];
};

struct life {
	struct alive_task task;
	struct name *name;
	struct life *next; /* ended, newest first */
	uint64_t born_cut, gone_cut;
	uint64_t named; /* the stamp of its name */
	bool unborn;	/* a new name was told, its beginning not yet */
};

struct early_end {
	uint64_t pid, identity, stamp;
};

struct alive {
	struct map lives; /* pid, identity */
	struct map names; /* key */
	struct life *ended;
	struct pool pool;
	uint64_t cut;
	struct early_end early[EARLY_ENDS];
};

struct alive *alive__new(void)
{
	struct alive *alive = calloc(1, sizeof(*alive));

	if (alive)
		alive->pool.size = sizeof(struct life);
	return alive;
}

static void life__unname(struct alive *alive, struct life *life)
{
	if (life->name && !--life->name->uses) {
		map__remove(&alive->names, life->name->key, 0);
		free(life->name);
	}
	life->name = NULL;
}

static void life__name(struct alive *alive, struct life *life, const struct alive_task *task)
{
	struct name *name;

	life__unname(alive, life);
	life->task.name = task->name;
	life->task.dso = task->dso;
	life->task.bytes = NULL;
	life->task.length = 0;
	life->named = task->stamp;
	if (!task->bytes)
		return;
	name = map__get(&alive->names, task->name, 0);
	if (!name) {
		name = malloc(sizeof(*name) + task->length);
		if (!name)
			return;
		*name = (struct name){.key = task->name, .length = task->length};
		memcpy(name->bytes, task->bytes, task->length);
		if (map__put(&alive->names, name->key, 0, name)) {
			free(name);
			return;
		}
	}
	name->uses++;
	life->name = name;
	life->task.bytes = name->bytes;
	life->task.length = name->length;
}

static void life__forget(struct alive *alive, struct life *life)
{
	life__unname(alive, life);
	pool__give(&alive->pool, life);
}

static struct early_end *early_end__of(struct alive *alive, uint64_t pid, uint64_t identity)
{
	uint64_t hash = (identity ^ pid << 40) * 0x9e3779b97f4a7c15ULL;

	return &alive->early[hash >> 32 & (EARLY_ENDS - 1)];
}

static bool alive__has_ended(struct alive *alive, const struct alive_task *task)
{
	const struct early_end *early = early_end__of(alive, task->pid, task->identity);

	return early->pid == task->pid && early->identity == task->identity &&
	       early->stamp > task->stamp;
}

static struct life *alive__new_life(struct alive *alive, const struct alive_task *task)
{
	struct life *life;

	if (alive->lives.count >= ALIVE_MAX)
		return NULL;
	life = pool__take(&alive->pool);
	if (!life)
		return NULL;
	life->task = *task;
	life->born_cut = alive->cut;
	life__name(alive, life, task);
	if (map__put(&alive->lives, task->pid, task->identity, life)) {
		life__forget(alive, life);
		return NULL;
	}
	return life;
}

/*
 * Out of the table; kept if it lived at an earlier cut. A name that was given after @end is that of
 * the next life, whose beginning is yet to be told.
 */
static void life__end(struct alive *alive, struct life *life, uint64_t end)
{
	struct alive_task next = life->task;
	struct life *unborn;

	map__remove(&alive->lives, life->task.pid, life->task.identity);
	if (life->named > end) {
		next.stamp = life->named;
		next.parent = 0;
		unborn = alive__new_life(alive, &next);
		if (unborn)
			unborn->unborn = true;
	}
	if (life->born_cut == alive->cut) {
		life__forget(alive, life);
		return;
	}
	life->gone_cut = alive->cut;
	life->next = alive->ended;
	alive->ended = life;
}

/* a beginning that was told late, of the life that is in the table */
static void life__is_born(struct life *life, const struct alive_task *task)
{
	life->task.parent = task->parent;
	life->task.stamp = task->stamp;
	life->unborn = false;
}

void alive__add(struct alive *alive, const struct alive_task *task)
{
	struct life *life = map__get(&alive->lives, task->pid, task->identity);

	if (life && life->task.stamp <= task->stamp) {
		life__end(alive, life, task->stamp - 1);
		life = map__get(&alive->lives, task->pid, task->identity);
	}
	if (alive__has_ended(alive, task))
		return;
	if (!life)
		alive__new_life(alive, task);
	else if (life->unborn)
		life__is_born(life, task);
}

void alive__rename(struct alive *alive, const struct alive_task *task)
{
	struct life *life = map__get(&alive->lives, task->pid, task->identity);

	if (alive__has_ended(alive, task))
		return;
	if (!life) {
		life = alive__new_life(alive, task);
		if (life)
			life->unborn = true;
	} else if (life->named <= task->stamp) {
		life__name(alive, life, task);
	}
}

void alive__end(struct alive *alive, uint64_t pid, uint64_t identity, uint64_t stamp)
{
	struct life *life = map__get(&alive->lives, pid, identity);
	struct early_end *early = early_end__of(alive, pid, identity);

	if (early->pid != pid || early->identity != identity || early->stamp < stamp)
		*early = (struct early_end){pid, identity, stamp};
	if (life && life->task.stamp <= stamp)
		life__end(alive, life, stamp);
}

void alive__end_process(struct alive *alive, uint64_t pid)
{
	struct map_entry *entry = NULL;
	struct life *all = NULL, *life;

	while ((entry = map__next(&alive->lives, entry))) {
		life = entry->value;
		if (life->task.pid != pid)
			continue;
		life->next = all;
		all = life;
	}
	while ((life = all)) {
		all = life->next;
		life__end(alive, life, UINT64_MAX);
	}
}

void alive__cut(struct alive *alive, uint64_t cut, uint64_t oldest)
{
	struct life **at = &alive->ended, *life;

	alive->cut = cut;
	while ((life = *at)) {
		/* it lived at cuts up to gone_cut, and not at later ones */
		if (life->gone_cut >= oldest) {
			at = &life->next;
			continue;
		}
		*at = life->next;
		life__forget(alive, life);
	}
}

/* cut n is what was before everything that is counted as of n: born in n is born after it */
static bool life__was_at(const struct life *life, uint64_t cut)
{
	return life->born_cut < cut;
}

int alive__each(struct alive *alive, uint64_t cut,
		int (*take)(void *ctx, const struct alive_task *task), void *ctx)
{
	struct map_entry *entry = NULL;
	const struct life *life;
	int rc = 0;

	for (life = alive->ended; life && !rc; life = life->next) {
		if (life__was_at(life, cut) && life->gone_cut >= cut)
			rc = take(ctx, &life->task);
	}
	while (!rc && (entry = map__next(&alive->lives, entry))) {
		life = entry->value;
		if (life__was_at(life, cut))
			rc = take(ctx, &life->task);
	}
	return rc;
}

void alive__free(struct alive *alive)
{
	struct map_entry *entry = NULL;

	if (!alive)
		return;
	while ((entry = map__next(&alive->names, entry)))
		free(entry->value);
	map__free(&alive->names);
	map__free(&alive->lives);
	pool__free(&alive->pool);
	free(alive);
}
