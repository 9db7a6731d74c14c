/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks that live, and what they are called: what a capture that begins now would not know. */
#ifndef TRACER_CAPTURE_ALIVE_H
#define TRACER_CAPTURE_ALIVE_H

#include <stddef.h>
#include <stdint.h>

/* Live tasks that are remembered; what comes beyond has no name in later files. */
#define ALIVE_MAX (1U << 20)

struct alive;

struct alive_task {
	uint64_t pid, identity, dso, parent;
	uint64_t name; /* as recorded: an address, or a key, then with its bytes */
	const char *bytes;
	uint32_t length;
	uint64_t stamp;
};

struct alive *alive__new(void);
void alive__free(struct alive *alive);
/* CREATED, STAGED, or a new name; bytes are copied */
void alive__add(struct alive *alive, const struct alive_task *task);
void alive__rename(struct alive *alive, const struct alive_task *task);
/* COMPLETED or DESTROYED, of a life that began before @stamp */
void alive__end(struct alive *alive, uint64_t pid, uint64_t identity, uint64_t stamp);
void alive__end_process(struct alive *alive, uint64_t pid);
/* see follow__cut() */
void alive__cut(struct alive *alive, uint64_t cut, uint64_t oldest);
/* those that lived at @cut; stops at what is not 0, and returns it */
int alive__each(struct alive *alive, uint64_t cut,
		int (*take)(void *ctx, const struct alive_task *task), void *ctx);

#endif /* TRACER_CAPTURE_ALIVE_H */
