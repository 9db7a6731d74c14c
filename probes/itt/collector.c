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
#include "../code/code_name.h"
#include "itt_abi.h"
#include "self.h"

#define EXPORT __attribute__((visibility("default")))

/* names that programs give are compared and kept here, for good */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

/* --- domains, strings, identities --- */

static struct itt_domain *domain_create(const char *name)
{
	static struct itt_domain *first;
	struct itt_domain *domain;

	pthread_mutex_lock(&lists);
	for (domain = first; domain; domain = domain->next)
		if (!strcmp(domain->name, name))
			break;
	if (!domain) {
		domain = calloc(1, sizeof(*domain));
		if (domain) {
			domain->flags = 1;
			domain->name = strdup(name);
			domain->next = first;
			first = domain;
		}
	}
	pthread_mutex_unlock(&lists);
	return domain;
}

static struct itt_string *string_create(const char *text)
{
	static struct itt_string *buckets[256];
	struct itt_string *string, **bucket;
	unsigned char hash = 0;

	for (const char *c = text; *c; c++)
		hash = hash * 31 + *c;
	bucket = &buckets[hash];
	pthread_mutex_lock(&lists);
	for (string = *bucket; string; string = string->next)
		if (!strcmp(string->text, text))
			break;
	if (!string) {
		string = calloc(1, sizeof(*string));
		if (string) {
			string->text = strdup(text);
			string->next = *bucket;
			*bucket = string;
		}
	}
	pthread_mutex_unlock(&lists);
	return string;
}

static const char *text_of(const struct itt_string *string)
{
	return string ? string->text : NULL;
}

/* the program's three words as one; 0 is none */
static uint64_t identity(struct itt_id id)
{
	uint64_t hash = id.d1 * TRACER_HASH_1;

	hash = (hash ^ hash >> 33 ^ id.d2) * TRACER_HASH_2;
	hash = (hash ^ hash >> 33 ^ id.d3) * TRACER_HASH_1;
	/* apart from the numbers that the collector gives out */
	return id.d1 | id.d2 | id.d3 ? hash | 1ULL << 63 : 0;
}

/* --- tasks --- */

/* there task_begin is a thread's stay in a group of tasks; the tasks themselves are told otherwise
 * (tbb.c) */
static bool is_tbb(const struct itt_domain *domain)
{
	return domain && domain->name && !strcmp(domain->name, "tbb");
}

static uint64_t parent_of(struct self *self, struct itt_id parent)
{
	uint64_t given = identity(parent);

	return given ? given : self__task(self);
}

static void begin_task(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
		       const char *name)
{
	struct self *self = self__get();
	struct frame *frame;
	uint64_t outer = parent_of(self, parent);

	if (is_tbb(domain))
		return;
	frame = frame__push(self, FRAME_ITT);
	if (!frame)
		return;
	frame->task = identity(id);
	if (!frame->task)
		frame->task = self__id(self);
	TRACER_TASK_CREATED(frame->task, name, outer);
	if (domain)
		TRACER_TASK_TEXT(frame->task, "domain", domain->name);
	TRACER_TASK_BEGIN(frame->task, self__worker(self, "thread"));
}

static void task_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
		       struct itt_string *name)
{
	begin_task(domain, id, parent, text_of(name));
}

static void task_begin_fn(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
			  void *function)
{
	begin_task(domain, id, parent, code_name("", function));
}

static void task_end(const struct itt_domain *domain)
{
	struct self *self = self__get();
	struct frame *frame = self->top;

	if (!frame || frame->kind != FRAME_ITT || is_tbb(domain))
		return;
	TRACER_TASK_COMPLETED(frame->task);
	TRACER_TASK_DESTROYED(frame->task);
	frame__pop(self, frame);
}

/*
 * Overlapped: begins here, ends on any thread, and is not bound to one in between: two stays
 * without length and a gap between.
 */
static void task_begin_overlapped(const struct itt_domain *domain, struct itt_id id,
				  struct itt_id parent, struct itt_string *name)
{
	struct self *self = self__get();
	uint64_t task = identity(id);

	if (!task)
		return;
	TRACER_TASK_CREATED(task, text_of(name), parent_of(self, parent));
	if (domain)
		TRACER_TASK_TEXT(task, "domain", domain->name);
	TRACER_TASK_BEGIN(task, self__worker(self, "thread"));
	TRACER_TASK_SUSPENDED(task, "overlapped", task);
}

