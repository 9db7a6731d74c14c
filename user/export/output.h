/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that is written once, from front to back, plain or compressed on the way. */
#ifndef TRACER_EXPORT_OUTPUT_H
#define TRACER_EXPORT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include "export.h"

struct output;

/* output__open() - @path "-" is standard output; returns 0 or -errno */
int output__open(struct output **output, const char *path, enum export_compression compression);
/* the first error sticks: later writes do nothing and return it */
int output__write(struct output *output, const void *data, size_t size);
uint64_t output__bytes(const struct output *output); /* in the file so far */
/* writes the rest and closes; 0 or the first error. @output is gone in any case. */
int output__close(struct output *output);

#endif /* TRACER_EXPORT_OUTPUT_H */
