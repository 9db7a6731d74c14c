// SPDX-License-Identifier: BSD-2-Clause
/* The text of a spec, token by token. A mistake leaves through parser__fail(), which longjmp()s. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"
#include "internal.h"

/* memory of a spec: pieces in a list, all freed at once */
struct piece {
	struct piece *next;
	max_align_t bytes[];
};

#define LINE_SHOWN 160

void *parser__alloc(struct parser *parser, size_t size)
{
	struct piece *piece = calloc(1, sizeof(*piece) + size);

	if (!piece)
		parser__fail(parser, parser->line, 1, "no memory");
	piece->next = parser->spec->memory;
	parser->spec->memory = piece;
	return piece->bytes;
}

const char *parser__copy(struct parser *parser, const char *start, size_t len)
{
	char *copy = parser__alloc(parser, len + 1);

	memcpy(copy, start, len);
	return copy;
}

void spec__free(struct spec *spec)
{
	struct piece *piece, *next;

	if (!spec)
		return;
	for (piece = spec->memory; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	free(spec);
}

static const char *line__find(const struct parser *parser, uint32_t line)
{
	const char *at = parser->begin;

	while (--line && (at = strchr(at, '\n')))
		at++;
	return at ? at : "";
}

/* the line as it can be shown on a terminal, and under it a caret; tabs stay, so that it stands
 * right */
static char *caret__draw(const char *line, uint32_t column)
{
	size_t len = strcspn(line, "\n"), i, at = 0;
	char *text = malloc(2 * LINE_SHOWN + 8);

	if (!text)
		return NULL;
	if (len > LINE_SHOWN)
		len = LINE_SHOWN;
	for (i = 0; i < len; i++)
		text[at++] = line[i] == '\t' || !iscntrl((unsigned char)line[i]) ? line[i] : '?';
	text[at++] = '\n';
	for (i = 0; i + 1 < column && i < LINE_SHOWN; i++)
		text[at++] = i < len && line[i] == '\t' ? '\t' : ' ';
	text[at++] = '^';
	text[at] = '\0';
	return text;
}

void parser__fail(struct parser *parser, uint32_t line, uint32_t column, const char *format, ...)
{
	char *what = NULL, *drawn;
	va_list args;

	va_start(args, format);
	if (vasprintf(&what, format, args) < 0)
		what = NULL;
	va_end(args);
	drawn = caret__draw(line__find(parser, line), column);
	parser->err = sentence__new("%s:%u:%u: %s\n%s", parser->spec->source, line, column,
				    what ? what : "no memory", drawn ? drawn : "");
	free(what);
	free(drawn);
	longjmp(parser->failed, 1);
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

/* a dot is part of a name only before another letter: Go's runtime.g */
static bool is_name_part(const char *at)
{
	return isalnum((unsigned char)*at) || *at == '_' ||
	       ((*at == '.' || *at == '$') && is_name_start(at[1]));
}

static void blanks__skip(struct parser *parser)
{
	for (;;) {
		if (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\r') {
			parser->at++;
		} else if (*parser->at == '#') {
			parser->at += strcspn(parser->at, "\n");
		} else if (*parser->at == '\n' && parser->nested) {
			parser->at++;
			parser->line++;
			parser->line_begin = parser->at;
		} else {
			return;
		}
	}
}

static void token__begin(struct parser *parser)
{
	blanks__skip(parser);
	parser->token = (struct token){
		.start = parser->at,
		.line = parser->line,
		.column = (uint32_t)(parser->at - parser->line_begin) + 1,
	};
}

static void token__fail(struct parser *parser, const char *what)
{
	parser__fail(parser, parser->token.line, parser->token.column, "%s", what);
}

/* a character behind a backslash */
static char escape__read(struct parser *parser)
{
	char hex[3] = {0};

	switch (*parser->at) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '"':
	case '\\':
	case '/':
		return *parser->at;
	case 'x':
		if (!isxdigit((unsigned char)parser->at[1]) ||
		    !isxdigit((unsigned char)parser->at[2]))
			break;
		hex[0] = parser->at[1];
		hex[1] = parser->at[2];
		parser->at += 2;
		if (strtol(hex, NULL, 16))
			return (char)strtol(hex, NULL, 16);
	}
	token__fail(parser, "after \\ in a string there may be: n t \" \\ / xHH (not 00)");
	return 0;
}

static void text__read(struct parser *parser, char quote)
{
	size_t room = strcspn(parser->at + 1, "\n") + 1, len = 0;
	char *text = parser__alloc(parser, room);
	bool is_regex = quote == '/';

	for (parser->at++; *parser->at && *parser->at != '\n' && *parser->at != quote;
	     parser->at++) {
		if (*parser->at == '\\' && is_regex && parser->at[1] != '/') {
			text[len++] = '\\';
			if (!*++parser->at || *parser->at == '\n')
				break;
			text[len++] = *parser->at;
			continue;
		}
		if (*parser->at == '\\') {
			parser->at++;
			text[len++] = escape__read(parser);
			continue;
		}
		text[len++] = *parser->at;
	}
	if (*parser->at != quote)
		token__fail(parser, is_regex ? "the regular expression does not end on this line"
					     : "the string does not end on this line");
	parser->at++;
	parser->token.kind = is_regex ? TOKEN_REGEX : TOKEN_TEXT;
	parser->token.text = text;
}

static void number__read(struct parser *parser)
{
	const char *at = parser->at;
	char *end;

	errno = 0;
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		parser->token.number = (int64_t)strtoull(at, &end, 16);
	else
		parser->token.number = (int64_t)strtoull(at, &end, 10);
	if (errno)
		token__fail(parser, "a number of more than 64 bits");
	parser->token.kind = TOKEN_NUMBER;
	if (*end == '.' && isdigit((unsigned char)end[1]) && at[1] != 'x') {
		end += strspn(end, "0123456789.");
		parser->token.kind = TOKEN_VERSION;
		parser->token.number = (int64_t)version__parse(at, (size_t)(end - at));
	}
	if (is_name_start(*end))
		token__fail(parser, "not a number: it goes on with a letter");
	parser->at = end;
}

static void name__read(struct parser *parser, bool is_register)
{
	const char *start = parser->at += is_register;

	while (is_name_part(parser->at))
		parser->at++;
	if (parser->at == start)
		token__fail(parser, "after % the name of a register: %rax");
	parser->token.kind = is_register ? TOKEN_REGISTER : TOKEN_NAME;
	parser->token.text = parser__copy(parser, start, (size_t)(parser->at - start));
}

static void operator__read(struct parser *parser)
{
	static const char pairs[][3] = {"=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
	char c = *parser->at;

	parser->token.kind = TOKEN_OTHER;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (c == pairs[i][0] && parser->at[1] == pairs[i][1]) {
			parser->token.op = OP2(c, parser->at[1]);
			parser->at += 2;
			return;
		}
	}
	if (!strchr("()[]{},;=<>&|^!~+-*/%?:", c))
		parser__fail(parser, parser->token.line, parser->token.column,
			     isprint((unsigned char)c) ? "'%c' means nothing here"
						       : "a byte 0x%02x that means nothing here",
			     (unsigned char)c);
	parser->token.op = c;
	parser->at++;
	if (c == '(' || c == '[' || c == '{')
		parser->nested++;
	else if ((c == ')' || c == ']' || c == '}') && parser->nested)
		parser->nested--;
}

void parser__next(struct parser *parser)
{
	char c;

	token__begin(parser);
	c = *parser->at;
	if (!c) {
		parser->token.kind = TOKEN_END;
	} else if (c == '\n') {
		parser->token.kind = TOKEN_LINE;
		parser->at++;
		parser->line++;
		parser->line_begin = parser->at;
	} else if (c == '"') {
		text__read(parser, '"');
	} else if (isdigit((unsigned char)c)) {
		number__read(parser);
	} else if (is_name_start(c)) {
		name__read(parser, false);
	} else if (c == '%' && is_name_start(parser->at[1])) {
		name__read(parser, true);
	} else {
		operator__read(parser);
	}
	parser->token.len = (size_t)(parser->at - parser->token.start);
}

void parser__next_pattern(struct parser *parser)
{
	char c;

	token__begin(parser);
	c = *parser->at;
	if (c == '"' || c == '/') {
		text__read(parser, c);
	} else if (c && c != '\n') {
		parser->at += strcspn(parser->at, " \t\r\n");
		parser->token.kind = TOKEN_WORD;
		parser->token.text = parser__copy(parser, parser->token.start,
						  (size_t)(parser->at - parser->token.start));
	} else {
		token__fail(parser, "the name is missing");
	}
	parser->token.len = (size_t)(parser->at - parser->token.start);
}

uint64_t version__parse(const char *text, size_t len)
{
	uint64_t version = 0, part = 0;
	int parts = 0;
	size_t i;

	for (i = 0; i <= len && parts < 4; i++) {
		if (i < len && text[i] >= '0' && text[i] <= '9') {
			if (part < 0xffff)
				part = part * 10 + (uint64_t)(text[i] - '0');
			continue;
		}
		version = version << 16 | (part & 0xffff);
		part = 0;
		parts++;
		if (i == len || text[i] != '.')
			break;
	}
	return version << 16 * (4 - parts);
}
