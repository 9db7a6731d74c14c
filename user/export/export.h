/* SPDX-License-Identifier: BSD-2-Clause */
/* Exporters: each format is one file that reads a trace and writes a file, in a stream. */
#ifndef TRACER_EXPORT_EXPORT_H
#define TRACER_EXPORT_EXPORT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "../trace/trace.h"

enum export_tracks { EXPORT_LANES, EXPORT_TASK, EXPORT_WORKERS };
enum export_compression { EXPORT_PLAIN, EXPORT_GZIP, EXPORT_ZSTD };

struct export_options {
	const char *path; /* output; "-" standard output */
	enum export_tracks tracks;
	enum export_compression compression;
	bool progress;			   /* say__progress() now and then */
	const volatile sig_atomic_t *stop; /* non-zero: finish now with what there is; or NULL */
};

/* Each returns 0, or a negative errno with a sentence in @err (to be freed). */
int export__perfetto(struct trace *trace, const struct export_options *options, char **err);
int export__text(struct trace *trace, const struct export_options *options, char **err);

#endif /* TRACER_EXPORT_EXPORT_H */
