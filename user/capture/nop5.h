/* SPDX-License-Identifier: BSD-2-Clause */
/* What a probe on a 5-byte nop does on this kernel, tried on a process made for that. */
#ifndef TRACER_CAPTURE_NOP5_H
#define TRACER_CAPTURE_NOP5_H

#include <stdbool.h>

struct nop5_trial {
	bool tried;
	bool becomes_call;     /* the kernel writes a call over it */
	bool red_zone_damaged; /* a leaf function's data below the stack pointer is lost */
	bool fork_dies;	       /* a child forked after the first hit dies at the site */
};

/* 0, or -errno: no permission, or no such machine */
int nop5__try(struct nop5_trial *trial);

#endif /* TRACER_CAPTURE_NOP5_H */
