// SPDX-License-Identifier: BSD-2-Clause
/* Threads, frames and the table of addresses of the collector (self.h). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <tracer/tracer.h>
#include "self.h"

#define IDS (1ULL << 20) /* identities that a thread takes at a time */

static __thread struct self this_thread __attribute__((tls_model("initial-exec")));
static pthread_key_t ending;
static pthread_once_t ending_once = PTHREAD_ONCE_INIT;

/* not inlined, and not foreseeable: see self.h */
#ifdef __clang__
__attribute__((noinline))
#else
__attribute__((noinline, noclone))
#endif
struct self *
self__get(void)
{
	struct self *self = &this_thread;

	__asm__ volatile("" : "+r"(self)::"memory");
	return self;
}

uint64_t self__id(struct self *self)
{
	static uint64_t taken = IDS;

	if (self->id_next == self->id_end) {
		self->id_next = __atomic_fetch_add(&taken, IDS, __ATOMIC_RELAXED);
		self->id_end = self->id_next + IDS;
	}
	return self->id_next++;
}

/* --- workers --- */

/* this library is never unloaded (-z nodelete), so the key's destructor stays valid */
static void thread_ends(void *worker)
{
	self__sleep_end(self__get(), "thread ends");
	TRACER_WORKER_STOP((uint32_t)(uintptr_t)worker - 1);
}

static void make_key(void)
{
	pthread_key_create(&ending, thread_ends);
}

uint32_t self__worker(struct self *self, const char *name)
{
	static uint32_t workers;

	if (!self->worker) {
		self->worker = __atomic_add_fetch(&workers, 1, __ATOMIC_RELAXED);
		pthread_once(&ending_once, make_key);
		pthread_setspecific(ending, (void *)(uintptr_t)self->worker);
		TRACER_WORKER_START(self->worker - 1, name);
	}
	return self->worker - 1;
}

void self__rename(struct self *self, const char *name)
{
	if (self->worker)
		TRACER_WORKER_START(self->worker - 1, name);
	else
		self__worker(self, name);
}

void self__sleep_begin(struct self *self, const char *reason)
{
	if (self->sleeping)
		return;
	self->sleeping = true;
	TRACER_WORKER_SLEEP_BEGIN(self__worker(self, "thread"), reason);
}

void self__sleep_end(struct self *self, const char *cause)
{
	if (!self->sleeping)
		return;
	self->sleeping = false;
	TRACER_WORKER_SLEEP_END(self->worker - 1, cause);
}

/* --- frames --- */

struct frame *frame__new(struct self *self, enum frame_kind kind)
{
	struct frame *frame = self->unused;

	if (frame)
		self->unused = frame->outer;
	else
		frame = malloc(sizeof(*frame));
	if (frame)
		*frame = (struct frame){.live = true, .kind = kind, .reason = self->reason};
	return frame;
}

void frame__free(struct self *self, struct frame *frame)
{
	frame->live = false;
	frame->outer = self->unused;
	self->unused = frame;
}

struct frame *frame__push(struct self *self, enum frame_kind kind)
{
	struct frame *frame = frame__new(self, kind);

	if (!frame)
		return NULL;
	frame->outer = self->top;
	self->top = frame;
	return frame;
}

void frame__pop(struct self *self, struct frame *frame)
{
	if (!frame->live) {
		self->top = NULL;
		return;
	}
	self->top = frame->outer;
	self->reason = frame->reason;
	frame__free(self, frame);
}

/* --- the table --- */

#define STRIPES 64U

struct entry {
	struct entry *next;
	uint64_t key;
	uint32_t kind;
	struct table_value value;
};

struct stripe {
	pthread_spinlock_t lock;
	uint32_t count, size;
	struct entry **buckets;
} __attribute__((aligned(64)));

static struct stripe stripes[STRIPES];
static pthread_once_t stripes_once = PTHREAD_ONCE_INIT;

static void init_stripes(void)
{
	for (uint32_t i = 0; i < STRIPES; i++)
		pthread_spin_init(&stripes[i].lock, PTHREAD_PROCESS_PRIVATE);
}

static uint64_t hash_of(uint64_t key, uint32_t kind)
{
	return (key ^ (uint64_t)kind << 57) * 0x9e3779b97f4a7c15ULL;
}

static struct stripe *stripe__lock(uint64_t hash)
{
	struct stripe *stripe = &stripes[hash >> 58];

	pthread_once(&stripes_once, init_stripes);
	pthread_spin_lock(&stripe->lock);
	return stripe;
}

static void stripe__grow(struct stripe *stripe)
{
	uint32_t size = stripe->size ? 2 * stripe->size : 64;
	struct entry **buckets = calloc(size, sizeof(*buckets)), *entry, *next;

	if (!buckets)
		return;
	for (uint32_t i = 0; i < stripe->size; i++) {
		for (entry = stripe->buckets[i]; entry; entry = next) {
			struct entry **bucket =
				&buckets[hash_of(entry->key, entry->kind) >> 32 & (size - 1)];

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	free(stripe->buckets);
	stripe->buckets = buckets;
	stripe->size = size;
}

static struct entry **stripe__find(struct stripe *stripe, uint64_t hash, enum table_kind kind,
				   uint64_t key)
{
	struct entry **at = &stripe->buckets[hash >> 32 & (stripe->size - 1)];

	while (*at && ((*at)->key != key || (*at)->kind != kind))
		at = &(*at)->next;
	return at;
}

void table__put(enum table_kind kind, uint64_t key, struct table_value value)
{
	uint64_t hash = hash_of(key, kind);
	struct entry *made = malloc(sizeof(*made)), **at;
	struct stripe *stripe = stripe__lock(hash);

	if (stripe->count >= stripe->size)
		stripe__grow(stripe);
	if (made && stripe->size) {
		at = stripe__find(stripe, hash, kind, key);
		if (*at) {
			(*at)->value = value;
		} else {
			*made = (struct entry){NULL, key, kind, value};
			*at = made;
			made = NULL;
			stripe->count++;
		}
	}
	pthread_spin_unlock(&stripe->lock);
	free(made);
}

static bool look_up(enum table_kind kind, uint64_t key, struct table_value *value, bool take)
{
	uint64_t hash = hash_of(key, kind);
	struct stripe *stripe = &stripes[hash >> 58];
	struct entry **at, *found = NULL;

	if (!__atomic_load_n(&stripe->count, __ATOMIC_RELAXED))
		return false;
	stripe__lock(hash);
	if (stripe->size) {
		at = stripe__find(stripe, hash, kind, key);
		found = *at;
		if (found)
			*value = found->value;
		if (found && take) {
			*at = found->next;
			stripe->count--;
		}
	}
	pthread_spin_unlock(&stripe->lock);
	if (take)
		free(found);
	return found != NULL;
}

bool table__get(enum table_kind kind, uint64_t key, struct table_value *value)
{
	return look_up(kind, key, value, false);
}

bool table__take(enum table_kind kind, uint64_t key, struct table_value *value)
{
	return look_up(kind, key, value, true);
}
