// SPDX-License-Identifier: BSD-2-Clause
/*
 * A spec's statements and expressions, by recursive descent. Only the form is looked at here; what
 * the names stand for, and what may stand where, is resolve.c's.
 */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../base/say.h"
#include "internal.h"

#define DEPTH_MAX 64
#define TERMS_MAX 1000 /* of a statement */
#define SPEC_SIZE_MAX (1U << 20)

static void fail_here(struct parser *parser, const char *what)
{
	parser__fail(parser, parser->token.line, parser->token.column, "%s", what);
}

static bool token__is(const struct parser *parser, int op)
{
	return parser->token.kind == TOKEN_OTHER && parser->token.op == op;
}

static bool token__is_word(const struct parser *parser, const char *word)
{
	return parser->token.kind == TOKEN_NAME && !strcmp(parser->token.text, word);
}

static bool accept(struct parser *parser, int op)
{
	if (!token__is(parser, op))
		return false;
	parser__next(parser);
	return true;
}

static void expect(struct parser *parser, int op, const char *what)
{
	if (!accept(parser, op))
		fail_here(parser, what);
}

static void lines__skip(struct parser *parser)
{
	while (parser->token.kind == TOKEN_LINE)
		parser__next(parser);
}

static const char *name__take(struct parser *parser, const char *what)
{
	const char *name = parser->token.text;

	if (parser->token.kind != TOKEN_NAME)
		fail_here(parser, what);
	parser__next(parser);
	return name;
}

static int64_t number__take(struct parser *parser, const char *what)
{
	bool negative = accept(parser, '-');
	int64_t number = parser->token.number;

	if (parser->token.kind != TOKEN_NUMBER)
		fail_here(parser, what);
	parser__next(parser);
	return negative ? (int64_t)(0 - (uint64_t)number) : number;
}

static void line__end(struct parser *parser)
{
	if (parser->token.kind != TOKEN_LINE && parser->token.kind != TOKEN_END)
		fail_here(parser, "the line should end here");
}

/* --- expressions ------------------------------------------------------------------------------ */

static struct expr *expr__read(struct parser *parser);

static struct expr *expr__new(struct parser *parser, enum expr_kind kind)
{
	struct expr *expr = parser__alloc(parser, sizeof(*expr));

	expr->kind = kind;
	expr->line = parser->token.line;
	expr->column = parser->token.column;
	return expr;
}

static struct expr *name__expr(struct parser *parser)
{
	struct expr *expr = expr__new(parser, EXPR_NAME);

	expr->text = parser->token.text;
	parser__next(parser);
	if (accept(parser, '[')) {
		expr->kind = EXPR_INDEX;
		expr->a = expr__read(parser);
		if (accept(parser, ','))
			expr->b = expr__read(parser);
		expect(parser, ']', "expected ]");
	} else if (accept(parser, '(')) {
		expr->kind = EXPR_CALL;
		expr->a = expr__read(parser);
		expect(parser, ')', "expected )");
	}
	return expr;
}

static struct expr *primary__read(struct parser *parser)
{
	struct expr *expr;

	switch (parser->token.kind) {
	case TOKEN_NUMBER:
		expr = expr__new(parser, EXPR_NUMBER);
		expr->number = parser->token.number;
		parser__next(parser);
		return expr;
	case TOKEN_TEXT:
		expr = expr__new(parser, EXPR_TEXT);
		expr->text = parser->token.text;
		parser__next(parser);
		return expr;
	case TOKEN_REGISTER:
		expr = expr__new(parser, EXPR_REGISTER);
		expr->text = parser->token.text;
		parser__next(parser);
		return expr;
	case TOKEN_NAME:
		return name__expr(parser);
	default:
		if (!token__is(parser, '('))
			fail_here(parser,
				  "expected a value: a number, a name, arg0, %rax, u64[...], "
				  "\"...\", (...)");
		parser__next(parser);
		expr = expr__read(parser);
		expect(parser, ')', "expected )");
		return expr;
	}
}

static struct expr *unary__read(struct parser *parser)
{
	struct expr *expr;

