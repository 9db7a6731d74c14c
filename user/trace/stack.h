/* SPDX-License-Identifier: BSD-2-Clause */
/* Call stacks of a capture: which event has which, and what its frames are called. */
#ifndef TRACER_TRACE_STACK_H
#define TRACER_TRACE_STACK_H

#include <json-c/json.h>
#include <records.h>
#include <stdint.h>
#include "strings.h"
#include "trace.h"

struct stack_table;

struct stack_table *stack_table__new(struct strings *strings, bool aarch64);
/* folders of debug files, asked before /usr/lib/debug; before the first record */
void stack_table__set_debug_dirs(struct stack_table *stacks, const char *const *dirs, size_t count);
/* a CODE block, and a BINARY block; all of them before the first record. 0 or -ENOMEM. */
int stack_table__code(struct stack_table *stacks, struct json_object *json);
int stack_table__binary(struct stack_table *stacks, struct json_object *json, const uint8_t *bytes,
			size_t size);
/* a STACK record; 0, -EINVAL: damaged, or -ENOMEM */
int stack_table__record(struct stack_table *stacks, const struct rec_header *header);
/*
 * stack_table__take() - the stack of an event that is being given out
 * @stream, @tid, @dso: where its record was
 * @records: how many records of the stream came before it
 * To be called for each event of a stream, in order. Returns the stack's number, 0: it has none.
 */
uint32_t stack_table__take(struct stack_table *stacks, uint64_t stream, uint32_t tid, uint64_t dso,
			   uint64_t records, uint16_t type);
const struct trace_stack *stack_table__get(struct stack_table *stacks, uint32_t number);
void stack_table__free(struct stack_table *stacks);

#endif /* TRACER_TRACE_STACK_H */