static void task_end_overlapped(const struct itt_domain *domain, struct itt_id id)
{
	struct self *self = self__get();
	uint64_t task = identity(id);

	(void)domain;
	if (!task)
		return;
	TRACER_TASK_RESUMED(task, "end", task);
	TRACER_TASK_BEGIN(task, self__worker(self, "thread"));
	TRACER_TASK_COMPLETED(task);
	TRACER_TASK_DESTROYED(task);
}

/* with a clock of the program's: what counts here is when they are told */
static void task_begin_ex(const struct itt_domain *domain, void *clock, unsigned long long time,
			  struct itt_id id, struct itt_id parent, struct itt_string *name)
{
	(void)clock;
	(void)time;
	task_begin(domain, id, parent, name);
}

static void task_begin_fn_ex(const struct itt_domain *domain, void *clock, unsigned long long time,
			     struct itt_id id, struct itt_id parent, void *function)
{
	(void)clock;
	(void)time;
	task_begin_fn(domain, id, parent, function);
}

static void task_end_ex(const struct itt_domain *domain, void *clock, unsigned long long time)
{
	(void)clock;
	(void)time;
	task_end(domain);
}

static void task_begin_overlapped_ex(const struct itt_domain *domain, void *clock,
				     unsigned long long time, struct itt_id id,
				     struct itt_id parent, struct itt_string *name)
{
	(void)clock;
	(void)time;
	task_begin_overlapped(domain, id, parent, name);
}

static void task_end_overlapped_ex(const struct itt_domain *domain, void *clock,
				   unsigned long long time, struct itt_id id)
{
	(void)clock;
	(void)time;
	task_end_overlapped(domain, id);
}

/* --- relations, metadata --- */

static void add_relation(uint64_t head, int relation, struct itt_id tail)
{
	static const char *const names[] = {
		[ITT_RELATION_UNKNOWN] = "unknown",
		[ITT_RELATION_DEPENDENT_ON] = "dependent on",
		[ITT_RELATION_SIBLING_OF] = "sibling of",
		[ITT_RELATION_PARENT_OF] = "parent of",
		[ITT_RELATION_CONTINUATION_OF] = "continuation of",
		[ITT_RELATION_CHILD_OF] = "child of",
		[ITT_RELATION_CONTINUED_BY] = "continued by",
		[ITT_RELATION_PREDECESSOR_TO] = "predecessor to",
	};
	unsigned int index = relation;

	if (head)
		TRACER_TASK_DEPENDS(head, identity(tail),
				    names[index < sizeof(names) / sizeof(names[0]) ? index : 0]);
}

static void relation_add(const struct itt_domain *domain, struct itt_id head, int relation,
			 struct itt_id tail)
{
	(void)domain;
	add_relation(identity(head), relation, tail);
}

static void relation_add_to_current(const struct itt_domain *domain, int relation,
				    struct itt_id tail)
{
	(void)domain;
	add_relation(self__task(self__get()), relation, tail);
}

/* whom a piece of metadata is about: nobody said: what runs here */
static uint64_t subject(struct itt_id id)
{
	uint64_t given = identity(id);

	return given ? given : self__task(self__get());
}

static void put_integer(uint64_t task, const char *key, int64_t value)
{
	TRACER_TASK_VALUE(task, key, value);
}

static void put_number(uint64_t task, const char *key, int type, const void *data)
{
	union {
		uint64_t u64;
		int64_t s64;
		uint32_t u32;
		int32_t s32;
		uint16_t u16;
		int16_t s16;
		float f;
		double d;
	} v = {0};
	static const unsigned char sizes[] = {8, 8, 8, 4, 4, 2, 2, 4, 8};

	if (type < 0 || type >= (int)sizeof(sizes))
		return;
	memcpy(&v, data, sizes[type]);
	switch (type) {
	case ITT_METADATA_U32:
		put_integer(task, key, v.u32);
		break;
	case ITT_METADATA_S32:
		put_integer(task, key, v.s32);
		break;
	case ITT_METADATA_U16:
		put_integer(task, key, v.u16);
		break;
	case ITT_METADATA_S16:
		put_integer(task, key, v.s16);
		break;
	case ITT_METADATA_FLOAT:
		TRACER_TASK_VALUE(task, key, (double)v.f);
		break;
	case ITT_METADATA_DOUBLE:
		TRACER_TASK_VALUE(task, key, v.d);
		break;
	default:
		put_integer(task, key, v.s64);
	}
}

