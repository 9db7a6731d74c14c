// SPDX-License-Identifier: BSD-2-Clause
/*
 * Names to what they stand for, and what may stand where.
 *
 * Two passes: the first gives each name its meaning, which is the same wherever it is used; the
 * second walks each probe's rules with what that probe can tell: arguments at an entry, the result
 * at a return, fields of a tracepoint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define WEIGHT_MAX 128
#define ARGS_MAX 16
#define ENUM_MAX 1024
#define ENTRY_ARGS_MAX SPEC_ENTRIES

enum { UNRESOLVED, UNDER_WAY, RESOLVED };

static void fail_at(struct parser *parser, const struct expr *expr, const char *what)
{
	parser__fail(parser, expr->line, expr->column, "%s", what);
}

/* --- first pass: names ------------------------------------------------------------------------ */

static void expr__resolve(struct parser *parser, struct expr *expr, bool in_tracepoint);

static struct spec_name *name__find(const struct parser *parser, const char *name)
{
	struct spec_name *found = parser->spec->names;

	while (found && strcmp(found->name, name) != 0)
		found = found->next;
	return found;
}

static const struct {
	const char *name;
	uint8_t size;
	bool is_signed;
} types[] = {
	{"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
	{"i8", 1, true},  {"i16", 2, true},  {"i32", 4, true},	{"i64", 8, true},
};

static bool type__find(struct expr *expr)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(expr->text, types[i].name) != 0)
			continue;
		expr->size = types[i].size;
		expr->is_signed = types[i].is_signed;
		return true;
	}
	return false;
}

static const struct {
	const char *name;
	enum expr_kind kind;
	int number;
	bool is_text;
} builtins[] = {
	{"tid", EXPR_BUILTIN, OP_TID, false},
	{"pid", EXPR_BUILTIN, OP_PID, false},
	{"cpu", EXPR_BUILTIN, OP_CPU, false},
	{"time", EXPR_BUILTIN, OP_TIME, false},
	{"worker", EXPR_BUILTIN, OP_WORKER, false},
	{"retval", EXPR_RETVAL, 0, false},
	{"comm", EXPR_COMM, 0, true},
	{"function", EXPR_FUNCTION, 0, false},
	{"caller", EXPR_CALLER, 0, false},
};

static void let__use(struct parser *parser, struct expr *expr, struct spec_name *name)
{
	uint32_t line = expr->line, column = expr->column;

	if (name->progress == UNDER_WAY)
		parser__fail(parser, line, column, "'%s' is defined by itself", name->name);
	if (name->progress == UNRESOLVED) {
		name->progress = UNDER_WAY;
		expr__resolve(parser, name->expr, false);
		name->progress = RESOLVED;
	}
	*expr = *name->expr;
	expr->line = line;
	expr->column = column;
}

static void plain_name__resolve(struct parser *parser, struct expr *expr, bool in_tracepoint)
{
	struct spec_name *name;
	char *end;

	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		if (strcmp(expr->text, builtins[i].name) != 0)
			continue;
		expr->kind = builtins[i].kind;
		expr->number = builtins[i].number;
		expr->is_text = builtins[i].is_text;
		return;
	}
	if (!strncmp(expr->text, "arg", 3) && expr->text[3] >= '0' && expr->text[3] <= '9') {
		expr->kind = EXPR_ARG;
		expr->number = strtol(expr->text + 3, &end, 10);
		if (*end || expr->number >= ARGS_MAX)
			fail_at(parser, expr, "arguments are arg0 to arg15");
		return;
	}
	name = name__find(parser, expr->text);
	if (!name && in_tracepoint) {
		expr->kind = EXPR_FIELD;
		return;
	}
	if (!name)
		parser__fail(parser, expr->line, expr->column,
			     "'%s' is not known: no const, let or enum, and nothing is kept under "
			     "that name",
			     expr->text);
	switch (name->kind) {
	case NAME_LET:
		let__use(parser, expr, name);
		break;
	case NAME_CONST:
		expr->kind = EXPR_CONST;
		expr->of = name;
		break;
	case NAME_KEPT:
		expr->kind = EXPR_KEPT;
		expr->number = name->slot;
		break;
	default:
		parser__fail(parser, expr->line, expr->column, "'%s' needs [...]: %s", name->name,
			     name->kind == NAME_ENUM ? "the number to be named" : "a key");
	}
}

