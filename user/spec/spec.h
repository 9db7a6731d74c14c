/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probe specs: what can be probed in a binary that has no points, and which events it means
 * (docs/specs.md). This stage reads specs and compiles them for a site; it attaches nothing.
 *
 *	lexer.c		text to tokens
 *	parser.c	tokens to struct spec, every mistake with its line and column
 *	resolve.c	names to what they stand for, and what may stand where
 *	compile.c	a probe's rules to instructions of the machine in bpf/spec.h
 *	operand.c	a USDT probe's argument, as its note describes it
 *	insn.c		where instructions begin, which return, which are cheap to probe
 *	symbols.c	functions, data and types of a binary
 *	gotab.c		the same of stripped Go programs
 *	builtin.c	the specs that come with the command
 */
#ifndef TRACER_SPEC_SPEC_H
#define TRACER_SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../../bpf/spec.h"

enum expr_kind {
	EXPR_NUMBER,
	EXPR_TEXT,    /* a string in quotes */
	EXPR_NAME,    /* not resolved yet; likewise the next two */
	EXPR_INDEX,   /* name[a], or name[a, b] */
	EXPR_CALL,    /* name(a) */
	EXPR_ADDRESS, /* &symbol */
	EXPR_ARG,     /* number: which */
	EXPR_RETVAL,
	EXPR_REGISTER, /* number: word of pt_regs */
	EXPR_CONST,    /* of */
	EXPR_BUILTIN,  /* number: an opcode without operands */
	EXPR_COMM,
	EXPR_FUNCTION, /* run-time address of the probed function */
	EXPR_CALLER,   /* where the probed function returns to */
	EXPR_LOAD,     /* size, is_signed, address a */
	EXPR_STRING,   /* a: address, b: length or NULL */
	EXPR_SYMBOL,   /* a: address in code */
	EXPR_ENUM,     /* of, a: value */
	EXPR_KEPT,     /* number: slot */
	EXPR_KEYED,    /* number: table, a: key */
	EXPR_ENTRY,    /* a: evaluated at the function's entry */
	EXPR_TLS,      /* text: symbol of a thread-local */
	EXPR_FIELD,    /* text: field of a tracepoint */
	EXPR_CAST,     /* size, is_signed, a */
	EXPR_UNARY,    /* op: '-', '!', '~' */
	EXPR_BINARY,   /* op: an opcode, or 'a' for &&, 'o' for ||; swapped: b before a */
	EXPR_CHOICE,   /* a ? b : c */
};

struct expr {
	enum expr_kind kind;
	uint32_t line, column;
	int64_t number;
	const char *text;
	const struct spec_name *of;
	struct expr *a, *b, *c;
	uint16_t op;
	uint8_t size;
	bool is_signed, is_text, swapped;
	uint32_t weight; /* nodes, lets written out */
};

enum name_kind { NAME_CONST, NAME_LET, NAME_ENUM, NAME_KEPT, NAME_KEYED };

/* a value of a constant, tried in order */
struct alternative {
	struct alternative *next;
	enum { ALTERNATIVE_NUMBER, ALTERNATIVE_DWARF, ALTERNATIVE_SINCE } kind;
	uint64_t version; /* SINCE: of the binary at least */
	int64_t number;
	const char *type, *member; /* DWARF */
};

struct enum_value {
	struct enum_value *next;
	int64_t number;
	const char *text;
};

struct spec_name {
	struct spec_name *next;
	enum name_kind kind;
	const char *name;
	uint32_t line, column;
	struct alternative *alternatives; /* CONST */
	struct expr *expr;		  /* LET */
	uint8_t progress;		  /* of its resolution */
	uint64_t version;		  /* ENUM: since; there may be others of the same name */
	struct enum_value *values;
	uint32_t slot; /* KEPT, KEYED */
};

enum action_kind { ACTION_EVENT, ACTION_KEEP, ACTION_SET, ACTION_FORGET };

struct spec_event_row;

