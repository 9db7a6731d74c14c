// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules to instructions. What depends on the binary is decided here and costs nothing in the
 * kernel: constants by its version or its DWARF, addresses of its symbols relative to the site,
 * places of USDT arguments, fields of tracepoints.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "compile.h"
#include "operand.h"

#define PC_WORD_X86 16
#define PC_WORD_ARM 32
#define SP_WORD_X86 19
#define SP_WORD_ARM 31
#define LINK_WORD_ARM 30

struct compiler {
	struct spec_code *code;
	struct site *site;
	size_t begin;
	int depth; /* of the machine's stack */
	int error;
};

static void expr__compile(struct compiler *compiler, const struct expr *expr);

static void compiler__fail(struct compiler *compiler, char *why)
{
	if (!compiler->error)
		compiler->site->why = why;
	else
		free(why);
	if (!compiler->error)
		compiler->error = why ? -EINVAL : -ENOMEM;
}

/* what an instruction does to the machine's stack */
static int op__effect(enum spec_op op)
{
	switch (op) {
	case OP_PUSH:
	case OP_REG:
	case OP_CONTEXT:
	case OP_KEPT:
	case OP_ENTRY:
	case OP_HAS_ENTRY:
	case OP_TID ... OP_WORKER:
	case OP_DUP:
		return 1;
	case OP_KEEP:
	case OP_FORGET:
	case OP_SET_ENTRY:
	case OP_ADD ... OP_LE_SIGNED:
	case OP_JUMP_IF_NOT:
	case OP_POP:
	case OP_ARG:
	case OP_ARG_STRING:
	case OP_ARG_SYMBOL:
	case OP_ARG_ENUM:
		return -1;
	case OP_SET_KEYED:
	case OP_ARG_BYTES:
		return -2;
	default:
		return 0;
	}
}

/* the instruction's place, for jumps that are filled in later */
static size_t emit(struct compiler *compiler, enum spec_op op, uint32_t a, uint32_t b, uint64_t imm)
{
	struct spec_code *code = compiler->code;
	struct spec_insn *more;

	if (compiler->error)
		return 0;
	compiler->depth += op__effect(op);
	if (compiler->depth > SPEC_STACK) {
		compiler__fail(compiler, sentence__new("an expression needs more than %d values at "
						       "once; keep some of it under a name",
						       SPEC_STACK));
		return 0;
	}
	if (code->count == code->room) {
		more = reallocarray(code->all, code->room ? code->room * 2 : 256, sizeof(*more));
		if (!more) {
			compiler__fail(compiler, NULL);
			return 0;
		}
		code->all = more;
		code->room = code->room ? code->room * 2 : 256;
	}
	code->all[code->count] = (struct spec_insn){
		.op = (uint8_t)op,
		.a = (uint8_t)a,
		.b = (uint16_t)b,
		.imm = imm,
	};
	return code->count++;
}

/* the jump at @place leads to what comes next */
static void land(struct compiler *compiler, size_t place)
{
	if (!compiler->error)
		compiler->code->all[place].imm = compiler->code->count - place - 1;
}

static bool is_arm(const struct compiler *compiler)
{
	return compiler->site->symbols && symbols__machine(compiler->site->symbols) == EM_AARCH64;
}

static void register__push(struct compiler *compiler, uint32_t word)
{
	emit(compiler, OP_REG, word, 0, 0);
	if (word < 64)
		compiler->site->reads |= 1ULL << word;
}

/* --- what the binary decides ------------------------------------------------------------------ */

bool site__constant(const struct site *site, const struct spec_name *name, int64_t *value)
{
	const struct alternative *alternative, *best = NULL;

	for (alternative = name->alternatives; alternative; alternative = alternative->next) {
		switch (alternative->kind) {
		case ALTERNATIVE_NUMBER:
			*value = best ? best->number : alternative->number;
			return true;
		case ALTERNATIVE_DWARF:
			if (site->symbols && !symbols__member(site->symbols, alternative->type,
							      alternative->member, value))
				return true;
			break;
		case ALTERNATIVE_SINCE:
			if (site->version >= alternative->version &&
			    (!best || best->version < alternative->version))
				best = alternative;
			break;
		}
	}
	if (best)
		*value = best->number;
	return best != NULL;
}

