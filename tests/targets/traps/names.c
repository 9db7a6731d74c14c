// SPDX-License-Identifier: BSD-2-Clause
/* Names of run time: long, empty, NULL, on the stack, many; the same content at different addresses. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>

int main(void)
{
	char *longer = malloc(5000), name[32];
	uint64_t task = 0;

	memset(longer, 'x', 4999);
	longer[4999] = 0;
	TRACER_TASK_RENAMED(++task, longer);
	longer[1023] = 0;
	TRACER_TASK_RENAMED(++task, longer);
	longer[1022] = 0;
	TRACER_TASK_RENAMED(++task, longer);
	TRACER_TASK_RENAMED(++task, "");
	longer[0] = 0;
	TRACER_TASK_RENAMED(++task, longer);
	TRACER_TASK_RENAMED(++task, (const char *)NULL);
	for (int i = 0; i < 3; i++) {
		char *copy = strdup("the same");

		TRACER_TASK_RENAMED(++task, copy);
		copy[0] = 'T'; /* another name at the same address */
		TRACER_TASK_RENAMED(++task, copy);
		free(copy);
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "name number %d", i % 10000);
		TRACER_TASK_SUSPENDED(1, name, i);
	}
	free(longer);
	return 0;
}
