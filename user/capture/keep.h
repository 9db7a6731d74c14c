/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Between the session and its file, if there is to be more than one (segments), or none until
 * something happens (flight recorder): cuts what is recorded at moments, so that each part stands
 * for itself.
 */
#ifndef TRACER_CAPTURE_KEEP_H
#define TRACER_CAPTURE_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "file.h"
#include "follow.h"

struct iovec;
struct session;
struct keep;

/* how things stand where a file begins; PAUSE records tell of changes */
struct showing {
	bool paused;
	uint32_t sample; /* one task in so many */
};

/* keep__new() - as the session's options want it; the first file is there, with its META */
int keep__new(struct keep **keep, struct session *session);
void keep__free(struct keep *keep);
/* all that was handed over before @time (CLOCK_BOOTTIME) has been taken; also when nothing came */
void keep__round(struct keep *keep, uint64_t time);
/* nothing more comes: what waits goes to the file, and a flight recorder's window is written */
void keep__finish(struct keep *keep);
/* write the window, as it is now; told by snapshot_done() of the options when it is there */
void keep__snapshot(struct keep *keep);
/* since when the present file, or window, reaches back, ns */
uint64_t keep__start(const struct keep *keep);
uint64_t keep__number(const struct keep *keep);
struct follow *keep__follow(const struct keep *keep);
/* bytes in memory that wait, and that are kept */
uint64_t keep__held(const struct keep *keep);
uint64_t keep__window(const struct keep *keep);

/* --- between keep.c, catalog.c and flight.c --------------------------------------------------- */

/* What holds on, block by block: each part of the capture begins with it. */
struct catalog;
struct catalog *catalog__new(void);
void catalog__free(struct catalog *catalog);
void catalog__add(struct catalog *catalog, enum file_block_type type, const void *block,
		  size_t size, uint64_t time);
/* records about processes, in their order */
void catalog__record(struct catalog *catalog, const struct rec_header *header);
/* what was over before @time is forgotten */
void catalog__prune(struct catalog *catalog, uint64_t time);
void catalog__write(const struct catalog *catalog, struct file_writer *writer);

/* The last two clock snapshots before a moment: a part of a capture has a rate of its own, too. */
struct clocks {
	struct file_clock last[2];
	unsigned int count;
};

struct flight;
struct flight *flight__new(struct session *session, uint64_t size);
void flight__free(struct flight *flight);
/* begins a part at @start; the one before is complete */
void flight__begin(struct flight *flight, uint64_t start, struct showing showing,
		   const struct clocks *clocks, struct follow *follow, uint64_t cut);
void flight__add(struct flight *flight, enum file_block_type type, const struct iovec *parts,
		 int count);
bool flight__is_full(const struct flight *flight);
/* the parts from the oldest to the last complete one, as a file; 0 or -errno after saying why */
int flight__write(struct flight *flight, const char *path, const struct catalog *catalog,
		  struct follow *follow, uint64_t end, bool last);
uint64_t flight__oldest_cut(const struct flight *flight);
uint64_t flight__oldest_start(const struct flight *flight);
uint64_t flight__bytes(const struct flight *flight);
/* what @raw bytes of records have become, so far */
double flight__ratio(const struct flight *flight, uint64_t raw);

#endif /* TRACER_CAPTURE_KEEP_H */
