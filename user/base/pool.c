/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool of objects, see pool.h. */
#include <stdlib.h>
#include <string.h>
#include "pool.h"

#define SLAB_OBJECTS 64U

struct slab {
	struct slab *next;
	_Alignas(16) unsigned char data[];
};

static size_t stride(const struct pool *pool)
{
	return (pool->size + 15) & ~(size_t)15;
}

static int add_slab(struct pool *pool)
{
	struct slab *slab = malloc(sizeof(*slab) + SLAB_OBJECTS * stride(pool));

	if (!slab)
		return -1;
	slab->next = pool->slabs;
	pool->slabs = slab;
	for (size_t i = SLAB_OBJECTS; i-- > 0;)
		pool__give(pool, slab->data + i * stride(pool));
	return 0;
}

void *pool__take(struct pool *pool)
{
	void *object;

	if (!pool->idle && add_slab(pool))
		return NULL;
	object = pool->idle;
	memcpy(&pool->idle, object, sizeof(pool->idle));
	return memset(object, 0, pool->size);
}

void pool__give(struct pool *pool, void *object)
{
	memcpy(object, &pool->idle, sizeof(pool->idle));
	pool->idle = object;
}

void pool__free(struct pool *pool)
{
	struct slab *slab = pool->slabs;

	while (slab) {
		struct slab *next = slab->next;

		free(slab);
		slab = next;
	}
	pool->slabs = pool->idle = NULL;
}
