// SPDX-License-Identifier: BSD-2-Clause
/*
 * Walking up a captured stack by call frame information (DWARF), which compilers emit for all code
 * on x86-64 and AArch64, with frame pointers or without. libdw finds and runs the table's program
 * for an address; what it yields are expressions, which are evaluated here over the captured bytes.
 *
 * A walk ends where the tables say so (the return address is undefined: _start, threads' and
 * fibers' first functions), where there is no table, and where what would be a return address does
 * not lie in code. It does not guess: a frame that is shown was one. Only in code without any
 * table, as of a compiler at run time, are frame pointers followed.
 */
#include "unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define EXPRESSION_STACK 64
#define EXPRESSION_STEPS 1024

struct evaluation {
	const struct unwind *unwind;
	uint64_t stack[EXPRESSION_STACK];
	unsigned int depth;
	uint64_t cfa;
	bool has_cfa;
	bool is_value; /* the result is the value itself, not where it is */
};

static bool unwind__read(struct unwind *unwind, uint64_t address, uint64_t *word)
{
	uint64_t at = address - unwind->from;

	if (unwind->size < 8 || at > unwind->size - 8) {
		if (at < unwind->size + (1U << 20) && unwind->cut)
			unwind->truncated = true;
		return false;
	}
	memcpy(word, unwind->stack + at, sizeof(*word));
	return true;
}

static bool unwind__register(const struct unwind *unwind, uint64_t number, uint64_t *value)
{
	if (number >= 32 || !(unwind->known & 1U << number))
		return false;
	*value = unwind->registers[number];
	return true;
}

/* --- expressions --- */

static bool push(struct evaluation *e, uint64_t value)
{
	if (e->depth == EXPRESSION_STACK)
		return false;
	e->stack[e->depth++] = value;
	return true;
}

static bool pop(struct evaluation *e, uint64_t *value)
{
	if (!e->depth)
		return false;
	*value = e->stack[--e->depth];
	return true;
}

