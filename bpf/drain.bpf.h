/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Draining a ring: from the bytes between tail and head to chunks in the CPU's buffer. Included by
 * tracer.bpf.c, whose hooks decide when; see there for who may drain what, and what holds him back.
 *
 * Pieces are handed over by global functions, as the verifier looks at those once instead of in every loop
 * that calls them.
 */

/* --- chunks ----------------------------------------------------------------------------------- */

static __always_inline void chunk__describe(struct rec_chunk *chunk, const struct ring_state *ring,
					    __u64 pid_tgid, __u32 len, __u16 cause, __u16 flags)
{
	header__fill(&chunk->h, REC_CHUNK, sizeof(*chunk) + len);
	chunk->pid = pid_tgid >> 32;
	chunk->tid = pid_tgid;
	chunk->stream = ring->stream;
	chunk->ring = ring->ring;
	chunk->dso = ring->dso;
	chunk->start = ring->tail;
	chunk->start_records = ring->tail_records;
	chunk->head = ring->seen;
	chunk->head_records = ring->seen_records;
	chunk->len = len;
	chunk->cause = cause;
	chunk->flags = flags | (ring->flags & RING_LOST) |
		       (ring->flags & RING_FRESH ? REC_CHUNK_FIRST : 0);
}

/* Ring buffer reservations are of constant size: @room, of which @len are used. */
static __always_inline int piece__hand_over(struct ring_state *ring, __u64 pid_tgid, __u64 len,
					    __u16 cause, __u16 flags, const __u64 room,
					    const bool sleepable)
{
	void *buffer = this_buffer();
	struct rec_chunk *chunk;
	const void *source;
	long err;

	if (!buffer)
		return -ENOSPC;
	chunk = bpf_ringbuf_reserve(buffer, sizeof(*chunk) + room, 0);
	if (!chunk) {
		count(COUNT_NO_ROOM, 1);
		return -ENOSPC;
	}
	/* the compiler knows that len <= room and would drop what tells the verifier */
	asm volatile("" : "+r"(len));
	if (len > room)
		len = room;
	source = (const void *)(ring->ring + TRACER_RING_HEADER +
				(ring->tail & (TRACER_RING_SIZE - 1)));
	if (sleepable)
		err = bpf_copy_from_user(chunk->data, len, source);
	else
		err = bpf_probe_read_user(chunk->data, len, source);
	if (err) {
		bpf_ringbuf_discard(chunk, BPF_RB_NO_WAKEUP);
		return -EFAULT;
	}
	chunk__describe(chunk, ring, pid_tgid, len, cause, flags);
	bpf_ringbuf_submit(chunk, wakeup(buffer));
	ring->tail += len;
	ring->flags &= ~(RING_FRESH | RING_LOST | RING_NO_ROOM);
	count(COUNT_CHUNKS, 1);
	count(COUNT_BYTES, len);
	return 0;
}

/* the smallest of a few rooms that holds it, so that little of the buffer is wasted */
static __always_inline int piece__small(struct ring_state *ring, __u64 pid_tgid, __u64 len,
					__u16 cause, __u16 flags)
{
	if (len <= 160)
		return piece__hand_over(ring, pid_tgid, len, cause, flags, 160, false);
	if (len <= 928)
		return piece__hand_over(ring, pid_tgid, len, cause, flags, 928, false);
	return piece__hand_over(ring, pid_tgid, len, cause, flags, 4096, false);
}

static __always_inline int piece__large(struct ring_state *ring, __u64 pid_tgid, __u64 len,
					__u16 cause, __u16 flags)
{
	if (len <= 4096)
		return piece__hand_over(ring, pid_tgid, len, cause, flags, 4096, true);
	if (len <= 16384)
		return piece__hand_over(ring, pid_tgid, len, cause, flags, 16384, true);
	if (len <= 32768)
		return piece__hand_over(ring, pid_tgid, len, cause, flags, 32768, true);
	return piece__hand_over(ring, pid_tgid, len, cause, flags, 65536, true);
}

/* --- rings ------------------------------------------------------------------------------------ */

