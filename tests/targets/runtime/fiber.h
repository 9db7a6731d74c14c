/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack of its own and the registers to go on with: what a task needs to stop in the middle of a
 * function and go on later, perhaps on another thread. Knows nothing of tasks or workers.
 */
#ifndef RUNTIME_FIBER_H
#define RUNTIME_FIBER_H

#include <stddef.h>

#if defined(__SANITIZE_THREAD__)
#define RUNTIME_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RUNTIME_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define RUNTIME_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RUNTIME_ASAN 1
#endif
#endif

struct fiber {
	void *sp;     /* saved stack pointer; the other registers lie on the stack */
	void *bottom; /* lowest address of the stack */
	size_t size;
	void *mapping; /* with the guard page; NULL for a thread's own stack */
	void (*entry)(void *arg);
	void *arg;
	void *shadow; /* of the sanitizer in use */
};

/* fiber__init() - a new stack that will run @entry, which must not return; 0 or -errno */
int fiber__init(struct fiber *fiber, size_t stack_size, void (*entry)(void *arg), void *arg);
/* fiber__adopt() - describe the calling thread's own stack, to be switched back to */
int fiber__adopt(struct fiber *fiber);
/* fiber__switch() - go on in @to; returns when something switches back to @from */
void fiber__switch(struct fiber *from, struct fiber *to);
/* fiber__free() - of one that does not run and never will again */
void fiber__free(struct fiber *fiber);

#endif /* RUNTIME_FIBER_H */
