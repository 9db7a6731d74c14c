/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The journal: the runtime's own account of what it did, independent of any tracer, to compare a
 * report with. It lies in a shared mapping of a file, so it survives SIGKILL of the program.
 *
 * Every thread counts in a slot of its own, and each point is counted right after it has returned.
 * Hence, if a tracer was attached before the first point, and whenever the program is killed:
 *
 *	journal <= captured <= journal + one per thread
 *
 * A child process made by fork() goes on in the same file, in slots of its own.
 */
#ifndef RUNTIME_JOURNAL_H
#define RUNTIME_JOURNAL_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The points' numbers, from the one list: JOURNAL_task_begin and so on. */
enum journal_event {
#define JOURNAL_ROW(number, name) JOURNAL_##name = (number),
#define TRACER_EVENT0(number, name, ...) JOURNAL_ROW(number, name)
#define TRACER_EVENT1(number, name, ...) JOURNAL_ROW(number, name)
#define TRACER_EVENT2(number, name, ...) JOURNAL_ROW(number, name)
#define TRACER_EVENT3(number, name, ...) JOURNAL_ROW(number, name)
#define TRACER_EVENT4(number, name, ...) JOURNAL_ROW(number, name)
#include <tracer/events.def>
#undef JOURNAL_ROW
};

/* What no single event says. */
enum journal_total {
	JOURNAL_MIGRATIONS,
	JOURNAL_WORKER_TASKS, /* tasks that this thread ran, each once however often it came back */
	JOURNAL_CONTINUATIONS_INLINE,
	JOURNAL_CONTINUATIONS_SCHEDULED,
	JOURNAL_FIBERS_MADE,
	JOURNAL_TOTALS
};

/* Counts by name or object. */
enum journal_kind {
	JOURNAL_KIND_NONE,
	JOURNAL_KIND_LIFETIME,	/* name of a completed task */
	JOURNAL_KIND_REASON,	/* of a suspension */
	JOURNAL_KIND_CAUSE,	/* of a wake */
	JOURNAL_KIND_PAIR,	/* object: thief << 32 | victim; sum: victims' depths */
	JOURNAL_KIND_ZONE,	/* name, US, function, US, file:line */
	JOURNAL_KIND_LOCK_NAME, /* a name and the lock that has it */
	JOURNAL_KIND_LOCK,	/* acquisitions of the lock; sum: those that had to wait */
	JOURNAL_KIND_COUNTER,	/* samples, with min and max */
};

#define JOURNAL_MAGIC 0x316c616e72756f6aULL /* "journal1" */
#define JOURNAL_SLOTS 512
#define JOURNAL_NAMES 512
#define JOURNAL_NAME_SIZE 128
#define JOURNAL_KEYS 512
#define JOURNAL_EVENTS 256
#define JOURNAL_SEPARATOR '\x1f'

struct journal_key {
	uint32_t kind;
	uint32_t name; /* index of the name + 1; 0: no name */
	uint64_t object;
	uint64_t count;
	int64_t sum;
	int64_t min;
	int64_t max;
};

/* One point, for the event-by-event journal. */
struct journal_record {
	uint64_t sequence; /* of the thread, from 1; written last, so another one is not whole */
	uint64_t stamp;	   /* cycle counter, after the point */
	uint64_t event;
	uint64_t args[4]; /* strings: index of the name + 1 */
	uint64_t reserved;
};

struct journal_slot {
	alignas(64) uint32_t pid;
	uint32_t tid;
	uint32_t worker; /* UINT32_MAX: none */
	uint32_t worker_name;
	uint64_t max_queue_depth;
	uint64_t events[JOURNAL_EVENTS];
	uint64_t totals[JOURNAL_TOTALS];
	uint64_t records; /* written to the thread's event-by-event ring */
	uint64_t keys_refused;
	struct journal_key keys[JOURNAL_KEYS];
};

struct journal {
	uint64_t magic;
	uint64_t size;
	uint32_t pid;		   /* of the program that made the file */
	uint32_t ring_records;	   /* of each thread's event-by-event ring: a power of two, or 0 */
	_Atomic uint32_t finished; /* the program came to its end */
	_Atomic uint32_t slot_count;
	_Atomic uint32_t name_count;
	_Atomic uint32_t name_lock;
	_Atomic uint64_t refused; /* points of threads without a slot, names without room */
	_Atomic int64_t active_continuations;
	_Atomic int64_t max_active_continuations;
	char command[256];
	char names[JOURNAL_NAMES][JOURNAL_NAME_SIZE];
	struct journal_slot slots[JOURNAL_SLOTS];
	struct journal_record rings[]; /* slot i has those from i * ring_records on */
};

/* Read by every point of the runtime: no journal must cost next to nothing. */
extern bool journal__on;

/*
 * journal__open() - from here on count in @path, which is overwritten
 * @ring_records: event-by-event records kept per thread, 0 for totals only
 * Returns 0 or -errno. To be called while there is one thread.
 */
int journal__open(const char *path, uint32_t ring_records, const char *command);
void journal__finish(void);
/* a forked child counts in slots of its own */
void journal__forked(void);

/* the point that has just returned; for strings the argument is their address */
void journal__event(enum journal_event event, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
void journal__total(enum journal_total total);
void journal__lifetime(const char *task_name);
void journal__lock_contended(const void *lock);
/* @id caches the name's index for the call site */
void journal__zone(_Atomic uint32_t *id, const char *name, const char *function, const char *where);

#endif /* RUNTIME_JOURNAL_H */
