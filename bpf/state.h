/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs keep of a thread, and what they exchange with the loader beside the records. */
#ifndef TRACER_STATE_H
#define TRACER_STATE_H

#include <tracer/ring.h>

/* rings of one thread that are drained: DSOs with points, and signal handlers inside points */
#define STATE_RINGS 64

enum ring_flags {
	RING_FRESH = 1,	      /* no chunk has told of this stream yet */
	RING_LOST_FULL = 8,   /* the values of enum rec_chunk_flags: bytes before tail were lost */
	RING_LOST_OVERRUN = 16,
	RING_LOST_FAULT = 32,
	RING_LOST = 8 | 16 | 32,
	RING_NO_ROOM = 64,    /* the last attempt found the per-CPU buffer full; nothing is lost yet */
	RING_HARVESTED = 128, /* the loader has taken over: END of the capture */
	RING_ORPHAN = 256,    /* adopted for a thread that may not be its owner, see attach.c */
	RING_UNDER_WAY = 512, /* the thread was inside a point when the head was last read */
};

/* where a window of the ring begins, and how many records came before */
struct ring_mark {
	__u64 position;
	__u64 records;
};

struct ring_state {
	__u64 ring;	     /* address in the target; 0: slot is free */
	__u64 dso;
	__u64 stream;
	__u64 tail;	     /* first byte not yet handed over */
	__u64 tail_records;  /* valid with RING_FRESH or RING_LOST */
	__u64 head;	     /* as last read */
	__u64 seen;	     /* its position and its records, extended to 64 bits */
	__u64 seen_records;
	struct ring_mark marks[2]; /* the last two flushes, newest first */
	__u32 owner;	     /* tid in the ring's header: if it changes, the ring has gone to another thread */
	__u32 flags;	     /* enum ring_flags */
};

/* the ring's head is @head now */
static inline void ring_state__look(struct ring_state *ring, __u64 head)
{
	ring->seen += TRACER_HEAD_BYTES(head - ring->head);
	ring->seen_records += (__u16)(TRACER_HEAD_RECORDS(head) - TRACER_HEAD_RECORDS(ring->head));
	ring->head = head;
}

static inline void ring_state__lose(struct ring_state *ring, __u32 cause, __u64 position,
				    __u64 records)
{
	ring->flags |= cause;
	ring->tail = position;
	ring->tail_records = records;
}

/*
 * The target has written over bytes that were not handed over, if they are more than the ring holds: go on
 * at the oldest window that is whole.
 * @margin: bytes beyond head that may be half written, since the thread may be inside a point
 * Returns whether that was so.
 */
static inline int ring_state__skip_overrun(struct ring_state *ring, __u64 margin)
{
	__u64 position = ring->seen, records = ring->seen_records, mark;
	int i;

	if (ring->seen - ring->tail + margin <= TRACER_RING_SIZE)
		return 0;
	for (i = 0; i < 2; i++) {
		mark = ring->marks[i].position;
		if (mark > ring->tail && ring->seen - mark + margin <= TRACER_RING_SIZE) {
			position = mark;
			records = ring->marks[i].records;
		}
	}
	ring_state__lose(ring, ring->flags & RING_NO_ROOM ? RING_LOST_FULL : RING_LOST_OVERRUN,
			 position, records);
	return 1;
}

struct ring_header { /* the part of struct tracer_ring that is read at every drain */
	__u64 head;
	__u32 limit;
	__u32 window_end;
	__u32 version;
	__u32 pid;
	__u32 tid;
	__u32 clock;
};

struct thread_state {
	/*
	 * Held while a ring is drained. The tick and the scheduler interrupt a flush on the same CPU
	 * between reading and moving the tail: whoever finds it set leaves the ring alone.
	 */
	__u32 busy;
	__u32 count;	/* slots in use, from the front */
	/*
	 * Up to when all that the thread has stamped is handed over, see thread__look(). The capture is
	 * told of a thread that leaves the CPU with less than all (REC_HELD), and then that it has been
	 * made up for.
	 */
	__u64 since;
	__u64 looked;	/* when its rings were last read, all of them */
	__u32 held;	/* the capture was told */
	__u32 stuck;	/* ticks in a row that have found the same record under way */
	__u32 lent;	/* a vforked child may write to its rings until it runs again */
	/*
	 * What the flush probe has read of the ring, and a drain, which the probe may ask for. Not on the
	 * stack, on which the probe would have 64 bytes or more: see hold.bpf.h.
	 */
	__u32 flushed_window;
	__u64 flushed_dso;
	struct ring_header flushed, drained;
	struct ring_state rings[STATE_RINGS];
};

/* Rings of threads that had them before the capture: thread and number -> ring. */
struct adopt_key {
	__u32 tid;
	__u32 number;
};

#define ADOPTED_STREAMS (1ULL << 48)

struct adopted_ring {
	__u64 ring;
	__u64 dso;
	__u64 head;	/* as read: the capture begins there */
	__u64 stream;	/* given by the loader: ADOPTED_STREAMS and up */
	__u32 owner;
	__u32 flags;	/* RING_ORPHAN or 0 */
};

/* What the task iterator says of each ring at the end. */
struct harvested_ring {
	__u32 pid;
	__u32 tid;
	__u32 busy;	/* a drain is under way: ask again */
	__u32 unused;
	struct ring_state state;
};

enum iterator_mode { ITERATE_ADOPT, ITERATE_HARVEST };

/* of a process that is followed */
enum target_flags {
	/* forked: the loader has no probe in it yet where it would wait with what it loads */
	TARGET_UNWATCHED = 1,
};

/*
 * Threads that wait for the loader (hold.bpf.h). Mapped by it: one word for each that writes and for
 * what it tells.
 */
struct hold_state {
	__u64 tickets;	/* given out */
	__u64 answered; /* all up to this one */
	__u64 alive;	/* ns, CLOCK_MONOTONIC: when the loader was last at work on what threads wait for */
};

/* bits of a first test by a thread group's number, see sched.bpf.h; a power of two, 64 at least */
#define MAYBE_TARGETS 4096

/* Everything that is refused or goes wrong in a program, by cause. */
enum counter {
	COUNT_FLUSHES,
	COUNT_CHUNKS,
	COUNT_BYTES,
	COUNT_NO_ROOM,	      /* attempts to hand over that found the buffer full */
	COUNT_FAULTS,	      /* target memory that could not be read */
	COUNT_OVERRUNS,	      /* rings that the target went round */
	COUNT_BUSY,	      /* tick or scheduler inside a drain */
	COUNT_RINGS_REFUSED,  /* a thread with more than STATE_RINGS rings, or no memory */
	COUNT_TASK_RECORDS_LOST, /* fork, exec and exit that found the buffer full */
	COUNT_SCHED_LOST,	 /* switches and wakings, likewise */
	COUNT_NOT_HELD,		 /* threads that could not wait: no room to tell the loader */
	COUNTERS
};

#endif /* TRACER_STATE_H */
