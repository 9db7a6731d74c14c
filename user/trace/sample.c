// SPDX-License-Identifier: BSD-2-Clause
/* --sample N: which events are one task's in N. */
#include <stdlib.h>
#include <tracer/ring.h>
#include "sample.h"

#define NESTED_MAX 64 /* stays run inline in one another that are told apart */

enum decides {
	DECIDES_always,
	DECIDES_arg1,
	DECIDES_arg2,
	DECIDES_arg3,
	DECIDES_arg4,
	DECIDES_running,
	DECIDES_gauge
};

static const uint8_t deciders[256] = {
#define ROW(number, by) [number] = DECIDES_##by,
#define TRACER_EVENT0(number, name, category, by, doc) ROW(number, by)
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) ROW(number, by)
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) ROW(number, by)
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc) ROW(number, by)
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	ROW(number, by)
#include "../../usdt/tracer/events.def"
#undef ROW
};

struct running {
	uint32_t count;
	uint64_t tasks[NESTED_MAX];
};

uint64_t sample__hash(uint64_t task)
{
	task = (task ^ task >> 33) * TRACER_HASH_1;
	task = (task ^ task >> 33) * TRACER_HASH_2;
	return task ^ task >> 33;
}

uint64_t sample__highest(uint64_t n)
{
	return n > 1 ? UINT64_MAX / n : UINT64_MAX;
}

static void sample__forget(struct sample *sample)
{
	uint32_t i;

	for (i = 0; sample->threads.slots && i <= sample->threads.mask; i++)
		free(sample->threads.slots[i].value);
	table__free(&sample->threads);
}

void sample__init(struct sample *sample, uint64_t seed)
{
	sample->highest = UINT64_MAX;
	table__init(&sample->threads, seed);
}

void sample__set(struct sample *sample, uint64_t n)
{
	struct running *running;
	uint32_t i;

	sample->highest = sample__highest(n);
	/* workers they still are: what one does before it begins a task that is kept is another
	 * one's */
	for (i = 0; sample->threads.slots && i <= sample->threads.mask; i++) {
		running = sample->threads.slots[i].value;
		if (running)
			running->count = 0;
	}
}

void sample__free(struct sample *sample)
{
	sample__forget(sample);
}

static bool sample__has(const struct sample *sample, uint64_t task)
{
	return sample__hash(task) <= sample->highest;
}

static uint64_t thread_key(const struct event *event)
{
	return (uint64_t)event->process << 32 | event->tid;
}

/* of a thread that runs tasks */
static struct running *sample__worker(struct sample *sample, const struct event *event)
{
	uint64_t key = thread_key(event);
	struct running *running = table__get(&sample->threads, key);

	if (running)
		return running;
	running = calloc(1, sizeof(*running));
	if (running && table__set(&sample->threads, key, running)) {
		free(running);
		running = NULL;
	}
	return running;
}

static void sample__begin(struct sample *sample, const struct event *event)
{
	struct running *running = sample__worker(sample, event);

	if (!running)
		return;
	/* one that ran without end, or never stops: what runs outside of the last ones
	 * is forgotten */
	if (running->count == NESTED_MAX)
		running->count = 0;
	running->tasks[running->count++] = event->args[0].u;
}

static void sample__stop(struct sample *sample, const struct event *event)
{
	struct running *running = table__get(&sample->threads, thread_key(event));
	uint32_t i;

	for (i = running ? running->count : 0; i > 0; i--) {
		if (running->tasks[i - 1] == event->args[0].u) {
			running->count = i - 1;
			return;
		}
	}
}

/* unseen things happened on it; it is a worker still, if it was one */
static void sample__lost(struct sample *sample, const struct event *event)
{
	struct running *running = table__get(&sample->threads, thread_key(event));

	if (running)
		running->count = 0;
}

static void sample__end_thread(struct sample *sample, const struct event *event)
{
	uint64_t key = thread_key(event);
	struct running *running = table__get(&sample->threads, key);

	if (!running)
		return;
	table__remove(&sample->threads, key);
	free(running);
}

static void sample__end_process(struct sample *sample, uint32_t process)
{
	struct table_slot *slot;
	uint32_t i = 0;

	while (sample->threads.slots && i <= sample->threads.mask) {
		slot = &sample->threads.slots[i];
		if (!slot->value || slot->key >> 32 != process) {
			i++;
			continue;
		}
		free(slot->value);
		/* another may have moved to this place */
		table__remove(&sample->threads, slot->key);
	}
}

/*
 * A target does not tell that a task begins that is left out. So what happens on a worker outside
 * of the stays that it does tell of is such a task's, or may be; only on threads that run no tasks
 * is it nobody's.
 */
static bool sample__by_running(const struct sample *sample, const struct event *event)
{
	const struct running *running = table__get(&sample->threads, thread_key(event));

	if (!running)
		return true;
	return running->count && sample__has(sample, running->tasks[running->count - 1]);
}

bool sample__keeps(struct sample *sample, const struct event *event)
{
	uint8_t by;

	if (sample->highest == UINT64_MAX || event_type__is_sched(event->type))
		return true;
	switch (event->type) {
	case EV_task_begin:
	case EV_asio_invoked ... EV_asio_invoked_signal:
		sample__begin(sample, event);
		break;
	case EV_task_end:
	case EV_task_yielded:
	case EV_task_suspended:
	case EV_task_completed:
	case EV_asio_left:
	case EV_asio_thrown:
		sample__stop(sample, event);
		break;
	case EV_worker_start ... EV_queue_depth:
		sample__worker(sample, event);
		break;
	case EV_lost:
		sample__lost(sample, event);
		return true;
	case EV_thread_exit:
		sample__end_thread(sample, event);
		return true;
	case EV_exec:
	case EV_process_exit:
		sample__end_process(sample, event->process);
		return true;
	}
	if (event->type > 255)
		return true;
	by = deciders[event->type];
	if (by == DECIDES_running)
		return sample__by_running(sample, event);
	return by == DECIDES_always || by == DECIDES_gauge ||
	       sample__has(sample, event->args[by - DECIDES_arg1].u);
}
