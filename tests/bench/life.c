// SPDX-License-Identifier: BSD-2-Clause
/*
 * Tasks that each live the same life of eight records: created, ready, begin, suspended, resumed,
 * begin, completed, destroyed. What is measured with it is what a life costs in a capture and in an
 * export, so everything that decides their size is as in a runtime: workers that take turns, a task
 * resumed by another worker than the one that suspended it or by the same, identities that are
 * addresses out of a pool and come again, a few names and reasons, and bodies of uneven length.
 *
 *	life [--tasks N] [--workers N] [--work NS]
 *
 * A task's two stays together take NS on average (default 400, each uniform between 0 and NS).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tracer/tracer.h>

#define BATCH 32U   /* tasks that are created, and later resumed, in one go */
#define BATCHES 32U /* in flight, so 1,024 tasks are alive at most */
#define WORKERS_MAX 64

struct task {
	uint64_t future;
	char frame[184]; /* what a runtime keeps with it: addresses are as far apart as there */
};

struct batch {
	struct batch *next;
	uint32_t count;
	struct task *tasks[BATCH];
};

struct life {
	pthread_mutex_t mutex;
	uint64_t left; /* tasks still to be created */
	uint64_t work_ns;
	struct batch *idle, *suspended, **suspended_end;
	uint32_t busy; /* batches in neither list */
};

struct worker {
	struct life *life;
	uint32_t index;
	uint64_t random;
	pthread_t thread;
};

static const char *const names[] = {"parse", "solve", "reduce", "write block"};
static const char *const reasons[] = {"future::wait", "mutex::lock", "channel::get"};
static const char *const causes[] = {"future::set", "mutex::unlock", "channel::put"};

/* xorshift64 (Marsaglia): the same tasks in every run */
static uint64_t worker__random(struct worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return worker->random;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void worker__body(struct worker *worker)
{
	uint64_t until;

	if (!worker->life->work_ns)
		return;
	until = now_ns() + worker__random(worker) % worker->life->work_ns;
	while (now_ns() < until)
		;
}

static void worker__first_half(struct worker *worker, struct batch *batch, uint64_t number)
{
	uint64_t parent = 0;
	uint32_t i;

	for (i = 0; i < batch->count; i++) {
		TRACER_TASK_CREATED(batch->tasks[i], names[(number + i) % 4], parent);
		TRACER_TASK_READY(batch->tasks[i]);
		parent = (uintptr_t)batch->tasks[0];
	}
	for (i = 0; i < batch->count; i++) {
		TRACER_TASK_BEGIN(batch->tasks[i], worker->index);
		worker__body(worker);
		TRACER_TASK_SUSPENDED(batch->tasks[i], reasons[(number + i) % 3],
				      &batch->tasks[i]->future);
	}
}

static void worker__second_half(struct worker *worker, struct batch *batch)
{
	uint32_t i, other;
	struct task *task;

	for (i = 0; i < batch->count; i++)
		TRACER_TASK_RESUMED(batch->tasks[i], causes[i % 3], &batch->tasks[i]->future);
	for (i = 0; i < batch->count; i++) {
		TRACER_TASK_BEGIN(batch->tasks[i], worker->index);
		worker__body(worker);
		TRACER_TASK_COMPLETED(batch->tasks[i]);
		TRACER_TASK_DESTROYED(batch->tasks[i]);
	}
	/* the pool hands addresses out in another order the next time */
	for (i = batch->count; i > 1; i--) {
		other = (uint32_t)(worker__random(worker) % i);
		task = batch->tasks[other];
		batch->tasks[other] = batch->tasks[i - 1];
		batch->tasks[i - 1] = task;
	}
}

/* true if @batch is one to be resumed, else it is to be created; NULL: nothing is left */
static bool life__take(struct life *life, struct worker *worker, struct batch **batch)
{
	bool resume = false;

	pthread_mutex_lock(&life->mutex);
	*batch = NULL;
	resume = life->suspended && (!life->idle || !life->left || worker__random(worker) % 2);
	if (resume) {
		*batch = life->suspended;
		life->suspended = (*batch)->next;
		if (!life->suspended)
			life->suspended_end = &life->suspended;
	} else if (life->idle && life->left) {
		*batch = life->idle;
		life->idle = (*batch)->next;
		(*batch)->count = life->left < BATCH ? (uint32_t)life->left : BATCH;
		life->left -= (*batch)->count;
	}
	life->busy += !!*batch;
	pthread_mutex_unlock(&life->mutex);
	return resume;
}

/* @resumed: its tasks are gone; else they are suspended now */
static void life__give(struct life *life, struct batch *batch, bool resumed)
{
	pthread_mutex_lock(&life->mutex);
	if (resumed) {
		batch->next = life->idle;
		life->idle = batch;
	} else {
		batch->next = NULL;
		*life->suspended_end = batch;
		life->suspended_end = &batch->next;
	}
	life->busy--;
	pthread_mutex_unlock(&life->mutex);
}

static bool life__over(struct life *life)
{
	bool over;

	pthread_mutex_lock(&life->mutex);
	over = !life->left && !life->suspended && !life->busy;
	pthread_mutex_unlock(&life->mutex);
	return over;
}

static void *worker__main(void *arg)
{
	struct worker *worker = arg;
	struct batch *batch;
	uint64_t number = 0;
	bool resume;

	TRACER_WORKER_START(worker->index, "worker");
	for (;;) {
		resume = life__take(worker->life, worker, &batch);
		if (!batch && life__over(worker->life))
			break;
		if (!batch)
			continue;
		if (resume)
			worker__second_half(worker, batch);
		else
			worker__first_half(worker, batch, number++);
		life__give(worker->life, batch, resume);
	}
	TRACER_WORKER_STOP(worker->index);
	return NULL;
}

static int life__run(struct life *life, int count)
{
	struct worker workers[WORKERS_MAX];
	int i;

	for (i = 0; i < count; i++) {
		workers[i] =
			(struct worker){life, (uint32_t)i, 88172645463325252U + (uint64_t)i, 0};
		if (pthread_create(&workers[i].thread, NULL, worker__main, &workers[i]))
			return 1;
	}
	for (i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	struct life life = {.mutex = PTHREAD_MUTEX_INITIALIZER, .left = 1000000, .work_ns = 400};
	static struct batch batches[BATCHES];
	struct task *tasks = calloc((size_t)BATCHES * BATCH, sizeof(*tasks));
	int workers = 2, i, rc = 2;

	for (i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--tasks"))
			life.left = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--workers"))
			workers = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--work"))
			life.work_ns = strtoull(argv[i + 1], NULL, 0);
		else
			break;
	}
	if (!tasks || i != argc || workers < 1 || workers > WORKERS_MAX) {
		fprintf(stderr, "usage: life [--tasks N] [--workers 1..%d] [--work NS]\n",
			WORKERS_MAX);
		goto out;
	}
	life.suspended_end = &life.suspended;
	for (i = 0; i < (int)(BATCHES * BATCH); i++)
		batches[(unsigned)i / BATCH].tasks[(unsigned)i % BATCH] = &tasks[i];
	for (i = 0; i < (int)BATCHES; i++) {
		batches[i].next = life.idle;
		life.idle = &batches[i];
	}
	rc = life__run(&life, workers);
out:
	free(tasks);
	return rc;
}