static void metadata_add(const struct itt_domain *domain, struct itt_id id, struct itt_string *key,
			 int type, size_t count, const void *data)
{
	static const unsigned char sizes[] = {8, 8, 8, 4, 4, 2, 2, 4, 8};
	uint64_t task = subject(id);

	(void)domain;
	if (!task || !data || type < 0 || type >= (int)sizeof(sizes))
		return;
	for (size_t i = 0; i < count && i < 16; i++)
		put_number(task, text_of(key), type, (const char *)data + i * sizes[type]);
}

static void metadata_str_add(const struct itt_domain *domain, struct itt_id id,
			     struct itt_string *key, const char *data, size_t length)
{
	uint64_t task = subject(id);
	char text[TRACER_NAME_MAX + 1];

	(void)domain;
	if (!task || !data || !TRACER_ENABLED(task))
		return;
	/* 0: it ends with a NUL */
	snprintf(text, sizeof(text), "%.*s",
		 length && length < sizeof(text) ? (int)length : (int)TRACER_NAME_MAX, data);
	TRACER_TASK_TEXT(task, text_of(key), text);
}

/* scope: of the task that runs here, whatever they say */
static void metadata_add_with_scope(const struct itt_domain *domain, int scope,
				    struct itt_string *key, int type, size_t count, void *data)
{
	(void)scope;
	metadata_add(domain, (struct itt_id){0, 0, 0}, key, type, count, data);
}

static void metadata_str_add_with_scope(const struct itt_domain *domain, int scope,
					struct itt_string *key, const char *data, size_t length)
{
	(void)scope;
	metadata_str_add(domain, (struct itt_id){0, 0, 0}, key, data, length);
}

/* --- markers, events, frames --- */

static void marker(const struct itt_domain *domain, struct itt_id id, struct itt_string *name,
		   int scope)
{
	(void)domain;
	(void)id;
	(void)scope;
	TRACER_MESSAGE(text_of(name));
}

static void marker_ex(const struct itt_domain *domain, void *clock, unsigned long long time,
		      struct itt_id id, struct itt_string *name, int scope)
{
	(void)clock;
	(void)time;
	marker(domain, id, name, scope);
}

/* channels of markers: one for each event and each domain with frames, as they come */
static uint32_t new_channel(void)
{
	static uint32_t channels = 0x17700000; /* apart from a program's own small ones */

	return __atomic_fetch_add(&channels, 1, __ATOMIC_RELAXED);
}

#define EVENTS 4096
static const char *event_names[EVENTS];
static uint32_t event_channels[EVENTS];

/* a number for the event, the same for the same name; 0: too many */
static int event_create(const char *name, int length)
{
	static int count;
	int event;

	if (length < 0 || !name)
		return 0;
	pthread_mutex_lock(&lists);
	for (event = 1; event <= count; event++)
		if (!strncmp(event_names[event], name, length) && !event_names[event][length])
			break;
	if (event > count) {
		event = count + 1 < EVENTS ? count + 1 : 0;
		if (event) {
			event_names[event] = strndup(name, length);
			event_channels[event] = new_channel();
			if (event_names[event])
				count = event;
			else
				event = 0;
		}
	}
	pthread_mutex_unlock(&lists);
	return event;
}

static int event_start(int event)
{
	if (event <= 0 || event >= EVENTS || !event_names[event])
		return 1;
	TRACER_CHANNEL_NAME(event_channels[event], event_names[event]);
	TRACER_MARKER_SET(event_channels[event], event_names[event], 0);
	return 0;
}

static int event_end(int event)
{
	if (event <= 0 || event >= EVENTS || !event_names[event])
		return 1;
	TRACER_MARKER_RESET(event_channels[event]);
	return 0;
}

static int mark(int type, const char *parameter)
{
	if (type <= 0 || type >= EVENTS || !event_names[type])
		return 1;
	TRACER_MESSAGE(parameter && *parameter ? parameter : event_names[type]);
	return 0;
}

static int mark_create(const char *name)
{
	return event_create(name, name ? (int)strlen(name) : -1);
}