struct action {
	struct action *next;
	enum action_kind kind;
	uint32_t line, column;
	const struct spec_event_row *event;
	struct expr *args[SPEC_ARGS];
	uint32_t arg_count;
	const char *name;
	uint32_t slot;
	struct expr *key, *value;
};

struct rule {
	struct rule *next;
	struct expr *condition; /* or NULL */
	struct action *actions;
	uint32_t line;
};

enum place_kind { PLACE_ENTRY, PLACE_RETURN, PLACE_USDT, PLACE_TRACEPOINT };
enum spec_abi { ABI_C, ABI_GO };

struct spec_probe {
	struct spec_probe *next;
	enum place_kind kind;
	const char *pattern;  /* symbol, or USDT or tracepoint name */
	const char *provider; /* of USDT, category of a tracepoint */
	bool is_regex;
	uint64_t offset;  /* behind the function's begin */
	const char *file; /* glob: only in binaries with such a name; NULL any */
	enum spec_abi abi;
	int priority; /* 0 is shed first; -1: by its events */
	uint32_t line, column;
	const char *text; /* the place as written */
	uint32_t number;  /* in the spec, from 0 */
	struct rule *rules;
	struct expr *entries[SPEC_ENTRIES]; /* what entry() wants, of a RETURN */
	uint32_t entry_count;
};

enum recogniser_kind { RECOGNISE_SYMBOL, RECOGNISE_SECTION, RECOGNISE_FILE, RECOGNISE_USDT };

struct recogniser {
	struct recogniser *next;
	enum recogniser_kind kind;
	const char *pattern;
};

enum version_kind { VERSION_NONE, VERSION_GO, VERSION_FILE };

struct spec {
	struct spec *next;  /* for the caller */
	const char *name;   /* of the runtime, or the file's */
	const char *doc;    /* or "" */
	const char *source; /* what mistakes are reported under */
	bool is_builtin;
	enum version_kind version;
	const char *version_pattern; /* FILE: a file name with % for the version */
	struct recogniser *recognisers;
	struct spec_name *names;
	struct spec_probe *probes;
	uint32_t probe_count, kept_count, keyed_count;
	uint32_t kept_base, keyed_base; /* slots are numbered from there in the machine */
	void *memory;
	/* for the caller */
	uint32_t index;
	bool in_use;   /* a target's binary was recognised, or somebody named it */
	bool has_news; /* since the caller last told what came of it */
};

/* a row of events.def */
struct spec_event_row {
	uint16_t number;
	const char *name, *category;
	uint32_t category_bit;
	const char *by; /* whose identity decides under --sample */
	uint8_t nargs;
	const char *types[SPEC_ARGS], *args[SPEC_ARGS];
};

const struct spec_event_row *spec_event__find(const char *name, size_t len);
/* 1 + argument, 0 none */
uint8_t spec_event__sampled_by(const struct spec_event_row *row);
const struct spec_event_row *spec_event__at(size_t index); /* NULL behind the last one */

/*
 * spec__parse() - read a spec
 * @source: name under which mistakes are reported
 * @text: NUL-terminated
 * @err: receives "source:line:column: what is wrong", the line and a caret; to be freed
 * Returns the spec, or NULL.
 */
struct spec *spec__parse(const char *source, const char *text, char **err);
struct spec *spec__read_file(const char *path, char **err);
void spec__free(struct spec *spec);

/* "1.21.3" to a number that can be compared; 0: none */
uint64_t version__parse(const char *text, size_t len);

/* the specs that come with the command */
struct spec_builtin {
	const char *name, *text;
};
const struct spec_builtin *spec_builtin__at(size_t index); /* NULL behind the last one */
const struct spec_builtin *spec_builtin__find(const char *name);

/* glob (*, ?) or regular expression; a C++ or Rust name also without its parameters */
bool pattern__matches(const char *pattern, const char *name);

/* regex__is_heavy() - would the library need much memory for it? A + doubles what it repeats. */
#define REGEX_LENGTH 256
bool regex__is_heavy(const char *pattern);

#endif /* TRACER_SPEC_SPEC_H */
