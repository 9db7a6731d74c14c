// SPDX-License-Identifier: BSD-2-Clause
/*
 * Any text as a probe spec: it is read, or refused with line and column. Seeds are the specs of
 * probes/, so mutations keep much of the language.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "spec/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *err = NULL;
	unsigned int line, column;
	struct spec *spec;

	memcpy(text, data, size);
	text[size] = '\0';
	spec = spec__parse("fuzz", text, &err);
	if (!spec && (!err || sscanf(err, "fuzz:%u:%u: ", &line, &column) != 2 || !line || !column))
		abort();
	if (spec && err)
		abort();
	spec__free(spec);
	free(err);
	free(text);
	return 0;
}
