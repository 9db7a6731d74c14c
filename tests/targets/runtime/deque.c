/* SPDX-License-Identifier: BSD-2-Clause */
/* The work-stealing deque; deque.h says why these memory orders. */
#include <errno.h>
#include <stdlib.h>
#include "deque.h"

static struct deque_ring *ring__new(int64_t size, struct deque_ring *smaller)
{
	struct deque_ring *ring = malloc(sizeof(*ring) + (size_t)size * sizeof(ring->slots[0]));

	if (!ring)
		return NULL;
	ring->size = size;
	ring->smaller = smaller;
	for (int64_t i = 0; i < size; i++)
		atomic_init(&ring->slots[i], NULL);
	return ring;
}

static void *ring__get(struct deque_ring *ring, int64_t index)
{
	return atomic_load_explicit(&ring->slots[index & (ring->size - 1)], memory_order_relaxed);
}

static void ring__put(struct deque_ring *ring, int64_t index, void *item)
{
	atomic_store_explicit(&ring->slots[index & (ring->size - 1)], item, memory_order_relaxed);
}

int deque__init(struct deque *deque, int64_t size)
{
	struct deque_ring *ring = ring__new(size, NULL);

	if (!ring)
		return -ENOMEM;
	atomic_init(&deque->top, 0);
	atomic_init(&deque->bottom, 0);
	atomic_init(&deque->ring, ring);
	return 0;
}

static struct deque_ring *deque__grow(struct deque *deque, struct deque_ring *ring, int64_t top,
				      int64_t bottom)
{
	struct deque_ring *larger = ring__new(ring->size * 2, ring);

	if (!larger)
		return NULL;
	for (int64_t i = top; i < bottom; i++)
		ring__put(larger, i, ring__get(ring, i));
	atomic_store_explicit(&deque->ring, larger, memory_order_release);
	return larger;
}

int deque__push(struct deque *deque, void *item)
{
	int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
	int64_t top = atomic_load_explicit(&deque->top, memory_order_acquire);
	struct deque_ring *ring = atomic_load_explicit(&deque->ring, memory_order_relaxed);

	if (bottom - top >= ring->size) {
		ring = deque__grow(deque, ring, top, bottom);
		if (!ring)
			return -ENOMEM;
	}
	ring__put(ring, bottom, item);
	atomic_store(&deque->bottom, bottom + 1);
	return 0;
}

void *deque__pop(struct deque *deque)
{
	int64_t bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
	struct deque_ring *ring = atomic_load_explicit(&deque->ring, memory_order_relaxed);
	int64_t top;
	void *item = NULL;

	atomic_store(&deque->bottom, bottom);
	top = atomic_load(&deque->top);
	if (top < bottom)
		return ring__get(ring, bottom);
	/* the last element: thieves want it too; or there was none */
	if (top == bottom) {
		item = ring__get(ring, bottom);
		if (!atomic_compare_exchange_strong(&deque->top, &top, top + 1))
			item = NULL;
	}
	atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);
	return item;
}

enum deque_result deque__steal(struct deque *deque, void **item)
{
	int64_t top = atomic_load(&deque->top);
	int64_t bottom = atomic_load(&deque->bottom);
	struct deque_ring *ring;

	if (top >= bottom)
		return DEQUE_EMPTY;
	ring = atomic_load_explicit(&deque->ring, memory_order_acquire);
	*item = ring__get(ring, top);
	if (!atomic_compare_exchange_strong(&deque->top, &top, top + 1))
		return DEQUE_LOST_RACE;
	return DEQUE_TAKEN;
}

int64_t deque__depth(struct deque *deque)
{
	/* sequentially consistent: a worker that is about to sleep relies on it */
	int64_t top = atomic_load(&deque->top);
	int64_t bottom = atomic_load(&deque->bottom);

	return bottom > top ? bottom - top : 0;
}

void deque__free(struct deque *deque)
{
	struct deque_ring *ring = atomic_load_explicit(&deque->ring, memory_order_relaxed);

	while (ring) {
		struct deque_ring *smaller = ring->smaller;

		free(ring);
		ring = smaller;
	}
	atomic_store_explicit(&deque->ring, NULL, memory_order_relaxed);
}
