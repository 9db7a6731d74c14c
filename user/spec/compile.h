/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe's rules, to instructions of the machine in bpf/spec.h, for one site of one binary. */
#ifndef TRACER_SPEC_COMPILE_H
#define TRACER_SPEC_COMPILE_H

#include "spec.h"
#include "symbols.h"

struct spec_code {
	struct spec_insn *all;
	size_t count, room;
};

#define READS_CALLER (1ULL << 62) /* in site.reads: the return address, from the stack */

struct site {
	const struct spec *spec;
	const struct spec_probe *probe;
	struct symbols *symbols; /* NULL at a tracepoint */
	uint64_t version;	 /* of the binary; 0 not known */
	uint64_t address;	 /* link-time */
	uint64_t begin;		 /* of its function, likewise */
	uint32_t shift;		 /* the stack pointer is so far below the one at the begin */
	const char *args;	 /* USDT: its operands */
	const char *format;	 /* tracepoint: its format file */
	uint32_t categories;	 /* wanted events */
	uint32_t function;	 /* whose entry and returns belong together */
	bool saves_entry;	 /* the entry of a RETURN's function: keeps what entry() wants */
	bool no_retval;		 /* a return through a jump: the result is not there yet */
	/* numbers a text; the same text may get the same number. Consecutive for @count of them. */
	uint32_t (*text)(void *ctx, const char *const *texts, uint32_t count);
	void *ctx;
	/* out */
	char *why;	 /* sentence, to be freed: why it failed */
	uint64_t reads;	 /* registers that it looks at, as bits of pt_regs words */
	bool is_fixed;	 /* depends on the very address */
	uint32_t events; /* that it can make; 0 with no other actions: pointless */
	uint32_t actions;
};

/*
 * compile__site() - append the site's program to @code
 * Returns 0, -ENOMEM, or -EINVAL with site->why.
 */
int compile__site(struct spec_code *code, struct site *site);
/* a constant's value for the binary; false: it has none */
bool site__constant(const struct site *site, const struct spec_name *name, int64_t *value);

#endif /* TRACER_SPEC_COMPILE_H */