/* of the domain's frames; its extra2 */
static uint32_t frame_channel(struct itt_domain *domain)
{
	uintptr_t channel = __atomic_load_n((uintptr_t *)&domain->extra2, __ATOMIC_ACQUIRE);

	if (!channel) {
		pthread_mutex_lock(&lists);
		channel = (uintptr_t)domain->extra2;
		if (!channel) {
			channel = new_channel();
			__atomic_store_n((uintptr_t *)&domain->extra2, channel, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&lists);
	}
	return channel;
}

/* a frame has an extent, which a FRAME mark has not: a marker shows that */
static void frame_begin_v3(struct itt_domain *domain, struct itt_id *id)
{
	if (!domain)
		return;
	TRACER_CHANNEL_NAME(frame_channel(domain), domain->name);
	TRACER_MARKER_SET(frame_channel(domain), domain->name, id ? identity(*id) : 0);
}

static void frame_end_v3(struct itt_domain *domain, struct itt_id *id)
{
	(void)id;
	if (!domain)
		return;
	TRACER_MARKER_RESET(frame_channel(domain));
	TRACER_FRAME(domain->name);
}

static void frame_submit_v3(struct itt_domain *domain, struct itt_id *id, unsigned long long begin,
			    unsigned long long end)
{
	(void)id;
	(void)begin;
	(void)end;
	if (domain)
		TRACER_FRAME(domain->name);
}

static struct itt_domain *frame_create(const char *name)
{
	return domain_create(name ? name : "frame");
}

static void frame_begin(struct itt_domain *domain)
{
	frame_begin_v3(domain, NULL);
}

static void frame_end(struct itt_domain *domain)
{
	frame_end_v3(domain, NULL);
}

/* --- counters --- */

/* "name", or "domain: name" if another domain has one of that name already */
static struct itt_counter *counter_create_typed(const char *name, const char *domain, int type)
{
	static struct itt_counter *first;
	struct itt_counter *counter;
	bool taken = false;
	char full[512];

	if (!name)
		return NULL;
	pthread_mutex_lock(&lists);
	snprintf(full, sizeof(full), "%s: %s", domain ? domain : "", name);
	for (counter = first; counter; counter = counter->next) {
		bool same_domain = !strcmp(counter->domain, domain ? domain : "");

		if (same_domain && (!strcmp(counter->name, name) || !strcmp(counter->name, full)))
			break;
		taken |= !strcmp(counter->name, name);
	}
	if (!counter) {
		counter = calloc(1, sizeof(*counter));
		if (counter) {
			counter->name = strdup(taken ? full : name);
			counter->domain = strdup(domain ? domain : "");
			counter->type = type;
			if (counter->name && counter->domain) {
				counter->next = first;
				first = counter;
			} else {
				free((char *)counter->name);
				free((char *)counter->domain);
				free(counter);
				counter = NULL;
			}
		}
	}
	pthread_mutex_unlock(&lists);
	return counter;
}

static struct itt_counter *counter_create(const char *name, const char *domain)
{
	return counter_create_typed(name, domain, ITT_METADATA_U64);
}

static struct itt_counter *counter_create_v3(const struct itt_domain *domain, const char *name,
					     int type)
{
	return counter_create_typed(name, domain ? domain->name : NULL, type);
}

static void counter_add(struct itt_counter *counter, int64_t delta)
{
	long value;

	if (!counter)
		return;
	value = __atomic_add_fetch(&counter->index, delta, __ATOMIC_RELAXED);
	TRACER_COUNTER(counter->name, value);
}

static void counter_inc(struct itt_counter *counter)
{
	counter_add(counter, 1);
}

static void counter_dec(struct itt_counter *counter)
{
	counter_add(counter, -1);
}

static void counter_inc_delta(struct itt_counter *counter, unsigned long long delta)
{
	counter_add(counter, delta);
}

static void counter_dec_delta(struct itt_counter *counter, unsigned long long delta)
{
	counter_add(counter, -(int64_t)delta);
}

static void counter_add_v3(const struct itt_domain *domain, const struct itt_string *name,
			   int64_t delta)
{
	counter_add(counter_create(text_of(name), domain ? domain->name : NULL), delta);
}

static void counter_inc_v3(const struct itt_domain *domain, struct itt_string *name)
{
	counter_add_v3(domain, name, 1);
}

static void counter_dec_v3(const struct itt_domain *domain, struct itt_string *name)
{
	counter_add_v3(domain, name, -1);
}

static void counter_inc_delta_v3(const struct itt_domain *domain, struct itt_string *name,
				 unsigned long long delta)
{
	counter_add_v3(domain, name, delta);
}

static void counter_dec_delta_v3(const struct itt_domain *domain, struct itt_string *name,
				 unsigned long long delta)
{
	counter_add_v3(domain, name, -(int64_t)delta);
}

static void counter_set_value(struct itt_counter *counter, const void *data)
{
	double number;
	float real;
	int64_t value = 0;

	if (!counter || !data)
		return;
	switch (counter->type) {
	case ITT_METADATA_FLOAT:
		memcpy(&real, data, sizeof(real));
		TRACER_COUNTER(counter->name, (double)real);
		return;
	case ITT_METADATA_DOUBLE:
		memcpy(&number, data, sizeof(number));
		TRACER_COUNTER(counter->name, number);
		return;
	case ITT_METADATA_U32:
		value = *(const uint32_t *)data;
		break;
	case ITT_METADATA_S32:
		value = *(const int32_t *)data;
		break;
	case ITT_METADATA_U16:
		value = *(const uint16_t *)data;
		break;
	case ITT_METADATA_S16:
		value = *(const int16_t *)data;
		break;
	default:
		memcpy(&value, data, sizeof(value));
	}
	__atomic_store_n(&counter->index, value, __ATOMIC_RELAXED);
	TRACER_COUNTER(counter->name, value);
}

static void counter_set_value_ex(struct itt_counter *counter, void *clock, unsigned long long time,
				 void *data)
{
	(void)clock;
	(void)time;
	counter_set_value(counter, data);
}

static void counter_destroy(struct itt_counter *counter)
{
	(void)counter; /* its name may come again, and goes on */
}

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

static const struct {
	const char *name; /* without its __itt_ */
	void *function;
} functions[] = {
#define FUNCTION(name)              \
	{                           \
#name, (void *)name \
	}
	FUNCTION(domain_create),
	{"string_handle_create", (void *)string_create},
	FUNCTION(task_begin),
	FUNCTION(task_begin_fn),
	FUNCTION(task_end),
	FUNCTION(task_begin_overlapped),
	FUNCTION(task_end_overlapped),
	FUNCTION(task_begin_ex),
	FUNCTION(task_begin_fn_ex),
	FUNCTION(task_end_ex),
	FUNCTION(task_begin_overlapped_ex),
	FUNCTION(task_end_overlapped_ex),
	{"region_begin", (void *)task_begin_overlapped},
	{"region_end", (void *)task_end_overlapped},
	FUNCTION(relation_add),
	FUNCTION(relation_add_to_current),
	FUNCTION(metadata_add),
	FUNCTION(metadata_str_add),
	FUNCTION(metadata_add_with_scope),
	FUNCTION(metadata_str_add_with_scope),
	FUNCTION(marker),
	FUNCTION(marker_ex),
	FUNCTION(event_create),
	FUNCTION(event_start),
	FUNCTION(event_end),
	FUNCTION(mark_create),
	FUNCTION(mark),
	{"mark_global", (void *)mark},
	FUNCTION(frame_begin_v3),
	FUNCTION(frame_end_v3),
	FUNCTION(frame_submit_v3),
	FUNCTION(frame_create),
	FUNCTION(frame_begin),
	FUNCTION(frame_end),
	FUNCTION(counter_create),
	FUNCTION(counter_create_typed),
	FUNCTION(counter_create_v3),
	FUNCTION(counter_inc),
	FUNCTION(counter_dec),
	FUNCTION(counter_inc_delta),
	FUNCTION(counter_dec_delta),
	FUNCTION(counter_inc_v3),
	FUNCTION(counter_dec_v3),
	FUNCTION(counter_inc_delta_v3),
	FUNCTION(counter_dec_delta_v3),
	FUNCTION(counter_set_value),
	FUNCTION(counter_set_value_ex),
	{"counter_set_value_v3", (void *)counter_set_value},
	FUNCTION(counter_destroy),
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
#undef FUNCTION
};

EXPORT void __itt_api_init(struct itt_global *program, int groups)
{
	(void)groups;
	for (struct itt_api *api = program->apis; api && api->name; api++) {
		const char *name = api->name;

		/* what is not collected does nothing */
		*api->function = api->null_function;
		if (!strncmp(name, "__itt_", 6))
			name += 6;
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			if (!strcmp(name, functions[i].name))
				*api->function = functions[i].function;
	}
}

EXPORT void __itt_api_fini(struct itt_global *program)
{
	(void)program;
}
