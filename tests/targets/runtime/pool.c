/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks of a few instructions, and pools that hand out again what was freed last. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#ifdef RUNTIME_ASAN
#include <sanitizer/asan_interface.h>
#endif

#define POOL_BLOCK 64
#define SPINS 64

void spin__lock(struct spin *spin)
{
	uint32_t spins = 0;

	while (atomic_exchange_explicit(&spin->held, 1, memory_order_acquire)) {
		/* more workers than CPUs: the holder may be off its CPU */
		while (atomic_load_explicit(&spin->held, memory_order_relaxed))
			if (++spins > SPINS)
				sched_yield();
	}
}

void spin__unlock(struct spin *spin)
{
	atomic_store_explicit(&spin->held, 0, memory_order_release);
}

/* While an object is free, only its first word, the link, may be touched. */
static void poison(struct pool *pool, void *object)
{
#ifdef RUNTIME_ASAN
	__asan_poison_memory_region((char *)object + sizeof(void *), pool->size - sizeof(void *));
#else
	(void)pool;
	(void)object;
#endif
}

static void unpoison(struct pool *pool, void *object)
{
#ifdef RUNTIME_ASAN
	__asan_unpoison_memory_region(object, pool->size);
#else
	(void)pool;
	(void)object;
#endif
}

void pool__init(struct pool *pool, uint32_t size)
{
	memset(pool, 0, sizeof(*pool));
	pool->size = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static void pool__grow(struct pool *pool)
{
	char *block = aligned_alloc(CACHE_LINE, CACHE_LINE + (size_t)pool->size * POOL_BLOCK);

	if (!block)
		runtime__fatal("no memory for objects", 0);
	*(void **)block = pool->blocks;
	pool->blocks = block;
	for (int i = POOL_BLOCK - 1; i >= 0; i--) {
		void *object = block + CACHE_LINE + (size_t)i * pool->size;

		*(void **)object = pool->free;
		pool->free = object;
		poison(pool, object);
	}
	pool->made += POOL_BLOCK;
}

void *pool__get(struct pool *pool)
{
	void *object;

	spin__lock(&pool->lock);
	if (!pool->free)
		pool__grow(pool);
	object = pool->free;
	pool->free = *(void **)object;
	spin__unlock(&pool->lock);
	unpoison(pool, object);
	return object;
}

void pool__put(struct pool *pool, void *object)
{
	poison(pool, object);
	spin__lock(&pool->lock);
	*(void **)object = pool->free;
	pool->free = object;
	spin__unlock(&pool->lock);
}

void pool__free(struct pool *pool)
{
	while (pool->blocks) {
		void *block = pool->blocks;

		pool->blocks = *(void **)block;
#ifdef RUNTIME_ASAN
		__asan_unpoison_memory_region(block, CACHE_LINE + (size_t)pool->size * POOL_BLOCK);
#endif
		free(block);
	}
}
