/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call stack of a thread at one of its points, as it is captured: registers and the upper end of
 * the stack, to be unwound when the capture is read.
 *
 * It is taken at the point's USDT stub, which runs right before the record is written. So the stack
 * belongs to the record that is number `records` (from 0) of the stream, if that is of type `type`;
 * if several have the same number, to the last of them (the others' records were left out by --sample).
 */
#ifndef TRACER_STACK_RECORD_H
#define TRACER_STACK_RECORD_H

#include "records.h"

#define STACK_REGISTERS 33
#define STACK_BYTES_MAX 32768
#define STACK_PIECE 4096

struct rec_stack {
	struct rec_header h;	/* REC_STACK */
	__u32 pid;
	__u32 tid;
	__u64 stream;		/* 0: the thread has no ring in that DSO yet */
	__u64 dso;		/* address of its struct tracer_dso */
	__u64 records;		/* of the stream before this one */
	__u64 id;		/* by the loader: equal stacks have equal ids */
	__u32 code;		/* by the loader: number of the CODE block that holds */
	__u16 type;		/* of the record, as in events.def */
	__u8 depth;		/* frames that are wanted */
	__u8 truncated;		/* the stack goes on where `data` ends */
	__u32 len;		/* bytes of data; without registers and data if an earlier record has the same id */
	__u32 unused;
	/*
	 * The rest: STACK_REGISTERS words by their DWARF numbers (x86-64: 0 to 16, 7 is the stack
	 * pointer, 16 the program counter; AArch64: 0 to 32, 31 the stack pointer, 32 the program
	 * counter), then data: memory from the stack pointer on.
	 */
	__u64 registers[];
};

#define STACK_FULL_SIZE(len) (sizeof(struct rec_stack) + 8 * STACK_REGISTERS + (len))

/* of a probe: event number, depth, and the distance from the stub to struct tracer_dso */
#define STACK_COOKIE(type, depth, distance) \
	((__u64)(type) | (__u64)(depth) << 8 | (__u64)(distance) << 16)
#define STACK_COOKIE_TYPE(cookie) ((cookie) & 0xff)
#define STACK_COOKIE_DEPTH(cookie) (((cookie) >> 8) & 0xff)
#define STACK_COOKIE_DISTANCE(cookie) ((__s64)(cookie) >> 16)

#endif /* TRACER_STACK_RECORD_H */
