// SPDX-License-Identifier: BSD-2-Clause
/*
 * oneTBB: its tasks from creation to end.
 *
 * That a task runs, ITT tells: stack_callee_enter, sync_acquired(task), the task itself,
 * stack_callee_leave. All the rest is in calls of the library's exported functions, which the
 * program makes through inlined templates. If this library is loaded before oneTBB (LD_PRELOAD),
 * those calls come here first, and go on to the library:
 *
 *	spawn, submit, enqueue		a task is created, by the task that runs here
 *	execute_and_wait, wait		the task that runs here waits; its thread may run others
 *					meanwhile
 *	notify_waiters			what it waits for is there
 *	suspend, resume			tbb::task::suspend()
 *
 * Without LD_PRELOAD tasks are shown from their begin on, without a creator.
 *
 * Identities are numbers: oneTBB frees a task while its body still runs, and uses the memory again.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "../code/code_name.h"
#include "self.h"

#define TBB "_ZN3tbb6detail2r1"
#define EXPORT __attribute__((visibility("default")))

/* --- names: the task's C++ type --- */

/* "start_for<blocked_range<int>, ...>" for
 * "tbb::detail::d1::start_for<tbb::detail::d1::blocked_range<int>, ...>" */
static void shorten(char *name)
{
	static const char prefix[] = "tbb::detail::d";
	char *from = name, *to = name;

	while (*from) {
		if (!strncmp(from, prefix, sizeof(prefix) - 1) && from[sizeof(prefix) - 1] &&
		    !strncmp(from + sizeof(prefix), "::", 2))
			from += sizeof(prefix) + 2;
		else
			*to++ = *from++;
	}
	*to = 0;
	if (to - name > 200)
		strcpy(name + 197, "...");
}

typedef char *(*demangler)(const char *, char *, size_t *, int *);

