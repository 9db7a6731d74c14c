/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in a binary a spec's probe goes: instructions, found by name and chosen by cost. */
#ifndef TRACER_CAPTURE_SPEC_PLACE_H
#define TRACER_CAPTURE_SPEC_PLACE_H

#include "../spec/compile.h"
#include "../spec/insn.h"
#include "binary.h"

struct place {
	uint64_t address;  /* link-time */
	uint64_t begin;	   /* of its function */
	uint64_t offset;   /* in the file */
	uint64_t count;	   /* file offset of a USDT's semaphore, 0 none */
	const char *args;  /* USDT: operands */
	bool saves_entry;  /* keeps what entry() wants, for the returns of the same function */
	bool no_retval;	   /* leaves by a jump */
	uint32_t shift;	   /* of the stack pointer since the function's begin */
	uint32_t function; /* number of the function in this search */
	enum insn_cost cost;
};

struct places {
	struct place *all;
	size_t count;
	uint32_t functions; /* that the pattern fits */
	char *why;	    /* sentence: why there are none, or not all; or NULL */
};

/*
 * places__find() - all places of a probe in a binary
 * @binary: for USDT; may be NULL otherwise
 * @nop5_is_call: the kernel turns probed 5-byte nops into calls, so none is placed there
 * Returns 0 or -ENOMEM; no place is no error.
 */
int places__find(struct places *places, const struct spec_probe *probe, struct symbols *symbols,
		 const struct binary *binary, bool nop5_is_call);
/*
 * place__move() - to the cheapest instruction at the function's begin that answers the same
 * @reads: registers that must be as at the entry, bits of pt_regs words
 */
void place__move(struct place *place, struct symbols *symbols, uint64_t reads, bool nop5_is_call);
void places__free(struct places *places);

#endif /* TRACER_CAPTURE_SPEC_PLACE_H */
