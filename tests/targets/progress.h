/* SPDX-License-Identifier: BSD-2-Clause */
/* What stress tells unique_check, in a file that outlives it: how far each thread came. */
#ifndef TARGETS_PROGRESS_H
#define TARGETS_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#define PROGRESS_MAGIC 0x73736572676f7270ULL /* "progress" */
#define PROGRESS_SHIFT 40
#define PROGRESS_RECORDS_MAX (1ULL << PROGRESS_SHIFT)

struct progress_thread {
	uint64_t returned; /* points that have returned: at most one more was under way */
	uint64_t pad[7];   /* one cache line each */
};

struct progress {
	uint64_t magic;
	uint64_t records; /* that each thread is to make */
	uint32_t pid;
	uint32_t count; /* of threads */
	uint64_t pad[5];
	struct progress_thread threads[];
};

static inline size_t progress__size(uint32_t threads)
{
	return sizeof(struct progress) + threads * sizeof(struct progress_thread);
}

/* never 0, which is no identity */
static inline uint64_t progress__value(uint32_t thread, uint64_t n)
{
	return (uint64_t)(thread + 1) << PROGRESS_SHIFT | n;
}

#endif /* TARGETS_PROGRESS_H */
