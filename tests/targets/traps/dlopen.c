// SPDX-License-Identifier: BSD-2-Clause
/*
 * dlopen KIND LIBRARY...
 *	before		loads the libraries, waits for the tracer, uses them
 *	after		waits for the tracer, loads them, uses each at once
 *	close		threads use the libraries, which are unloaded before the threads end
 *	cycle N		loads, uses and unloads the libraries N times
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "gate.h"

typedef void (*plugin_count)(uint64_t from, uint64_t to);

static void *load(const char *path, plugin_count *count)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	*count = (plugin_count)(uintptr_t)dlsym(library, "plugin_count");
	return library;
}

static pthread_barrier_t barrier;
static plugin_count used[8];
static int libraries;

static void *user(void *argument)
{
	for (int i = 0; i < libraries; i++)
		used[i](0, 10);
	pthread_barrier_wait(&barrier);
	/* here they are unloaded */
	pthread_barrier_wait(&barrier);
	TRACER_COUNTER("own", 0);
	return argument;
}

static void closed_early(char **paths)
{
	void *handles[8];
	pthread_t threads[3];

	pthread_barrier_init(&barrier, NULL, 4);
	for (int i = 0; i < libraries; i++)
		handles[i] = load(paths[i], &used[i]);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, user, NULL);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < libraries; i++)
		dlclose(handles[i]);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	int first = 2, rounds = 1;
	plugin_count count;

	if (argc < 3)
		return 2;
	libraries = argc - first;
	if (!strcmp(kind, "cycle")) {
		rounds = atoi(argv[first++]);
		for (int k = 0; k < rounds; k++) {
			for (int i = first; i < argc; i++) {
				void *library = load(argv[i], &count);

				count((uint64_t)k * 5, (uint64_t)k * 5 + 5);
				dlclose(library);
			}
		}
		return 0;
	}
	if (!strcmp(kind, "close")) {
		closed_early(argv + first);
		return 0;
	}
	if (!strcmp(kind, "after"))
		wait_for_tracer();
	for (int i = first; i < argc; i++) {
		load(argv[i], &used[i - first]);
		if (!strcmp(kind, "after"))
			used[i - first](0, 1000);
	}
	if (!strcmp(kind, "before")) {
		wait_for_tracer();
		for (int i = first; i < argc; i++)
			used[i - first](0, 1000);
	}
	TRACER_COUNTER("own", 0);
	return 0;
}
