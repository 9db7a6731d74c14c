/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large blocks of memory in large pages, where the kernel gives them: a million live tasks are some
 * hundred megabytes, and to be given them in pages of 4 KiB costs as much as what is done with
 * them.
 */
#ifndef TRACER_BASE_HUGE_H
#define TRACER_BASE_HUGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* huge__advise() - of the whole large pages inside the block, if there are any; only a wish */
static inline void huge__advise(void *block, size_t size)
{
	uintptr_t from = ((uintptr_t)block + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)block + size) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (to > from)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

#endif /* TRACER_BASE_HUGE_H */
