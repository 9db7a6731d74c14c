/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine that probe specs are compiled to, and the tables it runs on (docs/specs.md).
 *
 * A site's program is a run of instructions for a stack machine, up to OP_END. It is found through the
 * cookie of the site's attachment, so one BPF program, verified once, serves every site of every
 * binary. What it computes with: registers, memory of the target, values that a thread keeps, values
 * under a key, and values that the entry of a function leaves for its return.
 */
#ifndef TRACER_SPEC_H
#define TRACER_SPEC_H

#ifdef __bpf__
/* types come from bpf/kernel.h */
#else
#include <linux/types.h>
#endif

#define SPEC_STACK 16
#define SPEC_KEPT 32	      /* values that a thread keeps */
#define SPEC_ENTRIES 4	      /* values that an entry leaves for the return */
#define SPEC_REGS 64	      /* words of pt_regs, and the base of thread-locals; a power of two */
#define SPEC_REG_TLS 63
#define SPEC_CONTEXT 256      /* bytes of a tracepoint's record that can be read */
#define SPEC_TEXT 256	      /* bytes of one event's strings, all together */
#define SPEC_STRING 128	      /* bytes of one string, with its NUL */
#define SPEC_STEPS 384	      /* instructions that one hit may run */
#define SPEC_CODE (1U << 16)  /* instructions of all programs */
#define SPEC_PROBES 4096
#define SPEC_ARGS 4

/* a cookie: the program's first instruction, and the number of the probe that it belongs to */
#define SPEC_COOKIE(probe, code) ((__u64)(probe) << 32 | (code))

enum spec_op {
	OP_END,
	OP_PUSH,	/* imm */
	OP_REG,		/* a: word of the registers */
	OP_CONTEXT,	/* imm: offset in the tracepoint's record, a: size, b: signed */
	OP_LOAD,	/* top + imm is an address; a: size, b: signed */
	OP_KEPT,	/* a: slot */
	OP_KEEP,	/* a: slot; pops */
	OP_KEYED,	/* a: table; top is the key, becomes the value or 0 */
	OP_SET_KEYED,	/* a: table; pops value, key */
	OP_FORGET,	/* a: table; pops key */
	OP_ENTRY,	/* a: index, imm: function; what its entry left, or 0 */
	OP_SET_ENTRY,	/* a: index, imm: function; pops */
	OP_HAS_ENTRY,	/* imm: function; 1 if its entry was seen */
	OP_END_ENTRY,	/* imm: function; forgets what its entry left */
	OP_TID,
	OP_PID,
	OP_CPU,
	OP_TIME,
	OP_WORKER,	/* number of this thread among the process's workers, given at first use */
	OP_ADD,		/* these pop two and push one */
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_AND,
	OP_OR,
	OP_XOR,
	OP_SHL,
	OP_SHR,
	OP_SAR,
	OP_EQ,
	OP_NE,
	OP_LT,
	OP_LE,
	OP_LT_SIGNED,
	OP_LE_SIGNED,
	OP_NOT,		/* logical; top */
	OP_EXTEND,	/* top cut to a bytes; b: signed */
	OP_JUMP,	/* imm: instructions ahead */
	OP_JUMP_IF_NOT, /* the same, if the popped value is 0 */
	OP_DUP,
	OP_POP,
	/* the event being built: its arguments, a is the argument's index */
	OP_ARG,		/* pops: a number */
	OP_ARG_STRING,	/* pops the address */
	OP_ARG_BYTES,	/* pops length and address */
	OP_ARG_SYMBOL,	/* pops an address that the reader names */
	OP_ARG_TEXT,	/* imm: number of a text in the loader's table */
	OP_ARG_ENUM,	/* pops n; imm: number of the text of 0, and of texts << 32; the n-th one */
	OP_ARG_NULL,
	OP_ARG_COMM,	/* the thread's name */
	OP_EMIT,	/* imm: event type; a: arguments; b: 1 + index of the argument that --sample looks at */
	OPS
};

struct spec_insn {
	__u8 op;
	__u8 a;
	__u16 b;
	__u32 unused;
	__u64 imm;
};

struct spec_event {		/* under construction */
	__u64 args[SPEC_ARGS];
	__u16 text_len[SPEC_ARGS];
	__u8 kinds[SPEC_ARGS];	/* enum rec_foreign_kind */
	__u32 text_used;
	char text[SPEC_TEXT + SPEC_STRING]; /* room for the last one to be bounded simply */
};

struct spec_thread {
	__u64 kept[SPEC_KEPT];
	__u64 lost_since;	/* time of the first of `lost` */
	__u32 lost;		/* events that found no room since the last that did */
	__u32 worker;		/* its number + 1, 0 none yet */
	/* one hit at a time */
	__u32 pc;
	__u32 sp;
	__u64 cookie;
	__u64 stack[SPEC_STACK];
	__u64 regs[SPEC_REGS];
	char context[SPEC_CONTEXT];
	struct spec_event event;
};

struct spec_key {
	__u64 key;
	__u32 tgid;
	__u32 table;
};

struct spec_frame_key {
	__u64 sp;	/* of the function's entry: also the same when a fiber goes on elsewhere */
	__u32 tgid;
	__u32 function;
};

struct spec_frame {
	__u64 values[SPEC_ENTRIES];
};

enum spec_counter {
	SPEC_HITS,	  /* of targets */
	SPEC_EVENTS,
	SPEC_LOST,	  /* events that found no room */
	SPEC_FAULTS,	  /* reads of target memory that failed */
	SPEC_NO_STATE,	  /* threads without memory for their state */
	SPEC_COUNTERS
};

#endif /* TRACER_SPEC_H */
