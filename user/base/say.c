/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the user, see say.h.
 *
 * The level and whether a progress line stands on the terminal are the only state; both belong to
 * the one standard error that a process has.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "say.h"

static enum say_level level_now = SAY_NORMAL;
static bool progress_shown;

void say__set_level(enum say_level level)
{
	level_now = level;
}

enum say_level say__level(void)
{
	return level_now;
}

static void clear_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* one write per message: lines of several threads or processes do not mix */
static void say(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	clear_progress();
	fprintf(stderr, "tracer: %s\n", text ? text : format);
	fflush(stderr);
	free(text);
}

#define SAY(at_least)                       \
	do {                                \
		va_list args;               \
		if (level_now < (at_least)) \
			return;             \
		va_start(args, format);     \
		say(format, args);          \
		va_end(args);               \
	} while (0)

void say__error(const char *format, ...)
{
	SAY(SAY_QUIET);
}

void say__info(const char *format, ...)
{
	SAY(SAY_NORMAL);
}

void say__verbose(const char *format, ...)
{
	SAY(SAY_VERBOSE);
}

void say__debug(const char *format, ...)
{
	SAY(SAY_DEBUG);
}

void say__progress(const char *format, ...)
{
	va_list args;

	if (level_now < SAY_NORMAL || !isatty(STDERR_FILENO))
		return;
	clear_progress();
	if (format) {
		va_start(args, format);
		vfprintf(stderr, format, args);
		va_end(args);
		progress_shown = true;
	}
	fflush(stderr);
}

char *sentence__new(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}
