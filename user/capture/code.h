/* SPDX-License-Identifier: BSD-2-Clause */
/* What the targets have mapped executable, and the files it comes from: for --stacks, see stacks.h.
 */
#ifndef TRACER_CAPTURE_CODE_H
#define TRACER_CAPTURE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "../base/map.h"

struct file_writer;

/* a file, kept open, as it may be gone or replaced by the time it is wanted */
struct code_file {
	struct code_file *next;
	uint32_t id;
	int fd; /* -1: could not be opened */
	uint64_t device, inode;
	uint64_t size, changed; /* bytes; last change, ns since 1970 */
	char *path;
	char build_id[129];
	bool used; /* a stack leads through it */
	bool told; /* its block was told, too */
};

struct code_range {
	uint64_t start, end;
	uint64_t offset;	/* in the file */
	struct code_file *file; /* NULL: of no file */
};

/* the executable mappings of a process at one time; also another's that has the same */
struct code_set {
	struct code_set *next;
	uint32_t id;
	bool told;		   /* its block was told */
	struct code_range *ranges; /* in order */
	size_t count;
	/* which stretches of 2 MiB hold any, by a bit of their number: most words are no code */
	uint64_t maybe[64];
};

struct code {
	struct map by_pid; /* pid -> struct code_set */
	struct code_set *sets;
	struct code_file *files;
	uint32_t set_ids, file_ids;
};

/* reads /proc/PID/maps; what cannot be read stays as it was */
void code__scan(struct code *code, pid_t pid);
void code__fork(struct code *code, pid_t pid, pid_t parent);
/* scans if need be; NULL: not known */
struct code_set *code__of(struct code *code, pid_t pid);
/* the range that @address is in, or NULL */
struct code_range *code_set__find(const struct code_set *set, uint64_t address);
/* CODE block, once */
void code_set__tell(struct code *code, struct code_set *set, struct file_writer *writer);
/* BINARY blocks of what was used, each once */
void code__tell_files(struct code *code, struct file_writer *writer);
void code__free(struct code *code);

#endif /* TRACER_CAPTURE_CODE_H */
