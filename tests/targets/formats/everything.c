/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses every kind of point a known number of times, with names that exporters trip over:
 * quotes, commas, semicolons, line breaks, bytes that are no UTF-8. It prints what it has done, for
 * tests/e2e/formats.py. `everything N` does all of it N times.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tracer/tracer.h>

#define TASK(i) ((void *)(uintptr_t)(0x1000 + (i) * 16))
#define OBJECT(i) ((void *)(uintptr_t)(0x900000 + (i) * 16))

static const char *const names[] = {
	"plain", "with \"quotes\"", "comma, separated", "semi;colon", "new\nline\ttab", "back\\slash",
	"gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "bad \xff\xc3( bytes", "", "#comment", " spaces around ",
	"9 begins with a digit",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

static const char *name(uint64_t i)
{
	return names[i % NAMES];
}

static void zones(uint64_t i)
{
	TRACER_ZONE_BEGIN("outer");
	TRACER_ZONE_TEXT(name(i));
	TRACER_ZONE_VALUE("depth", (int64_t)1);
	TRACER_ZONE_COLOR(0xff8000);
	{
		TRACER_ZONE("inner, \"scoped\"");
		TRACER_ZONE_VALUE("ratio", 0.1);
		TRACER_MESSAGE(name(i));
	}
	TRACER_MESSAGE_COLOR("colourful", 0x00ff00);
	TRACER_ZONE_END();
}

/* two tasks that run on this worker, one of them in two stays, the other inline inside */
static void tasks(uint64_t i)
{
	void *one = TASK(2 * i + 1), *other = TASK(2 * i + 2);

	TRACER_TASK_STAGED(one, name(i), NULL);
	TRACER_TASK_CREATED(one, name(i), NULL);
	TRACER_TASK_READY(one);
	TRACER_TASK_CREATED(other, "inline", one);
	TRACER_TASK_BEGIN(one, 0);
	zones(i);
	TRACER_TASK_BEGIN(other, 0);
	TRACER_TASK_COMPLETED(other);
	TRACER_FUTURE_CREATED(OBJECT(i));
	TRACER_FUTURE_WAIT(OBJECT(i), one);
	TRACER_CONTINUATION_ATTACHED(OBJECT(i), OBJECT(i + 500000));
	TRACER_ZONE_BEGIN("across the wait");
	TRACER_TASK_SUSPENDED(one, name(i + 1), OBJECT(i));
	TRACER_FUTURE_SET(OBJECT(i));
	TRACER_CONTINUATION_BEGIN(OBJECT(i), OBJECT(i + 500000));
	TRACER_CONTINUATION_END(OBJECT(i), OBJECT(i + 500000));
	TRACER_TASK_RESUMED(one, name(i + 2), OBJECT(i));
	TRACER_TASK_BEGIN(one, 0);
	TRACER_ZONE_END();
	TRACER_TASK_YIELDED(one);
	TRACER_TASK_BEGIN(one, 0);
	TRACER_TASK_RENAMED(one, "renamed");
	TRACER_TASK_COMPLETED(one);
	TRACER_TASK_DESTROYED(one);
	TRACER_TASK_DESTROYED(other);
}

static void arrows(uint64_t i)
{
	TRACER_ZONE_BEGIN("arrows");
	TRACER_FLOW_START(i + 1);
	TRACER_FLOW_STEP(i + 1);
	TRACER_FLOW_END(i + 1);
	TRACER_FLOW_SHARED_START(i + 1);
	TRACER_FLOW_SHARED_END(i + 1);
	TRACER_ZONE_END();
	TRACER_MARKER_SET(7, name(i), i);
	TRACER_MARKER_FLOW_START(7, i + 1);
	TRACER_MARKER_SET(65535, "other channel", UINT64_MAX);
	TRACER_MARKER_FLOW_END(65535, i + 1);
	TRACER_MARKER_SET(7, name(i + 1), 0);
	TRACER_MARKER_RESET(7);
	TRACER_SENT(i + 1, 2, 4096);
	TRACER_RECEIVED(i + 1, 1, 4096);
}

static void counters(uint64_t i)
{
	TRACER_COUNTER("whole \"numbers\"", (int64_t)i - 10);
	TRACER_COUNTER("halves", (double)i / 2);
	TRACER_COUNTER(name(i), INT64_MIN);
	TRACER_FRAME("frame, the only");
	TRACER_LOCK_WAIT(OBJECT(1), "lock \"one\"");
	TRACER_LOCK_ACQUIRED(OBJECT(1));
	TRACER_LOCK_RELEASED(OBJECT(1));
	TRACER_STEAL(0, 1, TASK(2 * i + 1), 3);
	TRACER_STEAL_FAILED(0, 1);
	TRACER_QUEUE_DEPTH(0, i);
}

static void *worker(void *arg)
{
	uint64_t times = *(uint64_t *)arg, i;

	TRACER_WORKER_START(0, "worker, the \"first\"");
	TRACER_CHANNEL_NAME(7, "channel\nseven");
	TRACER_MARKER_COLOR("plain", 0);
	for (i = 0; i < times; i++) {
		TRACER_WORKER_BACKGROUND_BEGIN(0, "poll");
		TRACER_WORKER_BACKGROUND_END(0);
		tasks(i);
		arrows(i);
		counters(i);
		TRACER_WORKER_BULK_BEGIN(0, name(i));
		TRACER_WORKER_BULK_END(0);
		TRACER_WORKER_SLEEP_BEGIN(0, name(i));
		TRACER_WORKER_SLEEP_END(0, name(i + 1));
	}
	TRACER_WORKER_STOP(0);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t times = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;
	pthread_t thread;

	if (pthread_create(&thread, NULL, worker, &times))
		return 1;
	pthread_join(thread, NULL);
	printf("{\"tasks\": %llu, \"stays\": %llu, \"suspensions\": %llu, \"zones\": %llu, \"messages\": %llu,"
	       " \"markers\": %llu, \"flows\": %llu, \"counters\": %llu, \"steals\": %llu, \"transfers\": %llu}\n",
	       2ULL * times, 4ULL * times, 1ULL * times, 4ULL * times, 2ULL * times, 3ULL * times, 3ULL * times,
	       3ULL * times, 1ULL * times, 1ULL * times);
	return 0;
}
