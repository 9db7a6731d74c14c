/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the user, on standard error. A refusal names the object, the reason and the remedy and
 * is said once, at the edge; inside, errors travel as negative errno.
 */
#ifndef TRACER_BASE_SAY_H
#define TRACER_BASE_SAY_H

#include <stdbool.h>

enum say_level { SAY_QUIET = -1, SAY_NORMAL, SAY_VERBOSE, SAY_DEBUG };

void say__set_level(enum say_level level);
enum say_level say__level(void);

/* "tracer: ..." always */
void say__error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "tracer: ..." unless -q */
void say__info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* with -v */
void say__verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* with -vv */
void say__debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* a line that overwrites itself, on a terminal only; NULL clears it */
void say__progress(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* sentence__new() - printf to a new string, NULL without memory; for `char **err` */
char *sentence__new(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* TRACER_BASE_SAY_H */
