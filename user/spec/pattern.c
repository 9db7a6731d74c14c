// SPDX-License-Identifier: BSD-2-Clause
/* Patterns of names, and names as people write them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "spec.h"
#include "symbols.h"

#define REGEX_WEIGHT 4096

/* * and ? only: a [ is part of a name, as in Go's generics. No recursion: the last * is gone back
 * to. */
static bool glob__fits(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL, *from = NULL;

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			from = name;
		} else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

/* where the parameters of a C++ function begin: at the ( that the last ) closes */
static size_t name__without_parameters(const char *name)
{
	const char *close = strrchr(name, ')');
	int depth = 0;

	for (; close && close > name; close--) {
		depth += *close == ')' ? 1 : *close == '(' ? -1 : 0;
		if (!depth)
			return (size_t)(close - name);
	}
	return strlen(name);
}

/* the ] that closes what [ at @text begins, or the end */
static const char *class__end(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	text += *text == ']';
	return text + strcspn(text, "]");
}

bool regex__is_heavy(const char *pattern)
{
	size_t groups[REGEX_LENGTH + 1] = {0}, depth = 0, last = 0;
	const char *at;

	for (at = pattern; *at && depth < REGEX_LENGTH; at++) {
		if (*at == '+') {
			/* stored as what it repeats and a * of that */
			groups[depth] += last;
			last *= 2;
		} else if (*at == '(') {
			groups[++depth] = last = 0;
		} else if (*at == ')' && depth) {
			last = groups[depth--];
			groups[depth] += last;
		} else if (!strchr("*?|", *at)) {
			last = 1;
			groups[depth]++;
			if (*at == '[')
				at = class__end(at);
			else if (*at == '\\' && at[1])
				at++;
		}
		if (groups[depth] > REGEX_WEIGHT || !*at)
			break;
	}
	return groups[depth] > REGEX_WEIGHT;
}

bool pattern__matches(const char *pattern, const char *name)
{
	size_t len = name__without_parameters(name);
	char *bare;
	bool fits;

	if (glob__fits(pattern, pattern + strlen(pattern), name))
		return true;
	if (!name[len] || strchr(pattern, '('))
		return false;
	bare = strndup(name, len);
	fits = bare && glob__fits(pattern, pattern + strlen(pattern), bare);
	free(bare);
	return fits;
}

/* Rust's older mangling looks like C++, with punctuation spelled out and a hash at the end */
static void rust__tidy(char *name)
{
	static const struct {
		const char *from;
		const char *to;
	} words[] = {
		{"$LT$", "<"},	{"$GT$", ">"},	{"$RF$", "&"},	{"$BP$", "*"},	{"$C$", ","},
		{"$LP$", "("},	{"$RP$", ")"},	{"$u20$", " "}, {"$u7b$", "{"}, {"$u7d$", "}"},
		{"$u5b$", "["}, {"$u5d$", "]"}, {"$u27$", "'"}, {"..", "::"},
	};
	char *hash = strrchr(name, ':'), *from, *to;
	size_t i;

	if (!hash || hash - name < 2 || hash[1] != 'h' || strlen(hash) != 18)
		return;
	hash[-1] = '\0';
	for (from = to = name; *from;) {
		for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
			if (!strncmp(from, words[i].from, strlen(words[i].from)))
				break;
		}
		if (i < sizeof(words) / sizeof(*words)) {
			to = stpcpy(to, words[i].to);
			from += strlen(words[i].from);
		} else if (*from == '_' && from[1] == '$' && (from == name || from[-1] == ':')) {
			from++; /* before punctuation */
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

/* the C++ runtime demangles; a machine without one has no C++ programs either */
char *symbol__shown(const char *name)
{
	typedef char *(*demangle)(const char *name, char *room, size_t *size, int *status);
	static demangle function;
	static bool tried;
	char *shown = NULL, *bare, *suffix;
	void *library;
	int status;

	if (!tried) {
		tried = true;
		library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
		*(void **)&function = library ? dlsym(library, "__cxa_demangle") : NULL;
	}
	/* LLVM adds ".llvm.NUMBER" to what it made visible to other units */
	bare = strdup(name);
	suffix = bare ? strstr(bare, ".llvm.") : NULL;
	if (suffix)
		*suffix = '\0';
	if (function && bare && name[0] == '_' && name[1] == 'Z')
		shown = function(bare, NULL, NULL, &status);
	free(bare);
	if (shown && !strncmp(name, "_ZN", 3))
		rust__tidy(shown);
	return shown ? shown : strdup(name);
}
