// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtracer_itt.so: a collector of ITT, for any program or library that is instrumented with it.
 *
 *	INTEL_LIBITTNOTIFY64=libtracer_itt.so ./program
 *
 * docs/runtimes/itt.md says what becomes of each call; oneTBB's are in tbb.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "functions.h"
#include "itt_abi.h"
#include "self.h"

#define EXPORT __attribute__((visibility("default")))

/* --- synchronisation objects --- */

/* only what was announced, or waited for: oneTBB tells much else by these calls */
static void sync_create(void *object, const char *type, const char *name, int attribute)
{
	char full[256];
	struct itt_string *kept;

	(void)attribute;
	snprintf(full, sizeof(full), "%s%s%s", type ? type : "",
		 type && *type && name && *name ? " " : "", name ? name : "");
	kept = string_create(full);
	table__put(TABLE_SYNC, (uintptr_t)object,
		   (struct table_value){(uintptr_t)(kept ? kept->text : "sync"), 0});
}

static void sync_rename(void *object, const char *name)
{
	sync_create(object, NULL, name, 0);
}

static void sync_destroy(void *object)
{
	struct table_value unused;

	table__take(TABLE_SYNC, (uintptr_t)object, &unused);
}

static void sync_prepare(void *object)
{
	struct table_value known = {0, 0};

	if (!table__get(TABLE_SYNC, (uintptr_t)object, &known))
		table__put(TABLE_SYNC, (uintptr_t)object, known);
	TRACER_LOCK_WAIT(object, known.a ? (const char *)(uintptr_t)known.a : "sync");
}

static void sync_cancel(void *object)
{
	(void)object;
}

static void sync_acquired(void *object)
{
	struct self *self = self__get();
	struct table_value known;

	if (self->entering)
		tbb__begin(self, object);
	else if (table__get(TABLE_SYNC, (uintptr_t)object, &known))
		TRACER_LOCK_ACQUIRED(object);
}

static void sync_releasing(void *object)
{
	struct table_value known;

	if (table__get(TABLE_SYNC, (uintptr_t)object, &known))
		TRACER_LOCK_RELEASED(object);
}

/* --- threads, collection --- */

static void thread_set_name(const char *name)
{
	struct itt_string *kept = string_create(name ? name : "thread");

	self__rename(self__get(), kept ? kept->text : "thread");
}

static int thr_name_set(const char *name, int length)
{
	char text[256];

	snprintf(text, sizeof(text), "%.*s", length, name ? name : "");
	thread_set_name(text);
	return 0;
}

static void collection_pause(void)
{
	TRACER_CAPTURE_OFF();
}

static void collection_resume(void)
{
	TRACER_CAPTURE_ON();
}

static const char *api_version(void)
{
	return "3.0 tracer";
}

/* --- oneTBB: callers and callees --- */

static void *stack_caller_create(void)
{
	static char caller;

	return &caller; /* not NULL; nothing is kept of it */
}

static void stack_caller_destroy(void *caller)
{
	(void)caller;
}

/* the caller's frame is the loop that runs tasks, and begins where ours ends */
__attribute__((noinline)) static void stack_callee_enter(void *caller)
{
	(void)caller;
	tbb__enter((uintptr_t)__builtin_dwarf_cfa());
}

__attribute__((noinline)) static void stack_callee_leave(void *caller)
{
	(void)caller;
	tbb__leave((uintptr_t)__builtin_dwarf_cfa());
}

/* --- the table --- */

static const struct itt_function own_functions[] = {
	FUNCTION(sync_create),
	{"sync_set_name", (void *)sync_create},
	FUNCTION(sync_rename),
	FUNCTION(sync_destroy),
	FUNCTION(sync_prepare),
	FUNCTION(sync_cancel),
	FUNCTION(sync_acquired),
	FUNCTION(sync_releasing),
	{"fsync_prepare", (void *)sync_prepare},
	{"fsync_cancel", (void *)sync_cancel},
	{"fsync_acquired", (void *)sync_acquired},
	{"fsync_releasing", (void *)sync_releasing},
	FUNCTION(thread_set_name),
	FUNCTION(thr_name_set),
	{"pause", (void *)collection_pause},
	{"resume", (void *)collection_resume},
	FUNCTION(api_version),
	FUNCTION(stack_caller_create),
	FUNCTION(stack_caller_destroy),
	FUNCTION(stack_callee_enter),
	FUNCTION(stack_callee_leave),
	{0},
};

static void *find(const struct itt_function *functions, const char *name)
{
	for (; functions->name; functions++)
		if (!strcmp(functions->name, name))
			return functions->function;
	return NULL;
}

EXPORT void __itt_api_init(struct itt_global *program, int groups)
{
	const struct itt_function *const parts[] = {own_functions, task_functions, mark_functions};

	(void)groups;
	for (struct itt_api *api = program->apis; api && api->name; api++) {
		const char *name = api->name;
		void *function = NULL;

		if (!strncmp(name, "__itt_", 6))
			name += 6;
		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !function; i++)
			function = find(parts[i], name);
		/* what is not collected does nothing */
		*api->function = function ? function : api->null_function;
	}
}

EXPORT void __itt_api_fini(struct itt_global *program)
{
	(void)program;
}
