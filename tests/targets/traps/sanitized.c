// SPDX-License-Identifier: BSD-2-Clause
/* Threads with every kind of record: literals, names, numbers, scopes. For sanitizers and valgrind. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <tracer/tracer.h>

static void *thread(void *argument)
{
	uint64_t me = (uintptr_t)argument;
	char name[24];

	TRACER_WORKER_START(me, "worker");
	for (uint64_t i = 0; i < 5000; i++) {
		TRACER_ZONE_FUNCTION();
		snprintf(name, sizeof(name), "name %u", (unsigned)(i % 300));
		TRACER_TASK_CREATED(i + 1, name, 0);
		TRACER_TASK_BEGIN(i + 1, me);
		TRACER_COUNTER(name, (double)i);
		TRACER_STEAL(me, 1, i + 1, TRACER_UNKNOWN);
		TRACER_TASK_COMPLETED(i + 1);
	}
	TRACER_WORKER_STOP(me);
	return NULL;
}

int main(void)
{
	for (int round = 0; round < 2; round++) {
		pthread_t threads[4];

		for (uintptr_t i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
