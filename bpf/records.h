/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs hand to the loader, and what the loader writes to the capture file as it
 * came: tagged records, a fixed part and a flexible tail. Times are CLOCK_BOOTTIME nanoseconds.
 * pid and tid are those of the initial PID namespace: a process (thread group) and a thread.
 */
#ifndef TRACER_RECORDS_H
#define TRACER_RECORDS_H

#ifdef __bpf__
/* types come from bpf/kernel.h */
#else
#include <linux/types.h>
#endif

enum rec_kind {
	REC_CHUNK = 1,	/* a piece of a thread's ring */
	REC_FORK,	/* a followed process has a child that is followed too */
	REC_EXEC,	/* a followed process runs another program from here on */
	REC_THREAD_EXIT,
	REC_PROCESS_EXIT,
	REC_LOADED,	/* control, not written: a followed process mapped libraries */
	REC_SWITCH,	/* kernel scheduling of the target's threads */
	REC_WAKING,
	REC_EXECUTING,	/* control, not written: a followed process is about to run another program */
	REC_FOREIGN,	/* an event of a probe spec */
	REC_WILL_RUN,	/* control, not written: a followed process waits to run a file */
	REC_WENT_ON,	/* control, not written: a thread that waited did so too long */
	REC_STACK = 32,	/* a call stack: stack_record.h */
	REC_PAUSE = 40,	/* by the loader: nothing is recorded for a while, or another share of the tasks */
	REC_HELD = 41,	/* what a thread that is off its CPU has stamped is not all handed over */
};

struct rec_header {
	__u32 size;	/* of the whole record */
	__u16 kind;	/* enum rec_kind */
	__u16 cpu;
	__u64 time;
};

/* Why the piece was copied. */
enum rec_cause {
	REC_CAUSE_FLUSH,   /* window full */
	REC_CAUSE_NEW,	   /* ring registered; len may be 0 */
	REC_CAUSE_RELEASE, /* ring given up by its thread */
	REC_CAUSE_SWITCH,  /* thread leaves the CPU, and could go on running; nothing is left either */
	REC_CAUSE_BLOCK,   /* thread leaves the CPU to wait: nothing is left in the ring */
	REC_CAUSE_TICK,
	REC_CAUSE_EXIT,
	REC_CAUSE_EXEC,
	REC_CAUSE_END,	   /* read from outside at the end of the capture */
};

enum rec_chunk_flags {
	REC_CHUNK_FIRST = 1,	/* no record of this stream came before `start` */
	REC_CHUNK_LAST = 2,	/* nothing follows: head is the stream's final count */
	REC_CHUNK_NAMES = 4,	/* older than the capture: only NAME and WINDOW records count */
	/* Bytes before `start` were lost since the chunk before (any may be set together): */
	REC_CHUNK_LOST_FULL = 8,    /* no room in the per-CPU buffer */
	REC_CHUNK_LOST_OVERRUN = 16, /* the target went round its ring */
	REC_CHUNK_LOST_FAULT = 32,   /* its memory could not be read */
};

/*
 * A stream is one ring while one thread owns it. Its chunks may reach the file out of order; `start`
 * orders them, and no byte is in two. A chunk may begin and end in the middle of a record; after a
 * loss it begins with a whole one, at the beginning of a window.
 *
 * Positions count bytes ever written to the ring (48 bits extended to 64), records likewise (16).
 */
struct rec_chunk {
	struct rec_header h;
	__u32 pid;
	__u32 tid;
	__u64 stream;	/* unique in the capture, not 0 */
	__u64 ring;	/* address in the target */
	__u64 dso;	/* address of its struct tracer_dso */
	__u64 start;	/* position of data[0] */
	__u64 start_records; /* records before start, if start follows a loss or is the stream's first;
			      * FIRST and a LOST flag together: so many were lost at the beginning */
	__u64 head;	/* position of the ring's head then: head - start - len bytes still wait */
	__u64 head_records;
	__u32 len;	/* bytes of data */
	__u16 cause;	/* enum rec_cause */
	__u16 flags;	/* enum rec_chunk_flags */
	__u8 data[];
};

