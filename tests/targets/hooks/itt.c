// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program instrumented with ITT, with just so much of ITT's own part as loads a collector: so
 * that it needs no library to be built. Prints what it did as JSON. For tests/e2e/hooks_itt.py.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "itt/itt_abi.h"

#define ROUNDS 5
#define OVERLAPPED 3

static void nothing(void)
{
}

/* type, name, arguments: a function pointer that the collector fills in, and the table's row */
#define APIS(X)                                                                                  \
	X(struct itt_domain *, domain_create, (const char *))                                    \
	X(struct itt_string *, string_handle_create, (const char *))                             \
	X(void, task_begin,                                                                      \
	  (const struct itt_domain *, struct itt_id, struct itt_id, struct itt_string *))        \
	X(void, task_end, (const struct itt_domain *))                                           \
	X(void, task_begin_overlapped,                                                           \
	  (const struct itt_domain *, struct itt_id, struct itt_id, struct itt_string *))        \
	X(void, task_end_overlapped, (const struct itt_domain *, struct itt_id))                 \
	X(void, metadata_add,                                                                    \
	  (const struct itt_domain *, struct itt_id, struct itt_string *, int, size_t, void *))  \
	X(void, metadata_str_add,                                                                \
	  (const struct itt_domain *, struct itt_id, struct itt_string *, const char *, size_t)) \
	X(void, relation_add, (const struct itt_domain *, struct itt_id, int, struct itt_id))    \
	X(void, frame_begin_v3, (const struct itt_domain *, struct itt_id *))                    \
	X(void, frame_end_v3, (const struct itt_domain *, struct itt_id *))                      \
	X(struct itt_counter *, counter_create_typed, (const char *, const char *, int))         \
	X(struct itt_counter *, counter_create, (const char *, const char *))                    \
	X(void, counter_inc_delta, (struct itt_counter *, unsigned long long))                   \
	X(void, counter_set_value, (struct itt_counter *, void *))                               \
	X(void, sync_create, (void *, const char *, const char *, int))                          \
	X(void, sync_prepare, (void *))                                                          \
	X(void, sync_acquired, (void *))                                                         \
	X(void, sync_releasing, (void *))                                                        \
	X(void, thread_set_name, (const char *))                                                 \
	X(void, marker, (const struct itt_domain *, struct itt_id, struct itt_string *, int))    \
	X(int, event_create, (const char *, int))                                                \
	X(int, event_start, (int))                                                               \
	X(int, event_end, (int))                                                                 \
	X(void, pause, (void))                                                                   \
	X(void, resume, (void))                                                                  \
	X(void, heap_internal_access_begin, (void))

#define POINTER(type, name, arguments) \
	static type(*itt_##name) arguments = (type(*) arguments)nothing;
APIS(POINTER)

static struct itt_api apis[] = {
#define ROW(type, name, arguments) {"__itt_" #name, (void **)&itt_##name, NULL, (void *)nothing, 1},
	APIS(ROW){0},
};

static int load_collector(void)
{
	static struct itt_global global = {.apis = apis};
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	void (*init)(struct itt_global *, int) =
		library ? (void (*)(struct itt_global *, int))dlsym(library, "__itt_api_init")
			: NULL;

	if (!init) {
		fprintf(stderr, "no collector: %s\n",
			path ? dlerror() : "INTEL_LIBITTNOTIFY64 is not set");
		return -1;
	}
	init(&global, -1);
	return 0;
}

static struct itt_domain *domain;
static struct itt_id overlapped[OVERLAPPED];
static long other;

static void *finisher(void *unused)
{
	other = syscall(SYS_gettid);
	itt_thread_set_name("finisher");
	for (int i = 0; i < OVERLAPPED; i++)
		itt_task_end_overlapped(domain, overlapped[i]);
	return unused;
}

int main(void)
{
	const struct itt_id none = {0, 0, 0};
	struct itt_string *outer, *inner, *request, *key;
	struct itt_counter *depth, *load;
	pthread_t thread;
	int event;

	if (load_collector())
		return 1;
	domain = itt_domain_create("app.domain");
	outer = itt_string_handle_create("outer");
	inner = itt_string_handle_create("inner");
	request = itt_string_handle_create("request");
	key = itt_string_handle_create("detail");
	if (!domain || domain != itt_domain_create("app.domain") || !outer ||
	    inner != itt_string_handle_create("inner"))
		return 2;
	itt_thread_set_name("starter");
	depth = itt_counter_create("depth", "app.domain");
	load = itt_counter_create_typed("load", "app.domain", ITT_METADATA_DOUBLE);
	itt_sync_create(&domain, "mutex", "queue", 2);
	for (int i = 0; i < ROUNDS; i++) {
		struct itt_id id = {(unsigned long long)(uintptr_t)&id, i + 1, 0};
		uint32_t number = 10 * i;
		double value = i + 0.5;

		itt_frame_begin_v3(domain, NULL);
		itt_task_begin(domain, none, none, outer);
		itt_task_begin(domain, id, none, inner);
		itt_metadata_add(domain, id, key, ITT_METADATA_U32, 1, &number);
		itt_metadata_str_add(domain, none, key, "in words, and more", 8);
		itt_counter_inc_delta(depth, 2);
		itt_counter_set_value(load, &value);
		itt_sync_prepare(&domain);
		itt_sync_acquired(&domain);
		itt_sync_releasing(&domain);
		itt_heap_internal_access_begin();
		itt_task_end(domain);
		itt_task_end(domain);
		itt_frame_end_v3(domain, NULL);
	}
	for (int i = 0; i < OVERLAPPED; i++) {
		overlapped[i] = (struct itt_id){7, 7, i};
		itt_task_begin_overlapped(domain, overlapped[i], none, request);
	}
	itt_relation_add(domain, overlapped[1], ITT_RELATION_DEPENDENT_ON, overlapped[0]);
	pthread_create(&thread, NULL, finisher, NULL);
	pthread_join(thread, NULL);
	event = itt_event_create("phase and more", 5);
	itt_event_start(event);
	itt_event_end(event);
	itt_marker(domain, none, outer, 0);
	itt_pause();
	itt_task_begin(domain, none, none, outer);
	itt_task_end(domain);
	itt_resume();
	printf("{\"rounds\": %d, \"overlapped\": %d, \"starter\": %ld, \"finisher\": %ld}\n",
	       ROUNDS, OVERLAPPED, syscall(SYS_gettid), other);
	return 0;
}
