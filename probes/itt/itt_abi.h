/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the collector uses of ITT, Intel's Instrumentation and Tracing Technology API: the layout of
 * what an instrumented program shares with a collector, as its public headers document it.
 *
 * A program (or oneTBB, or any library) holds a table of functions that do nothing. If
 * INTEL_LIBITTNOTIFY64 names a library, it is loaded, and its __itt_api_init() gets that table and
 * puts its own functions in.
 */
#ifndef TRACER_ITT_ABI_H
#define TRACER_ITT_ABI_H

#include <pthread.h>
#include <stdint.h>

struct itt_api { /* an entry of the table; the last one has no name */
	const char *name;
	void **function;
	void *init_function;
	void *null_function;
	int group;
};

struct itt_global { /* only as far as it is used here */
	unsigned char magic[8];
	unsigned long version_major, version_minor, version_build;
	volatile long api_initialized;
	volatile long mutex_initialized;
	volatile long atomic_counter;
	pthread_mutex_t mutex;
	void *library;
	void *error_handler;
	const char **library_path;
	struct itt_api *apis;
};

struct itt_domain { /* programs look at `flags` before each call: 0 is off */
	volatile int flags;
	const char *name;
	void *wide_name;
	int extra1; /* the collector's */
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide_text;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_counter { /* made by the collector, or before it was there by the program's own part */
	const char *name;
	void *wide_name;
	const char *domain;
	void *wide_domain;
	int type;   /* enum itt_metadata_type */
	long index; /* the collector's: the value */
	int extra1;
	void *extra2;
	struct itt_counter *next;
};

struct itt_id { /* passed by value; all 0 is none */
	unsigned long long d1, d2, d3;
};

enum itt_metadata_type {
	ITT_METADATA_UNKNOWN,
	ITT_METADATA_U64,
	ITT_METADATA_S64,
	ITT_METADATA_U32,
	ITT_METADATA_S32,
	ITT_METADATA_U16,
	ITT_METADATA_S16,
	ITT_METADATA_FLOAT,
	ITT_METADATA_DOUBLE,
};

enum itt_relation {
	ITT_RELATION_UNKNOWN,
	ITT_RELATION_DEPENDENT_ON,
	ITT_RELATION_SIBLING_OF,
	ITT_RELATION_PARENT_OF,
	ITT_RELATION_CONTINUATION_OF,
	ITT_RELATION_CHILD_OF,
	ITT_RELATION_CONTINUED_BY,
	ITT_RELATION_PREDECESSOR_TO,
};

#endif /* TRACER_ITT_ABI_H */