static void index__resolve(struct parser *parser, struct expr *expr)
{
	struct spec_name *name;

	if (type__find(expr)) {
		expr->kind = EXPR_LOAD;
	} else if (!strcmp(expr->text, "str")) {
		expr->kind = EXPR_STRING;
		expr->is_text = true;
		return;
	} else if (!strcmp(expr->text, "symbol")) {
		expr->kind = EXPR_SYMBOL;
		expr->is_text = true;
	} else {
		name = name__find(parser, expr->text);
		if (!name || (name->kind != NAME_ENUM && name->kind != NAME_KEYED))
			parser__fail(parser, expr->line, expr->column,
				     "'%s[...]' is not known: expected u8 to u64, i8 to i64, str, "
				     "symbol, an enum, or what something was kept under",
				     expr->text);
		expr->kind = name->kind == NAME_ENUM ? EXPR_ENUM : EXPR_KEYED;
		expr->is_text = name->kind == NAME_ENUM;
		expr->of = name;
		expr->number = name->slot;
	}
	if (expr->b)
		fail_at(parser, expr->b, "only str[address, length] has two values");
}

static void call__resolve(struct parser *parser, struct expr *expr)
{
	if (!strcmp(expr->text, "entry")) {
		expr->kind = EXPR_ENTRY;
	} else if (type__find(expr)) {
		expr->kind = EXPR_CAST;
	} else {
		parser__fail(parser, expr->line, expr->column,
			     "'%s(...)' is not known: expected entry(value) or u8(value) to "
			     "i64(value)",
			     expr->text);
	}
}

static void register__resolve(struct parser *parser, struct expr *expr)
{
	static const char *const words[] = {
#if defined(__aarch64__)
		"x0",
		"x1",
		"x2",
		"x3",
		"x4",
		"x5",
		"x6",
		"x7",
		"x8",
		"x9",
		"x10",
		"x11",
		"x12",
		"x13",
		"x14",
		"x15",
		"x16",
		"x17",
		"x18",
		"x19",
		"x20",
		"x21",
		"x22",
		"x23",
		"x24",
		"x25",
		"x26",
		"x27",
		"x28",
		"x29",
		"x30",
		"sp",
		"pc",
#else
		"r15",
		"r14",
		"r13",
		"r12",
		"rbp",
		"rbx",
		"r11",
		"r10",
		"r9",
		"r8",
		"rax",
		"rcx",
		"rdx",
		"rsi",
		"rdi",
		NULL,
		"rip",
		NULL,
		NULL,
		"rsp",
#endif
	};

	if (!strcmp(expr->text, "tls")) {
		expr->number = SPEC_REG_TLS;
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (words[i] && !strcmp(words[i], expr->text)) {
			expr->number = (int64_t)i;
			return;
		}
	}
	parser__fail(parser, expr->line, expr->column,
		     "%%%s is no register of this machine; expected %s, or %%tls (where "
		     "thread-locals are)",
		     expr->text,
#if defined(__aarch64__)
		     "%x0 to %x30, %sp, %pc"
#else
		     "%rax, %rbx, ... %r15, %rsp, %rip"
#endif
	);
}

static void number__check(struct parser *parser, const struct expr *expr)
{
	if (expr && expr->is_text)
		fail_at(parser, expr, "a number is needed here, and this is a string");
}

static void children__check(struct parser *parser, struct expr *expr)
{
	if (expr->kind == EXPR_CHOICE) {
		number__check(parser, expr->a);
		if (expr->b->is_text != expr->c->is_text)
			fail_at(parser, expr->c, "one of the two is a number, the other a string");
		expr->is_text = expr->b->is_text;
		expr->is_signed = expr->b->is_signed && expr->c->is_signed;
		return;
	}
	number__check(parser, expr->a);
	number__check(parser, expr->b);
	if (expr->kind == EXPR_BINARY)
		expr->is_signed = expr->a->is_signed || expr->b->is_signed;
	if (expr->kind == EXPR_UNARY)
		expr->is_signed = expr->op == '-' || expr->a->is_signed;
	if (expr->kind == EXPR_ENTRY)
		expr->is_signed = expr->a->is_signed;
}

