/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A great many short tasks whose objects, futures and stacks are used again at once. By its number
 * a task waits for a gate, yields, locks, fails, goes by another name, or has continuations.
 */
#include <errno.h>
#include <stdlib.h>
#include "demo.h"

#define BATCH 64U
#define ERROR_OF_TASK 97

struct churn {
	const struct demo_options *options;
	uint64_t per_driver;
	struct fiber_mutex *mutex;
	uint64_t locked_sum; /* under the mutex */
};

struct driver {
	struct churn *churn;
	uint64_t first;
};

struct item {
	struct churn *churn;
	struct future *gate;
	uint64_t number;
};

/* What a task of that number contributes; -ERROR_OF_TASK if it fails. */
static int64_t expected_of(uint64_t number)
{
	if (number % 97 == 0)
		return -ERROR_OF_TASK;
	return (int64_t)(number % 1009);
}

static int item_main(void *arg, int64_t *value)
{
	struct item *item = arg;
	uint64_t number = item->number;

	if (number % 2 == 0)
		future__wait(item->gate, NULL);
	if (number % 3 == 0)
		task__yield();
	if (number % 64 == 1)
		task__rename("renamed");
	runtime__work(item->churn->options->work_ns);
	if (number % 8 == 5) {
		fiber_mutex__lock(item->churn->mutex);
		item->churn->locked_sum += number;
		if (number % 32 == 5)
			task__yield();
		fiber_mutex__unlock(item->churn->mutex);
	}
	*value = expected_of(number);
	return *value < 0 ? (int)-*value : 0;
}

/* A continuation that hands on what it gets. */
static int pass(void *arg, int error, int64_t in, int64_t *out)
{
	POINT1(MESSAGE, message, (const char *)arg);
	*out = in;
	return error;
}

static struct future *launch(struct item *item)
{
	static const char *const names[] = {"item 0", "item 1", "item 2", "item 3"};
	struct future *future, *next;

	future = task__spawn(NULL, names[item->number % 4], item_main, item);
	if (item->number % 16 == 3)
		next = future__then(future, "continuation", pass, (void *)"inline",
				    CONTINUATION_INLINE);
	else if (item->number % 32 == 7)
		next = future__then(future, "continuation", pass, (void *)"scheduled",
				    CONTINUATION_SCHEDULED);
	else
		return future;
	future__release(future);
	return next;
}

static int64_t batch(struct churn *churn, uint64_t first, uint32_t count)
{
	struct future *gate = future__new(NULL);
	struct future *futures[BATCH];
	struct item items[BATCH];
	int64_t sum = 0, value;
	int err;

	POINT_ZONE("batch");
	for (uint32_t i = 0; i < count; i++) {
		items[i] = (struct item){churn, gate, first + i};
		futures[i] = launch(&items[i]);
	}
	/* others get to run, and to wait, before the gate opens */
	task__yield();
	future__set(gate, 0);
	for (uint32_t i = 0; i < count; i++) {
		err = future__wait(futures[i], &value);
		future__release(futures[i]);
		sum += err ? -err : value;
	}
	future__release(gate);
	DEMO_COUNTER("batch", (int64_t)first);
	return sum;
}

static int driver_main(void *arg, int64_t *value)
{
	struct driver *driver = arg;
	struct churn *churn = driver->churn;
	uint64_t end = driver->first + churn->per_driver;

	*value = 0;
	for (uint64_t first = driver->first; first < end; first += BATCH) {
		uint64_t left = end - first;

		*value += batch(churn, first, left < BATCH ? (uint32_t)left : BATCH);
	}
	return 0;
}

static int root(void *arg, int64_t *value)
{
	struct churn *churn = arg;
	uint32_t count = churn->options->workers * 2;
	struct driver *drivers = calloc(count, sizeof(*drivers));
	struct future **futures = calloc(count, sizeof(struct future *));
	int err = !drivers || !futures ? ENOMEM : 0;
	int64_t sum;

	*value = 0;
	for (uint32_t i = 0; !err && i < count; i++) {
		drivers[i] = (struct driver){churn, 1 + i * churn->per_driver};
		futures[i] = task__spawn(NULL, "driver", driver_main, &drivers[i]);
	}
	for (uint32_t i = 0; !err && i < count; i++) {
		future__wait(futures[i], &sum);
		future__release(futures[i]);
		*value += sum;
	}
	free(drivers);
	free(futures);
	return err;
}

static int run(struct runtime *runtime, const struct demo_options *options)
{
	struct churn churn = {.options = options};
	uint64_t count = options->workers * 2, locked = 0;
	int64_t expected = 0, sum = -1;
	struct future *future;
	int wrong;

	churn.per_driver = (options->size + count - 1) / count;
	churn.mutex = fiber_mutex__new("churn sum");
	for (uint64_t i = 1; i <= count * churn.per_driver; i++) {
		expected += expected_of(i);
		locked += i % 8 == 5 ? i : 0;
	}
	future = task__spawn(runtime, "churn root", root, &churn);
	if (future__wait(future, &sum))
		sum = -1;
	future__release(future);
	wrong = demo__check("churn: sum", sum, expected);
	wrong |= demo__check("churn: sum under the lock", (int64_t)churn.locked_sum,
			     (int64_t)locked);
	fiber_mutex__free(churn.mutex);
	return wrong;
}

const struct demo demo_churn = {
	.name = "churn",
	.doc = "short tasks that suspend and are reused; size: tasks",
	.default_size = 1000000,
	.run = run,
};
