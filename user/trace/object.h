/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A binary that call stacks lead through, as far as it can be had: what the capture keeps of it,
 * the file itself if it is still the one that was traced, and its debug file.
 */
#ifndef TRACER_TRACE_OBJECT_H
#define TRACER_TRACE_OBJECT_H

#include <elfutils/libdw.h>
#include <json-c/json.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object_load { /* a PT_LOAD segment */
	uint64_t address, offset, size;
};

struct object_symbol {
	uint64_t address, size;
	const char *name; /* in the file's string table */
	uint8_t rank;	  /* the greater, the better a name for its address */
};

struct object_elf {
	int fd;
	Elf *elf;
};

struct object {
	int64_t id;
	char *path, *build_id;
	uint64_t size, changed; /* of the file: bytes; last change, ns since 1970 */
	uint8_t *bytes;		/* what the capture has of it, */
	size_t byte_count;
	struct object_load *parts; /* of the file at `offset`; address is not used */
	size_t part_count;

	bool opened;
	struct object_elf kept, file, debug; /* of the capture; on this machine; its debug file */
	bool replaced;			     /* what is at `path` is another file */
	struct object_load *loads;
	size_t load_count;
	Dwarf_CFI *unwind;	       /* of .eh_frame */
	Dwarf_CFI *unwind_debug;       /* of .debug_frame */
	Dwarf *dwarf;		       /* with lines and inlined functions; or NULL */
	struct object_symbol *symbols; /* by address */
	size_t symbol_count;
};

struct debug_dirs {
	const char *const *dirs; /* looked through before /usr/lib/debug */
	size_t count;
};

struct object *object__new(int64_t id, const char *path, const char *build_id, uint64_t size,
			   uint64_t changed);
/* a BINARY block: its ranges, and their bytes */
void object__keep(struct object *object, struct json_object *json, const uint8_t *bytes,
		  size_t size);
/* before any use; once */
void object__open(struct object *object, const struct debug_dirs *dirs);
/* link-time address of a place in the file; false: nothing is loaded from there */
bool object__address(const struct object *object, uint64_t offset, uint64_t *address);
/* the function's symbol at a link-time address, or NULL */
const struct object_symbol *object__symbol(const struct object *object, uint64_t address);
void object__free(struct object *object);

#endif /* TRACER_TRACE_OBJECT_H */