/* a plugin's oneTBB brings a C++ library that nobody else sees */
static demangler find_demangler(void)
{
	void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle"), *library;

	if (!found) {
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
		found = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	return (demangler)found;
}

static const char *describe(void *const *vtable)
{
	demangler demangle = find_demangler();
	/* the C++ ABI of Linux: type_info stands before the
	 * functions, its second word is the name */
	const char *const *type = vtable[-1];
	const char *mangled;
	char *name = NULL;

	if (!type) /* -fno-rtti; third is execute(), behind two destructors */
		return code_name("task", vtable[2]);
	mangled = type[1][0] == '*' ? type[1] + 1 : type[1];
	if (demangle)
		name = demangle(mangled, NULL, NULL, NULL);
	if (!name)
		name = strdup(mangled);
	if (!name)
		return "task";
	shorten(name);
	return name;
}

/* of the task's type; kept, as there are few */
static const char *type_name(const void *task, bool *is_resume)
{
	void *const *vtable = *(void *const *const *)task;
	struct table_value value;

	if (!table__get(TABLE_TYPE, (uintptr_t)vtable, &value)) {
		const char *name = describe(vtable);

		value.a = (uintptr_t)name;
		/* goes on with a suspended one, and is none of the program's */
		value.b = strstr(name, "suspend_point_type::resume_task") != NULL;
		table__put(TABLE_TYPE, (uintptr_t)vtable, value);
	}
	*is_resume = value.b;
	return (const char *)(uintptr_t)value.a;
}

/* --- created --- */

/* @home: worker + 1 in whose queue it is, 0 if in nobody's */
static void created(const void *task, uint32_t home)
{
	struct self *self = self__get();
	bool is_resume;

	if (!TRACER_ENABLED(task))
		return;
	self__worker(self, "thread");
	table__put(TABLE_QUEUED, (uintptr_t)task,
		   (struct table_value){self__id(self), home ? self->worker : 0});
	TRACER_TASK_CREATED(self->id_next - 1, type_name(task, &is_resume), self__task(self));
}

/* --- running: from ITT --- */

/* creation comes here; else a task that nobody created says nothing */
static bool preloaded;

__attribute__((constructor)) static void find_out(void)
{
	void *resume = dlsym(RTLD_DEFAULT, TBB "6resumeEPNS1_18suspend_point_typeE");
	Dl_info its, own;

	preloaded = resume && dladdr(resume, &its) && dladdr(&preloaded, &own) &&
		    its.dli_fbase == own.dli_fbase;
}

static void complete(struct self *self, struct frame *frame)
{
	struct table_value unused;

	if (frame->kind == FRAME_RESUME || !preloaded)
		table__take(TABLE_FRAME, frame->place, &unused);
	if (frame->live && frame->task) {
		TRACER_TASK_COMPLETED(frame->task);
		TRACER_TASK_DESTROYED(frame->task);
	}
	if (preloaded)
		frame__pop(self, frame);
	else
		frame__free(self, frame);
}

static struct frame *new_frame(struct self *self, uintptr_t place)
{
	struct frame *frame =
		preloaded ? frame__push(self, FRAME_TBB) : frame__new(self, FRAME_TBB);

	if (frame)
		frame->place = place;
	return frame;
}

void tbb__enter(uintptr_t place)
{
	struct self *self = self__get();
	struct table_value found;

	/*
	 * An exception left the one before, in the same loop; nobody tells that. The loop calls the
	 * same task again, to cancel it: see tbb__begin().
	 */
	if (!preloaded && table__get(TABLE_FRAME, place, &found)) {
		self->entering = (struct frame *)(uintptr_t)found.a;
		return;
	}
	if (self->top && self->top->live && self->top->place == place) {
		self->entering = self->top;
		return;
	}
	self->entering = new_frame(self, place);
}

/* a task that nobody spawned: the one before returned it, or the library made it */
static uint64_t appears(struct self *self, const struct frame *frame, const char *name)
{
	uint64_t task = self__id(self);
	uint64_t parent = preloaded && self->left_place == frame->place ? self->left_task : 0;

	TRACER_TASK_CREATED(task, name, parent);
	return task;
}

void tbb__begin(struct self *self, const void *task)
{
	struct frame *frame = self->entering;
	struct table_value queued = {0, 0};
	bool known = table__take(TABLE_QUEUED, (uintptr_t)task, &queued), is_resume = false;
	const char *name;

	self->entering = NULL;
	self__sleep_end(self, "task");
	if (frame->address == task && !known)
		return;
	if (frame->address) {
		uintptr_t place = frame->place;

		complete(self, frame);
		frame = new_frame(self, place);
		if (!frame)
			return;
	}
	frame->address = task;
	if (!TRACER_ENABLED(task) && !known) {
		/* off the stack nobody would find it again */
		if (!preloaded)
			frame__free(self, frame);
		return;
	}
	name = type_name(task, &is_resume);
	if (is_resume) {
		/* its end may come when the thread has other frames, or on another thread */
		frame->kind = FRAME_RESUME;
		table__put(TABLE_FRAME, frame->place, (struct table_value){(uintptr_t)frame, 0});
		return;
	}
	self__worker(self, "thread");
	/* a suspension is not told then: its end may come elsewhere, too */
	if (!preloaded)
		table__put(TABLE_FRAME, frame->place, (struct table_value){(uintptr_t)frame, 0});
	frame->task = known ? queued.a : appears(self, frame, name);
	if (queued.b && queued.b != self->worker)
		TRACER_STEAL(self->worker - 1, queued.b - 1, frame->task, TRACER_UNKNOWN);
	TRACER_TASK_BEGIN(frame->task, self->worker - 1);
}

void tbb__leave(uintptr_t place)
{
	struct self *self = self__get();
	struct table_value found;
	struct frame *frame = self->top;

	if (table__get(TABLE_FRAME, place, &found))
		frame = (struct frame *)(uintptr_t)found.a;
	if (!frame || !frame->live || frame->place != place)
		return; /* entered before this library was told of it */
	self->left_place = place;
	self->left_task = frame->task;
	complete(self, frame);
	if (self->reason)
		self__sleep_begin(self, self->reason);
}

/* --- the library's functions --- */

static void *find_next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name), *library;

	if (function)
		return function;
	/* loaded by a plug-in, out of sight of others */
	library = dlopen("libtbb.so.12", RTLD_LAZY | RTLD_NOLOAD);
	function = library ? dlsym(library, name) : NULL;
	if (!function) {
		fprintf(stderr,
			"libtracer_itt.so: oneTBB has no %s, as this library expects of oneTBB "
			"2021; run without it\n",
			name);
		abort();
	}
	return function;
}

/* the next definition of a function, looked up once */
#define NEXT(name)                                                                          \
	({                                                                                  \
		static void *next;                                                          \
		void *known = __atomic_load_n(&next, __ATOMIC_RELAXED);                     \
		if (!known)                                                                 \
			__atomic_store_n(&next, known = find_next(name), __ATOMIC_RELAXED); \
		known;                                                                      \
	})

EXPORT void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE(void *task,
									     void *context)
{
	void (*next)(void *, void *) = NEXT(TBB "5spawnERNS0_2d14taskERNS2_18task_group_contextE");

	created(task, 1);
	next(task, context);
}

/* for a certain slot: mailed there, and in this thread's queue too; whoever comes first */
EXPORT void _ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextEt(void *task,
									      void *context,
									      uint16_t slot)
{
	void (*next)(void *, void *, uint16_t) =
		NEXT(TBB "5spawnERNS0_2d14taskERNS2_18task_group_contextEt");

	created(task, 0);
	next(task, context, slot);
}

EXPORT void _ZN3tbb6detail2r16submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm(
	void *task, void *context, void *arena, uintptr_t critical)
{
	void (*next)(void *, void *, void *, uintptr_t) =
		NEXT(TBB "6submitERNS0_2d14taskERNS2_18task_group_contextEPNS1_5arenaEm");

	created(task, 0);
	next(task, context, arena, critical);
}