static int64_t constant(struct compiler *compiler, const struct spec_name *name)
{
	int64_t value = 0;

	if (!site__constant(compiler->site, name, &value))
		compiler__fail(
			compiler,
			sentence__new("'%s' has no value for this binary: its DWARF does not "
				      "say, and no version of the table fits",
				      name->name));
	return value;
}

/* numbers that are known now */
static bool folded(struct compiler *compiler, const struct expr *expr, int64_t *value)
{
	int64_t a, b;

	switch (expr->kind) {
	case EXPR_NUMBER:
		*value = expr->number;
		return true;
	case EXPR_CONST:
		*value = constant(compiler, expr->of);
		return true;
	case EXPR_UNARY:
		if (expr->op != '-' || !folded(compiler, expr->a, &a))
			return false;
		*value = (int64_t)(0 - (uint64_t)a);
		return true;
	case EXPR_BINARY:
		if ((expr->op != OP_ADD && expr->op != OP_SUB && expr->op != OP_MUL) ||
		    !folded(compiler, expr->a, &a) || !folded(compiler, expr->b, &b))
			return false;
		*value = expr->op == OP_ADD   ? (int64_t)((uint64_t)a + (uint64_t)b)
			 : expr->op == OP_SUB ? (int64_t)((uint64_t)a - (uint64_t)b)
					      : (int64_t)((uint64_t)a * (uint64_t)b);
		return true;
	default:
		return false;
	}
}

/* run-time address of what is at a link-time one: as far from here as in the file */
static void address__push(struct compiler *compiler, uint64_t address)
{
	register__push(compiler, is_arm(compiler) ? PC_WORD_ARM : PC_WORD_X86);
	emit(compiler, OP_PUSH, 0, 0, address - compiler->site->address);
	emit(compiler, OP_ADD, 0, 0, 0);
	compiler->site->is_fixed = true;
}

static void symbol__push(struct compiler *compiler, const char *name)
{
	const struct symbol *symbol = symbols__find(compiler->site->symbols, name);

	if (!symbol) {
		compiler__fail(compiler, sentence__new("it has no symbol %s", name));
		return;
	}
	if (symbol->is_tls) {
		register__push(compiler, SPEC_REG_TLS);
		emit(compiler, OP_PUSH, 0, 0,
		     (uint64_t)symbols__tls_offset(compiler->site->symbols) + symbol->address);
		emit(compiler, OP_ADD, 0, 0, 0);
		return;
	}
	address__push(compiler, symbol->address);
}

static void argument__push(struct compiler *compiler, uint32_t number)
{
	static const uint8_t c_x86[] = {14, 13, 12, 11, 9, 8};
	static const uint8_t go_x86[] = {10, 5, 11, 14, 13, 9, 8, 7, 6};
	bool go = compiler->site->probe->abi == ABI_GO;
	uint32_t registers = is_arm(compiler) ? (go ? 16 : 8) : go ? sizeof(go_x86) : sizeof(c_x86);

	if (number < registers) {
		register__push(compiler, is_arm(compiler) ? number
					 : go		  ? go_x86[number]
							  : c_x86[number]);
		return;
	}
	/* on the stack, behind the return address where there is one */
	register__push(compiler, is_arm(compiler) ? SP_WORD_ARM : SP_WORD_X86);
	emit(compiler, OP_LOAD, 8, 0, 8 * (uint64_t)(number - registers + !is_arm(compiler)));
}

/* A probe that moves on takes along how far the stack pointer does: it need not be as at the begin. */
static void caller__push(struct compiler *compiler)
{
	if (is_arm(compiler)) {
		register__push(compiler, LINK_WORD_ARM);
		return;
	}
	emit(compiler, OP_REG, SP_WORD_X86, 0, 0);
	emit(compiler, OP_LOAD, 8, 0, compiler->site->shift);
	compiler->site->reads |= READS_CALLER;
}

