// SPDX-License-Identifier: BSD-2-Clause
/* Events of 16,000 tasks, from the program and from a library. */
#include <stdint.h>
#include <tracer/tracer.h>

void sample_library(uint64_t task);

#ifdef LIBRARY
void sample_library(uint64_t task)
{
	TRACER_TASK_BEGIN(task, 1);
	TRACER_TASK_END(task);
}
#else
int main(void)
{
	for (uint64_t task = 1; task <= 16000; task++) {
		TRACER_TASK_CREATED(task * 64, "task", 0);
		sample_library(task * 64);
		TRACER_QUEUE_DEPTH(1, task);
	}
	return 0;
}
#endif
