// SPDX-License-Identifier: BSD-2-Clause
/* A point leaves errno as it was: a thread's first one, one that flushes, one that sweeps for dead threads. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <tracer/tracer.h>

static int wrong;

static void look(int number)
{
	if (errno != number) {
		printf("errno %d instead of %d\n", errno, number);
		wrong++;
	}
}

static void *thread(void *argument)
{
	char name[24];

	(void)argument;
	errno = 77;
	TRACER_TASK_BEGIN(1, 0); /* makes a ring; when there are many, asks which threads live */
	look(77);
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "name %d", i);
		errno = i + 1;
		TRACER_TASK_RENAMED(1, name);
		look(i + 1);
	}
	return NULL;
}

int main(void)
{
	for (int i = 0; i < 40; i++) {
		pthread_t id;

		pthread_create(&id, NULL, thread, NULL);
		pthread_join(id, NULL);
	}
	return wrong != 0;
}