static void operand__push(struct compiler *compiler, uint32_t number)
{
	struct site *site = compiler->site;
	struct operand operand;
	int err = operand__parse(symbols__machine(site->symbols), site->args, number, &operand);

	if (err) {
		compiler__fail(
			compiler,
			err == -ENOENT
				? sentence__new("it has %u arguments (%s), and arg%u is used",
						operand__count(site->args), site->args, number)
				: sentence__new("arg%u is in a place that can't be read (%s)",
						number, site->args));
		return;
	}
	if (operand.kind == OPERAND_CONSTANT) {
		emit(compiler, OP_PUSH, 0, 0, (uint64_t)operand.number);
	} else if (operand.kind == OPERAND_REGISTER) {
		register__push(compiler, operand.base);
		if (operand.shift) {
			emit(compiler, OP_PUSH, 0, 0, operand.shift);
			emit(compiler, OP_SHR, 0, 0, 0);
		}
	} else {
		if (operand.symbol[0])
			symbol__push(compiler, operand.symbol);
		else if (operand.base != OPERAND_NONE)
			register__push(compiler, operand.base);
		else
			emit(compiler, OP_PUSH, 0, 0, 0);
		if (operand.symbol[0] && operand.base != OPERAND_NONE) {
			register__push(compiler, operand.base);
			emit(compiler, OP_ADD, 0, 0, 0);
		}
		if (operand.index != OPERAND_NONE) {
			register__push(compiler, operand.index);
			emit(compiler, OP_PUSH, 0, 0, operand.scale);
			emit(compiler, OP_MUL, 0, 0, 0);
			emit(compiler, OP_ADD, 0, 0, 0);
		}
		emit(compiler, OP_LOAD, operand.size, operand.is_signed, (uint64_t)operand.number);
		return;
	}
	if (operand.size < 8)
		emit(compiler, OP_EXTEND, operand.size, operand.is_signed, 0);
}

/* "	field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static void field__push(struct compiler *compiler, const char *name)
{
	const char *at = compiler->site->format, *found;
	unsigned int offset, size, is_signed;
	size_t len = strlen(name);

	while (at && (at = strstr(at, "field:"))) {
		const char *end = strchr(at, ';');

		if (!end)
			break;
		found = end - len;
		if (found > at && !memcmp(found, name, len) &&
		    (found[-1] == ' ' || found[-1] == '*') &&
		    sscanf(end, "; offset:%u; size:%u; signed:%u;", &offset, &size, &is_signed) ==
			    3) {
			if ((size != 1 && size != 2 && size != 4 && size != 8) ||
			    offset + size > SPEC_CONTEXT)
				break;
			emit(compiler, OP_CONTEXT, size, is_signed, offset);
			return;
		}
		at = end;
	}
	compiler__fail(compiler, sentence__new("the tracepoint has no number '%s'", name));
}

/* --- expressions ------------------------------------------------------------------------------ */

static void load__compile(struct compiler *compiler, const struct expr *expr)
{
	const struct expr *address = expr->a;
	int64_t offset = 0;

	/* an offset is part of the instruction */
	if (address->kind == EXPR_BINARY && address->op == OP_ADD) {
		if (folded(compiler, address->b, &offset)) {
			address = address->a;
		} else if (folded(compiler, address->a, &offset)) {
			address = address->b;
		} else {
			offset = 0;
		}
	}
	expr__compile(compiler, address);
	emit(compiler, OP_LOAD, expr->size, expr->is_signed, (uint64_t)offset);
}

