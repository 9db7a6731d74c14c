/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names come from targets and may hold any bytes; JSON and Perfetto want UTF-8.
 */
#ifndef TRACER_BASE_UTF8_H
#define TRACER_BASE_UTF8_H

#include <stddef.h>

/* bytes of the UTF-8 character at @text (at least one byte long), or 0 if it is none */
size_t utf8__length(const unsigned char *text, size_t left);
/* utf8__clean() - every byte that is not a part of a UTF-8 character becomes a '?', in place */
void utf8__clean(char *text, size_t size);

#endif /* TRACER_BASE_UTF8_H */
