/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points, one a line, in code that is worth optimising; C and C++. The test compares it with itself without
 * those lines. Functions called in arguments must not be.
 */
#include <stdint.h>
#include <tracer/tracer.h>

#ifdef __cplusplus
extern "C" {
#endif
uint64_t called(uint64_t x);
int disabled_sum(const int *values, int count, uint64_t number);
struct disabled_task {
	int state;
	struct disabled_task *next;
};
int disabled_run(struct disabled_task *first, unsigned me);
#ifdef __cplusplus
}
#endif

int disabled_sum(const int *values, int count, uint64_t number)
{
	int sum = 0, i;

	TRACER_ZONE("sum");
	TRACER_ZONE_VALUE("count", count);
	for (i = 0; i < count; i++) {
		TRACER_TASK_BEGIN(number, i);
		sum += values[i] * 3;
		TRACER_COUNTER("sum", sum);
		TRACER_TASK_RENAMED(called(number), "name");
		TRACER_TASK_END(number);
	}
	TRACER_MESSAGE("done");
	return sum;
}

int disabled_run(struct disabled_task *first, unsigned me)
{
	int ran = 0;

	TRACER_ZONE_FUNCTION();
	TRACER_ZONE_BEGIN("run");
	TRACER_WORKER_START(me, "worker");
	while (first) {
		TRACER_STEAL(me, me + 1, first, TRACER_UNKNOWN);
		first->state++;
		TRACER_FUTURE_SET(first);
		TRACER_SENT(called(me), 1, 2);
		first = first->next;
		TRACER_LOCK_WAIT(first, "lock");
		ran++;
	}
	TRACER_WORKER_STOP(me);
	TRACER_CAPTURE_OFF();
	TRACER_CAPTURE_ON();
	TRACER_FRAME("frame");
	return ran;
}
