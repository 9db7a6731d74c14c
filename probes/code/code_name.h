/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for places in code: "fib+0x4e", or "solver+0x13b6" where the binary has no symbols. */
#ifndef TRACER_CODE_NAME_H
#define TRACER_CODE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define CODE_NAME_MAX 160

/*
 * code_name() - name of the place that a call returns to
 * @kind: "task", "parallel", ...: goes before the name; a literal, "" for none
 * @address: may be NULL
 *
 * The first time for an address it reads the symbols of the binary it lies in (file-backed, once a
 * binary); after that it is a look-up without a lock. Returns a string that lives as long as the
 * process.
 */
const char *code_name(const char *kind, const void *address);

/* code_extent() - from first to last byte of the binary that has the address; false if none has */
bool code_extent(const void *address, uintptr_t *first, uintptr_t *last);

#endif /* TRACER_CODE_NAME_H */
