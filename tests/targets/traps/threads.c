// SPDX-License-Identifier: BSD-2-Clause
/* threads SEQUENTIAL AT_A_TIME ROUNDS: a point in each thread; prints kB of address space before and after. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>

static long size_kb(const char *what)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (status && fgets(line, sizeof(line), status)) {
		if (!strncmp(line, what, strlen(what)))
			kb = atol(line + strlen(what));
	}
	if (status)
		fclose(status);
	return kb;
}

static void *thread(void *argument)
{
	for (int i = 0; i < 5; i++)
		TRACER_QUEUE_DEPTH(1, (uintptr_t)argument);
	return NULL;
}

int main(int argc, char **argv)
{
	int sequential = argc > 1 ? atoi(argv[1]) : 5000;
	int at_a_time = argc > 2 ? atoi(argv[2]) : 500, rounds = argc > 3 ? atoi(argv[3]) : 4;
	pthread_t *threads = calloc((size_t)at_a_time + 1, sizeof(*threads));
	pthread_attr_t small;
	uintptr_t number = 0;
	long before;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 1 << 16);
	/* what libc itself keeps, malloc arenas and stacks, is there before we measure */
	for (int i = 0; i < at_a_time; i++)
		pthread_create(&threads[i], &small, (void *(*)(void *))(void *)pthread_self, NULL);
	for (int i = 0; i < at_a_time; i++)
		pthread_join(threads[i], NULL);
	before = size_kb("VmSize:");
	for (int i = 0; i < sequential; i++) {
		if (pthread_create(&threads[0], &small, thread, (void *)number++))
			return 1;
		pthread_join(threads[0], NULL);
	}
	printf("%ld", size_kb("VmSize:") - before);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < at_a_time; i++) {
			if (pthread_create(&threads[i], &small, thread, (void *)number++))
				return 1;
		}
		for (int i = 0; i < at_a_time; i++)
			pthread_join(threads[i], NULL);
	}
	printf(" %ld %ld %ju\n", size_kb("VmSize:") - before, size_kb("VmRSS:"), (uintmax_t)number);
	free(threads);
	return 0;
}
