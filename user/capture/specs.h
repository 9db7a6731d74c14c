/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe specs in a capture: which apply to which binaries of the targets, attached, watched, and
 * what their records still lack filled in.
 *
 *	specs.c		the specs' BPF object, its tables, tracepoints, losses
 *	spec_bind.c	a spec meets a binary: recognised, compiled, attached
 *	spec_file.c	the binaries that processes have mapped, and names for addresses in them
 *	spec_place.c	instructions to probe
 *	spec_cost.c	what a hit costs here, and leaving probes out when that is too much
 */
#ifndef TRACER_CAPTURE_SPECS_H
#define TRACER_CAPTURE_SPECS_H

#include <json-c/json.h>
#include <pthread.h>
#include "../base/map.h"
#include "../spec/compile.h"
#include "proc.h"
#include "session.h"
#include "spec_place.h"

/* A file that a target has mapped; opened once, whoever maps it. */
struct spec_file {
	struct spec_file *next;
	uint64_t device, inode;
	int fd; /* so that it can be read when all processes are gone; -1: it can't be read */
	char path[512];		 /* as people know it */
	pid_t pid;		 /* in whose mount namespace that path is */
	struct symbols *symbols; /* when they were first asked for */
	struct binary *binary;
	bool tried_symbols, tried_binary;
	uint64_t version;
	bool looked_at; /* which specs it is for */
	uint64_t bound; /* specs that it has met, by their index */
};

struct spec_map {
	struct spec_map *next;
	pid_t pid;
	uint64_t start;
	struct spec_file *file;
	bool gone; /* its process, when last looked at */
};

enum probe_status { PROBE_ATTACHED, PROBE_ABSENT, PROBE_FAILED, PROBE_LEFT_OUT, PROBE_NOT_ASKED };

/* while a binary is attached to */
struct specs_sites {
	struct probe_site *all;
	uint64_t *cookies;
	size_t count;
};

/* a probe of a spec in a binary */
struct spec_attachment {
	struct spec_attachment *next;
	const struct spec *spec;
	const struct spec_probe *probe;
	struct spec_file *file; /* NULL: a tracepoint */
	enum probe_status status;
	char *why;
	struct specs_sites first, rest; /* to be attached before all others; then */
	struct probe *link;
	struct bpf_link **tracepoints;
	size_t tracepoint_count;
	uint32_t number; /* in cookies and in the table of hits */
	uint32_t sites;
	uint32_t left_out;   /* the function whose places are not probed, + 1 */
	enum insn_cost cost; /* the dearest of its sites */
	int priority;
	uint64_t hits, hits_before;
	bool hidden; /* one of many binaries in which it is not */
};

struct spec_costs {
	bool known, tried;
	double emulated_ns, stepped_ns, return_ns;
};

struct specs {
	struct spec_bpf *bpf;
	struct spec *all; /* in use, or to be recognised */
	bool automatic;	  /* nobody named one: those that come with the command are tried */
	bool gave_way;	  /* to a target's own points: nothing is armed any more */
	struct spec_file *files;
	struct spec_map *maps;
	struct spec_attachment *attachments;
	uint32_t attachment_count, functions;
	struct spec_code code;
	size_t code_loaded;
	char **texts;
	uint32_t text_count, text_room;
	struct spec_costs costs;
	struct probe *measured; /* on the tracer's own functions */
	pthread_t thread;	/* detaches what leaves */
	struct probe **leaving;
	size_t leaving_count;
	bool is_leaving;
	uint64_t watched; /* when hits were last looked at, CLOCK_MONOTONIC */
	uint64_t cpu_time;
	struct map names; /* pid, address -> what it is called */
	uint64_t records;
	int refused; /* the kernel's answer to the programs */
	bool told;   /* what was found when the capture began */
};

/* specs.c; each is 0 or -errno after saying why. Without specs they do nothing. */
int session__load_specs(struct session *session);
/* a FOREIGN record: fills in what it lacks and writes it */
void session__take_foreign(struct session *session, const void *record, size_t size);
void session__detach_specs(struct session *session);
void session__tell_specs(struct session *session, struct json_object *end);
void session__unload_specs(struct session *session);
bool session__specs_attached(const struct session *session);
uint64_t session__foreign_records(const struct session *session);
/* once a second */
void session__watch_specs(struct session *session);
/* says what came of the specs; @again: if there is anything new */
void session__say_specs(struct session *session, bool again);

/* hits count, and make events */
void specs__arm(struct specs *specs, bool on);
/*
 * Specs that nobody asked for are for programs without points. One that loads a library with points
 * later (an interpreter its module) tells of itself from then on, and not of everything twice.
 */
void specs__give_way(struct specs *specs);
/*
 * Detaching takes a grace period of the kernel, and the buffers fill meanwhile; while a thread is
 * held at the dynamic linker it takes until it goes on, and it waits for us. So another thread does
 * it. @probes is an array from malloc(), which is freed.
 */
void specs__detach_aside(struct specs *specs, struct probe **probes, size_t count);
/* loads the programs, once; 0 or -errno after saying why */
int specs__need_programs(struct session *session);

/* spec_bind.c: what a process has mapped; a file that will be run */
void session__bind_process(struct session *session, pid_t pid, const struct mappings *mappings);
void session__bind_file(struct session *session, const char *path);
void specs__bind_tracepoints(struct session *session, struct spec *spec);
int specs__load_code(struct specs *specs);

/* spec_file.c */
struct spec_file *specs__file(struct specs *specs, uint64_t device, uint64_t inode,
			      const char *path, const char *shown, pid_t pid);
struct symbols *spec_file__symbols(struct spec_file *file);
struct binary *spec_file__binary(struct spec_file *file);
bool spec__recognises(const struct spec *spec, struct spec_file *file);
uint64_t spec_file__version(struct spec_file *file, const struct spec *spec);
void spec_file__way(const struct spec_file *file, char *path, size_t size);
void specs__map(struct specs *specs, pid_t pid, uint64_t start, struct spec_file *file);
void specs__unmap(struct specs *specs, pid_t pid);
/* forgets processes that are gone for a while; once a second */
void specs__sweep(struct session *session);
/* name of the function at an address of a process, to be freed; NULL: not known */
char *specs__name(struct specs *specs, pid_t pid, uint64_t address);
void specs__free_files(struct specs *specs);

void specs__read_hits(struct session *session);

/* spec_cost.c */
/* a message of the tracer's own in the trace, on a target's thread */
void session__tell_message(struct session *session, uint32_t pid, uint32_t tid, const char *text);
/* measures once what a hit costs, and says it; before the first site of a target is touched */
void specs__tell_cost(struct session *session);
int specs__measure(struct session *session);
double spec_attachment__cost(const struct specs *specs, const struct spec_attachment *attachment);

const char *probe_status__word(enum probe_status status);

#endif /* TRACER_CAPTURE_SPECS_H */
