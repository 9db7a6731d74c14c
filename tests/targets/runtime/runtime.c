/* SPDX-License-Identifier: BSD-2-Clause */
/* The runtime as a whole: start and stop, the queue for tasks from outside, waking, the watchdog.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "internal.h"

#define DEQUE_SIZE 64 /* small on purpose: growing is exercised too */
#define DEFAULT_STACK (64U << 10)

_Noreturn void runtime__fatal(const char *what, int error)
{
	if (error)
		fprintf(stderr, "runtime: %s: %s\n", what, strerror(-error));
	else
		fprintf(stderr, "runtime: %s\n", what);
	abort();
}

void runtime__wake_word(_Atomic uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static uint64_t runtime__begun(struct runtime *runtime)
{
	uint64_t begun = 0;

	for (uint32_t i = 0; i < runtime->options.workers; i++)
		begun += atomic_load_explicit(&runtime->workers[i].begun, memory_order_relaxed);
	return begun;
}

static _Noreturn void runtime__hung(struct runtime *runtime)
{
	fprintf(stderr,
		"runtime: no task has begun for %u s: %u of %u workers sleep, %u tasks injected\n",
		runtime->options.watchdog_s, atomic_load(&runtime->sleepers),
		runtime->options.workers, atomic_load(&runtime->injected_count));
	for (uint32_t i = 0; i < runtime->options.workers; i++)
		fprintf(stderr, "runtime: worker %u: %lld queued, %llu begun\n", i,
			(long long)deque__depth(&runtime->workers[i].deque),
			(unsigned long long)atomic_load(&runtime->workers[i].begun));
	abort();
}

/*
 * Sleep while *@word is @while_value; may return early. With @runtime, which a thread outside
 * gives, watch that tasks go on meanwhile.
 */
void runtime__wait_word(struct runtime *runtime, _Atomic uint32_t *word, uint32_t while_value)
{
	struct timespec second = {.tv_sec = 1};
	bool watch = runtime && runtime->options.watchdog_s;
	uint64_t before = watch ? runtime__begun(runtime) : 0;
	uint32_t idle = 0;

	if (!watch) {
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, NULL, NULL, 0);
		return;
	}
	while (atomic_load(word) == while_value) {
		uint64_t now;

		if (!syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_value, &second, NULL, 0) ||
		    errno != ETIMEDOUT)
			continue;
		now = runtime__begun(runtime);
		idle = now == before ? idle + 1 : 0;
		before = now;
		if (idle >= runtime->options.watchdog_s)
			runtime__hung(runtime);
	}
}

void runtime__notify(struct runtime *runtime)
{
	if (!atomic_load(&runtime->sleepers))
		return;
	atomic_fetch_add(&runtime->wakes, 1);
	runtime__wake_word(&runtime->wakes, 1);
}

static void runtime__notify_all(struct runtime *runtime)
{
	atomic_fetch_add(&runtime->wakes, 1);
	runtime__wake_word(&runtime->wakes, INT32_MAX);
}

void runtime__inject(struct runtime *runtime, struct task *task)
{
	task->next = NULL;
	spin__lock(&runtime->injected_lock);
	if (runtime->injected_last)
		runtime->injected_last->next = task;
	else
		runtime->injected_first = task;
	runtime->injected_last = task;
	atomic_fetch_add(&runtime->injected_count, 1);
	spin__unlock(&runtime->injected_lock);
	runtime__notify(runtime);
}

void runtime__enqueue(struct runtime *runtime, struct task *task)
{
	struct worker *worker = worker__self();

	if (!worker) {
		runtime__inject(runtime, task);
		return;
	}
	if (deque__push(&worker->deque, task))
		runtime__fatal("no memory for a queue", 0);
	worker__say_depth(worker);
	runtime__notify(runtime);
}

void runtime__bulk(struct runtime *runtime, const char *name, void (*body)(void *arg, uint32_t i),
		   void *arg, uint32_t count)
{
	struct bulk *bulk = &runtime->bulk;

	bulk->name = name;
	bulk->body = body;
	bulk->arg = arg;
	atomic_store(&bulk->count, count);
	atomic_store(&bulk->next, 0);
	atomic_store(&bulk->done, 0);
	atomic_store(&bulk->active, 1);
	runtime__notify_all(runtime);
	while (atomic_load(&bulk->done) < count)
		usleep(100);
	atomic_store(&bulk->active, 0);
	while (atomic_load(&bulk->users))
		usleep(100);
}

void runtime__work(uint64_t ns)
{
	struct timespec now;
	uint64_t end = 0, time;

	if (!ns)
		return;
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
		time = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
		if (!end)
			end = time + ns;
	} while (time < end);
}

static void runtime__free(struct runtime *runtime)
{
	while (runtime->made) {
		struct context *next = runtime->made->next_made;

		fiber__free(&runtime->made->fiber);
		free(runtime->made);
		runtime->made = next;
	}
	for (uint32_t i = 0; runtime->workers && i < runtime->options.workers; i++)
		deque__free(&runtime->workers[i].deque);
	pool__free(&runtime->tasks);
	pool__free(&runtime->futures);
	pool__free(&runtime->continuations);
	free(runtime->workers);
	free(runtime);
}

static int runtime__start_workers(struct runtime *runtime)
{
	uint32_t count = runtime->options.workers;
	int err;

	for (uint32_t i = 0; i < count; i++) {
		struct worker *worker = &runtime->workers[i];

		memset(worker, 0, sizeof(*worker));
		worker->runtime = runtime;
		worker->index = i;
		worker->random = 0x9e3779b97f4a7c15ULL * (i + 1);
		snprintf(worker->name, sizeof(worker->name), "worker %u", i);
		err = deque__init(&worker->deque, DEQUE_SIZE);
		if (err)
			return err;
	}
	/* only now: they steal from each other at once */
	for (uint32_t i = 0; i < count; i++) {
		err = pthread_create(&runtime->workers[i].thread, NULL, worker__main,
				     &runtime->workers[i]);
		if (err)
			runtime__fatal("can't start a worker", -err);
	}
	return 0;
}

int runtime__start(struct runtime **result, const struct runtime_options *options)
{
	struct runtime *runtime = aligned_alloc(CACHE_LINE, sizeof(*runtime));
	int err = -ENOMEM;

	if (!runtime)
		return -ENOMEM;
	memset(runtime, 0, sizeof(*runtime));
	runtime->options = *options;
	if (!options->workers || options->workers > RUNTIME_MAX_WORKERS) {
		err = -EINVAL;
		goto out;
	}
	if (!runtime->options.stack_size)
		runtime->options.stack_size = DEFAULT_STACK;
	pool__init(&runtime->tasks, sizeof(struct task));
	pool__init(&runtime->futures, sizeof(struct future));
	pool__init(&runtime->continuations, sizeof(struct continuation));
	runtime->workers = aligned_alloc(CACHE_LINE, options->workers * sizeof(struct worker));
	if (!runtime->workers)
		goto out;
	err = runtime__start_workers(runtime);
	if (err)
		goto out;
	*result = runtime;
	return 0;
out:
	runtime__free(runtime);
	return err;
}

void runtime__stop(struct runtime *runtime)
{
	atomic_store(&runtime->stopping, 1);
	runtime__notify_all(runtime);
	for (uint32_t i = 0; i < runtime->options.workers; i++)
		pthread_join(runtime->workers[i].thread, NULL);
	runtime__free(runtime);
}