static bool evaluate_binary(struct evaluation *e, uint8_t atom)
{
	uint64_t a, b;

	if (!pop(e, &b) || !pop(e, &a))
		return false;
	switch (atom) {
	case DW_OP_plus:
		return push(e, a + b);
	case DW_OP_minus:
		return push(e, a - b);
	case DW_OP_mul:
		return push(e, a * b);
	case DW_OP_and:
		return push(e, a & b);
	case DW_OP_or:
		return push(e, a | b);
	case DW_OP_xor:
		return push(e, a ^ b);
	case DW_OP_shl:
		return push(e, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(e, b < 64 ? a >> b : 0);
	case DW_OP_shra:
		return push(e, (uint64_t)((int64_t)a >> (b < 64 ? b : 63)));
	case DW_OP_eq:
		return push(e, a == b);
	case DW_OP_ne:
		return push(e, a != b);
	case DW_OP_ge:
		return push(e, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(e, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(e, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(e, (int64_t)a < (int64_t)b);
	default:
		return false;
	}
}

static bool evaluate_stack(struct evaluation *e, const Dwarf_Op *op)
{
	uint64_t a, b;

	switch (op->atom) {
	case DW_OP_dup:
		return e->depth && push(e, e->stack[e->depth - 1]);
	case DW_OP_drop:
		return pop(e, &a);
	case DW_OP_over:
		return e->depth > 1 && push(e, e->stack[e->depth - 2]);
	case DW_OP_pick:
		return e->depth > op->number && push(e, e->stack[e->depth - 1 - op->number]);
	case DW_OP_swap:
		return pop(e, &b) && pop(e, &a) && push(e, b) && push(e, a);
	case DW_OP_neg:
		return pop(e, &a) && push(e, 0 - a);
	case DW_OP_not:
		return pop(e, &a) && push(e, ~a);
	case DW_OP_plus_uconst:
		return pop(e, &a) && push(e, a + op->number);
	case DW_OP_deref:
		return pop(e, &a) && unwind__read((struct unwind *)e->unwind, a, &b) && push(e, b);
	case DW_OP_nop:
		return true;
	default:
		return evaluate_binary(e, op->atom);
	}
}

static bool evaluate_op(struct evaluation *e, const Dwarf_Op *op)
{
	uint64_t value;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(e, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return unwind__register(e->unwind, op->atom - DW_OP_breg0, &value) &&
		       push(e, value + op->number);
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		e->is_value = true;
		return unwind__register(e->unwind, op->atom - DW_OP_reg0, &value) && push(e, value);
	}
	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const1u ... DW_OP_consts:
		return push(e, op->number);
	case DW_OP_bregx:
		return unwind__register(e->unwind, op->number, &value) &&
		       push(e, value + op->number2);
	case DW_OP_regx:
		e->is_value = true;
		return unwind__register(e->unwind, op->number, &value) && push(e, value);
	case DW_OP_call_frame_cfa:
		return e->has_cfa && push(e, e->cfa);
	case DW_OP_stack_value:
		e->is_value = true;
		return true;
	default:
		return evaluate_stack(e, op);
	}
}

static bool evaluate(struct evaluation *e, const Dwarf_Op *ops, size_t count, uint64_t *result)
{
	e->depth = 0;
	e->is_value = false;
	if (count > EXPRESSION_STEPS)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!evaluate_op(e, &ops[i]))
			return false;
	return pop(e, result);
}

/* --- frames --- */

enum found { FOUND, FOUND_NONE, FOUND_END };

static int stack_register(const struct unwind *unwind)
{
	return unwind->aarch64 ? 31 : 7;
}

/* the caller's register @number */
static bool caller__register(struct evaluation *e, Dwarf_Frame *frame, int number, uint64_t *value)
{
	Dwarf_Op memory[3], *ops;
	uint64_t where;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return false;
	if (!count && !ops) /* as it is */
		return unwind__register(e->unwind, (uint64_t)number, value);
	if (!count || !evaluate(e, ops, count, &where))
		return false;
	if (e->is_value) {
		*value = where;
		return true;
	}
	return unwind__read((struct unwind *)e->unwind, where, value);
}

static enum found unwind__by_table(struct unwind *unwind, Dwarf_Frame *frame)
{
	int count = unwind->aarch64 ? 32 : 16, sp = stack_register(unwind), return_register;
	struct evaluation e = {.unwind = unwind};
	uint64_t registers[UNWIND_REGISTERS] = {0}, pc;
	uint32_t known = 0;
	Dwarf_Op *ops;
	size_t op_count;

	if (dwarf_frame_cfa(frame, &ops, &op_count) || !evaluate(&e, ops, op_count, &e.cfa))
		return FOUND_NONE;
	e.has_cfa = true;
	return_register = dwarf_frame_info(frame, NULL, NULL, NULL);
	for (int i = 0; i < count; i++)
		if (caller__register(&e, frame, i, &registers[i]))
			known |= 1U << i;
	if (!caller__register(&e, frame, return_register, &pc))
		return FOUND_END;
	/* stacks grow downwards: the caller's part is above */
	if (e.cfa <= unwind->registers[sp] && !(unwind->aarch64 && e.cfa == unwind->registers[sp]))
		return FOUND_END;
	if (!(known & 1U << sp) || registers[sp] == unwind->registers[sp]) {
		registers[sp] = e.cfa;
		known |= 1U << sp;
	}
	memcpy(unwind->registers, registers, sizeof(registers));
	unwind->known = known;
	unwind->pc = pc;
	return FOUND;
}

static enum found unwind__by_frame_pointer(struct unwind *unwind)
{
	int fp = unwind->aarch64 ? 29 : 6, sp = stack_register(unwind);
	uint64_t frame, next, pc;

	if (!unwind__register(unwind, (uint64_t)fp, &frame) || frame % 8 ||
	    frame < unwind->registers[sp] || !unwind__read(unwind, frame, &next) ||
	    !unwind__read(unwind, frame + 8, &pc))
		return FOUND_END;
	unwind->known = 1U << fp | 1U << sp;
	unwind->registers[fp] = next;
	unwind->registers[sp] = frame + 16;
	unwind->pc = pc;
	return FOUND;
}

/* the table's rows for an address, to be freed; or NULL */
static Dwarf_Frame *object__frame(const struct object *object, uint64_t address)
{
	Dwarf_Frame *frame;

	if (object->unwind && !dwarf_cfi_addrframe(object->unwind, address, &frame))
		return frame;
	if (object->unwind_debug && !dwarf_cfi_addrframe(object->unwind_debug, address, &frame))
		return frame;
	return NULL;
}

static enum found unwind__step(struct unwind *unwind)
{
	Dwarf_Frame *frame;
	struct object *object;
	enum found found;
	uint64_t address;
	bool is_code = false;

	/* a call that does not return may be the last instruction of its function */
	object = unwind->find(unwind->ctx, unwind->pc - 1, &address, &is_code);
	if (!object)
		return is_code ? unwind__by_frame_pointer(unwind) : FOUND_END;
	frame = object__frame(object, address);
	if (!frame)
		return object->unwind || object->unwind_debug ? FOUND_END
							      : unwind__by_frame_pointer(unwind);
	found = unwind__by_table(unwind, frame);
	free(frame);
	return found;
}

/*
 * Does a caller go on there? Not if a function begins there and none ends: that address was put on
 * a new stack for its first function to return to, and nothing has called from there.
 */
static bool unwind__is_code(const struct unwind *unwind)
{
	struct object *object;
	Dwarf_Frame *frame;
	uint64_t address;
	bool is_code = false;
	Dwarf_Addr start = 0;

	if (!unwind->pc)
		return false;
	object = unwind->find(unwind->ctx, unwind->pc - 1, &address, &is_code);
	if (!object)
		return is_code;
	frame = object__frame(object, address);
	if (!frame) {
		frame = object__frame(object, address + 1);
		if (frame)
			dwarf_frame_info(frame, &start, NULL, NULL);
	}
	free(frame);
	return start != address + 1;
}

bool unwind__begin(struct unwind *unwind)
{
	int sp = stack_register(unwind);

	unwind->known = unwind->aarch64 ? UINT32_MAX : 0xffffU;
	if (unwind->aarch64) {
		unwind->pc = unwind->registers[30];
	} else {
		/* the stub has not touched the stack: its return address is on top */
		if (!unwind__read(unwind, unwind->registers[sp], &unwind->pc))
			return false;
		unwind->registers[sp] += 8;
	}
	return unwind__is_code(unwind);
}

bool unwind__next(struct unwind *unwind)
{
	return unwind__step(unwind) == FOUND && unwind__is_code(unwind);
}
