/* SPDX-License-Identifier: BSD-2-Clause */
/* Probe specs by the names that users give: files, and those that come with the command. */
#ifndef TRACER_CMD_SPECS_H
#define TRACER_CMD_SPECS_H

#include "../spec/spec.h"
#include "cmd.h"

/* each adds to the end of @list; 0, or -EINVAL after telling the user */
int specs__add_file(struct spec **list, const char *path);
/* names separated by commas */
int specs__add_runtimes(struct spec **list, const char *names, const struct option_origin *origin);
int specs__add_all(struct spec **list);
void specs__free(struct spec *list);

#endif /* TRACER_CMD_SPECS_H */
