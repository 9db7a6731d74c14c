/* SPDX-License-Identifier: BSD-2-Clause */
/* For targets that wait to be attached to: says so, and goes on at a line of input. */
#ifndef TRAPS_GATE_H
#define TRAPS_GATE_H

#include <stdio.h>

static inline void wait_for_tracer(void)
{
	puts("ready");
	fflush(stdout);
	(void)getchar();
}

#endif /* TRAPS_GATE_H */
