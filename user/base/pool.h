/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of one size, taken and given back often. Memory is that of the most that lived at once.
 */
#ifndef TRACER_BASE_POOL_H
#define TRACER_BASE_POOL_H

#include <stddef.h>

struct pool {
	size_t size; /* of an object; set by the user: struct pool p = {.size = sizeof(struct x)} */
	void *idle;
	void *slabs;
	unsigned char *fresh; /* of the last slab: never taken yet */
	size_t fresh_count, slab_size;
};

/* a zeroed object, or NULL */
void *pool__take(struct pool *pool);
void pool__give(struct pool *pool, void *object);
/* frees every object, taken or not */
void pool__free(struct pool *pool);

#endif /* TRACER_BASE_POOL_H */
