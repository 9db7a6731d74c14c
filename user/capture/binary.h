/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary as a tracer sees it: does it have points of ours, where are its gates and sites, which
 * USDT probes, where do its string literals lie. Reads the ELF file (libelf), never a process.
 */
#ifndef TRACER_CAPTURE_BINARY_H
#define TRACER_CAPTURE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tracer/ring.h>

struct binary_usdt {
	char *provider, *name, *args;
	uint64_t address;   /* of the probe, link-time */
	uint64_t offset;    /* the same in the file */
	uint64_t semaphore; /* file offset, 0 none */
};

struct binary_range {
	uint64_t address, offset, size;
};

struct binary {
	char *path;		/* as given to binary__open() */
	char *build_id;		/* hex, or NULL */
	uint16_t machine;	/* ELF e_machine */
	bool has_points;	/* a .note.tracer of our layout version is there */
	uint32_t other_version; /* not 0: points with this layout version, which we do not read */
	uint64_t first_load; /* link-time address of the ELF header: lowest PT_LOAD, page-aligned */
	/* With has_points; link-time addresses, and what uprobes need: file offsets */
	struct tracer_info info;
	uint64_t dso_address, gates_address;
	uint64_t gates_offset, sites_offset, flush_offset;
	char *schema;
	/* all USDT probes, of any provider, in file order */
	struct binary_usdt *usdt;
	size_t usdt_count;
	/* read-only data where literals can be: without code, unwind tables, symbols, relocations.
	 * At most FILE_IMAGE_MAX bytes (file.h). */
	struct binary_range *image;
	size_t image_count;
	uint64_t image_size;
	char *interpreter; /* PT_INTERP or NULL */
	/* where the dynamic linker says "libraries are mapped": file offset of _dl_debug_state, or
	 * 0 */
	uint64_t debug_state_offset;
	/* where a program goes to run another one: file offset of a C library's execve(), or 0 */
	uint64_t execve_offset;
	/* of a program with points that no dynamic linker starts: file offset of its first
	 * instruction */
	uint64_t entry_offset;
};

/*
 * binary__open() - read what a tracer wants to know of an ELF file
 * @path: file; /proc/PID/map_files/... and /proc/PID/root/... work too
 * @err: receives a sentence, to be freed, if NULL is returned with a reason worth telling
 * Returns the binary (has_points may be false), or NULL: not readable, not ELF, of another machine
 * than 64-bit little-endian. A damaged file never crashes it.
 */
struct binary *binary__open(const char *path, char **err);
/* copies the image's ranges one after the other into @to (image_size bytes); 0 or -errno */
int binary__image(const struct binary *binary, unsigned char *to);
void binary__free(struct binary *binary);

#endif /* TRACER_CAPTURE_BINARY_H */
