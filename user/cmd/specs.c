/* SPDX-License-Identifier: BSD-2-Clause */
/* Probe specs by the names that users give: files, and those that come with the command. */
#include "specs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "../base/say.h"

static void list__append(struct spec **list, struct spec *spec)
{
	while (*list)
		list = &(*list)->next;
	*list = spec;
}

int specs__add_file(struct spec **list, const char *path)
{
	char *err = NULL;
	struct spec *spec = spec__read_file(path, &err);

	if (!spec) {
		say__error("%s", err ? err : path);
		free(err);
		return -EINVAL;
	}
	list__append(list, spec);
	return 0;
}

static int specs__add_builtin(struct spec **list, const struct spec_builtin *builtin)
{
	char *source = sentence__new("%s.probes", builtin->name), *err = NULL;
	struct spec *spec = source ? spec__parse(source, builtin->text, &err) : NULL;

	free(source);
	if (!spec) {
		say__error("%s", err ? err : builtin->name);
		free(err);
		return -EINVAL;
	}
	spec->is_builtin = true;
	list__append(list, spec);
	return 0;
}

int specs__add_all(struct spec **list)
{
	const struct spec_builtin *builtin;
	size_t i;
	int err = 0;

	for (i = 0; !err && (builtin = spec_builtin__at(i)); i++)
		err = specs__add_builtin(list, builtin);
	return err;
}

static void names__say(const char *name, const struct option_origin *origin)
{
	char names[512] = "";
	const struct spec_builtin *builtin;
	size_t at = 0, i;

	for (i = 0; (builtin = spec_builtin__at(i)); i++) {
		if (at + strlen(builtin->name) + 3 > sizeof(names))
			break;
		at += (size_t)(stpcpy(stpcpy(names + at, i ? ", " : ""), builtin->name) - names) -
		      at;
	}
	say__error("%s: '%s' is no runtime that is known; there are %s; or write a spec for it and "
		   "name that: --spec FILE (docs/specs.md)",
		   origin->name, name, names);
}

int specs__add_runtimes(struct spec **list, const char *names, const struct option_origin *origin)
{
	char *copy = strdup(names), *rest = copy, *name;
	const struct spec_builtin *builtin;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ","))) {
		builtin = spec_builtin__find(name);
		if (!builtin) {
			names__say(name, origin);
			err = -EINVAL;
		} else {
			err = specs__add_builtin(list, builtin);
		}
	}
	free(copy);
	return err;
}

void specs__free(struct spec *list)
{
	struct spec *next;

	for (; list; list = next) {
		next = list->next;
		spec__free(list);
	}
}
