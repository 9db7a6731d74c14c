/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the text export: text.c has the lines, text_mismatch.c what does not pair. */
#ifndef TRACER_EXPORT_TEXT_H
#define TRACER_EXPORT_TEXT_H

#include "emit.h"
#include "feed.h"

void text__put_time(struct emit *out, uint64_t time);
/* with quotes and escapes; null for NULL */
void text__put_string(struct emit *out, const char *string);

struct mismatches;

/* a sink of the model that keeps what does not pair; NULL: no memory */
struct mismatches *mismatches__new(struct model *model);
/* lines of comment; @stopped: what is open is none, as its end may be in what was not read */
void mismatches__write(const struct mismatches *mismatches, struct emit *out, bool stopped);
uint64_t mismatches__count(const struct mismatches *mismatches);
void mismatches__free(struct mismatches *mismatches);

#endif /* TRACER_EXPORT_TEXT_H */
