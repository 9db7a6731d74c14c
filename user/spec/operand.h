/* SPDX-License-Identifier: BSD-2-Clause */
/* An argument of a USDT probe, as the compiler described its place: "-4@-20(%rbp,%rax,4)". */
#ifndef TRACER_SPEC_OPERAND_H
#define TRACER_SPEC_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

#define OPERAND_NONE 255

struct operand {
	enum { OPERAND_CONSTANT, OPERAND_REGISTER, OPERAND_MEMORY } kind;
	uint8_t size; /* of the value */
	bool is_signed;
	uint8_t base, index; /* words of pt_regs, or OPERAND_NONE */
	uint8_t scale;
	uint8_t shift; /* of a register: %ah */
	bool rip;      /* symbol(%rip) */
	int64_t number;
	char symbol[96];
};

/*
 * operand__parse() - the argument number @which of a note's text
 * Returns 0, -ENOENT (fewer arguments), or -ENOTSUP for a place that cannot be read: %xmm0, or a
 * thread-local by name.
 */
int operand__parse(uint16_t machine, const char *args, unsigned int which, struct operand *operand);
/* how many there are */
unsigned int operand__count(const char *args);

#endif /* TRACER_SPEC_OPERAND_H */
