/* SPDX-License-Identifier: BSD-2-Clause */
/* Operands that are the files of one capture. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../base/say.h"
#include "../trace/segments.h"
#include "cmd.h"

int operands__add(struct operands *operands, const char *path)
{
	const char **paths =
		reallocarray(operands->paths, operands->count + 1, sizeof(*operands->paths));

	if (!paths)
		return -ENOMEM;
	operands->paths = paths;
	paths[operands->count++] = path;
	return 0;
}

/* FILE.3 -> FILE.4, FILE -> FILE.1; to be freed */
static char *path__after(const char *path)
{
	size_t length = strlen(path), digits = length;
	unsigned long long number = 0;

	while (digits && isdigit((unsigned char)path[digits - 1]))
		digits--;
	if (digits == length || digits < 2 || path[digits - 1] != '.')
		return sentence__new("%s.1", path);
	number = strtoull(path + digits, NULL, 10);
	return sentence__new("%.*s%llu", (int)digits, path, number + 1);
}

void operands__hint(const struct operands *operands, const char *command)
{
	char *next = operands->count == 1 ? path__after(operands->paths[0]) : NULL;
	const char *both[] = {operands->paths[0], next};
	struct segments segments = {0};
	char *err = NULL;

	/* a flight recorder's windows have such names too, but each is whole */
	if (next && !access(next, F_OK) && !segments__open(&segments, both, 2, &err))
		say__info("%s is one of several files of a capture; all together: tracer %s %s %s "
			  "...",
			  operands->paths[0], command, operands->paths[0], next);
	segments__close(&segments);
	free(err);
	free(next);
}
