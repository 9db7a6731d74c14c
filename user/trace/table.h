/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash table from 64-bit keys to pointers: names by key, processes by pid, streams by number. */
#ifndef TRACER_TRACE_TABLE_H
#define TRACER_TRACE_TABLE_H

#include <stdint.h>

struct table_slot {
	uint64_t key;
	void *value; /* NULL: free */
};

struct table {
	struct table_slot *slots;
	uint32_t count;
	uint32_t mask;
	uint64_t seed;
};

/*
 * table__init() - an empty table, without memory of its own yet
 * @seed: keys come from targets that may choose them to collide; a secret number spoils that
 */
void table__init(struct table *table, uint64_t seed);
void *table__get(const struct table *table, uint64_t key);
/* @value is not NULL; replaces what was there. 0 or -ENOMEM. */
int table__set(struct table *table, uint64_t key, void *value);
void table__remove(struct table *table, uint64_t key);
void table__free(struct table *table);

#endif /* TRACER_TRACE_TABLE_H */
