/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash map from a pair of 64-bit words to a pointer. Open addressing with backward-shift
 * deletion, so it never fills with tombstones; keeps its largest size. A zeroed struct is an empty
 * map.
 *
 *	struct map tasks = {};
 *	err = map__put(&tasks, process, identity, task);
 *	task = map__get(&tasks, process, identity);
 */
#ifndef TRACER_BASE_MAP_H
#define TRACER_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t a, b;
	void *value; /* NULL: free */
};

struct map {
	struct map_entry *entries;
	size_t mask; /* entries - 1 */
	size_t count;
};

/* value of a key, or NULL */
void *map__get(const struct map *map, uint64_t a, uint64_t b);
/* the key will be asked for soon: its place comes into the cache */
void map__prefetch(const struct map *map, uint64_t a, uint64_t b);
/* sets or replaces; @value is not NULL; 0 or -ENOMEM */
int map__put(struct map *map, uint64_t a, uint64_t b, void *value);
/* takes a key out; its value, or NULL if it was not there */
void *map__remove(struct map *map, uint64_t a, uint64_t b);
/* frees the table, not the values */
void map__free(struct map *map);

/*
 * for (struct map_entry *e = NULL; (e = map__next(map, e));): any order, not while changing the map
 */
struct map_entry *map__next(const struct map *map, struct map_entry *entry);

#endif /* TRACER_BASE_MAP_H */
