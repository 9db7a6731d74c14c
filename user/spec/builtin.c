// SPDX-License-Identifier: BSD-2-Clause
/* The specs of probes/, whole, so that the command needs nothing beside it (mk/spec.mk). */
#include <string.h>
#include "spec.h"
#include "probes/builtin.h"

const struct spec_builtin *spec_builtin__at(size_t index)
{
	return builtins[index].name ? &builtins[index] : NULL;
}

const struct spec_builtin *spec_builtin__find(const char *name)
{
	for (size_t i = 0; builtins[i].name; i++) {
		if (!strcmp(builtins[i].name, name))
			return &builtins[i];
	}
	return NULL;
}
