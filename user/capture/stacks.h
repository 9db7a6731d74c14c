/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call stacks in a capture (record --stacks): what bpf/stacks.bpf.c hands over goes to the file,
 * equal stacks once, with what it takes to unwind and to name them later, on another machine if need
 * be:
 *
 *	CODE blocks	what a process had mapped executable, and from which files
 *	BINARY blocks	of each file that a stack leads through: unwind tables, symbols, and the
 *			notes by which debug files are found
 *
 * Nothing is unwound while targets run. All of this is nothing without --stacks.
 */
#ifndef TRACER_CAPTURE_STACKS_H
#define TRACER_CAPTURE_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct session;
struct dso;

/* the programs; after those of the session; 0 or -errno after saying why */
int stacks__load(struct session *session);
/* probes on the stubs of the events that are wanted, where @path leads to the DSO's file now */
int stacks__attach(struct session *session, struct dso *dso, const char *path);
/* look at what the process has mapped now */
void stacks__scan(struct session *session, pid_t pid);
/* the child has what the parent has */
void stacks__forked(struct session *session, pid_t pid, pid_t parent);
/*
 * stacks__consume() - moves what was taken until now to the file
 * To be called before what is mapped changes, and before a ROUND block, which promises that it was.
 */
void stacks__consume(struct session *session);
/* descriptor to poll, or -1 */
int stacks__descriptor(const struct session *session);
/* tells the binaries that stacks in this file lead through; those of parts (keep.c) were told before */
void stacks__end_file(struct session *session);
/* for the END block */
uint64_t stacks__taken(const struct session *session);
/* of them, those that are not like an earlier one */
uint64_t stacks__unlike(const struct session *session);
uint64_t stacks__lost(const struct session *session);
void stacks__free(struct session *session);

/* elf_parts.c: what of an ELF file its unwinding and naming take, as ranges of the file */
struct elf_part {
	uint64_t offset, size;
};

struct elf_parts {
	struct elf_part *parts; /* in order, not overlapping */
	size_t count;
	uint64_t size;	    /* of all */
	char build_id[129]; /* hex, or "" */
};

/* @most: bytes; symbols are left out first. 0 or -errno. */
int elf_parts__find(struct elf_parts *parts, int fd, uint64_t most);
void elf_parts__free(struct elf_parts *parts);

#endif /* TRACER_CAPTURE_STACKS_H */
