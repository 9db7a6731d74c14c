/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of this stage that read a spec. */
#ifndef TRACER_SPEC_INTERNAL_H
#define TRACER_SPEC_INTERNAL_H

#include <setjmp.h>
#include "spec.h"

enum token_kind {
	TOKEN_END,
	TOKEN_LINE, /* end of a line */
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_VERSION, /* 1.21 */
	TOKEN_TEXT,
	TOKEN_REGISTER, /* %rax */
	TOKEN_WORD,	/* a pattern, see lexer__pattern() */
	TOKEN_REGEX,
	TOKEN_OTHER, /* a character, or two: op */
};

#define OP2(a, b) ((a) << 8 | (b))

struct token {
	enum token_kind kind;
	uint32_t line, column;
	const char *start;
	size_t len;
	const char *text; /* of NAME, TEXT, WORD, REGISTER: in the spec's memory */
	int64_t number;
	int op;
};

struct parser {
	struct spec *spec;
	const char *begin, *at, *line_begin;
	uint32_t line;
	struct token token; /* the next one */
	int nested;	    /* in brackets lines do not end */
	int depth, terms;   /* of expressions */
	jmp_buf failed;
	char *err;
	/* what the following probes get */
	const char *file;
	enum spec_abi abi;
	int priority;
};

/* zeroed, lives as long as the spec; never NULL: no memory is a mistake like others */
void *parser__alloc(struct parser *parser, size_t size);
const char *parser__copy(struct parser *parser, const char *start, size_t len);
/* says what is wrong there, and does not return */
void parser__fail(struct parser *parser, uint32_t line, uint32_t column, const char *format, ...)
	__attribute__((format(printf, 4, 5), noreturn));
void parser__next(struct parser *parser);
/* the next token as a pattern of names: up to a blank, or in quotes, or a /regular expression/ */
void parser__next_pattern(struct parser *parser);
void parser__resolve(struct parser *parser);

#endif /* TRACER_SPEC_INTERNAL_H */
