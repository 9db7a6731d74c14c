/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that left their CPU with something that they had stamped, but not handed over. */
#ifndef TRACER_TRACE_HELD_H
#define TRACER_TRACE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <records.h>

struct held_thread {
	uint32_t tid;
	uint64_t since; /* REC_HELD_NONE: not any more */
	uint64_t told;	/* when */
};

struct held {
	struct held_thread *threads;
	size_t count, capacity;
};

/* 0 or -ENOMEM */
int held__tell(struct held *held, const struct rec_held *record);
/*
 * held__bound() - up to when nothing of these threads is missing
 * @round: what was handed over before has been told
 * @bound: of all others
 * Returns the least of all.
 */
uint64_t held__bound(struct held *held, uint64_t round, uint64_t bound);
void held__free(struct held *held);

#endif /* TRACER_TRACE_HELD_H */
