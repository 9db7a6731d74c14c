// SPDX-License-Identifier: BSD-2-Clause
/*
 * Every construct that the OMPT tool shows, a known number of times; prints what it did as JSON.
 * For tests/e2e/hooks_openmp.py. Built by clang with -DDETACH, by gcc without: libomp has no
 * detached tasks for gcc's programs.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 2
#define DEPTH 7
#define CHAIN 20
#define DETACHED 8
#define BARRIERS 5
#define CRITICALS 50
#define GROUP 30
#define UNDEFERRED 4

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long tid;
	int tasks;
} threads[64];

/* an explicit task's body runs on this thread */
static void count_body(void)
{
	long tid = syscall(SYS_gettid);
	int i;

	pthread_mutex_lock(&counting);
	for (i = 0; threads[i].tid && threads[i].tid != tid; i++)
		;
	threads[i].tid = tid;
	threads[i].tasks++;
	pthread_mutex_unlock(&counting);
}

static int tree(int depth)
{
	int left = 0, right = 0;

	if (!depth)
		return 1;
#pragma omp task shared(left)
	{
		count_body();
		left = tree(depth - 1);
	}
#pragma omp task shared(right)
	{
		count_body();
		right = tree(depth - 1);
	}
#pragma omp taskwait
	return left + right;
}

static int chain(int *slot)
{
	int order = 0;

	*slot = 0;
	for (int i = 0; i < CHAIN; i++) {
#pragma omp task depend(inout : slot[0]) shared(order) firstprivate(i)
		{
			count_body();
			order += *slot == i;
			*slot = i + 1;
		}
	}
#pragma omp taskwait
	return order;
}

#ifdef DETACH
static omp_event_handle_t events[DETACHED];
static int event_count;
static long fulfiller;

static void *fulfil(void *unused)
{
	(void)unused;
	fulfiller = syscall(SYS_gettid);
	for (int i = 0; i < DETACHED; i++) {
		while (__atomic_load_n(&event_count, __ATOMIC_ACQUIRE) <= i)
			usleep(100);
		omp_fulfill_event(events[i]);
	}
	return NULL;
}

static void detached(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, fulfil, NULL);
#pragma omp taskgroup
	for (int i = 0; i < DETACHED; i++) {
		omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(i)
		{
			count_body();
			events[i] = event;
			while (__atomic_load_n(&event_count, __ATOMIC_ACQUIRE) != i)
				usleep(100);
			__atomic_store_n(&event_count, i + 1, __ATOMIC_RELEASE);
			/* its body is over before the event comes, mostly */
		}
	}
	pthread_join(thread, NULL);
}
#endif

static void groups(void)
{
#pragma omp taskgroup
	for (int i = 0; i < GROUP; i++) {
#pragma omp task
		count_body();
	}
	for (int i = 0; i < UNDEFERRED; i++) {
#pragma omp task if (0)
		count_body();
	}
}

static void print_threads(void)
{
	printf("\"threads\": {");
	for (int i = 0; threads[i].tid; i++)
		printf("%s\"%ld\": %d", i ? ", " : "", threads[i].tid, threads[i].tasks);
	printf("}");
}

int main(void)
{
	int slot, leaves = 0, order = 0;
	volatile long sum = 0;
	omp_lock_t lock;

	omp_init_lock(&lock);
	omp_set_dynamic(0);
#pragma omp parallel num_threads(THREADS)
#pragma omp single
	{
		leaves = tree(DEPTH);
		order = chain(&slot);
		groups();
#ifdef DETACH
		detached();
#endif
	}
#pragma omp parallel num_threads(THREADS)
	{
		for (int i = 0; i < BARRIERS; i++) {
#pragma omp barrier
		}
#pragma omp for schedule(dynamic, 1)
		for (int i = 0; i < CRITICALS; i++) {
#pragma omp critical
			sum += i;
			omp_set_lock(&lock);
			sum += i;
			omp_unset_lock(&lock);
		}
	}
	printf("{\"threads_in_team\": %d, \"leaves\": %d, \"tree\": %d, \"depth\": %d, \"chain\": "
	       "%d, "
	       "\"in_order\": %d, \"group\": %d, \"undeferred\": %d, \"barriers\": %d, "
	       "\"criticals\": %d, ",
	       THREADS, leaves, 2 * leaves - 2, DEPTH, CHAIN, order, GROUP, UNDEFERRED, BARRIERS,
	       CRITICALS);
#ifdef DETACH
	printf("\"detached\": %d, \"fulfiller\": %ld, ", DETACHED, fulfiller);
#endif
	print_threads();
	printf(", \"sum\": %ld}\n", sum);
	omp_destroy_lock(&lock);
	return 0;
}