static void expr__resolve(struct parser *parser, struct expr *expr, bool in_tracepoint)
{
	if (!expr)
		return;
	expr__resolve(parser, expr->a, in_tracepoint);
	expr__resolve(parser, expr->b, in_tracepoint);
	expr__resolve(parser, expr->c, in_tracepoint);
	if (!expr->weight) {
		expr->weight = 1 + (expr->a ? expr->a->weight : 0) +
			       (expr->b ? expr->b->weight : 0) + (expr->c ? expr->c->weight : 0);
	}
	switch (expr->kind) {
	case EXPR_NAME:
		plain_name__resolve(parser, expr, in_tracepoint);
		break;
	case EXPR_INDEX:
		index__resolve(parser, expr);
		break;
	case EXPR_CALL:
		call__resolve(parser, expr);
		break;
	case EXPR_REGISTER:
		register__resolve(parser, expr);
		break;
	case EXPR_TEXT:
		expr->is_text = true;
		break;
	default:
		break;
	}
	if (expr->weight > WEIGHT_MAX)
		fail_at(parser, expr, "too long an expression");
	children__check(parser, expr);
}

/* what actions assign to is known from there on, and before */
static void slots__give(struct parser *parser, const struct rule *rule)
{
	struct spec *spec = parser->spec;
	struct action *action;
	struct spec_name *name, **last;
	enum name_kind kind;

	for (action = rule->actions; action; action = action->next) {
		if (action->kind != ACTION_KEEP && action->kind != ACTION_SET)
			continue;
		kind = action->kind == ACTION_KEEP ? NAME_KEPT : NAME_KEYED;
		for (last = &spec->names; *last && strcmp((*last)->name, action->name) != 0;
		     last = &(*last)->next)
			;
		name = *last;
		if (name && name->kind != kind)
			parser__fail(parser, action->line, action->column,
				     "'%s' is something else already, in line %u", action->name,
				     name->line);
		if (!name) {
			name = *last = parser__alloc(parser, sizeof(*name));
			name->kind = kind;
			name->name = action->name;
			name->line = action->line;
			name->column = action->column;
			name->slot = kind == NAME_KEPT ? spec->kept_count++ : spec->keyed_count++;
		}
		if (spec->kept_count > SPEC_KEPT / 2 || spec->keyed_count > SPEC_KEPT / 2)
			parser__fail(parser, action->line, action->column,
				     "more than %d names under which something is kept",
				     SPEC_KEPT / 2);
		action->slot = name->slot;
	}
}

static void names__check(struct parser *parser)
{
	static const char *const words[] = {"if", "forget", "str", "symbol", "entry", "dwarf"};
	struct spec_name *name;
	struct enum_value *value;
	struct expr probe = {0};
	size_t i;

	for (name = parser->spec->names; name; name = name->next) {
		probe.text = name->name;
		for (i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
			if (!strcmp(builtins[i].name, name->name))
				break;
		}
		if (i < sizeof(builtins) / sizeof(*builtins) || type__find(&probe) ||
		    (!strncmp(name->name, "arg", 3) && name->name[3] >= '0' &&
		     name->name[3] <= '9'))
			parser__fail(parser, name->line, name->column,
				     "'%s' has a meaning of its own", name->name);
		for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
			if (!strcmp(words[i], name->name))
				parser__fail(parser, name->line, name->column,
					     "'%s' has a meaning of its own", name->name);
		}
		for (value = name->values; value; value = value->next) {
			if (value->number < 0 || value->number >= ENUM_MAX)
				parser__fail(parser, name->line, name->column,
					     "an enum's numbers are 0 to %d", ENUM_MAX - 1);
		}
	}
}

/* --- second pass: places ---------------------------------------------------------------------- */

static bool expr__equals(const struct expr *a, const struct expr *b)
{
	if (!a || !b)
		return a == b;
	return a->kind == b->kind && a->number == b->number && a->op == b->op &&
	       a->size == b->size && a->is_signed == b->is_signed && a->of == b->of &&
	       a->swapped == b->swapped &&
	       (a->text == b->text || (a->text && b->text && !strcmp(a->text, b->text))) &&
	       expr__equals(a->a, b->a) && expr__equals(a->b, b->b) && expr__equals(a->c, b->c);
}

static void entry__note(struct parser *parser, struct spec_probe *probe, struct expr *expr)
{
	uint32_t i;

	for (i = 0; i < probe->entry_count && !expr__equals(probe->entries[i], expr->a); i++)
		;
	if (i == ENTRY_ARGS_MAX)
		parser__fail(parser, expr->line, expr->column, "more than %d entry() of one probe",
			     ENTRY_ARGS_MAX);
	if (i == probe->entry_count)
		probe->entries[probe->entry_count++] = expr->a;
	expr->number = i;
}

