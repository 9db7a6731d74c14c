/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rare half of a recorded point, out of line and once in a DSO: rings, windows, names, sampling. Ends
 * with the assembler that gives a DSO what a tracer looks for. Include tracer.h, not this.
 *
 * All of it may run in a signal handler, in a forked or vforked child, in a thread that is about to
 * end; hence system calls without libc (errno stays), no malloc, and no thread-exit destructor:
 * __cxa_thread_atexit_impl allocates and takes the loader's lock, on which a constructor that waits
 * for its threads would hang, and a pthread key calls into a library that dlclose has unmapped. Rings
 * of ended threads are found by asking the kernel, when there are twice as many as at the last look.
 * A library that is unloaded leaves its rings behind.
 */
#ifndef TRACER_SLOW_H
#define TRACER_SLOW_H

#include "system.h"

#ifdef __cplusplus
extern "C" {
#endif

/* the nop where a thread hands its ring over; in assembler */
void tracer_v1_flush(struct tracer_ring *ring, uint64_t reason) TRACER__HIDDEN;
void tracer_v1_first_stay(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3) TRACER__HIDDEN;
void tracer_v1_keep(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3, uint64_t control)
	TRACER__HIDDEN;

/* --- strings ------------------------------------------------------------------------------------- */

/*
 * The read-only part of the image: from the ELF header to the first segment that can be written. Found
 * in the program headers, since no symbol marks its end with every linker.
 */
TRACER__HELPER void tracer__find_image(struct tracer_dso *dso)
{
	const char *header = __ehdr_start, *row;
	uint64_t table, base = 0, end = 0, address, size;
	uint16_t entry_size, count, i;
	uint32_t type, flags;

	__builtin_memcpy(&table, header + 32, 8);
	__builtin_memcpy(&entry_size, header + 54, 2);
	__builtin_memcpy(&count, header + 56, 2);
	for (i = 0; i < count; i++) {
		row = header + table + TRACER__CAST(uint64_t, i) * entry_size;
		__builtin_memcpy(&type, row, 4);
		__builtin_memcpy(&flags, row + 4, 4);
		__builtin_memcpy(&address, row + 16, 8);
		__builtin_memcpy(&size, row + 40, 8);
		if (type != 1)
			continue;
		if (flags & 2)
			break;
		if (!end)
			base = address & ~4095ULL;
		end = address + size;
	}
	if (end) {
		__atomic_store_n(&dso->image_end, TRACER__POINTER(uint64_t, header) + (end - base),
				 __ATOMIC_RELAXED);
		/* last: tracer__plain_string() may look at both at any time, in another thread */
		__atomic_store_n(&dso->image_start, TRACER__POINTER(uint64_t, header),
				 __ATOMIC_RELEASE);
	}
}

TRACER__HELPER uint32_t tracer__length(const char *string)
{
	uint32_t length = 0;

	while (length < TRACER_NAME_MAX && string[length])
		length++;
	return length;
}

/* 64 bits of the bytes: multiply and fold, eight at a time. Only equality matters, not the function. */
TRACER__HELPER uint64_t tracer_name_key(const char *string, uint32_t length)
{
	uint64_t key = length * TRACER_HASH_2, word;
	uint32_t i;

	for (i = 0; i < length; i += 8) {
		word = 0;
		if (length - i >= 8) {
			__builtin_memcpy(&word, string + i, 8);
		} else {
			uint32_t k;

			for (k = 0; k < length - i; k++)
				word |= TRACER__CAST(uint64_t, TRACER__CAST(unsigned char, string[i + k]))
					<< (8 * k);
		}
		key = (key ^ word) * TRACER_HASH_1;
		key ^= key >> 29;
	}
	key = (key ^ key >> 32) * TRACER_HASH_2;
	return (key ^ key >> 31) | TRACER_NAME_KEY;
}

TRACER__HELPER uint64_t tracer_task_hash(uint64_t task)
{
	task = (task ^ task >> 33) * TRACER_HASH_1;
	task = (task ^ task >> 33) * TRACER_HASH_2;
	return task ^ task >> 33;
}

/* --- rings --------------------------------------------------------------------------------------- */

#define TRACER__FUTEX_WAIT 128	/* private */
#define TRACER__FUTEX_WAKE 129

TRACER__HELPER void tracer__lock(uint32_t *lock)
{
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(lock, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
		tracer__syscall(TRACER__SYS_futex, TRACER__POINTER(uint64_t, lock),
				TRACER__FUTEX_WAIT, 2, 0, 0);
}

TRACER__HELPER void tracer__unlock(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		tracer__syscall(TRACER__SYS_futex, TRACER__POINTER(uint64_t, lock),
				TRACER__FUTEX_WAKE, 1, 0, 0);
}

/*
 * What a forked child must not inherit: a lock that may have been held by a thread that it does not
 * have, and a list that may have been half changed. In a page that is wiped on fork; a vforked child,
 * which still runs in its parent's memory, sees it unchanged.
 */
struct tracer__mark {
	uint64_t pid;		/* 0: in a forked child, nobody has looked yet */
	uint64_t idle;		/* rings without an owner; linked by next_idle */
	uint32_t lock;		/* 0 free, 1 held, 2 held and waited for; its holder has signals blocked */
	uint32_t claimed;	/* every ring's owner is of this process */
};

TRACER__HELPER struct tracer__mark *tracer__mark_of(const struct tracer_dso *dso)
{
	return TRACER__POINTER(struct tracer__mark *, __atomic_load_n(&dso->mark, __ATOMIC_ACQUIRE));
}

TRACER__HELPER void tracer__retire(struct tracer__mark *mark, struct tracer_ring *ring)
{
	ring->tid = 0;
	ring->nested = 0;
	ring->next_idle = mark->idle;
	mark->idle = TRACER__POINTER(uint64_t, ring);
}

TRACER__HELPER uint64_t tracer__block_signals(void)
{
	uint64_t all = TRACER__CAST(uint64_t, -1), mask = 0;

	tracer__syscall(TRACER__SYS_rt_sigprocmask, 0 /* block */, TRACER__POINTER(uint64_t, &all),
			TRACER__POINTER(uint64_t, &mask), 8, 0);
	return mask;
}

TRACER__HELPER void tracer__restore_signals(uint64_t mask)
{
	tracer__syscall(TRACER__SYS_rt_sigprocmask, 2 /* set */, TRACER__POINTER(uint64_t, &mask), 0, 8,
			0);
}

/*
 * In a forked child the rings of the parent's threads have no owner any more, but for those of the
 * thread that forked. Only that thread, the child's first, can tell which they are: until it does,
 * all are left alone, whatever other threads the child has by then.
 * @mine: rings of the calling thread, by nested; NULL if it has none
 */
TRACER__HELPER void tracer__after_fork(struct tracer_dso *dso, struct tracer_ring *mine)
{
	struct tracer__mark *mark = tracer__mark_of(dso);
	struct tracer_ring *ring, *nested;
	uint64_t mask, tid;

	if (!mark || __atomic_load_n(&mark->claimed, __ATOMIC_ACQUIRE) ||
	    (mine && mine->pid == __atomic_load_n(&mark->pid, __ATOMIC_ACQUIRE)))
		return;
	mask = tracer__block_signals();
	tracer__lock(&mark->lock);
	if (!mark->pid) {
		for (ring = tracer__ring_at(dso->rings); ring; ring = tracer__ring_at(ring->next)) {
			if (!ring->tid)
				tracer__retire(mark, ring);
		}
		__atomic_store_n(&mark->pid, tracer__syscall(TRACER__SYS_getpid, 0, 0, 0, 0, 0),
				 __ATOMIC_RELEASE);
	}
	tid = tracer__syscall(TRACER__SYS_gettid, 0, 0, 0, 0, 0);
	if (tid == mark->pid && !mark->claimed) {
		for (ring = tracer__ring_at(dso->rings); ring; ring = tracer__ring_at(ring->next)) {
			if (!ring->tid || ring->pid == mark->pid)
				continue;
			for (nested = mine; nested && nested != ring;)
				nested = tracer__ring_at(nested->nested);
			if (!nested) {
				tracer__retire(mark, ring);
				continue;
			}
			ring->pid = TRACER__CAST(uint32_t, mark->pid);
			ring->tid = TRACER__CAST(uint32_t, tid);
		}
		__atomic_store_n(&mark->claimed, 1, __ATOMIC_RELEASE);
	}
	tracer__unlock(&mark->lock);
	tracer__restore_signals(mask);
}

/* rings of threads that are no more become idle */
TRACER__HELPER void tracer__sweep(struct tracer_dso *dso, struct tracer__mark *mark)
{
	struct tracer_ring *ring;
	uint32_t alive = 0;

	/* a vforked child, or the process after its first point was in one: the answers would be wrong */
	if (tracer__syscall(TRACER__SYS_getpid, 0, 0, 0, 0, 0) != mark->pid)
		return;
	for (ring = tracer__ring_at(dso->rings); ring; ring = tracer__ring_at(ring->next)) {
		if (!ring->tid)
			continue;
		/* those of another pid are not claimed yet, see above */
		if (ring->pid == mark->pid &&
		    tracer__syscall(TRACER__SYS_tgkill, mark->pid, ring->tid, 0, 0, 0) ==
			    TRACER__CAST(uint64_t, -3 /* ESRCH */))
			tracer__retire(mark, ring);
		else
			alive++;
	}
	dso->next_sweep = alive < 8 ? 16 : 2 * alive;
}

TRACER__HELPER uint64_t tracer__map(uint64_t size)
{
	/* readable and writable; private and anonymous; descriptor -1 and offset 0 */
	uint64_t address = tracer__syscall(TRACER__SYS_mmap, 0, size, 3, 0x22,
					   TRACER__CAST(uint64_t, -1));

	return address > TRACER__CAST(uint64_t, -4096) ? 0 : address;
}

/* the first ring of a DSO; several threads may be here at once, and do the same. Returns NULL: no memory */
TRACER__HELPER struct tracer__mark *tracer__first_mark(struct tracer_dso *dso)
{
	struct tracer__mark *mark = TRACER__POINTER(struct tracer__mark *, tracer__map(4096));
	uint64_t none = 0, own = TRACER__POINTER(uint64_t, mark);

	if (!mark)
		return mark;
	tracer__syscall(TRACER__SYS_madvise, own, 4096, 18 /* WIPEONFORK */, 0, 0);
	mark->pid = tracer__syscall(TRACER__SYS_getpid, 0, 0, 0, 0, 0);
	mark->claimed = 1;
	tracer__find_image(dso);
	__atomic_store_n(&dso->ready, 1, __ATOMIC_RELAXED);
	if (!__atomic_compare_exchange_n(&dso->mark, &none, own, 0, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		tracer__syscall(TRACER__SYS_munmap, own, 4096, 0, 0, 0);
	return tracer__mark_of(dso);
}

/* a ring for the calling thread: an idle one, else a new one; signals are blocked */
TRACER__HELPER struct tracer_ring *tracer__take_ring(struct tracer_dso *dso)
{
	struct tracer__mark *mark = tracer__mark_of(dso);
	struct tracer_ring *ring;

	if (!mark)
		mark = tracer__first_mark(dso);
	if (!mark)
		return tracer__ring_at(0);
	tracer__lock(&mark->lock);
	if (!mark->idle && dso->count >= (dso->next_sweep ? dso->next_sweep : 16))
		tracer__sweep(dso, mark);
	ring = tracer__ring_at(mark->idle);
	if (ring) {
		mark->idle = ring->next_idle;
	} else {
		ring = tracer__ring_at(tracer__map(TRACER_RING_HEADER + TRACER_RING_SIZE));
		if (ring) {
			ring->version = TRACER_RING_VERSION;
			ring->dso = TRACER__POINTER(uint64_t, dso);
			ring->next = dso->rings;
			/* a tracer may walk the list from outside at any time */
			__atomic_store_n(&dso->rings, TRACER__POINTER(uint64_t, ring),
					 __ATOMIC_RELEASE);
			dso->count++;
		}
	}
	if (ring) {
		ring->pid = TRACER__CAST(uint32_t, mark->pid);
		ring->tid = TRACER__CAST(uint32_t, tracer__syscall(TRACER__SYS_gettid, 0, 0, 0, 0, 0));
	}
	tracer__unlock(&mark->lock);
	return ring;
}

/* --- records ------------------------------------------------------------------------------------- */

TRACER__HELPER uint64_t tracer__slow_stamp(uint32_t clock)
{
	struct tracer__timespec now = {0, 0};

	if (clock == TRACER_CLOCK_CYCLES)
		return TRACER__STAMP();
	if (tracer__clock_gettime)
		tracer__clock_gettime(1, &now);
	else
		tracer__syscall(TRACER__SYS_clock_gettime, 1, TRACER__POINTER(uint64_t, &now), 0, 0, 0);
	return TRACER__CAST(uint64_t, now.seconds) * 1000000000U +
	       TRACER__CAST(uint64_t, now.nanoseconds);
}

/* where the next record goes */
TRACER__HELPER uint64_t *tracer__place(struct tracer_ring *ring)
{
	return TRACER__POINTER(uint64_t *, TRACER__POINTER(char *, ring) + TRACER_RING_HEADER +
						   (ring->head & (TRACER_RING_SIZE - 1)));
}

/* publish @size bytes and @records records; the 48 bits of bytes wrap within themselves */
TRACER__HELPER void tracer__publish(struct tracer_ring *ring, uint64_t size, uint64_t records)
{
	uint64_t head = TRACER_HEAD_BYTES(ring->head + size) |
			(((ring->head >> 48) + records) & 0xffff) << 48;

	__atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
	ring->limit = TRACER__CAST(uint32_t, head);
}

TRACER__HELPER void tracer__window_record(struct tracer_ring *ring)
{
	uint64_t *record = tracer__place(ring);

	record[0] = tracer__slow_stamp(ring->clock) << 8 | TRACER_EV_WINDOW;
	record[1] = ring->clock;
	tracer__publish(ring, 16, 0);
}

/* begins a window that has room for @need bytes at least */
TRACER__HELPER void tracer__new_window(struct tracer_ring *ring, uint32_t need)
{
	uint32_t left = TRACER_RING_SIZE - TRACER__CAST(uint32_t, ring->head & (TRACER_RING_SIZE - 1));

	if (left < need + 16) {
		*tracer__place(ring) = TRACER__CAST(uint64_t, left) << 8 | TRACER_EV_PAD;
		tracer__publish(ring, left, 0);
		left = TRACER_RING_SIZE;
	}
	if (!ring->window)
		ring->window = TRACER_WINDOW_MIN;
	else if (ring->window < TRACER_WINDOW_MAX)
		ring->window *= 2;
	ring->window_start = TRACER__CAST(uint32_t, ring->head);
	ring->window_end = ring->window_start + (left < ring->window ? left : ring->window);
	ring->limit = ring->window_start;
	__builtin_memset(ring->names, 0, sizeof(ring->names));
	tracer__window_record(ring);
}

/*
 * The thread is in no point any more. The fast way stamps with the cycle counter: a ring that was last
 * written with another clock has, as it seems, no room for it, so that the next record comes the slow way
 * too and finds out which clock it is now.
 */
TRACER__HELPER void tracer__leave(struct tracer_ring *ring)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ring->clock != TRACER_CLOCK_CYCLES) {
		ring->real_end = ring->window_end;
		ring->window_end = TRACER__CAST(uint32_t, ring->head);
	}
	ring->limit = ring->window_end;
	/* last: a handler that finds it 0 may begin another window */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	ring->busy = 0;
}

/* the counterpart: from here on handlers leave the ring alone */
TRACER__HELPER void tracer__enter(struct tracer_ring *ring)
{
	ring->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (ring->clock != TRACER_CLOCK_CYCLES)
		ring->window_end = ring->real_end;
	ring->limit = TRACER__CAST(uint32_t, ring->head);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* the thread's first ring, or one for a signal handler that interrupted a point; NULL: no memory */
TRACER__HELPER struct tracer_ring *tracer__new_ring(struct tracer_ring *interrupted)
{
	struct tracer_dso *dso = &tracer_v1_dso;
	struct tracer_ring *ring;
	/* a handler that comes in between would want a ring, too, and wait for the lock that we hold */
	uint64_t mask = tracer__block_signals();

	tracer__after_fork(dso, tracer__ring());
	ring = tracer__take_ring(dso);
	if (ring) {
		ring->clock = TRACER_CONTROL_CLOCK(__atomic_load_n(&tracer_v1_gates.control,
								   __ATOMIC_RELAXED))
				      ? TRACER_CLOCK_MONOTONIC
				      : TRACER_CLOCK_CYCLES;
		ring->window = 0;
		ring->busy = 1;
		tracer_v1_flush(ring, interrupted ? TRACER_FLUSH_NESTED : TRACER_FLUSH_NEW);
		tracer__new_window(ring, 0);
		tracer__leave(ring);
		if (interrupted)
			interrupted->nested = TRACER__POINTER(uint64_t, ring);
		else
			tracer__set_ring(ring);
	} else {
		__atomic_fetch_add(&dso->refused, 1, __ATOMIC_RELAXED);
	}
	tracer__restore_signals(mask);
	return ring;
}

/* what a string argument becomes: NULL and addresses in the image stay, others get a name's key */
struct tracer__string {
	const char *bytes;
	uint64_t key;
	uint32_t length;
	uint32_t size;		/* of the NAME record that this window still needs, or 0 */
};

TRACER__HELPER uint32_t tracer__prepare_string(const struct tracer_ring *ring,
					       struct tracer__string *string)
{
	string->size = 0;
	if (string->key & TRACER_NAME_KEY &&
	    ring->names[string->key % TRACER_NAME_SLOTS] != string->key)
		string->size = 16 + ((string->length + 7U) & ~7U);
	return string->size;
}

/*
 * Room for the names of a record, at worst: a name that is written can take the slot of another of the
 * same record, which then is written as well although the window has it.
 */
TRACER__HELPER uint32_t tracer__prepare_names(const struct tracer_ring *ring,
					      struct tracer__string *strings)
{
	uint32_t all = 0, missing = 0, i;

	for (i = 0; i < 3; i++) {
		missing |= tracer__prepare_string(ring, &strings[i]);
		if (strings[i].key & TRACER_NAME_KEY)
			all += 16 + ((strings[i].length + 7U) & ~7U);
	}
	return missing ? all : 0;
}

TRACER__HELPER void tracer__write_name(struct tracer_ring *ring, const struct tracer__string *string)
{
	uint64_t *record = tracer__place(ring);

	record[0] = TRACER__CAST(uint64_t, string->length) << 8 | TRACER_EV_NAME;
	record[1] = string->key;
	__builtin_memcpy(record + 2, string->bytes, string->length);
	tracer__publish(ring, string->size, 0);
	ring->names[string->key % TRACER_NAME_SLOTS] = string->key;
}

/* numbers of events.def that say what a thread runs */
enum tracer__type {
#define TRACER_EVENT0(number, name, category, by, doc) tracer__type_##name = number,
#define TRACER_EVENT1(number, name, category, by, t1, a1, doc) tracer__type_##name = number,
#define TRACER_EVENT2(number, name, category, by, t1, a1, t2, a2, doc) tracer__type_##name = number,
#define TRACER_EVENT3(number, name, category, by, t1, a1, t2, a2, t3, a3, doc)                        \
	tracer__type_##name = number,
#define TRACER_EVENT4(number, name, category, by, t1, a1, t2, a2, t3, a3, t4, a4, doc)                \
	tracer__type_##name = number,
#include "events.def"
	TRACER__TYPES
};

TRACER__HELPER int tracer__is_out(uint64_t task, uint32_t level)
{
	return (tracer_task_hash(task) >> 48 >> level) != 0;
}

TRACER__HELPER int tracer__is_begin(uint64_t type)
{
	return type == tracer__type_task_begin ||
	       (type >= tracer__type_asio_invoked && type <= tracer__type_asio_invoked_signal);
}

/*
 * What the thread runs, innermost last, so that what belongs to a task that is left out is left out
 * with it, as far as points of this DSO tell. They may not have told for a while: no capture, or one
 * without sampling. What then stands here wrongly stands below everything that begins from now on, so it
 * can only hide what no task's stay that is recorded explains; and that the tracer leaves out anyway.
 */
TRACER__HELPER void tracer__note_running(struct tracer_ring *ring, uint64_t type, uint64_t task)
{
	uint32_t i;

	if (tracer__is_begin(type)) {
		if (ring->running_count == TRACER_RUNNING_MAX)
			ring->running_count = 0;
		ring->running[ring->running_count++] = task;
		return;
	}
	/* one stop for a stay: whoever stops again is no longer in here */
	for (i = ring->running_count; i > 0; i--) {
		if (ring->running[i - 1] == task) {
			ring->running_count = i - 1;
			return;
		}
	}
}

TRACER__HELPER int tracer__is_stay(uint64_t type)
{
	return tracer__is_begin(type) || type == tracer__type_task_end ||
	       type == tracer__type_task_yielded || type == tracer__type_task_suspended ||
	       type == tracer__type_task_completed || type == tracer__type_asio_left ||
	       type == tracer__type_asio_thrown;
}

/* @task: the word that decides, if it is a task's */
TRACER__HELPER int tracer__left_out(uint64_t meta, uint64_t task, uint32_t level)
{
	struct tracer_ring *ring = tracer__ring();
	uint32_t by = TRACER__META_SAMPLED_BY(meta);

	if (by == TRACER__BY_RUNNING)
		return ring && ring->running_count && ring->running_count <= TRACER_RUNNING_MAX &&
		       tracer__is_out(ring->running[ring->running_count - 1], level);
	if (by == TRACER__BY_COUNT)
		return ring && (ring->gauges++ & ((1U << (16U - level)) - 1U)) != 0;
	if (by < 1 || by > 3) {
		/* nothing runs on a worker that sleeps: a guard against what is out of date */
		if (ring && TRACER__META_TYPE(meta) == tracer__type_worker_sleep_begin)
			ring->running_count = 0;
		return 0;
	}
	if (ring && tracer__is_stay(TRACER__META_TYPE(meta)))
		tracer__note_running(ring, TRACER__META_TYPE(meta), task);
	return tracer__is_out(task, level);
}

/* into a ring that is not in use by an interrupted point */
TRACER__HELPER void tracer__write(struct tracer_ring *ring, uint64_t meta, uint64_t *words,
				  struct tracer__string *strings, uint64_t control)
{
	uint32_t size = TRACER__META_SIZE(meta), need, clock, i;
	uint64_t *record;

	tracer__enter(ring);
	for (;;) {
		clock = TRACER_CONTROL_CLOCK(control) ? TRACER_CLOCK_MONOTONIC : TRACER_CLOCK_CYCLES;
		need = size + (clock != ring->clock ? 16 : 0) + tracer__prepare_names(ring, strings);
		if (TRACER__CAST(int32_t, ring->window_end - TRACER__CAST(uint32_t, ring->head)) >=
		    TRACER__CAST(int32_t, need))
			break;
		tracer__after_fork(&tracer_v1_dso, tracer__ring());
		tracer_v1_flush(ring, TRACER_FLUSH_FULL);
		/* all three names anew, at worst */
		tracer__new_window(ring, 4U * TRACER_RECORD_MAX > TRACER_WINDOW_MIN - 16
						 ? TRACER_WINDOW_MIN - 16
						 : 4U * TRACER_RECORD_MAX);
	}
	if (clock != ring->clock) {
		ring->clock = clock;
		tracer__window_record(ring);
	}
	for (i = 0; i < 3; i++) {
		if (!(TRACER__META_STRINGS(meta) & 1U << i))
			continue;
		/* again: one name can have taken the slot of the other, or be the other */
		if (tracer__prepare_string(ring, &strings[i]))
			tracer__write_name(ring, &strings[i]);
		words[i] = strings[i].key;
	}
	record = tracer__place(ring);
	record[0] = tracer__slow_stamp(ring->clock) << 8 | TRACER__META_TYPE(meta);
	for (i = 0; i < size / 8 - 1; i++)
		record[1 + i] = words[i];
	tracer__publish(ring, size, 1);
	tracer__leave(ring);
}

/*
 * tracer_v1_record() without its first half, apart from it, since what a sampled capture leaves out shall
 * not pay for this one's frame.
 */
TRACER__ONCE void tracer_v1_keep(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3,
				 uint64_t control)
{
	uint64_t words[3] = {w1, w2, w3};
	struct tracer__string strings[3];
	struct tracer_ring *ring, *outer;
	uint32_t i;

	ring = tracer__ring();
	if (!ring)
		ring = tracer__new_ring(ring);
	/* points of this thread that a signal interrupted, innermost last */
	while (ring && (ring->busy || ring->limit != ring->window_end)) {
		outer = ring;
		ring = tracer__ring_at(outer->nested);
		if (!ring)
			ring = tracer__new_ring(outer);
	}
	if (!ring)
		return;
	for (i = 0; i < 3; i++) {
		strings[i].bytes = TRACER__POINTER(const char *, words[i]);
		strings[i].key = 0;
		strings[i].length = 0;
		if (!(TRACER__META_STRINGS(meta) & 1U << i))
			continue;
		strings[i].key = words[i];
		if (tracer__plain_string(words[i]))
			continue;
		strings[i].length = tracer__length(strings[i].bytes);
		strings[i].key = tracer_name_key(strings[i].bytes, strings[i].length);
	}
	tracer__write(ring, meta, words, strings, control);
}

/*
 * A thread's first stay may be of a task that is left out, and with it what follows in it: there has to be
 * a ring that says so. Called last, so that what comes later has no frame because of it.
 */
TRACER__ONCE void tracer_v1_first_stay(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3)
{
	if (tracer__new_ring(tracer__ring_at(0)))
		tracer_v1_record(meta, w1, w2, w3);
}

TRACER__ONCE void tracer_v1_record(uint64_t meta, uint64_t w1, uint64_t w2, uint64_t w3)
{
	uint64_t control = __atomic_load_n(&tracer_v1_gates.control, __ATOMIC_RELAXED);
	uint32_t by = TRACER__META_SAMPLED_BY(meta);

	if (TRACER_CONTROL_OFF(control))
		return;
	if (TRACER_CONTROL_SAMPLE(control) < TRACER_CONTROL_PLAIN) {
		if (tracer__is_begin(TRACER__META_TYPE(meta)) && !tracer__ring()) {
			tracer_v1_first_stay(meta, w1, w2, w3);
			return;
		}
		if (tracer__left_out(meta, by == 1 ? w1 : by == 2 ? w2 : w3,
				     TRACER_CONTROL_SAMPLE(control)))
			return;
	}
	tracer_v1_keep(meta, w1, w2, w3, control);

	/*
	 * What a DSO needs to be traced. In the body of a function, since assembler outside of functions
	 * breaks gcc's link-time optimisation; each part in a COMDAT section group, of which the linker
	 * keeps one; reached from the note, which --gc-sections keeps because it is a note of no group.
	 */
	/* a statement a line: C99 has no strings of more than 4,095 bytes */
#define TRACER__INFO(text)                                                                            \
	__asm__ __volatile__(                                                                         \
		".ifndef tracer_v1_gates\n"                                                           \
		".pushsection .rodata.tracer_v1_info,\"aG\",@progbits,tracer_v1_info,comdat\n" text   \
		".popsection\n"                                                                       \
		".endif\n");
#define TRACER__SCHEMA(line) TRACER__INFO(".ascii \"" line "\\n\"\n")
	TRACER__INFO(".Ltracer_v1_schema:\n")
#define TRACER_EVENT0(number, name, category, by, doc) \
	TRACER__SCHEMA(#number " " #name " " #category " " #by)
#define TRACER_EVENT1(number, name, category, by, t1, n1, doc) \
	TRACER__SCHEMA(#number " " #name " " #category " " #by " " #t1 ":" #n1)
#define TRACER_EVENT2(number, name, category, by, t1, n1, t2, n2, doc)                                \
	TRACER__SCHEMA(#number " " #name " " #category " " #by " " #t1 ":" #n1 " " #t2 ":" #n2)
#define TRACER_EVENT3(number, name, category, by, t1, n1, t2, n2, t3, n3, doc)                        \
	TRACER__SCHEMA(#number " " #name " " #category " " #by " " #t1 ":" #n1 " " #t2 ":" #n2 " "    \
		       #t3 ":" #n3)
#define TRACER_EVENT4(number, name, category, by, t1, n1, t2, n2, t3, n3, t4, n4, doc)                \
	TRACER__SCHEMA(#number " " #name " " #category " " #by " " #t1 ":" #n1 " " #t2 ":" #n2 " "    \
		       #t3 ":" #n3 " " #t4 ":" #n4)
#include "events.def"
	TRACER__INFO(".Ltracer_v1_schema_end:\n")
#undef TRACER__SCHEMA
#undef TRACER__INFO
	__asm__ __volatile__(
		".ifndef tracer_v1_gates\n"

		/*
		 * On a page of the file of its own: lld may map one page for two writable segments, and the
		 * kernel counts in the one that it comes to first.
		 */
		".pushsection .probes,\"awG\",@progbits,tracer_v1_gates,comdat\n"
		".balign 4096\n"
		".weak tracer_v1_gates\n"
		".hidden tracer_v1_gates\n"
		".type tracer_v1_gates, @object\n"
		".size tracer_v1_gates, 64\n"
		"tracer_v1_gates: .zero 64\n"
		".popsection\n"

		".pushsection .tbss.tracer_v1_ring,\"awGT\",@nobits,tracer_v1_ring,comdat\n"
		".balign 8\n"
		".weak tracer_v1_ring\n"
		".hidden tracer_v1_ring\n"
		".type tracer_v1_ring, @object\n"
		".size tracer_v1_ring, 8\n"
		"tracer_v1_ring: .zero 8\n"
		".popsection\n"

		".pushsection .bss.tracer_v1_dso,\"awG\",@nobits,tracer_v1_dso,comdat\n"
		".balign 64\n"
		".weak tracer_v1_dso\n"
		".hidden tracer_v1_dso\n"
		".type tracer_v1_dso, @object\n"
		".size tracer_v1_dso, 64\n"
		"tracer_v1_dso: .zero 64\n"
		".popsection\n"

		TRACER__CODE_SECTION("tracer_v1_flush")
		".weak tracer_v1_flush\n"
		".hidden tracer_v1_flush\n"
		".type tracer_v1_flush, @function\n"
		"tracer_v1_flush:\n"
		"nop\n"
		"ret\n"
		".size tracer_v1_flush, .-tracer_v1_flush\n"
		".popsection\n"

		TRACER__CODE_SECTION("tracer_v1_sites")
		".weak tracer_v1_sites\n"
		".hidden tracer_v1_sites\n"
		".type tracer_v1_sites, @function\n"
		"tracer_v1_sites:\n"
		".rept 32\n"
		"nop\n"
		".endr\n"
		"ret\n"
		".size tracer_v1_sites, .-tracer_v1_sites\n"
		".popsection\n"

		".pushsection .rodata.tracer_v1_info,\"aG\",@progbits,tracer_v1_info,comdat\n"
		".balign 8\n"
		".weak tracer_v1_info\n"
		".hidden tracer_v1_info\n"
		".type tracer_v1_info, @object\n"
		"tracer_v1_info:\n"
		".4byte 40\n"
		".4byte " TRACER__STR(TRACER_RING_VERSION) "\n"
		".4byte tracer_v1_gates - .\n"
		".4byte tracer_v1_sites - .\n"
		".4byte tracer_v1_flush - .\n"
		".4byte tracer_v1_dso - .\n"
		".4byte .Ltracer_v1_schema - .\n"
		".4byte .Ltracer_v1_schema_end - .Ltracer_v1_schema\n"
		".4byte " TRACER__SITE_STRIDE "\n"
		".4byte " TRACER__STR(TRACER__MACHINE) "\n"
		".size tracer_v1_info, .-tracer_v1_info\n"
		".popsection\n"

		".pushsection .note.tracer,\"a\",@note\n"
		".balign 4\n"
		".4byte 994f - 993f, 8, " TRACER__STR(TRACER_NOTE_TYPE) "\n"
		"993: .asciz \"" TRACER_NOTE_NAME "\"\n"
		"994: .balign 4\n"
		".4byte " TRACER__STR(TRACER_RING_VERSION) "\n"
		".4byte tracer_v1_info - .\n"
		".balign 4\n"
		".popsection\n"

		".endif\n");
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* TRACER_SLOW_H */
