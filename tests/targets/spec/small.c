// SPDX-License-Identifier: BSD-2-Clause
/*
 * A small runtime without points, to write a spec for: jobs in a queue, two threads; a job may wait
 * for an event. small.probes is that spec. With -DLIBRARY the runtime alone, to be loaded later.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define API __attribute__((noinline, visibility("default")))

struct job {
	unsigned long number;
	const char *name;
	void (*work)(struct job *job);
	struct job *next;
};

static struct job *queue;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

API void job_submit(struct job *job)
{
	pthread_mutex_lock(&lock);
	job->next = queue;
	queue = job;
	pthread_mutex_unlock(&lock);
}

API int job_wait(struct job *job, unsigned int event)
{
	usleep(event);
	return job->number & 1;
}

API int job_run(struct job *job)
{
	job->work(job);
	return (int)job->number;
}

static void work(struct job *job)
{
	if (job->number % 3 == 0)
		job_wait(job, 200);
}

static void *worker(void *argument)
{
	struct job *job;

	for (;;) {
		pthread_mutex_lock(&lock);
		job = queue;
		queue = job ? job->next : NULL;
		pthread_mutex_unlock(&lock);
		if (!job)
			return argument;
		job_run(job);
		free(job);
	}
}

API int jobs_do(int count)
{
	pthread_t threads[2];
	struct job *job;
	int i;

	for (i = 1; i <= count; i++) {
		job = calloc(1, sizeof(*job));
		job->number = (unsigned long)i;
		job->name = i % 2 ? "odd" : "even";
		job->work = work;
		job_submit(job);
	}
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return count;
}

#ifndef LIBRARY
/* "" runs 60 jobs; load LIBRARY: of it; wait [load LIBRARY]: when a line comes in; fork: in a child that
 * runs this program again */
int main(int argc, char **argv)
{
	int (*function)(int) = jobs_do;
	void *library;
	char line[16];

	puts("started");
	fflush(stdout);
	if (argc > 1 && !strcmp(argv[1], "wait")) {
		if (!fgets(line, sizeof(line), stdin))
			return 1;
		argv++;
		argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "fork")) {
		if (!fork()) {
			execl("/proc/self/exe", "again", NULL);
			_exit(127);
		}
		wait(NULL);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "load")) {
		library = dlopen(argv[2], RTLD_NOW);
		*(void **)&function = library ? dlsym(library, "jobs_do") : NULL;
		if (!function)
			return 1;
	}
	printf("%d\n", function(60));
	return 0;
}
#endif
