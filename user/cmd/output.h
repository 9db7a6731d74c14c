/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that a command writes: their names, that nothing is overwritten, whose they are.
 */
#ifndef TRACER_CMD_OUTPUT_H
#define TRACER_CMD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include "../export/export.h"
#include "../trace/trace.h"

enum output_shape {
	OUTPUT_FILE,   /* one, also to a pipe, also compressed */
	OUTPUT_FILES,  /* one, compressed or not, and others beside it: `beside` */
	OUTPUT_PLAIN,  /* one that is written here and there: no pipe, not compressed */
	OUTPUT_FOLDER, /* one of files, compressed or not */
};

struct output_format {
	const char *name;
	const char *extension;
	/* NULL: of a later version */
	int (*write)(struct trace *trace, const struct export_options *options, char **err);
	bool for_terminals; /* goes to standard output if no file is named */
	const char *what;
	enum output_shape shape;
	const char *const *beside; /* OUTPUT_FILES: extensions of the others, NULL at the end */
};

/* output__names() - "perfetto, text, ..., csv": those that can be written */
const char *output__names(char *to, size_t room);
/* output__formats() - all, up to a row without name */
const struct output_format *output__formats(void);
const struct output_format *output__format_named(const char *name);
/*
 * output__format_of() - the format that a file's name asks for, and how it is compressed; NULL:
 * none.
 * ".gz" and ".zst" may follow the extension.
 */
const struct output_format *output__format_of(const char *path,
					      enum export_compression *compression);
bool path__ends_with(const char *path, const char *end);

/*
 * output__claim() - create @path, empty, for the user who called sudo if there is one
 * @force: replace what is there
 * Returns 0 or -errno after telling the user. Devices and pipes are taken as they are.
 */
int output__claim(const char *path, bool force);
/* output__check() - the same questions without creating anything */
int output__check(const char *path, bool force);
/* both for all that the format writes: a file, files beside it, a folder */
int output__claim_all(const struct output_format *format, const char *path, bool force);
int output__check_all(const struct output_format *format, const char *path,
		      enum export_compression compression, bool force);
/* output__give() - whatever is at @path now belongs to the user who called sudo */
void output__give(const char *path);

/*
 * output__export() - write @path from the capture, which may be in several files
 * Returns 0 or -errno after telling; -EINTR: partly.
 */
int output__export(const struct output_format *format, const char *const *captures, size_t count,
		   const struct export_options *options, struct trace_totals *totals);

/* "1.2 MB", "345 B": for people */
const char *size__text(uint64_t bytes, char *to, size_t room);

#endif /* TRACER_CMD_OUTPUT_H */
