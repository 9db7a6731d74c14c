/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A work-stealing deque (Chase and Lev, 2005): its owner pushes and pops at the bottom, others
 * steal at the top.
 *
 * Memory orders: the published C11 version (Lê and others, 2013) uses fences, which ThreadSanitizer
 * does not model. Here the accesses themselves are sequentially consistent where that version has a
 * full fence between them:
 *
 *	pop:	store bottom, then load top	a thief that does not see the store took its element
 *	steal:	load top, then load bottom	before, so the pop sees its top
 *	push:	store bottom, then (in the caller) load "does anybody sleep?"; a worker that goes to
 *		sleep announces itself, then loads bottom: one of the two sees the other
 */
#ifndef RUNTIME_DEQUE_H
#define RUNTIME_DEQUE_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

struct deque_ring {
	int64_t size;		    /* power of two */
	struct deque_ring *smaller; /* a thief may still read it: kept until deque__free() */
	_Atomic(void *) slots[];
};

struct deque {
	alignas(64) _Atomic int64_t top;
	alignas(64) _Atomic int64_t bottom;
	_Atomic(struct deque_ring *) ring;
};

enum deque_result { DEQUE_TAKEN, DEQUE_EMPTY, DEQUE_LOST_RACE };

int deque__init(struct deque *deque, int64_t size);
/* owner only; 0 or -ENOMEM */
int deque__push(struct deque *deque, void *item);
/* owner only; NULL if empty */
void *deque__pop(struct deque *deque);
enum deque_result deque__steal(struct deque *deque, void **item);
/* as seen now; exact for the owner while nobody steals */
int64_t deque__depth(struct deque *deque);
void deque__free(struct deque *deque);

#endif /* RUNTIME_DEQUE_H */