	if (++parser->depth > DEPTH_MAX)
		fail_here(parser, "too deeply nested");
	if (token__is(parser, '-') || token__is(parser, '!') || token__is(parser, '~')) {
		expr = expr__new(parser, EXPR_UNARY);
		expr->op = (uint16_t)parser->token.op;
		parser__next(parser);
		expr->a = unary__read(parser);
	} else if (token__is(parser, '&')) {
		expr = expr__new(parser, EXPR_ADDRESS);
		parser__next_pattern(parser);
		expr->text = parser->token.text;
		/* a word may have swallowed what closes an expression */
		if (parser->token.kind == TOKEN_WORD) {
			size_t len = strcspn(expr->text, "()[]{},;+-*/&|<>=!?");

			if (!len)
				fail_here(parser, "after & the name of a symbol");
			expr->text = parser__copy(parser, expr->text, len);
			parser->at = parser->token.start + len;
		}
		parser__next(parser);
	} else {
		expr = primary__read(parser);
	}
	parser->depth--;
	return expr;
}

/* operators that bind equally, the loosest first */
static const struct {
	int token;
	uint16_t op;
	uint8_t level;
	bool swapped;
} binaries[] = {
	{OP2('|', '|'), 'o', 0, false},
	{OP2('&', '&'), 'a', 1, false},
	{'|', OP_OR, 2, false},
	{'^', OP_XOR, 3, false},
	{'&', OP_AND, 4, false},
	{OP2('=', '='), OP_EQ, 5, false},
	{OP2('!', '='), OP_NE, 5, false},
	{'<', OP_LT, 6, false},
	{OP2('<', '='), OP_LE, 6, false},
	{'>', OP_LT, 6, true},
	{OP2('>', '='), OP_LE, 6, true},
	{OP2('<', '<'), OP_SHL, 7, false},
	{OP2('>', '>'), OP_SHR, 7, false},
	{'+', OP_ADD, 8, false},
	{'-', OP_SUB, 8, false},
	{'*', OP_MUL, 9, false},
	{'/', OP_DIV, 9, false},
	{'%', OP_MOD, 9, false},
};

#define LEVELS 10

static int binary__find(const struct parser *parser, int level)
{
	for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++) {
		if (binaries[i].level == level && token__is(parser, binaries[i].token))
			return (int)i;
	}
	return -1;
}

static struct expr *binary__read(struct parser *parser, int level)
{
	struct expr *left, *expr;
	int found;

	if (level == LEVELS)
		return unary__read(parser);
	left = binary__read(parser, level + 1);
	while ((found = binary__find(parser, level)) >= 0) {
		expr = expr__new(parser, EXPR_BINARY);
		expr->op = binaries[found].op;
		expr->swapped = binaries[found].swapped;
		parser__next(parser);
		lines__skip(parser);
		expr->a = left;
		expr->b = binary__read(parser, level + 1);
		left = expr;
		if (++parser->terms > TERMS_MAX)
			fail_here(parser, "too long an expression");
	}
	return left;
}

static struct expr *expr__read(struct parser *parser)
{
	int depth = parser->depth;
	struct expr *first, *choice;

	if (++parser->depth > DEPTH_MAX)
		fail_here(parser, "too deeply nested");
	first = binary__read(parser, 0);
	if (token__is(parser, '?')) {
		choice = expr__new(parser, EXPR_CHOICE);
		parser__next(parser);
		choice->a = first;
		choice->b = expr__read(parser);
		expect(parser, ':', "expected : and the other value");
		choice->c = expr__read(parser);
		first = choice;
	}
	parser->depth = depth;
	return first;
}

/* --- rules ------------------------------------------------------------------------------------ */

static void event__read(struct parser *parser, struct action *action)
{
	const struct spec_event_row *row = spec_event__find(action->name, strlen(action->name));

	if (!row)
		parser__fail(parser, action->line, action->column,
			     "'%s' is no event; the events are in usdt/tracer/events.def, and "
			     "tracer list --events names them",
			     action->name);
	action->event = row;
	while (!token__is(parser, ')')) {
		if (action->arg_count == row->nargs)
			parser__fail(parser, parser->token.line, parser->token.column,
				     "%s has %u argument%s", row->name, row->nargs,
				     row->nargs == 1 ? "" : "s");
		action->args[action->arg_count++] = expr__read(parser);
		if (!accept(parser, ','))
			break;
	}
	expect(parser, ')', "expected , or )");
}

static struct action *action__read(struct parser *parser)
{
	struct action *action = parser__alloc(parser, sizeof(*action));

