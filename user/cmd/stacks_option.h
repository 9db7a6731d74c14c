/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TRACER_CMD_STACKS_OPTION_H
#define TRACER_CMD_STACKS_OPTION_H

#include "../capture/capture.h"
#include "cmd.h"

/* option__stacks() - adds "suspend:16,steal" to @stacks; 0, or -EINVAL after telling the user */
int option__stacks(const char *text, const struct option_origin *origin,
		   struct capture_stacks *stacks);

#endif /* TRACER_CMD_STACKS_OPTION_H */
