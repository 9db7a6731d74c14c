// SPDX-License-Identifier: BSD-2-Clause
/* malloc and free of the program's own, with points in them; points before main and after it. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracer/tracer.h>

static char arena[64 << 20];
static size_t used;
static uint64_t allocated;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t size)
{
	size_t *block;

	pthread_mutex_lock(&lock);
	TRACER_COUNTER("malloc", allocated);
	allocated++;
	block = (size_t *)(arena + used);
	used += (size + 31) & ~(size_t)15;
	pthread_mutex_unlock(&lock);
	if (used > sizeof(arena))
		abort();
	block[0] = size;
	return block + 2;
}

void free(void *block)
{
	(void)block;
	TRACER_MESSAGE("free");
}

void *calloc(size_t count, size_t size)
{
	return malloc(count * size); /* the arena is zero, and no byte is given out twice */
}

void *realloc(void *block, size_t size)
{
	void *other = malloc(size);

	if (block)
		memcpy(other, block, ((size_t *)block)[-2] < size ? ((size_t *)block)[-2] : size);
	return other;
}

__attribute__((constructor(101))) static void first(void)
{
	TRACER_COUNTER("constructor", 0);
}

__attribute__((destructor(101))) static void last(void)
{
	char line[24];
	int size = snprintf(line, sizeof(line), "%ju\n", (uintmax_t)allocated);

	TRACER_COUNTER("destructor", 0);
	if (write(1, line, (size_t)size) != size) /* dprintf allocates */
		abort();
}

static void at_exit(void)
{
	TRACER_COUNTER("atexit", 0);
}

static void of_thread(void *value)
{
	(void)value;
	TRACER_MESSAGE("key's destructor");
}

static void *thread(void *argument)
{
	pthread_setspecific(*(pthread_key_t *)argument, arena);
	for (int i = 0; i < 1000; i++) {
		char *block = malloc(10);

		/* the compiler may not leave the pair out */
		__asm__ __volatile__("" ::"r"(block) : "memory");
		free(block);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[4];
	pthread_key_t key;

	atexit(at_exit);
	pthread_key_create(&key, of_thread);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, &key);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
