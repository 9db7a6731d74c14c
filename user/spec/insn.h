/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Machine code, as far as placing probes needs it: where instructions begin, which ones leave a
 * function, and which are cheap to have a probe on. x86-64 and AArch64.
 */
#ifndef TRACER_SPEC_INSN_H
#define TRACER_SPEC_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER,
	INSN_RETURN,
	INSN_JUMP,   /* to target */
	INSN_BRANCH, /* to target, or on */
	INSN_CALL,
	INSN_JUMP_AWAY, /* to where a register or memory says */
	INSN_TRAP,	/* int3: a probe of somebody's, or padding */
};

/* what the kernel does with a probe there, the cheapest first */
enum insn_cost {
	INSN_EMULATED, /* nop, push, jump, call: the kernel does it itself */
	INSN_STEPPED,  /* run out of line, with a second trap behind it */
	INSN_REFUSED,  /* never: a 5-byte nop that the kernel turns into a call, or nothing it takes
			*/
	/* never: the kernel takes no probe on such a prefix (lock, cs, ds, es, ss) */
	INSN_UNFIT,
};

struct insn {
	uint32_t len;
	enum insn_kind kind;
	enum insn_cost cost;
	uint64_t target;
	int stack;	/* 1: makes the function's frame larger (push), -1: smaller (pop, leave) */
	uint32_t frame; /* bytes that it takes from the stack pointer with a "sub"; 0: not so */
	/* general registers that it may change, by their number in pt_regs words; UINT64_MAX: who
	 * knows */
	uint64_t writes;
};

/* false: no instruction, or not all of it is there */
bool insn__decode(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		  struct insn *insn);

#endif /* TRACER_SPEC_INSN_H */