	action->line = parser->token.line;
	action->column = parser->token.column;
	action->name =
		name__take(parser, "expected an event, as task_begin(arg0), or name = value");
	if (!strcmp(action->name, "forget") && parser->token.kind == TOKEN_NAME) {
		action->kind = ACTION_FORGET;
		action->name = name__take(parser, "expected a name");
		expect(parser, '[', "expected [ and the key of what is to be forgotten");
		action->key = expr__read(parser);
		expect(parser, ']', "expected ]");
	} else if (accept(parser, '(')) {
		event__read(parser, action);
	} else {
		if (accept(parser, '[')) {
			action->kind = ACTION_SET;
			action->key = expr__read(parser);
			expect(parser, ']', "expected ]");
		} else {
			action->kind = ACTION_KEEP;
		}
		expect(parser, '=', "expected ( and an event's arguments, or = and a value");
		action->value = expr__read(parser);
	}
	return action;
}

static struct rule *rule__read(struct parser *parser)
{
	struct rule *rule = parser__alloc(parser, sizeof(*rule));
	struct action **last = &rule->actions;

	rule->line = parser->token.line;
	if (token__is_word(parser, "if")) {
		parser__next(parser);
		rule->condition = expr__read(parser);
		lines__skip(parser);
	}
	expect(parser, OP2('=', '>'), "expected => and what it means");
	do {
		lines__skip(parser);
		*last = action__read(parser);
		last = &(*last)->next;
	} while (accept(parser, ';'));
	line__end(parser);
	return rule;
}

/* --- statements ------------------------------------------------------------------------------- */

static void regex__check(struct parser *parser, const char *pattern)
{
	char why[128];
	regex_t regex;
	int err;

	/* the library takes its time, its stack and memory with what nobody would write */
	if (strlen(pattern) > REGEX_LENGTH || strstr(pattern, "{") || regex__is_heavy(pattern))
		fail_here(parser, "a regular expression beyond 256 characters, with {}, or +++");
	err = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (err) {
		regerror(err, &regex, why, sizeof(why));
		parser__fail(parser, parser->token.line, parser->token.column,
			     "not a regular expression: %s", why);
	}
	regfree(&regex);
}

/* "name+0x10": the number, and the name without it */
static void offset__split(struct parser *parser, struct spec_probe *probe)
{
	const char *plus = strrchr(probe->pattern, '+');
	char *end;

	if (!plus || plus == probe->pattern || plus[1] < '0' || plus[1] > '9')
		return;
	probe->offset = strtoull(plus + 1, &end, 0);
	if (*end)
		parser__fail(parser, parser->token.line, parser->token.column,
			     "'%s' is no offset; write name+16 or name+0x10", plus);
	probe->pattern = parser__copy(parser, probe->pattern, (size_t)(plus - probe->pattern));
}

static void place__read_symbol(struct parser *parser, struct spec_probe *probe)
{
	bool in_quotes;

	parser__next_pattern(parser);
	in_quotes = parser->token.kind == TOKEN_TEXT;
	probe->pattern = parser->token.text;
	probe->is_regex = parser->token.kind == TOKEN_REGEX;
	if (!*probe->pattern)
		fail_here(parser, "an empty name");
	if (probe->is_regex)
		regex__check(parser, probe->pattern);
	else if (!in_quotes)
		offset__split(parser, probe);
	parser__next(parser);
	if (in_quotes && accept(parser, '+'))
		probe->offset = (uint64_t)number__take(parser, "expected a number behind +");
	if (probe->offset && probe->kind == PLACE_RETURN)
		parser__fail(parser, probe->line, probe->column, "a return has no offset");
	if (probe->offset > 1U << 24)
		parser__fail(parser, probe->line, probe->column, "an offset beyond any function");
}

static void place__read_pair(struct parser *parser, struct spec_probe *probe)
{
	const char *colon;

	parser__next_pattern(parser);
	if (parser->token.kind == TOKEN_REGEX)
		fail_here(parser, "expected PROVIDER:NAME, in which * and ? may stand");
	probe->pattern = parser->token.text;
	colon = strchr(probe->pattern, ':');
	if (!colon || colon == probe->pattern || !colon[1])
		fail_here(parser, probe->kind == PLACE_USDT
					  ? "expected PROVIDER:NAME, as in hotspot:thread__start"
					  : "expected CATEGORY:NAME, as in sched:sched_waking");
	probe->provider = parser__copy(parser, probe->pattern, (size_t)(colon - probe->pattern));
	probe->pattern = parser__copy(parser, colon + 1, strlen(colon + 1));
	if (strchr(probe->pattern, '/') || strchr(probe->provider, '/'))
		fail_here(parser, "a name cannot have a / in it");
	parser__next(parser);
}

