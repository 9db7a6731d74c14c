/* SPDX-License-Identifier: BSD-2-Clause */
/* A pool of objects, see pool.h. */
#include <stdlib.h>
#include <string.h>
#include "huge.h"
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

/* each as large as all before it, up to a large page; what nobody has taken yet is not touched */
static int add_slab(struct pool *pool)
{
	size_t size = sizeof(struct slab) + SLAB_OBJECTS * stride(pool);
	struct slab *slab;

	if (pool->slab_size)
		size = pool->slab_size < HUGE_PAGE / 2 ? pool->slab_size * 2 : HUGE_PAGE;
	if (size < sizeof(struct slab) + stride(pool))
		size = sizeof(struct slab) + stride(pool);
	slab = size == HUGE_PAGE ? aligned_alloc(HUGE_PAGE, size) : malloc(size);
	if (!slab)
		return -1;
	if (size == HUGE_PAGE)
		huge__advise(slab, size);
	slab->next = pool->slabs;
	pool->slabs = slab;
	pool->slab_size = size;
	pool->fresh = slab->data;
	pool->fresh_count = (size - sizeof(*slab)) / stride(pool);
	return 0;
}

void *pool__take(struct pool *pool)
{
	void *object = pool->idle;

	if (object) {
		memcpy(&pool->idle, object, sizeof(pool->idle));
		return memset(object, 0, pool->size);
	}
	if (!pool->fresh_count && add_slab(pool))
		return NULL;
	object = pool->fresh;
	pool->fresh += stride(pool);
	pool->fresh_count--;
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
	pool->fresh_count = pool->slab_size = 0;
}