static void logic__compile(struct compiler *compiler, const struct expr *expr)
{
	size_t first, second, end;

	expr__compile(compiler, expr->a);
	if (expr->op == 'o')
		emit(compiler, OP_NOT, 0, 0, 0);
	first = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
	expr__compile(compiler, expr->b);
	if (expr->op == 'o')
		emit(compiler, OP_NOT, 0, 0, 0);
	second = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
	emit(compiler, OP_PUSH, 0, 0, expr->op == 'a');
	end = emit(compiler, OP_JUMP, 0, 0, 0);
	compiler->depth--; /* one of the two */
	land(compiler, first);
	land(compiler, second);
	emit(compiler, OP_PUSH, 0, 0, expr->op == 'o');
	land(compiler, end);
}

static void binary__compile(struct compiler *compiler, const struct expr *expr)
{
	uint16_t op = expr->op;

	if (op == 'a' || op == 'o') {
		logic__compile(compiler, expr);
		return;
	}
	expr__compile(compiler, expr->swapped ? expr->b : expr->a);
	expr__compile(compiler, expr->swapped ? expr->a : expr->b);
	if (expr->is_signed) {
		op = op == OP_LT    ? OP_LT_SIGNED
		     : op == OP_LE  ? OP_LE_SIGNED
		     : op == OP_SHR ? OP_SAR
				    : op;
	}
	emit(compiler, (enum spec_op)op, 0, 0, 0);
}

static void unary__compile(struct compiler *compiler, const struct expr *expr)
{
	if (expr->op == '-')
		emit(compiler, OP_PUSH, 0, 0, 0);
	expr__compile(compiler, expr->a);
	if (expr->op == '-') {
		emit(compiler, OP_SUB, 0, 0, 0);
	} else if (expr->op == '!') {
		emit(compiler, OP_NOT, 0, 0, 0);
	} else {
		emit(compiler, OP_PUSH, 0, 0, UINT64_MAX);
		emit(compiler, OP_XOR, 0, 0, 0);
	}
}

static void choice__compile(struct compiler *compiler, const struct expr *expr)
{
	size_t other, end;

	expr__compile(compiler, expr->a);
	other = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
	expr__compile(compiler, expr->b);
	end = emit(compiler, OP_JUMP, 0, 0, 0);
	compiler->depth--; /* one of the two */
	land(compiler, other);
	expr__compile(compiler, expr->c);
	land(compiler, end);
}

static void place__compile(struct compiler *compiler, const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_ADDRESS:
		symbol__push(compiler, expr->text);
		break;
	case EXPR_CALLER:
		caller__push(compiler);
		break;
	case EXPR_FUNCTION:
		address__push(compiler, compiler->site->begin);
		break;
	case EXPR_ARG:
		if (compiler->site->args)
			operand__push(compiler, (uint32_t)expr->number);
		else
			argument__push(compiler, (uint32_t)expr->number);
		break;
	case EXPR_RETVAL:
		register__push(compiler, is_arm(compiler) ? 0 : 10);
		if (compiler->site->no_retval)
			compiler__fail(compiler, sentence__new("it returns through a jump"));
		break;
	case EXPR_REGISTER:
		register__push(compiler, (uint32_t)expr->number);
		break;
	case EXPR_FIELD:
		field__push(compiler, expr->text);
		break;
	case EXPR_ENTRY:
		emit(compiler, OP_ENTRY, (uint32_t)expr->number, 0, compiler->site->function);
		break;
	default:
		break;
	}
}

static void expr__compile(struct compiler *compiler, const struct expr *expr)
{
	int64_t value;

	if (compiler->error)
		return;
	if (folded(compiler, expr, &value)) {
		emit(compiler, OP_PUSH, 0, 0, (uint64_t)value);
		return;
	}
	switch (expr->kind) {
	case EXPR_BUILTIN:
		emit(compiler, (enum spec_op)expr->number, 0, 0, 0);
		break;
	case EXPR_LOAD:
		load__compile(compiler, expr);
		break;
	case EXPR_KEPT:
		emit(compiler, OP_KEPT, compiler->site->spec->kept_base + (uint32_t)expr->number, 0,
		     0);
		break;
	case EXPR_KEYED:
		expr__compile(compiler, expr->a);
		emit(compiler, OP_KEYED, compiler->site->spec->keyed_base + (uint32_t)expr->number,
		     0, 0);
		break;
	case EXPR_CAST:
		expr__compile(compiler, expr->a);
		if (expr->size < 8)
			emit(compiler, OP_EXTEND, expr->size, expr->is_signed, 0);
		break;
	case EXPR_UNARY:
		unary__compile(compiler, expr);
		break;
	case EXPR_BINARY:
		binary__compile(compiler, expr);
		break;
	case EXPR_CHOICE:
		choice__compile(compiler, expr);
		break;
	default:
		place__compile(compiler, expr);
	}
}

