/* SPDX-License-Identifier: BSD-2-Clause */
/* A full disk under --on-full drop: what can't be written is counted, stream by stream, to the
 * record. */
#ifndef TRACER_CAPTURE_FULL_H
#define TRACER_CAPTURE_FULL_H

#include <stddef.h>
#include <stdint.h>
#include "file.h"

struct full;
struct full *full__new(void);
void full__free(struct full *full);
/* one or more records that are not written, each padded to 8 bytes */
void full__drop(void *full, const void *records, size_t size);
/* at the end, in the room that was kept for it: what each stream has lost */
void full__tell(struct full *full, struct file_writer *writer);
/* switches and wakings that were dropped */
uint64_t full__sched(const struct full *full);

#endif /* TRACER_CAPTURE_FULL_H */