static void probe__read(struct parser *parser, enum place_kind kind)
{
	struct spec *spec = parser->spec;
	struct spec_probe *probe = parser__alloc(parser, sizeof(*probe)), **last;
	struct rule **last_rule = &probe->rules;
	const char *start = parser->token.start, *end;

	probe->kind = kind;
	probe->line = parser->token.line;
	probe->column = parser->token.column;
	probe->file = parser->file;
	probe->abi = parser->abi;
	probe->priority = parser->priority;
	probe->number = spec->probe_count++;
	if (probe->number == SPEC_PROBES / 8)
		parser__fail(parser, probe->line, probe->column, "more than %d probes",
			     SPEC_PROBES / 8);
	if (kind == PLACE_USDT || kind == PLACE_TRACEPOINT)
		place__read_pair(parser, probe);
	else
		place__read_symbol(parser, probe);
	end = parser->token.start;
	while (end > start && strchr(" \t\r\n", end[-1]))
		end--;
	probe->text = parser__copy(parser, start, (size_t)(end - start));
	do {
		lines__skip(parser);
		*last_rule = rule__read(parser);
		last_rule = &(*last_rule)->next;
		lines__skip(parser);
	} while (token__is_word(parser, "if") || token__is(parser, OP2('=', '>')));
	for (last = &spec->probes; *last; last = &(*last)->next)
		;
	*last = probe;
}

static void recogniser__read(struct parser *parser)
{
	static const char *const kinds[] = {"symbol", "section", "file", "usdt"};
	struct recogniser *recogniser = parser__alloc(parser, sizeof(*recogniser)), **last;
	const char *kind;
	uint32_t line, column, i;

	parser__next(parser);
	line = parser->token.line;
	column = parser->token.column;
	if (parser->token.kind != TOKEN_NAME)
		fail_here(parser, "expected symbol, section, file or usdt");
	kind = parser->token.text;
	for (i = 0; i < 4 && strcmp(kinds[i], kind) != 0; i++)
		;
	if (i == 4)
		parser__fail(parser, line, column,
			     "'%s': a runtime is recognised by a symbol, "
			     "section, file or usdt",
			     kind);
	recogniser->kind = (enum recogniser_kind)i;
	parser__next_pattern(parser);
	if (parser->token.kind == TOKEN_REGEX || !*parser->token.text)
		fail_here(parser, "expected a name, in which * and ? may stand");
	recogniser->pattern = parser->token.text;
	parser__next(parser);
	for (last = &parser->spec->recognisers; *last; last = &(*last)->next)
		;
	*last = recogniser;
}

static struct spec_name *name__new(struct parser *parser, enum name_kind kind)
{
	struct spec_name *name = parser__alloc(parser, sizeof(*name)), **last;

	parser__next(parser);
	name->kind = kind;
	name->line = parser->token.line;
	name->column = parser->token.column;
	name->name = name__take(parser, "expected a name");
	for (last = &parser->spec->names; *last; last = &(*last)->next) {
		if (!strcmp((*last)->name, name->name) &&
		    !(kind == NAME_ENUM && (*last)->kind == NAME_ENUM))
			parser__fail(parser, name->line, name->column,
				     "'%s' is there already, in line %u", name->name,
				     (*last)->line);
	}
	*last = name;
	return name;
}

/* NUMBER, or dwarf TYPE.MEMBER, or VERSION: NUMBER */
static struct alternative *alternative__read(struct parser *parser)
{
	struct alternative *alternative = parser__alloc(parser, sizeof(*alternative));
	const char *dot;

	if (token__is_word(parser, "dwarf")) {
		parser__next_pattern(parser);
		alternative->kind = ALTERNATIVE_DWARF;
		dot = parser->token.kind == TOKEN_REGEX ? NULL : strrchr(parser->token.text, '.');
		if (dot && dot[1] && dot != parser->token.text) {
			size_t len = strcspn(dot + 1, ",");

			alternative->type = parser__copy(parser, parser->token.text,
							 (size_t)(dot - parser->token.text));
			alternative->member = parser__copy(parser, dot + 1, len);
			if (dot[1 + len] && parser->token.kind == TOKEN_WORD)
				parser->at =
					parser->token.start + (dot + 1 + len - parser->token.text);
			if (len) {
				parser__next(parser);
				return alternative;
			}
		}
		fail_here(parser, "expected TYPE.MEMBER, as in dwarf runtime.g.goid");
	}
	if (parser->token.kind == TOKEN_VERSION) {
		alternative->kind = ALTERNATIVE_SINCE;
		alternative->version = (uint64_t)parser->token.number;
		parser__next(parser);
		expect(parser, ':', "expected : and a number");
	}
	alternative->number =
		number__take(parser, "expected a number, dwarf TYPE.MEMBER, or 1.21: NUMBER");
	return alternative;
}

