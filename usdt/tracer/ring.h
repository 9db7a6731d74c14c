/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a target and a tracer agree on: the layout of a thread's ring, of the words that the kernel
 * counts in, and of the note by which a tracer finds them in a binary. Included by the points
 * (tracer.h), by the BPF programs and by the loader; nothing but layout is in here.
 *
 * Every DSO (executable or shared library) that has points holds, once, hidden, however many of its
 * files include the header:
 *
 *	tracer_v1_gates		the words below, in section .probes
 *	tracer_v1_sites		nops that nothing ever runs; a probe on nop k makes the kernel raise count k
 *	tracer_v1_flush		a nop that a thread runs to hand its ring over, the ring in the first argument
 *	tracer_v1_dso		list of the DSO's rings
 *	tracer_v1_info		where the four of these are, and the schema of the records
 *	.note.tracer		where tracer_v1_info is: one note per object file, so many, all alike
 *
 * A change of anything in this file that an older tracer would misread raises TRACER_RING_VERSION
 * (and the number in the symbols' names, so that two versions in one DSO stay apart).
 */
#ifndef TRACER_RING_H
#define TRACER_RING_H

#ifdef __bpf__
/* the BPF programs bring the fixed-width types under the kernel's names */
typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __s32 int32_t;
typedef __u64 uint64_t;
#else
#include <stdint.h>
#endif

#define TRACER_RING_VERSION 1

/*
 * Gates. The kernel adds to a 16-bit count for every probed *site* that names it, not for every
 * tracer, and takes off again when the last prober of that site goes, however it goes.
 */
struct tracer_gates {
	/*
	 * Three counts of 16 bits, little-endian. While an ordinary tracer records, the word is
	 * TRACER_CONTROL_PLAIN, so that a point tests all three with one comparison.
	 *
	 * bytes 0, 1	sample: a task is recorded if the upper 16 bits of its hash are below
	 *		2^sample. A tracer that wants one task in 2^k probes the first 16 - k sample
	 *		sites, so the count is the maximum of what several tracers want, and each
	 *		gets at least its share.
	 * bytes 2, 3	clock: not 0: stamps are CLOCK_MONOTONIC nanoseconds, not the cycle counter
	 * bytes 4, 5	off: written by the target, inside TRACER_CAPTURE_OFF()
	 */
	uint64_t control;
	/* by category: count of direct attachments (any tool) << 16 | of recording tracers */
	uint32_t gate[14];
};

#define TRACER_CONTROL_PLAIN 16ULL
#define TRACER_CONTROL_SAMPLE(control) ((control) & 0xffffU)
#define TRACER_CONTROL_CLOCK(control) (((control) >> 16) & 0xffffU)
#define TRACER_CONTROL_OFF(control) (((control) >> 32) & 0xffffU)
#define TRACER_GATES_SAMPLE 0	/* byte offsets in struct tracer_gates, where the kernel counts */
#define TRACER_GATES_CLOCK 2
#define TRACER_GATES_OFF 4
#define TRACER_GATES_RECORDED(category) (8 + 4 * (category))
#define TRACER_GATES_DIRECT(category) (10 + 4 * (category))
#define TRACER_GATE_RECORDED 0x0000ffffU
#define TRACER_GATE_DIRECT 0xffff0000U

/* Sites, in this order; nop k at tracer_v1_sites + k * site_stride. */
#define TRACER_SITE_GATE(category) (category)	/* 0 to 13: raises gate[category], lower half */
#define TRACER_SITE_SAMPLE(level) (14 + (level)) /* 0 to 15: raises sample */
#define TRACER_SITE_CLOCK 30			 /* raises clock */
#define TRACER_SITES 32

/*
 * Ring: one per thread and DSO, a header page and TRACER_RING_SIZE bytes. Written by its thread only.
 *
 * head counts what was ever written: bytes in the low 48 bits, records in the high 16 (both wrap). It
 * is published after the record, so everything below it is whole. Byte n is data[n % RING_SIZE]; a
 * record never straddles the end (a PAD record fills what is too short).
 *
 * The thread hands [.., head) over by calling tracer_v1_flush when a record would pass `limit`; the
 * distance between two such calls, the window, grows from WINDOW_MIN to WINDOW_MAX. While the thread
 * is inside a point, limit equals the low half of head: a point in a signal handler finds no room and
 * takes the `nested` ring instead.
 *
 * A window can be decoded alone: it begins with a WINDOW record, and every string that is not in the
 * DSO's image is given by a NAME record in the same window before its first use.
 */
#define TRACER_RING_SIZE (128U << 10)
#define TRACER_RING_HEADER 4096U
#define TRACER_WINDOW_MIN (4U << 10)
#define TRACER_WINDOW_MAX (64U << 10)
#define TRACER_RECORD_MAX 1088U		/* bytes; the longest is a NAME */
#define TRACER_NAME_MAX 1023U		/* bytes of a string that are kept */
#define TRACER_NAME_SLOTS 128U
#define TRACER_RUNNING_MAX 64U

#define TRACER_HEAD_BYTES(head) ((head) & 0xffffffffffffULL)
#define TRACER_HEAD_RECORDS(head) ((uint16_t)((head) >> 48))

struct tracer_ring {
	uint64_t head;
	uint32_t limit;
	uint32_t window_end;	/* limit, when the thread is in no point */
	uint32_t version;	/* TRACER_RING_VERSION */
	uint32_t pid;		/* owner, as it sees itself (its PID namespace) */
	uint32_t tid;		/* 0: nobody's */
	uint32_t clock;		/* source of stamps in use: enum tracer_clock */
	uint64_t dso;		/* address of the DSO's struct tracer_dso */
	uint64_t next;		/* all rings of the DSO */
	uint64_t nested;	/* ring for signal handlers, of the same owner */
	uint64_t next_idle;
	uint32_t window;	/* present distance between flushes, bytes */
	uint32_t window_start;	/* low half of head where the present window begins */
	uint32_t busy;		/* the thread is in the slow part of a point */
	uint32_t real_end;	/* of the window, while clock is not CYCLES: see tracer__leave() */
	/* keys of the strings given in this window, see TRACER_EV_NAME */
	uint64_t names[TRACER_NAME_SLOTS];
	/* while a sampled capture lasts: tasks that the thread runs, as far as this DSO tells */
	uint64_t running[TRACER_RUNNING_MAX];
	uint32_t running_count;
	uint32_t gauges;	/* so many of them passed, recorded or not */
};

enum tracer_clock { TRACER_CLOCK_CYCLES, TRACER_CLOCK_MONOTONIC };

/* Second argument of the flush call. */
enum tracer_flush_reason {
	TRACER_FLUSH_FULL,	/* window full */
	TRACER_FLUSH_NEW,	/* ring has a (new) owner; everything before head is not its */
	/* 2 is not used */
	TRACER_FLUSH_NESTED = 3	/* as NEW, for a signal handler inside a point: the owner has others in this
				 * DSO; at NEW those are of a library that was unloaded, at the same place */
};

struct tracer_dso {
	uint64_t rings;		/* newest; linked by next */
	uint64_t unused1;
	uint64_t image_start;	/* read-only part of the image: strings in there are kept by address */
	uint64_t image_end;
	uint64_t refused;	/* records not written for want of memory */
	uint64_t mark;		/* what a forked child must not inherit, see slow.h */
	uint32_t unused2;
	uint32_t count;		/* rings ever made */
	uint32_t next_sweep;	/* count at which to look for rings of dead threads */
	uint32_t ready;		/* image_start and image_end are known */
};

/* Distances are from the member itself to what it names, so that no relocation is needed. */
struct tracer_info {
	uint32_t size;		/* of this struct */
	uint32_t version;	/* TRACER_RING_VERSION */
	int32_t gates;
	int32_t sites;
	int32_t flush;
	int32_t dso;
	int32_t schema;		/* text, one event a line: "19 task_begin task arg1 id:task u32:worker" */
	uint32_t schema_size;
	uint32_t site_stride;	/* bytes from one site to the next */
	uint32_t machine;	/* ELF e_machine, as the stamps' clock depends on it */
};

#define TRACER_NOTE_NAME "tracer"
#define TRACER_NOTE_TYPE 1
struct tracer_note {
	uint32_t version;
	int32_t info;		/* distance to tracer_v1_info */
};

/*
 * Records. The first word holds the type in its low 8 bits and the stamp, modulo 2^56, above. The
 * types of points are those of events.def; the ring has its own, which head does not count:
 */
#define TRACER_EV_PAD 1	/* bytes << 8: the next record is that far, counted from this one */
#define TRACER_EV_NAME 2	/* length << 8; key; bytes of the string, without NUL, padded to 8 */
#define TRACER_EV_WINDOW 3	/* stamp << 8; enum tracer_clock */

/*
 * Keys. A string argument is 0 for NULL, else an address in the image (bit 63 clear) or the key of a
 * NAME (bit 63 set), which is tracer_name_key() of its bytes: the same in every thread and process.
 */
#define TRACER_NAME_KEY 0x8000000000000000ULL

/*
 * tracer_task_hash() - decides under --sample: the finaliser of MurmurHash3 (Appleby, public domain)
 * @task: identity
 *
 * Returns 64 well-mixed bits. A task is recorded at level L if the upper 16 bits are below 2^L.
 */
#define TRACER_HASH_1 0xff51afd7ed558ccdULL
#define TRACER_HASH_2 0xc4ceb9fe1a85ec53ULL

#endif /* TRACER_RING_H */
