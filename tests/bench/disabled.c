// SPDX-License-Identifier: BSD-2-Clause
/*
 * A function with points, to be compiled with -DTRACER_DISABLE, and with -DWITHOUT as if they had
 * never been written: run.py compares the object code.
 */
#ifndef WITHOUT
#include <tracer/tracer.h>
#define POINT(point) point
#else
#define POINT(point)
#endif

struct queue {
	void *tasks[64];
	unsigned int head, tail;
};

int run(struct queue *queue, unsigned int worker, int (*body)(void *task));

int run(struct queue *queue, unsigned int worker, int (*body)(void *task))
{
	int sum = 0;

	POINT(TRACER_WORKER_START(worker, "worker");)
	while (queue->head != queue->tail) {
		void *task = queue->tasks[queue->head++ % 64];

		POINT(TRACER_QUEUE_DEPTH(worker, queue->tail - queue->head);)
		POINT(TRACER_TASK_BEGIN(task, worker);)
		POINT(TRACER_ZONE_BEGIN("body");)
		sum += body(task);
		POINT(TRACER_COUNTER("sum", sum);)
		POINT(TRACER_ZONE_END();)
		if (sum < 0) {
			POINT(TRACER_TASK_SUSPENDED(task, "negative", queue);)
			continue;
		}
		POINT(TRACER_TASK_COMPLETED(task);)
	}
	POINT(TRACER_WORKER_STOP(worker);)
	return sum;
}