EXPORT void _ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE(void *task, void *arena)
{
	void (*next)(void *, void *) = NEXT(TBB "7enqueueERNS0_2d14taskEPNS2_15task_arena_baseE");

	created(task, 0);
	next(task, arena);
}

EXPORT void
_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE(
	void *task, void *context, void *arena)
{
	void (*next)(void *, void *, void *) = NEXT(
		TBB "7enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE");

	created(task, 0);
	next(task, context, arena);
}

/* --- waits --- */

struct wait {
	struct frame *top;
	const char *reason;
	uint64_t object;
};

static void wait_begin(struct wait *wait, const void *context)
{
	struct self *self = self__get();

	wait->top = self->top;
	wait->reason = self->reason;
	wait->object = (uintptr_t)context;
	self__worker(self, "thread");
	if (self__task(self)) {
		TRACER_TASK_SUSPENDED(self__task(self), "wait", context);
		table__put(TABLE_WAITER, wait->object, (struct table_value){self__task(self), 0});
	}
	self->reason = "wait";
	self__sleep_begin(self, "wait");
}

/* also when an exception passes through; perhaps on another thread */
static void wait_end(struct wait *wait)
{
	struct self *self = self__get();
	struct frame *frame = self->top;
	struct table_value waiter;

	/* tasks that an exception left, innermost first */
	while (frame && frame != wait->top)
		frame = frame->outer;
	while (frame == wait->top && self->top != wait->top)
		complete(self, self->top);
	self->top = wait->top;
	self->reason = wait->reason;
	self__sleep_end(self, "released");
	if (!self__task(self))
		return;
	if (table__take(TABLE_WAITER, wait->object, &waiter)) {
		if (waiter.a == self__task(self))
			TRACER_TASK_RESUMED(self__task(self), "nothing to wait for", wait->object);
		else
			table__put(TABLE_WAITER, wait->object, waiter);
	}
	TRACER_TASK_BEGIN(self__task(self), self__worker(self, "thread"));
}

EXPORT void
_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_(
	void *task, void *context, void *object, void *wait_context)
{
	void (*next)(void *, void *, void *, void *) =
		NEXT(TBB "16execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_"
			 "contextES6_");
	struct wait wait __attribute__((cleanup(wait_end)));

	created(task, 0);
	wait_begin(&wait, object);
	next(task, context, object, wait_context);
}

EXPORT void _ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE(void *object,
										     void *context)
{
	void (*next)(void *, void *) =
		NEXT(TBB "4waitERNS0_2d112wait_contextERNS2_18task_group_contextE");
	struct wait wait __attribute__((cleanup(wait_end)));

	wait_begin(&wait, object);
	next(object, context);
}

EXPORT void _ZN3tbb6detail2r114notify_waitersEm(uintptr_t object)
{
	void (*next)(uintptr_t) = NEXT(TBB "14notify_waitersEm");
	struct table_value waiter;

	if (table__take(TABLE_WAITER, object, &waiter))
		TRACER_TASK_RESUMED(waiter.a, "last reference released", object);
	next(object);
}

/* --- suspension --- */

EXPORT void _ZN3tbb6detail2r17suspendEPFvPvPNS1_18suspend_point_typeEES2_(void (*callback)(void *,
											   void *),
									  void *argument)
{
	void (*next)(void (*)(void *, void *), void *) =
		NEXT(TBB "7suspendEPFvPvPNS1_18suspend_point_typeEES2_");
	void *(*current)(void) = NEXT(TBB "21current_suspend_pointEv");
	struct self *self = self__get();
	struct frame *top = self->top;
	const char *reason = self->reason;

	if (self__task(self)) {
		void *point = current();

		table__put(TABLE_SUSPENDED, (uintptr_t)point,
			   (struct table_value){self__task(self), 0});
		TRACER_TASK_SUSPENDED(self__task(self), "tbb::task::suspend", point);
	}
	/* the thread goes on with another stack, on which nothing runs yet */
	self->top = NULL;
	self->reason = NULL;
	next(callback, argument);
	self = self__get();
	self->top = top;
	self->reason = reason;
	self__sleep_end(self, "task resumed");
	if (self__task(self))
		TRACER_TASK_BEGIN(self__task(self), self__worker(self, "thread"));
}

EXPORT void _ZN3tbb6detail2r16resumeEPNS1_18suspend_point_typeE(void *point)
{
	void (*next)(void *) = NEXT(TBB "6resumeEPNS1_18suspend_point_typeE");
	struct table_value suspended;

	if (table__take(TABLE_SUSPENDED, (uintptr_t)point, &suspended))
		TRACER_TASK_RESUMED(suspended.a, "tbb::task::resume", point);
	next(point);
}
