/* SPDX-License-Identifier: BSD-2-Clause */
/* Options: values with units, names of categories, and the same options from the environment. */
#include "cmd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"

struct unit {
	const char *name;
	uint64_t factor;
};

enum category {
#define TRACER_CATEGORY(number, name, doc) CATEGORY_##name = (number),
#include "../../usdt/tracer/events.def"
};

/* option__quantity() - a decimal number and one of @units ("" is a unit too); false: anything else
 */
static bool option__quantity(const char *text, const struct unit *units, uint64_t *value)
{
	char *end;
	double number, product;

	if (!isdigit((unsigned char)text[0]) || text[1] == 'x' || text[1] == 'X')
		return false;
	errno = 0;
	number = strtod(text, &end);
	if (errno)
		return false;
	for (; units->name; units++)
		if (!strcmp(units->name, end))
			break;
	if (!units->name)
		return false;
	product = number * (double)units->factor;
	/* doubles hold whole numbers up to 2^53 exactly: 104 days, 8 PiB */
	if (product > 9007199254740992.0)
		return false;
	*value = (uint64_t)(product + 0.5);
	return true;
}

int option__duration(const char *text, const struct option_origin *origin, uint64_t *ns)
{
	static const struct unit units[] = {
		{"ns", 1},	    {"us", 1000},	  {"ms", 1000000}, {"s", 1000000000},
		{"m", 60000000000}, {"h", 3600000000000}, {NULL, 0},
	};

	if (!strcmp(text, "0")) {
		*ns = 0;
		return 0;
	}
	if (option__quantity(text, units, ns))
		return 0;
	say__error("%s: '%s' is not a duration; write for example 500ms, 5s or 2m", origin->name,
		   text);
	return -EINVAL;
}

int option__size(const char *text, const struct option_origin *origin, uint64_t *bytes)
{
	static const struct unit units[] = {
		{"", 1}, {"K", 1ULL << 10}, {"M", 1ULL << 20}, {"G", 1ULL << 30}, {NULL, 0},
	};

	if (option__quantity(text, units, bytes))
		return 0;
	say__error("%s: '%s' is not a size; write for example 64K, 16M or 1G", origin->name, text);
	return -EINVAL;
}

int option__number(const char *text, const struct option_origin *origin, uint64_t least,
		   uint64_t most, uint64_t *number)
{
	char *end = NULL;

	errno = 0;
	if (isdigit((unsigned char)text[0]))
		*number = strtoull(text, &end, 10);
	if (end && !*end && !errno && *number >= least && *number <= most)
		return 0;
	say__error("%s: '%s' is not a whole number from %llu to %llu", origin->name, text,
		   (unsigned long long)least, (unsigned long long)most);
	return -EINVAL;
}

int option__word(const char *text, const struct option_origin *origin, const char *const words[],
		 unsigned int *index)
{
	char known[256] = "";

	for (unsigned int i = 0; words[i]; i++) {
		size_t used = strlen(known);

		if (!strcmp(words[i], text)) {
			*index = i;
			return 0;
		}
		snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", words[i]);
	}
	say__error("%s: '%s' is not known here; it is one of: %s", origin->name, text, known);
	return -EINVAL;
}

int option__categories(const char *text, const struct option_origin *origin, uint32_t *bits)
{
	static const char *const names[] = {
#define TRACER_CATEGORY(number, name, doc) [number] = #name,
#include "../../usdt/tracer/events.def"
		NULL,
	};
	char *copy = strdup(text), *rest = copy, *word;
	unsigned int index;
	int rc = copy ? 0 : -ENOMEM;

	/* who switches his capture off means it, whatever is recorded */
	*bits = 1U << CATEGORY_capture;
	while (!rc && (word = strsep(&rest, ","))) {
		rc = option__word(word, origin, names, &index);
		if (!rc)
			*bits |= 1U << index;
	}
	free(copy);
	return rc;
}

int option__speech(int key)
{
	if (key == 'q')
		say__set_level(SAY_QUIET);
	else if (say__level() < SAY_DEBUG)
		say__set_level(say__level() < SAY_NORMAL ? SAY_VERBOSE : say__level() + 1);
	return 0;
}

/* environment__flag() - an option without a value: how often it is given; -EINVAL after saying why
 */
static int environment__flag(const char *value, const struct option_origin *origin, bool counts)
{
	static const char *const no[] = {"", "0", "no", "off", "false", NULL};
	static const char *const yes[] = {"1", "yes", "on", "true", NULL};

	for (int i = 0; no[i]; i++)
		if (!strcmp(value, no[i]))
			return 0;
	for (int i = 0; yes[i]; i++)
		if (!strcmp(value, yes[i]))
			return 1;
	if (counts && !strcmp(value, "2"))
		return 2;
	say__error("%s: '%s' is neither yes nor no; write %s", origin->name, value,
		   counts ? "0, 1 or 2" : "1 or 0");
	return -EINVAL;
}

static int environment__option(const struct cmd_parser *parser, const struct argp_option *option)
{
	struct option_origin origin = {.environment = true};
	char name[64] = "TRACER_";
	size_t used = strlen(name);
	const char *value;
	int times = 1, rc = 0;

	for (const char *c = option->name; *c && used < sizeof(name) - 1; c++)
		name[used++] = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	name[used] = '\0';
	value = getenv(name);
	if (!value)
		return 0;
	origin.name = name;
	if (!option->arg) {
		times = environment__flag(value, &origin, option->key == 'v');
		if (times < 0)
			return times;
		value = NULL;
	} else if (!*value) {
		return 0;
	}
	while (times-- > 0 && !rc)
		rc = parser->set(parser->ctx, option->key, value, &origin);
	return rc;
}

static error_t cmd__argp(int key, char *value, struct argp_state *state)
{
	const struct cmd_parser *parser = state->input;
	struct option_origin origin = {.environment = false};
	char name[64];

	if (key == ARGP_KEY_ARG) {
		if (!parser->operand) {
			argp_error(state, "'%s' is one word too many", value);
			return EINVAL;
		}
		return parser->operand(parser->ctx, value) ? EINVAL : 0;
	}
	for (const struct argp_option *option = parser->options; option->name; option++) {
		if (option->key != key)
			continue;
		snprintf(name, sizeof(name), "--%s", option->name);
		origin.name = name;
		return parser->set(parser->ctx, key, value, &origin) ? EINVAL : 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int cmd__parse(struct cmd_parser *parser, int argc, char **argv)
{
	const struct argp argp = {
		.options = parser->options,
		.parser = cmd__argp,
		.args_doc = parser->operands,
		.doc = parser->doc,
	};

	/* what argp itself refuses (an unknown option) ends there, with this status */
	argp_err_exit_status = parser->usage_status;
	for (const struct argp_option *option = parser->options; option->name; option++)
		if (environment__option(parser, option))
			return parser->usage_status;
	if (argp_parse(&argp, argc, argv, 0, NULL, parser))
		return parser->usage_status;
	return 0;
}
