/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes of a capture, the binaries mapped in them, and who forked whom. */
#ifndef TRACER_TRACE_PROCESS_H
#define TRACER_TRACE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dso.h"
#include "strings.h"
#include "table.h"
#include "trace.h"

#define PROCESSES_MAX (1U << 20)

struct process_map {
	uint64_t dso_address; /* of struct tracer_dso */
	uint64_t base;	      /* address of the ELF header */
	uint64_t from;
	int64_t dso_id;
};

struct process {
	struct trace_process shown;
	struct process *before; /* the pid's process before this one */
	struct process *parent; /* whose maps it began with, as they were at forked_at */
	uint64_t begin;		/* from when on the pid means this process */
	uint64_t forked_at;	/* 0: its FORK was not seen */
	uint64_t exited_at;	/* 0: it lives */
	uint64_t *execs;	/* times */
	size_t exec_count;
	struct process_map *maps;
	size_t map_count;
	struct table names; /* key -> interned string */
	bool announced;	    /* its EV_process was given out */
	bool muted;	    /* between CAPTURE_OFF and CAPTURE_ON */
};

struct processes {
	struct process **all; /* by index */
	uint32_t count;
	uint32_t capacity;
	uint32_t map_changes; /* raised by whatever may make processes__find_map() find more */
	struct table by_pid;  /* newest */
	struct dso **dsos;
	size_t dso_count;
	struct strings *strings;
	const char *host;
};

void processes__init(struct processes *processes, struct strings *strings);
void processes__free(struct processes *processes);

/* the process that has @pid at @time, made if need be; NULL without memory */
struct process *processes__at(struct processes *processes, uint32_t pid, uint64_t time);
/* a FORK record: the child is a process of its own, whatever had its pid before */
struct process *processes__fork(struct processes *processes, uint32_t pid, uint32_t parent,
				uint64_t time);
/* an EXEC record: what was mapped is gone */
int process__exec(struct processes *processes, struct process *process, uint64_t time);
/* its name as the kernel has it: @size bytes at most */
void process__rename(struct processes *processes, struct process *process, const char *name,
		     size_t size);
/* a PROCESS block; returns the process it is about and its time, or NULL */
struct process *processes__describe(struct processes *processes, struct json_object *json,
				    uint64_t *time);
/* a MAP block; 0 or -ENOMEM */
int processes__map(struct processes *processes, struct json_object *json);
bool processes__has_dso(const struct processes *processes, int64_t id);
/* takes over @dso; 0 or -ENOMEM */
int processes__add_dso(struct processes *processes, struct dso *dso);

/*
 * processes__find_map() - the binary whose struct tracer_dso was at an address
 * @time: then; the first chunk of a stream, as a ring never outlives the program
 * @base: receives the address of its ELF header
 * Returns NULL if no MAP block said so (so far).
 */
struct dso *processes__find_map(const struct processes *processes, const struct process *process,
				uint64_t dso_address, uint64_t time, uint64_t *base);

#endif /* TRACER_TRACE_PROCESS_H */
