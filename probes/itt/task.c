// SPDX-License-Identifier: BSD-2-Clause
/* The collector's part for domains, strings, tasks, and what is told of tasks. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "../code/code_name.h"
#include "functions.h"
#include "itt_abi.h"
#include "self.h"

pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

/* --- domains, strings, identities --- */

struct itt_domain *domain_create(const char *name)
{
	static struct itt_domain *first;
	struct itt_domain *domain;

	if (!name)
		return NULL;
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

struct itt_string *string_create(const char *text)
{
	static struct itt_string *buckets[256];
	struct itt_string *string, **bucket;
	unsigned char hash = 0;

	if (!text)
		return NULL;
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

const char *text_of(const struct itt_string *string)
{
	return string ? string->text : NULL;
}

/* the program's three words as one; 0 is none */
uint64_t identity(struct itt_id id)
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

const struct itt_function task_functions[] = {
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
	{0},
};