static void expr__check(struct parser *parser, struct spec_probe *probe, struct expr *expr,
			bool in_entry)
{
	bool at_return = probe->kind == PLACE_RETURN && !in_entry;

	if (!expr)
		return;
	switch (expr->kind) {
	case EXPR_ARG:
		if (at_return)
			parser__fail(parser, expr->line, expr->column,
				     "arguments are gone at the return; write entry(arg%d)",
				     (int)expr->number);
		if (probe->kind == PLACE_TRACEPOINT)
			fail_at(parser, expr,
				"a tracepoint has fields, not arguments; see its format "
				"file in /sys/kernel/tracing/events");
		break;
	case EXPR_RETVAL:
		if (!at_return)
			fail_at(parser, expr, "there is a result only at a return");
		break;
	case EXPR_ENTRY:
		if (!at_return)
			fail_at(parser, expr,
				in_entry ? "entry() inside entry()"
					 : "entry() is for return probes; here "
					   "write the value itself");
		entry__note(parser, probe, expr);
		expr__check(parser, probe, expr->a, true);
		return;
	case EXPR_CALLER:
		if (probe->kind != PLACE_ENTRY && !in_entry)
			fail_at(parser, expr,
				"the caller is known where a function begins; at its "
				"return write entry(caller)");
		if (probe->offset)
			fail_at(parser, expr,
				"the caller is known where a function begins, not inside");
		break;
	case EXPR_FUNCTION:
		if (probe->kind == PLACE_USDT)
			fail_at(parser, expr, "a USDT probe stands in no function that is known");
		/* fallthrough */
	case EXPR_REGISTER:
	case EXPR_ADDRESS:
		if (probe->kind == PLACE_TRACEPOINT)
			fail_at(parser, expr, "not at a tracepoint");
		break;
	default:
		break;
	}
	expr__check(parser, probe, expr->a, in_entry);
	expr__check(parser, probe, expr->b, in_entry);
	expr__check(parser, probe, expr->c, in_entry);
}

static void argument__check(struct parser *parser, const struct action *action, uint32_t index)
{
	const struct expr *expr = action->args[index];
	const char *type = action->event->types[index];
	bool wants_text = !strcmp(type, "str");

	if (!strcmp(type, "lit"))
		parser__fail(parser, expr->line, expr->column,
			     "'%s' of %s cannot come from a spec; leave it out",
			     action->event->args[index], action->event->name);
	if (wants_text == expr->is_text ||
	    (wants_text && expr->kind == EXPR_NUMBER && !expr->number))
		return;
	parser__fail(parser, expr->line, expr->column, "'%s' of %s is a %s, and this is a %s",
		     action->event->args[index], action->event->name,
		     wants_text ? "string (str[...], symbol[...], \"...\")" : "number",
		     expr->is_text ? "string" : "number");
}

static void action__resolve(struct parser *parser, struct spec_probe *probe, struct action *action)
{
	bool fields = probe->kind == PLACE_TRACEPOINT;
	struct spec_name *name;
	uint32_t i;

	for (i = 0; i < action->arg_count; i++) {
		expr__resolve(parser, action->args[i], fields);
		expr__check(parser, probe, action->args[i], false);
		argument__check(parser, action, i);
	}
	expr__resolve(parser, action->key, fields);
	expr__resolve(parser, action->value, fields);
	number__check(parser, action->key);
	number__check(parser, action->value);
	expr__check(parser, probe, action->key, false);
	expr__check(parser, probe, action->value, false);
	if (action->kind != ACTION_FORGET)
		return;
	name = name__find(parser, action->name);
	if (!name || name->kind != NAME_KEYED)
		parser__fail(parser, action->line, action->column, "nothing is kept as %s[...]",
			     action->name);
	action->slot = name->slot;
}

void parser__resolve(struct parser *parser)
{
	struct spec_probe *probe;
	struct spec_name *name;
	struct action *action;
	struct rule *rule;

	for (probe = parser->spec->probes; probe; probe = probe->next) {
		for (rule = probe->rules; rule; rule = rule->next)
			slots__give(parser, rule);
	}
	names__check(parser);
	for (name = parser->spec->names; name; name = name->next) {
		if (name->kind == NAME_LET && name->progress == UNRESOLVED) {
			name->progress = UNDER_WAY;
			expr__resolve(parser, name->expr, false);
			name->progress = RESOLVED;
		}
	}
	for (probe = parser->spec->probes; probe; probe = probe->next) {
		for (rule = probe->rules; rule; rule = rule->next) {
			expr__resolve(parser, rule->condition, probe->kind == PLACE_TRACEPOINT);
			number__check(parser, rule->condition);
			expr__check(parser, probe, rule->condition, false);
			for (action = rule->actions; action; action = action->next)
				action__resolve(parser, probe, action);
		}
	}
}