static void const__read(struct parser *parser)
{
	struct spec_name *name = name__new(parser, NAME_CONST);
	struct alternative **last = &name->alternatives;

	expect(parser, '=', "expected = and a number");
	do {
		lines__skip(parser);
		*last = alternative__read(parser);
		last = &(*last)->next;
	} while (accept(parser, ','));
}

static void enum__read(struct parser *parser)
{
	struct spec_name *name = name__new(parser, NAME_ENUM);
	struct enum_value **last = &name->values, *value;

	if (parser->token.kind == TOKEN_VERSION) {
		name->version = (uint64_t)parser->token.number;
		parser__next(parser);
	}
	expect(parser, '{', "expected {, as in enum state { 1 = \"running\", 2 = \"waiting\" }");
	while (!token__is(parser, '}')) {
		value = parser__alloc(parser, sizeof(*value));
		value->number = number__take(parser, "expected a number, as in 4 = \"waiting\"");
		expect(parser, '=', "expected = and a string");
		if (parser->token.kind != TOKEN_TEXT)
			fail_here(parser, "expected a string, as in 4 = \"waiting\"");
		value->text = parser->token.text;
		*last = value;
		last = &value->next;
		parser__next(parser);
		if (!accept(parser, ','))
			break;
	}
	/* what follows is outside: a line may end there */
	if (!token__is(parser, '}'))
		fail_here(parser, "expected , or }");
	parser__next(parser);
}

static void runtime__read(struct parser *parser)
{
	parser__next_pattern(parser);
	if (parser->token.kind == TOKEN_REGEX ||
	    strspn(parser->token.text, "abcdefghijklmnopqrstuvwxyz0123456789-_.") !=
		    strlen(parser->token.text) ||
	    !*parser->token.text)
		fail_here(parser, "expected a name of small letters, digits and -");
	parser->spec->name = parser->token.text;
	parser__next(parser);
	if (parser->token.kind != TOKEN_TEXT)
		return;
	parser->spec->doc = parser->token.text;
	parser__next(parser);
}

static void version__read(struct parser *parser)
{
	parser__next(parser);
	if (token__is_word(parser, "go")) {
		parser->spec->version = VERSION_GO;
	} else if (token__is_word(parser, "file")) {
		parser->spec->version = VERSION_FILE;
		parser__next_pattern(parser);
		if (parser->token.kind == TOKEN_REGEX || !strchr(parser->token.text, '%'))
			fail_here(parser, "expected a file's name with % where the version is: "
					  "libpython%.so*");
		parser->spec->version_pattern = parser->token.text;
	} else {
		fail_here(parser, "expected go, or file and a name with % where the version is");
	}
	parser__next(parser);
}

static void scope__read(struct parser *parser, const char *word)
{
	if (!strcmp(word, "file")) {
		parser__next_pattern(parser);
		if (parser->token.kind == TOKEN_REGEX)
			fail_here(parser, "expected a file's name, in which * and ? may stand");
		parser->file = strcmp(parser->token.text, "*") ? parser->token.text : NULL;
		parser__next(parser);
		return;
	}
	parser__next(parser);
	if (!strcmp(word, "abi")) {
		if (!token__is_word(parser, "go") && !token__is_word(parser, "c"))
			fail_here(parser, "expected c or go");
		parser->abi = token__is_word(parser, "go") ? ABI_GO : ABI_C;
		parser__next(parser);
		return;
	}
	parser->priority = (int)number__take(parser, "expected a number from 0 to 9");
	if (parser->priority < 0 || parser->priority > 9)
		fail_here(parser, "priorities are 0 (left out first) to 9");
}

