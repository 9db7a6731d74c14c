// SPDX-License-Identifier: BSD-2-Clause
/*
 * The reader's side of a BPF ring buffer. Layout (kernel/bpf/ringbuf.c,
 * Documentation/bpf/ringbuf.rst): a page that we write with our position; a page, read-only, with
 * the kernel's; the data, mapped twice in a row. A record is a header of 8 bytes, whose first four
 * are the length with two flags, then its bytes, padded to 8.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>
#include "buffer.h"

int buffer__open(struct buffer *buffer, uint64_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *ours, *theirs;

	*buffer = (struct buffer){.fd = -1, .size = size};
	buffer->fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "tracer_chunks", 0, 0, (uint32_t)size, NULL);
	if (buffer->fd < 0)
		return -errno;
	ours = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
	theirs = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, buffer->fd, (off_t)page);
	if (ours != MAP_FAILED)
		buffer->consumer = ours;
	if (theirs != MAP_FAILED) {
		/* the traced command is a child of ours, and the peak of its memory its own */
		madvise(theirs, page + 2 * size, MADV_DONTFORK);
		buffer->producer = theirs;
		buffer->data = (unsigned char *)theirs + page;
	}
	return buffer->consumer && buffer->producer ? 0 : -errno;
}

const void *buffer__peek(struct buffer *buffer)
{
	unsigned long produced = __atomic_load_n(buffer->producer, __ATOMIC_ACQUIRE);
	const uint32_t *header;
	uint32_t length;

	buffer->blocked = false;
	while (!buffer->record && buffer->position < produced) {
		header = (const uint32_t *)(buffer->data + (buffer->position & (buffer->size - 1)));
		length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		if (length & BPF_RINGBUF_BUSY_BIT) {
			buffer->blocked = true;
			break;
		}
		buffer->record_size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		buffer->record = (const char *)header + BPF_RINGBUF_HDR_SZ;
		if (length & BPF_RINGBUF_DISCARD_BIT)
			buffer__advance(buffer);
	}
	return buffer->record;
}

void buffer__advance(struct buffer *buffer)
{
	buffer->position += (buffer->record_size + BPF_RINGBUF_HDR_SZ + 7) & ~7UL;
	buffer->record = NULL;
	__atomic_store_n(buffer->consumer, buffer->position, __ATOMIC_RELEASE);
}

uint64_t buffer__waiting(const struct buffer *buffer)
{
	return __atomic_load_n(buffer->producer, __ATOMIC_ACQUIRE) - buffer->position;
}

void buffer__close(struct buffer *buffer)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (buffer->consumer)
		munmap((void *)buffer->consumer, page);
	if (buffer->producer)
		munmap((void *)buffer->producer, page + 2 * buffer->size);
	if (buffer->fd >= 0)
		close(buffer->fd);
}
