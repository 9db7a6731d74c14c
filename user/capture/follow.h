/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The targets' streams, followed while they are recorded. A plain capture is written undecoded; who
 * has to begin a new file in the middle of it, or wants to know at once what happens (triggers),
 * needs to know where in each stream a record begins, which names its window has given, who is a
 * worker, and which tasks live. So each chunk is walked through once, a few nanoseconds a record,
 * and nothing is kept but that: memory is that of the threads and tasks that live.
 */
#ifndef TRACER_CAPTURE_FOLLOW_H
#define TRACER_CAPTURE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <records.h>
#include "file.h"

/* A moment, on all clocks. */
struct moment {
	uint64_t cycles, monotonic, boottime;
};

/* What triggers want to know; see trigger.c. */
struct follow_event {
	uint32_t pid, tid;
	uint64_t stream;
	uint16_t type; /* number of events.def; 0: what the thread did is not known, something was
			  lost */
	uint64_t identity;
	uint64_t stamp;
	bool monotonic;
};

struct follow;

struct follow *follow__new(void);
void follow__free(struct follow *follow);
/* a binary's schema: records of events that this tracer does not know have a size, too */
void follow__learn(struct follow *follow, const char *schema);
void follow__watch(struct follow *follow, void (*take)(void *ctx, const struct follow_event *event),
		   void *ctx);

/*
 * follow__chunk() - walk through a chunk, up to a moment; a stream's chunks in their order
 * @until: NULL, or go no further than the first record that was written at that moment or later
 * @records: receives the count of the stream's records at the place that is returned
 * Returns how many bytes of data belong before @until; without it, all.
 */
uint32_t follow__chunk(struct follow *follow, const struct rec_chunk *chunk,
		       const struct moment *until, uint64_t *records);
/* is the stream's next record beyond the moment up to which it was followed? */
bool follow__is_held(const struct follow *follow, uint64_t stream);
/* @held: from here on it is; forgotten for all streams by follow__release() */
void follow__hold(struct follow *follow, const struct rec_chunk *chunk);
void follow__release(struct follow *follow);
/* a thread, or the program that its process ran, ended */
void follow__thread_ends(struct follow *follow, uint32_t tid, uint64_t time);
void follow__process_ends(struct follow *follow, uint32_t pid);
/* streams of threads that ended before @time are forgotten */
void follow__sweep(struct follow *follow, uint64_t time);

/*
 * follow__tell() - what a reader who begins here has to know
 * @put: is given parts of the payload of FILE_STREAMS blocks, each whole and at most some 100 KiB
 * Returns 0 or -ENOMEM.
 */
int follow__tell(struct follow *follow, int (*put)(void *ctx, const void *bytes, size_t size),
		 void *ctx);

/*
 * Tasks of the past. A flight recorder's window begins at some earlier cut, and the tasks that
 * lived then may have ended since; they are remembered as long as that cut may be wanted.
 */
/* from here on it is cut number @cut, the highest so far; those before @oldest are not wanted any
 * more */
void follow__cut(struct follow *follow, uint64_t cut, uint64_t oldest);
/* as follow__tell(), of the tasks that lived at that cut */
int follow__tell_tasks(struct follow *follow, uint64_t cut,
		       int (*put)(void *ctx, const void *bytes, size_t size), void *ctx);
uint64_t follow__streams(const struct follow *follow);

#endif /* TRACER_CAPTURE_FOLLOW_H */
