/* SPDX-License-Identifier: BSD-2-Clause */
/* Several captures of one machine, or segments of them, written as one. */
#ifndef TRACER_CMD_JOIN_H
#define TRACER_CMD_JOIN_H

#include <stddef.h>

/*
 * join__write() - write what is in @paths to @output, which is replaced
 * @err: receives a sentence, to be freed
 * Returns 0 or a negative errno.
 */
int join__write(const char *const *paths, size_t count, const char *output, char **err);
/* join__check() - the questions that join__write() asks before it writes anything */
int join__check(const char *const *paths, size_t count, char **err);

#endif /* TRACER_CMD_JOIN_H */
