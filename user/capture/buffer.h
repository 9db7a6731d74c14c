/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a BPF ring buffer record by record, so that the buffers of several CPUs can be read in
 * the order of time: a thread that changes CPUs leaves its chunks in several, and the file should
 * not have them a whole backlog apart. (libbpf's reader empties one buffer after the other.)
 */
#ifndef TRACER_CAPTURE_BUFFER_H
#define TRACER_CAPTURE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	int fd;
	uint64_t size;
	volatile unsigned long *consumer; /* positions: bytes ever, as the kernel counts them */
	const volatile unsigned long *producer;
	const unsigned char *data; /* mapped twice in a row: records never wrap */
	unsigned long position;	   /* ours; written to `consumer` when a record is done */
	const void *record;	   /* next one, or NULL; see buffer__peek() */
	size_t record_size;
	bool blocked; /* the next record is still being written */
};

/* a new BPF ring buffer of @size bytes (a power of two, pages) on its descriptor; 0 or -errno */
int buffer__open(struct buffer *buffer, uint64_t size);
/* the next record into `record` and `record_size`; NULL if there is none or it is not complete */
const void *buffer__peek(struct buffer *buffer);
/* done with `record`: its room is the kernel's again */
void buffer__advance(struct buffer *buffer);
/* bytes of records that wait */
uint64_t buffer__waiting(const struct buffer *buffer);
void buffer__close(struct buffer *buffer);

#endif /* TRACER_CAPTURE_BUFFER_H */
