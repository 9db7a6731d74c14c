// SPDX-License-Identifier: BSD-2-Clause
/* A library with points. NUMBER tells copies of it apart; CONSTRUCTOR: its constructor runs threads. */
#include <pthread.h>
#include <stdint.h>
#include <tracer/tracer.h>

#ifndef NUMBER
#define NUMBER 0
#endif

#ifdef CONSTRUCTOR
static void *thread(void *argument)
{
	for (uint64_t i = 0; i < 10; i++)
		TRACER_QUEUE_DEPTH((uint32_t)(uintptr_t)argument, i);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t threads[4];

	for (uintptr_t i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}
#endif

void plugin_count(uint64_t from, uint64_t to);
void plugin_count(uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		TRACER_COUNTER("plugin " TRACER__STR(NUMBER), i);
}
