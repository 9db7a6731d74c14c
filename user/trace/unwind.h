/* SPDX-License-Identifier: BSD-2-Clause */
/* Walking up a captured stack: from registers and bytes to the return addresses. */
#ifndef TRACER_TRACE_UNWIND_H
#define TRACER_TRACE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "object.h"

#define UNWIND_REGISTERS 33

struct unwind {
	uint64_t registers[UNWIND_REGISTERS]; /* by DWARF numbers */
	uint32_t known;			      /* bit n: register n has a value (0 to 31) */
	uint64_t pc;
	const uint8_t *stack; /* bytes from `from` on */
	uint64_t from;
	size_t size;
	bool aarch64;
	bool cut;	/* the thread's stack went on behind `size` */
	bool truncated; /* the walk ended there */
	/* finds the binary and link-time address of code; NULL: there is none, or of no file */
	struct object *(*find)(void *ctx, uint64_t pc, uint64_t *address, bool *is_code);
	void *ctx;
};

/* the point's caller: where the stub returns to; false: nowhere */
bool unwind__begin(struct unwind *unwind);
/* the next frame's pc and registers; false: that was the outermost one that can be found */
bool unwind__next(struct unwind *unwind);

#endif /* TRACER_TRACE_UNWIND_H */
