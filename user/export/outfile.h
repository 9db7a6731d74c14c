/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that is written once, from front to back, plain or compressed on the way. */
#ifndef TRACER_EXPORT_OUTFILE_H
#define TRACER_EXPORT_OUTFILE_H

#include <stddef.h>
#include <stdint.h>
#include "export.h"

struct outfile;

/* outfile__open() - @path "-" is standard output; returns 0 or -errno */
int outfile__open(struct outfile **output, const char *path, enum export_compression compression);
/* the first error sticks: later writes do nothing and return it */
int outfile__write(struct outfile *output, const void *data, size_t size);
uint64_t outfile__bytes(const struct outfile *output); /* in the file so far, about */
/* writes the rest and closes; 0 or the first error. @output is gone in any case. */
int outfile__close(struct outfile *output);

#endif /* TRACER_EXPORT_OUTFILE_H */
