/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a binary knows of itself: functions and data by name and by address, members of types,
 * versions. From .symtab, .dynsym, the compressed table of .gnu_debugdata, a separate debug file
 * found by build-id (all through libdwfl), and Go's own table of functions. Addresses are
 * link-time.
 */
#ifndef TRACER_SPEC_SYMBOLS_H
#define TRACER_SPEC_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	const char *name;
	uint64_t address;
	uint64_t size; /* if the table does not say: up to the next symbol */
	bool is_function, is_tls;
};

struct symbols;

/*
 * symbols__open() - read the tables of a file
 * @path: any that leads to it
 * @root: of the target's file system, for its debug files; "" or "/proc/PID/root"
 * Returns NULL with a sentence in *err (to be freed).
 */
struct symbols *symbols__open(const char *path, const char *root, char **err);
void symbols__close(struct symbols *symbols);

/* tells each function that a pattern fits, once an address; how many */
size_t symbols__match(struct symbols *symbols, const char *pattern, bool is_regex,
		      void (*take)(void *ctx, const struct symbol *symbol), void *ctx);
const struct symbol *symbols__find(struct symbols *symbols, const char *name);
/* the function that has @address in it, or NULL */
const struct symbol *symbols__at(struct symbols *symbols, uint64_t address);
/* a function's name as people write it: without what mangling added. To be freed. */
char *symbol__shown(const char *name);
/* DWARF: where a member is; members of members are separated by dots. 0 or -ENOENT */
int symbols__member(struct symbols *symbols, const char *type, const char *member, int64_t *offset);
bool symbols__has_section(struct symbols *symbols, const char *name);
/* the first section with that name: where it will be and how large; false: none */
bool symbols__section(const struct symbols *symbols, const char *name, uint64_t *address,
		      uint64_t *size);
/* is it in a stub that leads to another library? */
bool symbols__is_stub(struct symbols *symbols, uint64_t address);
/* Go's version, 0: not Go */
uint64_t symbols__go_version(struct symbols *symbols);
/* gowrap.c: the function that the Go wrapper at @address is for; @address if it is none */
uint64_t symbols__go_wrapped(struct symbols *symbols, uint64_t address);
/* where a byte is in the file; false: nowhere */
bool symbols__offset(const struct symbols *symbols, uint64_t address, uint64_t *offset);
/* and the other way round */
bool symbols__address(const struct symbols *symbols, uint64_t offset, uint64_t *address);
/* bytes of the file's code or data; how many could be read */
size_t symbols__read(const struct symbols *symbols, uint64_t address, void *to, size_t size);
uint16_t symbols__machine(const struct symbols *symbols);
/* thread pointer to the begin of the program's own thread-locals */
int64_t symbols__tls_offset(const struct symbols *symbols);
/* lowest PT_LOAD, page-aligned: what is mapped first */
uint64_t symbols__first_load(const struct symbols *symbols);
/* whether there is any table of functions but .dynsym */
bool symbols__is_stripped(const struct symbols *symbols);

/* gotab.c: each function of a .gopclntab section; 0 or -errno */
int gotab__read(const uint8_t *table, size_t size, uint64_t text,
		int (*take)(void *ctx, const char *name, uint64_t address, uint64_t size),
		void *ctx);

#endif /* TRACER_SPEC_SYMBOLS_H */
