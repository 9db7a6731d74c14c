/* SPDX-License-Identifier: BSD-2-Clause */
/* The clocks of a capture, read together. */
#ifndef TRACER_CAPTURE_CLOCK_H
#define TRACER_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "file.h"

uint64_t now__boottime(void);  /* ns */
uint64_t now__monotonic(void); /* ns */

/* The counter that points stamp with by default runs evenly, on all CPUs and in all power states.
 */
bool counter__is_steady(void);

/* Both kinds of clock at one moment, as narrowly as some attempts give. Costs some microseconds. */
void clocks__read(struct file_clock *clock);

#endif /* TRACER_CAPTURE_CLOCK_H */
