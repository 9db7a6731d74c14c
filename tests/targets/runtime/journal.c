/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writing the journal. Slots have one writer each; they are read by another process when this one
 * is gone, so all that counts is that a value is stored whole, and after the point.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "journal.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

bool journal__on;
static struct journal *journal;
static _Thread_local struct journal_slot *own_slot;
static _Thread_local bool no_slot;

/* String arguments of each event, as a bit per argument, from the one list. */
#define IS_STRING(type) (STRING_##type)
enum { STRING_id, STRING_u32, STRING_u64, STRING_num, STRING_str, STRING_lit };
#define BIT(type, n) ((IS_STRING(type) == STRING_str || IS_STRING(type) == STRING_lit) << (n))
static const unsigned char string_args[JOURNAL_EVENTS] = {
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) [number] = BIT(t1, 0),
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) \
	[number] = BIT(t1, 0) | BIT(t2, 1),
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc) \
	[number] = BIT(t1, 0) | BIT(t2, 1) | BIT(t3, 2),
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc) \
	[number] = BIT(t1, 0) | BIT(t2, 1) | BIT(t3, 2) | BIT(t4, 3),
#include <tracer/events.def>
};

static uint64_t cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

/*
 * Plain additions in memory that others read later: relaxed, so that the compiler neither keeps nor
 * splits them; release, so that what came before (the point) is not moved behind.
 */
static void add(uint64_t *value, uint64_t n)
{
	__atomic_store_n(value, __atomic_load_n(value, __ATOMIC_RELAXED) + n, __ATOMIC_RELEASE);
}

/*
 * Looked up anew at each call, out of line: a task may be on another thread than at the call
 * before, and an address of a thread-local that the compiler kept would be the old thread's.
 */
static __attribute__((noinline)) struct journal_slot *journal__slot(void)
{
	struct journal_slot *slot = own_slot;
	uint32_t index;

	__asm__ volatile("" ::: "memory");
	if (slot)
		return slot;
	if (!no_slot) {
		index = atomic_fetch_add(&journal->slot_count, 1);
		if (index < JOURNAL_SLOTS) {
			slot = &journal->slots[index];
			slot->tid = (uint32_t)syscall(SYS_gettid);
			slot->worker = UINT32_MAX;
			__atomic_store_n(&slot->pid, (uint32_t)getpid(), __ATOMIC_RELEASE);
			own_slot = slot;
			return slot;
		}
		no_slot = true;
	}
	atomic_fetch_add(&journal->refused, 1);
	return NULL;
}

static void lock_names(void)
{
	while (atomic_exchange_explicit(&journal->name_lock, 1, memory_order_acquire))
		while (atomic_load_explicit(&journal->name_lock, memory_order_relaxed))
			syscall(SYS_sched_yield);
}

/* Index + 1 of a string that is equal to @name; 0 for NULL and when the table is full. */
static uint32_t journal__name(const char *name)
{
	uint32_t count, id = 0;

	if (!name)
		return 0;
	/* names are only ever added, and whole before they are
	 * counted: look without the lock first */
	count = atomic_load_explicit(&journal->name_count, memory_order_acquire);
	for (uint32_t i = 0; i < count; i++)
		if (!strncmp(journal->names[i], name, JOURNAL_NAME_SIZE - 1))
			return i + 1;
	lock_names();
	count = atomic_load_explicit(&journal->name_count, memory_order_relaxed);
	for (uint32_t i = 0; i < count && !id; i++)
		if (!strncmp(journal->names[i], name, JOURNAL_NAME_SIZE - 1))
			id = i + 1;
	if (!id && count < JOURNAL_NAMES) {
		/* the file is new, so the last byte is 0 */
		strncpy(journal->names[count], name, JOURNAL_NAME_SIZE - 1);
		id = count + 1;
		atomic_store_explicit(&journal->name_count, count + 1, memory_order_release);
	}
	atomic_store_explicit(&journal->name_lock, 0, memory_order_release);
	if (!id)
		atomic_fetch_add(&journal->refused, 1);
	return id;
}

static struct journal_key *slot__key(struct journal_slot *slot, enum journal_kind kind,
				     uint32_t name, uint64_t object)
{
	uint64_t hash =
		(object ^ (uint64_t)name << 40 ^ (uint64_t)kind << 58) * 0x9e3779b97f4a7c15ULL;

	for (uint32_t i = 0; i < JOURNAL_KEYS; i++) {
		struct journal_key *key = &slot->keys[((hash >> 40) + i) % JOURNAL_KEYS];

		if (key->kind == kind && key->name == name && key->object == object)
			return key;
		if (key->kind == JOURNAL_KIND_NONE) {
			key->name = name;
			key->object = object;
			key->min = INT64_MAX;
			key->max = INT64_MIN;
			__atomic_store_n(&key->kind, kind, __ATOMIC_RELEASE);
			return key;
		}
	}
	add(&slot->keys_refused, 1);
	return NULL;
}

static void slot__count(struct journal_slot *slot, enum journal_kind kind, uint32_t name,
			uint64_t object, int64_t value)
{
	struct journal_key *key = slot__key(slot, kind, name, object);

	if (!key)
		return;
	key->sum += value;
	if (value < key->min)
		key->min = value;
	if (value > key->max)
		key->max = value;
	add(&key->count, 1);
}