static __always_inline void ring__begin(struct ring_state *ring, __u64 address, __u64 dso,
					__u64 head, __u32 owner)
{
	__builtin_memset(ring, 0, sizeof(*ring));
	ring->ring = address;
	ring->dso = dso;
	ring->stream = __sync_fetch_and_add(&streams, 1) + 1;
	ring->tail = ring->seen = TRACER_HEAD_BYTES(head);
	ring->head = head;
	ring->owner = owner;
	ring->flags = RING_FRESH;
}

static __always_inline void ring__skip_overrun(struct ring_state *ring, __u64 margin)
{
	if (ring_state__skip_overrun(ring, margin))
		count(COUNT_OVERRUNS, 1);
}

static __always_inline void ring__skip_fault(struct ring_state *ring)
{
	ring_state__lose(ring, RING_LOST_FAULT, ring->seen, ring->seen_records);
	count(COUNT_FAULTS, 1);
}

/* bytes to hand over next: up to the ring's end and to @most */
static __always_inline __u64 ring__next_piece(const struct ring_state *ring, __u64 most)
{
	__u64 len = ring->seen - ring->tail;
	__u64 to_end = TRACER_RING_SIZE - (ring->tail & (TRACER_RING_SIZE - 1));

	if (len > to_end)
		len = to_end;
	return len > most ? most : len;
}

/* after an attempt to hand over: is there more to come? */
static __always_inline int ring__goes_on(struct ring_state *ring, int err)
{
	if (err == -EFAULT)
		ring__skip_fault(ring);
	else if (err)
		ring->flags |= RING_NO_ROOM;
	return !err;
}

/*
 * The next piece of a ring. Global functions: each is verified once and by itself. Inside a loop
 * its branches would be walked through again at every turn, until Linux 6.1 has had enough (a
 * million instructions).
 */
__noinline int drain_piece(struct ring_state *ring, __u32 cause)
{
	__u64 len = ring ? ring__next_piece(ring, 4096) : 0;

	if (!ring || !len)
		return 0;
	return ring__goes_on(ring, piece__small(ring, bpf_get_current_pid_tgid(), len, cause, 0));
}

__noinline int flush_piece(struct ring_state *ring)
{
	__u64 len = ring ? ring__next_piece(ring, 65536) : 0;

	if (!ring || !len)
		return 0;
	return ring__goes_on(
		ring, piece__large(ring, bpf_get_current_pid_tgid(), len, REC_CAUSE_FLUSH, 0));
}

__noinline int flush_piece_atomic(struct ring_state *ring)
{
	__u64 len = ring ? ring__next_piece(ring, 65536) : 0;

	if (!ring || !len)
		return 0;
	return ring__goes_on(ring, piece__hand_over(ring, bpf_get_current_pid_tgid(), len,
						    REC_CAUSE_FLUSH, 0, 65536, false));
}

/* Apart from what calls it, for the sake of that one's stack: see hold.bpf.h. */
__noinline int ring__keep_end(struct ring_state *ring, __u32 cause)
{
	struct rec_chunk last = {};

	if (!ring)
		return 0;
	chunk__describe(&last, ring, bpf_get_current_pid_tgid(), 0, cause, REC_CHUNK_LAST);
	/* the key from the stack: Linux 6.1 takes none from a function's argument */
	bpf_map_update_elem(&ends, &last.stream, &last, BPF_ANY);
	return 0;
}

/* the stream's last chunk, without data; kept for the loader if there is no room */
__noinline int ring__end(struct ring_state *ring, __u32 cause)
{
	if (!ring)
		return 0;
	/* what could not be handed over by now is lost */
	if (ring->tail != ring->seen) {
		ring->flags |= ring->flags & RING_NO_ROOM ? RING_LOST_FULL : RING_LOST_FAULT;
		ring->tail = ring->seen;
		ring->tail_records = ring->seen_records;
	}
	if (piece__hand_over(ring, bpf_get_current_pid_tgid(), 0, cause, REC_CHUNK_LAST, 160, false))
		ring__keep_end(ring, cause);
	ring->ring = 0;
	return 0;
}

enum drain_how {
	DRAIN_END = 1,	  /* and end the stream */
	DRAIN_INSIDE = 2, /* the thread may be inside a point */
};

/* What a thread has stamped and a drain has not handed over; the greater includes the less. */
enum drain_rest {
	REST_NONE,
	REST_YOUNG, /* one record that is under way, begun since the drain before */
	REST_OLD,   /* one that was under way then, or what found no room */
};

