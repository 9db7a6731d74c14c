// SPDX-License-Identifier: BSD-2-Clause
/* A hash table from 64-bit keys to pointers: open addressing, linear probing, at most half full. */
#include <errno.h>
#include <stdlib.h>
#include "table.h"

static uint32_t table__home(const struct table *table, uint64_t key)
{
	key = (key ^ table->seed) * 0x9e3779b97f4a7c15ULL;
	key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93ULL;
	return (uint32_t)(key >> 32) & table->mask;
}

void table__init(struct table *table, uint64_t seed)
{
	*table = (struct table){.seed = seed};
}

void *table__get(const struct table *table, uint64_t key)
{
	uint32_t i;

	if (!table->slots)
		return NULL;
	for (i = table__home(table, key); table->slots[i].value; i = (i + 1) & table->mask) {
		if (table->slots[i].key == key)
			return table->slots[i].value;
	}
	return NULL;
}

static int table__grow(struct table *table)
{
	struct table old = *table;
	uint32_t size = old.slots ? (old.mask + 1) * 2 : 16;
	uint32_t i, to;

	if (size == 0)
		return -ENOMEM;
	table->slots = calloc(size, sizeof(*table->slots));
	if (!table->slots) {
		*table = old;
		return -ENOMEM;
	}
	table->mask = size - 1;
	for (i = 0; old.slots && i <= old.mask; i++) {
		if (!old.slots[i].value)
			continue;
		to = table__home(table, old.slots[i].key);
		while (table->slots[to].value)
			to = (to + 1) & table->mask;
		table->slots[to] = old.slots[i];
	}
	free(old.slots);
	return 0;
}

int table__set(struct table *table, uint64_t key, void *value)
{
	uint32_t i;
	int err;

	if (!table->slots || table->count >= table->mask / 2) {
		err = table__grow(table);
		if (err)
			return err;
	}
	for (i = table__home(table, key); table->slots[i].value; i = (i + 1) & table->mask) {
		if (table->slots[i].key == key) {
			table->slots[i].value = value;
			return 0;
		}
	}
	table->slots[i] = (struct table_slot){key, value};
	table->count++;
	return 0;
}

void table__remove(struct table *table, uint64_t key)
{
	uint32_t hole, i, home;

	if (!table->slots)
		return;
	for (hole = table__home(table, key); table->slots[hole].value;
	     hole = (hole + 1) & table->mask) {
		if (table->slots[hole].key == key)
			break;
	}
	if (!table->slots[hole].value)
		return;
	/* what stands behind the hole moves up, unless it would then stand before its home */
	for (i = (hole + 1) & table->mask; table->slots[i].value; i = (i + 1) & table->mask) {
		home = table__home(table, table->slots[i].key);
		if (((i - home) & table->mask) >= ((i - hole) & table->mask)) {
			table->slots[hole] = table->slots[i];
			hole = i;
		}
	}
	table->slots[hole].value = NULL;
	table->count--;
}

void table__free(struct table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->count = 0;
	table->mask = 0;
}
