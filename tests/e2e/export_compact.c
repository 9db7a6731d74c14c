// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exports a capture of any size to Perfetto as if it were a large one, see COMPACT_BYTES:
 *
 *	export_compact CAPTURE TRACE
 */
#include <stdio.h>
#include <stdlib.h>
#include "export/export.h"

int main(int argc, char **argv)
{
	struct export_options options = {.compact = true};
	struct trace *trace;
	char *err = NULL;

	if (argc != 3) {
		fprintf(stderr, "usage: export_compact CAPTURE TRACE\n");
		return 2;
	}
	trace = trace__open(argv[1], &err);
	options.path = argv[2];
	if (trace)
		export__perfetto(trace, &options, &err);
	if (err)
		fprintf(stderr, "export_compact: %s\n", err);
	if (trace)
		trace__close(trace);
	free(err);
	return err != NULL;
}
