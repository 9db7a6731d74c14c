/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash map, see map.h. */
#include <errno.h>
#include <stdlib.h>
#include "huge.h"
#include "map.h"

#define MAP_MIN 64U

/*
 * Identities are mostly addresses, whose low bits are alike: every bit has to reach the ones that
 * choose the slot. Those are the highest: so a table twice as large has its entries in the same
 * order, and to grow is to walk through both, not to jump about in the new one.
 */
static size_t home(const struct map *map, uint64_t a, uint64_t b)
{
	uint64_t h = (a + 0x9e3779b97f4a7c15ULL) * 0xd6e8feb86659fd93ULL ^ b;

	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93ULL;
	return (size_t)(h >> __builtin_clzll(map->mask));
}

static struct map_entry *slot(const struct map *map, uint64_t a, uint64_t b)
{
	size_t i = home(map, a, b);

	while (map->entries[i].value && (map->entries[i].a != a || map->entries[i].b != b))
		i = (i + 1) & map->mask;
	return &map->entries[i];
}

void *map__get(const struct map *map, uint64_t a, uint64_t b)
{
	return map->entries ? slot(map, a, b)->value : NULL;
}

void map__prefetch(const struct map *map, uint64_t a, uint64_t b)
{
	if (map->entries)
		__builtin_prefetch(&map->entries[home(map, a, b)]);
}

static int grow(struct map *map)
{
	size_t size = map->entries ? (map->mask + 1) * 2 : MAP_MIN;
	struct map larger = {
		.entries = calloc(size, sizeof(*larger.entries)),
		.mask = size - 1,
		.count = map->count,
	};
	struct map_entry *e = NULL;

	if (!larger.entries)
		return -ENOMEM;
	huge__advise(larger.entries, size * sizeof(*larger.entries));
	while ((e = map__next(map, e)))
		*slot(&larger, e->a, e->b) = *e;
	free(map->entries);
	*map = larger;
	return 0;
}

int map__put(struct map *map, uint64_t a, uint64_t b, void *value)
{
	struct map_entry *e;

	/* a third stays free: probes are short, and slot() always finds an end */
	if (!map->entries || map->count + 1 > (map->mask + 1) / 3 * 2) {
		int err = grow(map);

		if (err)
			return err;
	}
	e = slot(map, a, b);
	map->count += !e->value;
	*e = (struct map_entry){a, b, value};
	return 0;
}

void *map__remove(struct map *map, uint64_t a, uint64_t b)
{
	struct map_entry *e = map->entries ? slot(map, a, b) : NULL;
	void *value = e ? e->value : NULL;
	size_t hole, i;

	if (!value)
		return NULL;
	hole = e - map->entries;
	for (i = (hole + 1) & map->mask; map->entries[i].value; i = (i + 1) & map->mask) {
		size_t from = home(map, map->entries[i].a, map->entries[i].b);

		/* may it move to the hole? only if that does not put it before its home */
		if (((i - from) & map->mask) >= ((i - hole) & map->mask)) {
			map->entries[hole] = map->entries[i];
			hole = i;
		}
	}
	map->entries[hole].value = NULL;
	map->count--;
	return value;
}

void map__free(struct map *map)
{
	free(map->entries);
	*map = (struct map){0};
}

struct map_entry *map__next(const struct map *map, struct map_entry *entry)
{
	struct map_entry *e = entry ? entry + 1 : map->entries;

	if (!e)
		return NULL;
	for (; e <= map->entries + map->mask; e++)
		if (e->value)
			return e;
	return NULL;
}