/* --- events ----------------------------------------------------------------------------------- */

static const struct spec_name *enum__find(const struct site *site, const struct spec_name *any)
{
	const struct spec_name *name, *best = NULL;

	for (name = site->spec->names; name; name = name->next) {
		if (name->kind == NAME_ENUM && !strcmp(name->name, any->name) &&
		    site->version >= name->version && (!best || best->version < name->version))
			best = name;
	}
	return best ? best : any;
}

static void enum__compile(struct compiler *compiler, const struct expr *expr, uint32_t index)
{
	const struct spec_name *name = enum__find(compiler->site, expr->of);
	const struct enum_value *value;
	const char **texts;
	uint32_t count = 0, number;

	for (value = name->values; value; value = value->next) {
		if (value->number >= count)
			count = (uint32_t)value->number + 1;
	}
	texts = calloc(count + 1, sizeof(*texts));
	if (!texts) {
		compiler__fail(compiler, NULL);
		return;
	}
	for (value = name->values; value; value = value->next)
		texts[value->number] = value->text;
	number = compiler->site->text(compiler->site->ctx, texts, count);
	free(texts);
	expr__compile(compiler, expr->a);
	emit(compiler, OP_ARG_ENUM, index, 0, (uint64_t)count << 32 | number);
}

static void text__compile(struct compiler *compiler, const struct expr *expr, uint32_t index)
{
	size_t other, end;

	switch (expr->kind) {
	case EXPR_TEXT:
		emit(compiler, OP_ARG_TEXT, index, 0,
		     compiler->site->text(compiler->site->ctx, &expr->text, 1));
		break;
	case EXPR_STRING:
		expr__compile(compiler, expr->a);
		if (expr->b)
			expr__compile(compiler, expr->b);
		emit(compiler, expr->b ? OP_ARG_BYTES : OP_ARG_STRING, index, 0, 0);
		break;
	case EXPR_SYMBOL:
		expr__compile(compiler, expr->a);
		emit(compiler, OP_ARG_SYMBOL, index, 0, 0);
		break;
	case EXPR_ENUM:
		enum__compile(compiler, expr, index);
		break;
	case EXPR_COMM:
		emit(compiler, OP_ARG_COMM, index, 0, 0);
		break;
	case EXPR_CHOICE:
		expr__compile(compiler, expr->a);
		other = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
		text__compile(compiler, expr->b, index);
		end = emit(compiler, OP_JUMP, 0, 0, 0);
		land(compiler, other);
		text__compile(compiler, expr->c, index);
		land(compiler, end);
		break;
	default:
		emit(compiler, OP_ARG_NULL, index, 0, 0);
	}
}

static void default__compile(struct compiler *compiler, const struct spec_event_row *event,
			     uint32_t index)
{
	const char *name = event->args[index];

	if (!strcmp(event->types[index], "str") || !strcmp(event->types[index], "lit")) {
		emit(compiler, OP_ARG_NULL, index, 0, 0);
		return;
	}
	if (!strcmp(name, "worker") || !strcmp(name, "thief"))
		emit(compiler, OP_WORKER, 0, 0, 0);
	else if (!strcmp(name, "victim_depth"))
		emit(compiler, OP_PUSH, 0, 0, UINT64_MAX); /* not known */
	else if (!strcmp(name, "victim"))
		emit(compiler, OP_PUSH, 0, 0, UINT32_MAX); /* nobody */
	else
		emit(compiler, OP_PUSH, 0, 0, 0);
	emit(compiler, OP_ARG, index, 0, 0);
}