static void slot__record(struct journal_slot *slot, enum journal_event event,
			 const uint64_t args[4])
{
	struct journal_record *ring =
		&journal->rings[(size_t)(slot - journal->slots) * journal->ring_records];
	uint64_t sequence = slot->records + 1;
	struct journal_record *record = &ring[(sequence - 1) & (journal->ring_records - 1)];

	/* acquire: what is written below does not move above */
	__atomic_exchange_n(&record->sequence, 0, __ATOMIC_ACQ_REL);
	record->stamp = cycles();
	record->event = event;
	for (int i = 0; i < 4; i++)
		record->args[i] = string_args[event] & 1 << i
					  ? journal__name((const char *)(uintptr_t)args[i])
					  : args[i];
	__atomic_store_n(&record->sequence, sequence, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->records, sequence, __ATOMIC_RELEASE);
}

/* What an event says beyond that it happened. */
static void slot__details(struct journal_slot *slot, enum journal_event event,
			  const uint64_t args[4])
{
	const char *second = (const char *)(uintptr_t)args[1];

	switch (event) {
	case JOURNAL_task_suspended:
		slot__count(slot, JOURNAL_KIND_REASON, journal__name(second), 0, 0);
		break;
	case JOURNAL_task_resumed:
		slot__count(slot, JOURNAL_KIND_CAUSE, journal__name(second), 0, 0);
		break;
	case JOURNAL_worker_start:
		slot->worker_name = journal__name(second);
		__atomic_store_n(&slot->worker, (uint32_t)args[0], __ATOMIC_RELEASE);
		break;
	case JOURNAL_queue_depth:
		if (args[1] > slot->max_queue_depth)
			slot->max_queue_depth = args[1];
		break;
	case JOURNAL_steal:
		slot__count(slot, JOURNAL_KIND_PAIR, 0, args[0] << 32 | args[1], (int64_t)args[3]);
		break;
	case JOURNAL_lock_wait:
		slot__count(slot, JOURNAL_KIND_LOCK_NAME, journal__name(second), args[0], 0);
		break;
	case JOURNAL_lock_acquired:
		slot__count(slot, JOURNAL_KIND_LOCK, 0, args[0], 0);
		break;
	case JOURNAL_counter:
		slot__count(slot, JOURNAL_KIND_COUNTER,
			    journal__name((const char *)(uintptr_t)args[0]), 0, (int64_t)args[1]);
		break;
	default:
		break;
	}
}

static void journal__active_continuations(int64_t change)
{
	int64_t now = atomic_fetch_add(&journal->active_continuations, change) + change;
	int64_t max = atomic_load(&journal->max_active_continuations);

	while (now > max &&
	       !atomic_compare_exchange_weak(&journal->max_active_continuations, &max, now))
		;
}

void journal__event(enum journal_event event, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t args[4] = {a, b, c, d};
	struct journal_slot *slot = journal__slot();

	if (!slot)
		return;
	add(&slot->events[event], 1);
	slot__details(slot, event, args);
	if (event == JOURNAL_continuation_begin)
		journal__active_continuations(1);
	else if (event == JOURNAL_continuation_end)
		journal__active_continuations(-1);
	if (journal->ring_records)
		slot__record(slot, event, args);
}

void journal__total(enum journal_total total)
{
	struct journal_slot *slot = journal__on ? journal__slot() : NULL;

	if (slot)
		add(&slot->totals[total], 1);
}

void journal__lifetime(const char *task_name)
{
	struct journal_slot *slot = journal__on ? journal__slot() : NULL;

	if (slot)
		slot__count(slot, JOURNAL_KIND_LIFETIME, journal__name(task_name), 0, 0);
}

void journal__lock_contended(const void *lock)
{
	struct journal_slot *slot = journal__on ? journal__slot() : NULL;
	struct journal_key *key;

	if (!slot)
		return;
	key = slot__key(slot, JOURNAL_KIND_LOCK, 0, (uintptr_t)lock);
	if (key)
		key->sum++;
}

void journal__zone(_Atomic uint32_t *id, const char *name, const char *function, const char *where)
{
	struct journal_slot *slot = journal__on ? journal__slot() : NULL;
	uint32_t known = atomic_load_explicit(id, memory_order_relaxed);
	char text[JOURNAL_NAME_SIZE];

	if (!slot)
		return;
	if (!known) {
		snprintf(text, sizeof(text), "%s%c%s%c%s", name, JOURNAL_SEPARATOR, function,
			 JOURNAL_SEPARATOR, where);
		known = journal__name(text);
		atomic_store_explicit(id, known, memory_order_relaxed);
	}
	slot__count(slot, JOURNAL_KIND_ZONE, known, 0, 0);
}

int journal__open(const char *path, uint32_t ring_records, const char *command)
{
	uint32_t records = 0;
	size_t size;
	void *map;
	int fd, err = 0;

	if (ring_records)
		for (records = 1; records < ring_records; records *= 2)
			;
	size = sizeof(*journal) + (size_t)records * JOURNAL_SLOTS * sizeof(struct journal_record);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size)) {
		err = -errno;
		goto out;
	}
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		err = -errno;
		goto out;
	}
	journal = map;
	journal->size = size;
	journal->pid = (uint32_t)getpid();
	journal->ring_records = records;
	snprintf(journal->command, sizeof(journal->command), "%s", command);
	journal->magic = JOURNAL_MAGIC;
	journal__on = true;
out:
	close(fd);
	return err;
}

void journal__finish(void)
{
	if (journal__on)
		atomic_store(&journal->finished, 1);
}

void journal__forked(void)
{
	own_slot = NULL;
	no_slot = false;
}
