/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exporters: each format is one file that reads a trace and writes a file, in a stream.
 *
 * What the user filters out (--task, --worker, --from, --to, -c) is left out by trace__next()
 * itself: see trace/filter.h. A format has nothing to do for it.
 */
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
	bool compact;  /* as large captures are written, whatever the size of this one */
	bool progress; /* say__progress() now and then */
	/*
	 * perfetto: begin another file before one would be larger (0: one file): x.0001.pftrace and
	 * so on, each of which `claim` creates before it is written; or NULL.
	 */
	uint64_t max_file_size;
	int (*claim)(const char *path, bool force);
	bool force;
	const volatile sig_atomic_t *stop; /* non-zero: finish now with what there is; or NULL */
	/* for output__export(), which hands it to the trace; NULL: everything */
	const struct trace_filter *filter;
	const char *const *debug_dirs; /* likewise; NULL: none but the usual one */
	size_t debug_dir_count;
	uint64_t limit; /* tasks that a graph shows at most; 0: as many as can be laid out */
};

/* Each returns 0, or a negative errno with a sentence in @err (to be freed). */
int export__perfetto(struct trace *trace, const struct export_options *options, char **err);
int export__text(struct trace *trace, const struct export_options *options, char **err);
int export__chrome(struct trace *trace, const struct export_options *options, char **err);
/* writes x.pcf and x.row beside x.prv */
int export__paraver(struct trace *trace, const struct export_options *options, char **err);
/* the name of a file beside @path: @other in place of its extension; to be freed, or NULL */
char *export__beside(const char *path, const char *extension, const char *other);
/* -ENODATA: there are no handlers of Asio */
int export__asio(struct trace *trace, const struct export_options *options, char **err);
int export__dot(struct trace *trace, const struct export_options *options, char **err);
int export__folded(struct trace *trace, const struct export_options *options, char **err);
/* @options->path is a folder, which is there */
int export__csv(struct trace *trace, const struct export_options *options, char **err);
/* @options->path is a file, which is empty or not there */
int export__sqlite(struct trace *trace, const struct export_options *options, char **err);

#endif /* TRACER_EXPORT_EXPORT_H */
