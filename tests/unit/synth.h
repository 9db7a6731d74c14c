/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures made by hand: rings as a target writes them, chunks of them, and files around those. The
 * clock of all of them: boottime ns = cycles / 3, and CLOCK_MONOTONIC = boottime - SYNTH_MONOTONIC.
 */
#ifndef TRACER_TESTS_SYNTH_H
#define TRACER_TESTS_SYNTH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <records.h>
#include <tracer/ring.h>
#include "capture/file.h"
#include "trace/trace.h"

#define SYNTH_MONOTONIC 7000ULL
#define SYNTH_START 5000000000ULL /* boottime of the captures' first clock snapshot */
#define MS 1000000ULL
#define SEC 1000000000ULL

/* Bytes of a ring, from position `start` on. */
struct synth_ring {
	uint8_t *data;
	size_t size, capacity;
	uint64_t start;
	uint64_t start_records, records; /* as the head counts them */
	bool monotonic;
};

void ring__init(struct synth_ring *ring, uint64_t start, uint64_t start_records);
void ring__free(struct synth_ring *ring);
void ring__bytes(struct synth_ring *ring, const void *bytes, size_t size);
/* times are boottime ns; the stamp is made of them by the ring's clock */
void ring__window(struct synth_ring *ring, uint64_t time, enum tracer_clock clock);
void ring__pad(struct synth_ring *ring, uint64_t bytes);
/* returns the key */
uint64_t ring__name(struct synth_ring *ring, const char *string);
void ring__name_key(struct synth_ring *ring, uint64_t key, const void *bytes, size_t size);
/* one argument of each row's args each, as uint64_t, laid out by events.def */
void ring__event(struct synth_ring *ring, unsigned int type, uint64_t time, ...);
/* a record of that type with these bytes behind the stamp */
void ring__raw(struct synth_ring *ring, unsigned int type, uint64_t time, const void *bytes,
	       size_t size);
#define ring__begin(ring, time, task) ring__event(ring, EV_task_begin, time, (uint64_t)(task), 0ULL)

struct synth { /* a file, in memory */
	uint8_t *data;
	size_t size, capacity;
	bool zstd;   /* blocks from here on */
	bool planes; /* and those of records by byte planes */
	/* RECORDS block under way */
	uint8_t *records;
	size_t records_size, records_capacity;
};

/* header, META, and clock snapshots at SYNTH_START and a minute later */
void synth__init(struct synth *synth);
/* the same without the META and the clocks */
void synth__init_bare(struct synth *synth, unsigned int major, unsigned int minor);
void synth__free(struct synth *synth);
void synth__block(struct synth *synth, unsigned int type, const void *data, size_t size);
void synth__json(struct synth *synth, unsigned int type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void synth__clock(struct synth *synth, uint64_t cycles, uint64_t boottime, uint64_t spread);
void synth__round(struct synth *synth, uint64_t time);
void synth__round_complete(struct synth *synth, uint64_t time, uint64_t complete);
void synth__held(struct synth *synth, uint64_t time, uint32_t tid, uint64_t since);
void synth__dso(struct synth *synth, const char *json, const void *image, size_t size);
/* a record into the RECORDS block under way */
void synth__record(struct synth *synth, const void *record, size_t size);
/* the CPU goes from one thread to another; flags: enum rec_switch_flags */
void synth__switch(struct synth *synth, uint64_t time, unsigned int cpu, unsigned int flags,
		   uint32_t prev, uint32_t state, uint32_t next, uint32_t lost);
void synth__waking(struct synth *synth, uint64_t time, unsigned int cpu, uint32_t tid, uint32_t waker,
		   unsigned int flags);
void synth__flush(struct synth *synth); /* ends the block under way; all of the above do it too */
void synth__end(struct synth *synth);	/* END, finished */

struct synth_chunk {
	uint32_t pid, tid;
	uint64_t stream;
	uint64_t dso;
	uint64_t time;
	unsigned int cause, flags;
	uint64_t head, head_records; /* 0: those of the ring's end */
	uint64_t start_records;	     /* 0: those of the ring's start */
};

/* a piece of @ring, [from, to) from its beginning */
void synth__chunk(struct synth *synth, const struct synth_ring *ring, size_t from, size_t to,
		  struct synth_chunk chunk);
/* the whole ring as its stream's only chunk */
void synth__stream(struct synth *synth, const struct synth_ring *ring, uint64_t stream,
		   uint32_t tid, uint64_t time);
void synth__task(struct synth *synth, unsigned int kind, uint64_t time, uint32_t pid, uint32_t tid,
		 uint32_t parent, int status);

/* writes @size bytes of the file and opens it; fails the test if that does not work */
struct trace *synth__open_size(const struct synth *synth, size_t size);
struct trace *synth__open(struct synth *synth);
/* writes it to a temporary file and says where */
const char *synth__write(const struct synth *synth, size_t size);

/* all events of a trace, in text: "time-SYNTH_START/1000 tid name args" joined by newlines */
char *synth__dump(struct trace *trace);

#endif /* TRACER_TESTS_SYNTH_H */