static void event__compile(struct compiler *compiler, const struct action *action)
{
	const struct spec_event_row *event = action->event;
	uint32_t i;

	for (i = 0; i < event->nargs; i++) {
		if (i >= action->arg_count) {
			default__compile(compiler, event, i);
		} else if (!strcmp(event->types[i], "str")) {
			text__compile(compiler, action->args[i], i);
		} else {
			expr__compile(compiler, action->args[i]);
			emit(compiler, OP_ARG, i, 0, 0);
		}
	}
	emit(compiler, OP_EMIT, event->nargs, spec_event__sampled_by(event), event->number);
	compiler->site->events++;
}

static void action__compile(struct compiler *compiler, const struct action *action)
{
	const struct spec *spec = compiler->site->spec;

	switch (action->kind) {
	case ACTION_EVENT:
		if (compiler->site->categories & action->event->category_bit)
			event__compile(compiler, action);
		break;
	case ACTION_KEEP:
		expr__compile(compiler, action->value);
		emit(compiler, OP_KEEP, spec->kept_base + action->slot, 0, 0);
		compiler->site->actions++;
		break;
	case ACTION_SET:
		expr__compile(compiler, action->key);
		expr__compile(compiler, action->value);
		emit(compiler, OP_SET_KEYED, spec->keyed_base + action->slot, 0, 0);
		compiler->site->actions++;
		break;
	case ACTION_FORGET:
		expr__compile(compiler, action->key);
		emit(compiler, OP_FORGET, spec->keyed_base + action->slot, 0, 0);
		compiler->site->actions++;
		break;
	}
}

static void rules__compile(struct compiler *compiler)
{
	const struct spec_probe *probe = compiler->site->probe;
	const struct action *action;
	const struct rule *rule;
	size_t skip = 0, unseen = 0;

	if (probe->entry_count) {
		emit(compiler, OP_HAS_ENTRY, 0, 0, compiler->site->function);
		unseen = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
	}
	for (rule = probe->rules; rule; rule = rule->next) {
		if (rule->condition) {
			expr__compile(compiler, rule->condition);
			skip = emit(compiler, OP_JUMP_IF_NOT, 0, 0, 0);
		}
		for (action = rule->actions; action; action = action->next)
			action__compile(compiler, action);
		if (rule->condition)
			land(compiler, skip);
	}
	if (probe->entry_count) {
		emit(compiler, OP_END_ENTRY, 0, 0, compiler->site->function);
		land(compiler, unseen);
	}
}

static void entry__compile(struct compiler *compiler)
{
	const struct spec_probe *probe = compiler->site->probe;
	uint32_t i;

	for (i = 0; i < probe->entry_count; i++) {
		expr__compile(compiler, probe->entries[i]);
		emit(compiler, OP_SET_ENTRY, i, 0, compiler->site->function);
	}
	compiler->site->actions += probe->entry_count;
	/* the stack pointer at the entry is the key */
	compiler->site->reads |= 1ULL << (is_arm(compiler) ? SP_WORD_ARM : SP_WORD_X86);
}

int compile__site(struct spec_code *code, struct site *site)
{
	struct compiler compiler = {.code = code, .site = site, .begin = code->count};

	site->why = NULL;
	site->reads = 0;
	site->is_fixed = false;
	site->events = site->actions = 0;
	if (site->saves_entry)
		entry__compile(&compiler);
	else
		rules__compile(&compiler);
	emit(&compiler, OP_END, 0, 0, 0);
	if (!compiler.error && code->count - compiler.begin > SPEC_STEPS)
		compiler__fail(&compiler, sentence__new("its rules are too long: %zu instructions, "
							"and %d are the most",
							code->count - compiler.begin, SPEC_STEPS));
	if (compiler.error)
		code->count = compiler.begin;
	return compiler.error;
}