static void statement__read(struct parser *parser)
{
	const char *word = parser->token.text;
	struct spec_name *name;

	if (parser->token.kind != TOKEN_NAME)
		fail_here(parser, "expected probe, return, usdt, tracepoint, const, let, enum, "
				  "runtime, recognize, file, abi, version or priority");
	if (!strcmp(word, "probe")) {
		probe__read(parser, PLACE_ENTRY);
	} else if (!strcmp(word, "return")) {
		probe__read(parser, PLACE_RETURN);
	} else if (!strcmp(word, "usdt")) {
		probe__read(parser, PLACE_USDT);
	} else if (!strcmp(word, "tracepoint")) {
		probe__read(parser, PLACE_TRACEPOINT);
	} else {
		if (!strcmp(word, "runtime")) {
			runtime__read(parser);
		} else if (!strcmp(word, "recognize") || !strcmp(word, "recognise")) {
			recogniser__read(parser);
		} else if (!strcmp(word, "version")) {
			version__read(parser);
		} else if (!strcmp(word, "const")) {
			const__read(parser);
		} else if (!strcmp(word, "enum")) {
			enum__read(parser);
		} else if (!strcmp(word, "let")) {
			name = name__new(parser, NAME_LET);
			expect(parser, '=', "expected = and a value");
			name->expr = expr__read(parser);
		} else if (!strcmp(word, "file") || !strcmp(word, "abi") ||
			   !strcmp(word, "priority")) {
			scope__read(parser, word);
		} else {
			parser__fail(parser, parser->token.line, parser->token.column,
				     "'%s' begins no statement; expected probe, return, usdt, "
				     "tracepoint, const, let, enum, runtime, recognize, file, abi, "
				     "version or priority",
				     word);
		}
		line__end(parser);
	}
}

static void spec__read(struct parser *parser)
{
	parser__next(parser);
	for (;;) {
		lines__skip(parser);
		if (parser->token.kind == TOKEN_END)
			break;
		parser->depth = 0;
		parser->terms = 0;
		parser->nested = 0;
		statement__read(parser);
	}
	if (!parser->spec->probes)
		fail_here(parser, "no probe: a spec has at least one, as "
				  "probe function => task_begin(arg0)");
	parser__resolve(parser);
}

/* the file's name without folder and ending */
static const char *source__name(struct parser *parser, const char *source)
{
	const char *slash = strrchr(source, '/'), *name = slash ? slash + 1 : source;

	return parser__copy(parser, name, strcspn(name, "."));
}

static bool spec__read_all(struct parser *parser, const char *source)
{
	parser->spec->source = source;
	parser->spec->doc = "";
	if (setjmp(parser->failed))
		return false;
	parser->spec->source = parser__copy(parser, source, strlen(source));
	parser->spec->name = source__name(parser, source);
	spec__read(parser);
	return true;
}

struct spec *spec__parse(const char *source, const char *text, char **err)
{
	struct parser *parser = calloc(1, sizeof(*parser));
	struct spec *spec;

	if (err)
		*err = NULL;
	if (!parser)
		return NULL;
	*parser = (struct parser){
		.spec = calloc(1, sizeof(*spec)),
		.begin = text,
		.at = text,
		.line_begin = text,
		.line = 1,
		.priority = -1,
	};
	if (parser->spec && spec__read_all(parser, source)) {
		spec = parser->spec;
	} else {
		spec__free(parser->spec);
		spec = NULL;
	}
	if (err)
		*err = parser->err;
	else
		free(parser->err);
	free(parser);
	return spec;
}

/* a text ends at its first byte 0: where in the file that is */
static char *zero__tell(const char *path, const char *text)
{
	const char *line = text, *next;
	int number = 1;

	for (; (next = strchr(line, '\n')); line = next + 1)
		number++;
	return sentence__new("%s:%d:%zu: a byte 0: a spec is text", path, number, strlen(line) + 1);
}

struct spec *spec__read_file(const char *path, char **err)
{
	struct spec *spec = NULL;
	struct stat status;
	char *text = NULL;
	size_t size;
	FILE *file = fopen(path, "re");

	if (!file || fstat(fileno(file), &status)) {
		*err = sentence__new("%s: %s", path, strerror(errno));
		goto out;
	}
	if (S_ISDIR(status.st_mode) || status.st_size > SPEC_SIZE_MAX) {
		*err = sentence__new("%s: %s", path,
				     S_ISDIR(status.st_mode) ? "a folder; name a file in it"
							     : "more than 1 MiB: that is no spec");
		goto out;
	}
	text = malloc(SPEC_SIZE_MAX + 1);
	if (!text)
		goto out;
	size = fread(text, 1, SPEC_SIZE_MAX, file);
	text[size] = '\0';
	if (strlen(text) != size) {
		*err = zero__tell(path, text);
		goto out;
	}
	spec = spec__parse(path, text, err);
out:
	if (!spec && !*err)
		*err = sentence__new("%s: no memory", path);
	free(text);
	if (file)
		fclose(file);
	return spec;
}
