// SPDX-License-Identifier: BSD-2-Clause
/* tasks N: so many tasks with identities of their own, 64 apart; each suspends once and has a zone. */
#include <stdint.h>
#include <stdlib.h>
#include <tracer/tracer.h>

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000, i, task;

	TRACER_WORKER_START(0, "worker");
	for (i = 1; i <= count; i++) {
		task = 0x7f0000000000 + 64 * i;
		TRACER_TASK_CREATED(task, "task", 0);
		TRACER_TASK_READY(task);
		TRACER_TASK_BEGIN(task, 0);
		TRACER_ZONE_BEGIN("zone");
		TRACER_ZONE_END();
		TRACER_TASK_SUSPENDED(task, "wait", task + 8);
		TRACER_TASK_RESUMED(task, "set", task + 8);
		TRACER_TASK_BEGIN(task, 0);
		TRACER_TASK_COMPLETED(task);
		TRACER_TASK_DESTROYED(task);
	}
	return 0;
}
