/* SPDX-License-Identifier: BSD-2-Clause */
/* Interned strings: equal strings, equal pointers, for the life of the trace. */
#ifndef TRACER_TRACE_STRINGS_H
#define TRACER_TRACE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that a trace spends on strings; beyond, STRINGS_TOO_MANY stands for each new one. */
#define STRINGS_MAX (512U << 20)
#define STRINGS_TOO_MANY "<too many strings>"

struct strings;

struct strings *strings__new(void);
/*
 * strings__add() - intern @len bytes, or those before the first NUL
 * Never returns NULL: without memory, or beyond STRINGS_MAX, it is STRINGS_TOO_MANY.
 */
const char *strings__add(struct strings *strings, const void *bytes, size_t len);
const char *strings__format(struct strings *strings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* the trace's secret number, for tables */
uint64_t strings__seed(const struct strings *strings);
void strings__free(struct strings *strings);

#endif /* TRACER_TRACE_STRINGS_H */
