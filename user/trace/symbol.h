/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for code: functions, those inlined in them, and lines. */
#ifndef TRACER_TRACE_SYMBOL_H
#define TRACER_TRACE_SYMBOL_H

#include "object.h"
#include "strings.h"
#include "trace.h"

#define SYMBOL_INLINED_MAX 16

/*
 * symbol__frames() - what runs at a link-time address, innermost first
 * @frames: room for SYMBOL_INLINED_MAX
 * Returns how many, 1 at least. What is not known in them is NULL or 0.
 */
size_t symbol__frames(const struct object *object, uint64_t address, struct trace_frame *frames,
		      struct strings *strings);

/* demangled if it is mangled: C++, and Rust as far as it looks like it; else as it is */
const char *symbol__name(const char *mangled, struct strings *strings);

#endif /* TRACER_TRACE_SYMBOL_H */