struct rec_task {	/* FORK, EXEC, THREAD_EXIT, PROCESS_EXIT */
	struct rec_header h;
	__u32 pid;
	__u32 tid;
	__u32 parent;	/* FORK: pid of the parent */
	__s32 status;	/* PROCESS_EXIT: as wait(2) gives it */
	char comm[16];
};

enum rec_switch_flags {
	REC_SWITCH_FROM = 1, /* prev is a target's thread */
	REC_SWITCH_TO = 2,   /* next is */
};

/*
 * A CPU goes from one thread to another. With neither flag: prev is a foreign thread that had taken over
 * from a target's, and ends its run there. tid 0: the CPU is idle.
 */
struct rec_switch {
	struct rec_header h;
	__u32 prev_pid, prev_tid;
	__u32 next_pid, next_tid;
	__u32 state;	/* prev's, TASK_... bits as in Linux; 0: it could go on running */
	__u32 lost;	/* SWITCH and WAKING records of this CPU that found no room since the last one */
	__u16 flags;	/* enum rec_switch_flags */
	__s16 prev_prio, next_prio; /* as the kernel counts: 100 + nice + 20, below 100 real-time */
	__u16 unused;
	char prev_comm[16], next_comm[16];
};

enum rec_waking_flags {
	REC_WAKING_INTERRUPT = 1, /* by an interrupt: the waker is only who was interrupted */
};

/* a target's thread is being woken; it may not sleep yet, or any more */
struct rec_waking {
	struct rec_header h;
	__u32 pid, tid;
	__u32 waker_pid, waker_tid;
	__u32 lost;	/* as above */
	__u16 flags;	/* enum rec_waking_flags */
	__s16 prio;
	char waker_comm[16];
};

/* from here on what there may be is... */
enum rec_paused {
	REC_SHOWN,
	REC_PAUSED,	/* not to be shown, until another PAUSE */
	REC_ENDED,	/* not the capture's any more: its gates close, one after the other */
};

struct rec_pause {	/* PAUSE */
	struct rec_header h;
	__u32 paused;	/* enum rec_paused */
	__u32 sample;	/* one task in so many, from here on */
};

/*
 * A thread that left its CPU within a point, or while it was handing over, may add what it had stamped
 * before when it comes back. The last of a thread's counts.
 */
#define REC_HELD_NONE 0xffffffffffffffffULL

struct rec_held {	/* HELD */
	struct rec_header h;
	__u32 pid;
	__u32 tid;
	__u64 since;	/* nothing that is stamped before is missing; REC_HELD_NONE: nothing at all */
};

struct rec_loaded {	/* LOADED, EXECUTING, WENT_ON */
	struct rec_header h;
	__u32 pid;
	__u32 tid;
	/*
	 * The thread waits, for a bounded time, until this is answered; 0: it does not. WENT_ON: it did so for
	 * that many ns.
	 */
	__u64 ticket;
};

struct rec_will_run {	/* WILL_RUN */
	struct rec_loaded asks;
	char path[1024]; /* as the process gives it to execve() */
};

enum rec_foreign_kind {
	REC_FOREIGN_NUMBER,
	REC_FOREIGN_NULL,	/* a string that is not there */
	REC_FOREIGN_STRING,	/* bytes in data, without a NUL */
	/* not written: the loader makes strings of them */
	REC_FOREIGN_SYMBOL,	/* an address in the target, to be shown as the function's name */
	REC_FOREIGN_TEXT,	/* number of a text in the loader's table */
};

/*
 * An event that a probe spec made of a probe's hit: complete in itself, strings and all. In a capture
 * it counts as a point's record.
 */
struct rec_foreign {
	struct rec_header h;
	__u32 pid, tid;
	__u64 lost_since; /* when the first of `lost` was */
	__u32 lost;	/* events of this thread that found no room since its last record */
	__u16 type;	/* of events.def */
	__u8 nargs;
	__u8 unused;
	__u64 args[4];
	__u16 lens[4];	/* bytes of each string, one after the other in data */
	__u8 kinds[4];	/* enum rec_foreign_kind */
	__u32 probe;	/* number of the spec's probe, for its hits */
	__u8 data[];
};

#endif /* TRACER_RECORDS_H */