/* whether the thread was inside a point, and since when: while it is, head stays where it is */
static __always_inline int ring__look(struct ring_state *ring, const struct ring_header *header)
{
	bool moved = header->head != ring->head;
	bool under_way = header->limit != header->window_end;
	bool was = ring->flags & RING_UNDER_WAY;

	ring_state__look(ring, header->head);
	ring->flags &= ~RING_UNDER_WAY;
	if (!under_way)
		return REST_NONE;
	ring->flags |= RING_UNDER_WAY;
	return was && !moved ? REST_OLD : REST_YOUNG;
}

/*
 * Drain one ring where sleeping is not allowed. A global function: verified once, called in loops.
 * @how: enum drain_how, and enum rec_cause in the upper half
 * Returns an enum drain_rest.
 */
__noinline int drain(struct thread_state *thread, __u32 slot, __u32 how)
{
	__u16 cause = how >> 16;
	struct ring_header *header;
	struct ring_state *ring;
	int i, rest = REST_NONE;

	if (!thread || slot >= STATE_RINGS)
		return 0;
	ring = &thread->rings[slot];
	header = &thread->drained;
	if (!ring->ring || ring->flags & RING_HARVESTED)
		return 0;
	if (bpf_probe_read_user(header, sizeof(*header), (void *)ring->ring)) {
		count(COUNT_FAULTS, 1);
	} else if (header->tid != ring->owner && ring->flags & RING_ORPHAN) {
		ring->ring = 0;
		return 0;
	} else {
		ring->owner = header->tid;
		rest = ring__look(ring, header);
	}
	ring__skip_overrun(ring, how & DRAIN_INSIDE ? TRACER_RECORD_MAX : 0);
	for (i = 0; i < 34; i++) {
		if (!drain_piece(ring, cause))
			break;
	}
	if (how & DRAIN_END) {
		ring__end(ring, cause);
		return REST_NONE;
	}
	return ring->tail != ring->seen ? REST_OLD : rest;
}

/* tells the capture to wait for what the thread stamped from @since on, or that it need not any more */
static __always_inline void thread__tell(struct thread_state *thread, __u64 since)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	void *buffer = this_buffer();
	struct rec_held *record;

	record = buffer ? bpf_ringbuf_reserve(buffer, sizeof(*record), 0) : NULL;
	if (!record)
		return;
	header__fill(&record->h, REC_HELD, sizeof(*record));
	record->pid = pid_tgid >> 32;
	record->tid = pid_tgid;
	record->since = since;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	thread->held = since != REC_HELD_NONE;
}

/* a record that so many ticks have found under way was left by a jump out of a signal handler */
#define STUCK_TICKS 10

/*
 * All rings of the thread were drained at @now, but for @rest. Its own time does not pass meanwhile. A
 * record that is under way was stamped after the last look if the ring's head has moved since, or if
 * nothing was under way then. So `since` is a bound for whatever will still come.
 */
static __always_inline void thread__look(struct thread_state *thread, int rest, __u64 now,
					 bool is_tick)
{
	if (rest != REST_OLD)
		thread->stuck = 0;
	else if (is_tick && thread->stuck < STUCK_TICKS)
		thread->stuck++;
	if (rest == REST_NONE || thread->stuck == STUCK_TICKS)
		thread->since = now;
	else if (rest == REST_YOUNG)
		thread->since = thread->looked;
	thread->looked = now;
	if (thread->held && !thread->lent && (rest != REST_OLD || thread->stuck == STUCK_TICKS))
		thread__tell(thread, REC_HELD_NONE);
}

static __always_inline void drain_thread(struct thread_state *thread, __u32 how, __u16 cause)
{
	__u64 now = bpf_ktime_get_boot_ns();
	int rest = REST_NONE, most = REST_NONE;
	__u32 i;

	if (thread->busy) {
		count(COUNT_BUSY, 1);
		return;
	}
	thread->busy = 1;
	barrier();
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= thread->count)
			break;
		rest = drain(thread, i, how | (__u32)cause << 16);
		if (rest > most)
			most = rest;
	}
	if (how & DRAIN_END)
		thread->count = 0;
	thread__look(thread, most, now, cause == REC_CAUSE_TICK);
	barrier();
	thread->busy = 0;
}

static __always_inline struct thread_state *thread__get(void)
{
	return bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
}
