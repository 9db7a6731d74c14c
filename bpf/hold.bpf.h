/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads that wait, a bounded time, until the loader has attached to what they are about to run. Else
 * the first events of a library, or of a program, would be missed. Part of tracer.bpf.c, whose uprobes
 * hold in the dynamic linker, and of return.bpf.c.
 */
#ifndef TRACER_HOLD_BPF_H
#define TRACER_HOLD_BPF_H

/* without a sign of life of the loader, which takes its time on a busy machine; and in all */
const volatile __u64 load_wait_ns = 1000 * 1000 * 1000;
const volatile __u64 hold_limit_ns = 20ULL * 1000 * 1000 * 1000;
const volatile __u64 yield_ns = 100 * 1000;

/* one for all objects */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hold_state);
} holding SEC(".maps");

static __always_inline struct hold_state *hold_state(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&holding, &key);
}

/*
 * Not on the stack: since Linux 6.13 a function of a program that uses 64 bytes of it or more has
 * its frame in memory of the CPU, and while a thread sleeps in a uprobe program, or is preempted
 * there, the next one on that CPU takes the same memory (a thread then waited for a ticket that was the
 * number of a process).
 */
struct wait {
	__u64 ticket;
	__u64 begin;
	const void *stack; /* of the waiting thread */
	__u64 next_yield;
	__u64 answered, over; /* numbers: the verifier wants to see a 0 or 1 returned */
	__u64 pending;	      /* return.bpf.c: it will wait, or does */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

static __always_inline struct wait *waiting(void)
{
	return bpf_task_storage_get(&waits, bpf_get_current_task_btf(), 0, 0);
}

static __always_inline void wait__begin(struct wait *wait, __u64 ticket)
{
	wait->ticket = ticket;
	wait->begin = bpf_ktime_get_ns();
	wait->next_yield = 0;
	wait->answered = wait->over = 0;
}

/* is it over? */
static __always_inline bool wait__look(struct wait *wait)
{
	const volatile struct hold_state *state = hold_state();
	__u64 now = bpf_ktime_get_ns();

	if (!state)
		return true;
	wait->answered = state->answered >= wait->ticket;
	wait->over = wait->answered || now > wait->begin + hold_limit_ns ||
		     (now > wait->begin + load_wait_ns && now > state->alive + load_wait_ns);
	return wait->over;
}

/*
 * The loader may need this very CPU, and many kernels do not preempt what runs in them. Copying
 * through a task's page tables looks for others that want to run (cond_resched() in
 * __get_user_pages()); nothing else that a uprobe's program may call does. It does so with the memory's
 * lock taken, for which the loader may have to wait: return.bpf.c has a better way, where there is one.
 */
static long wait_once(__u32 index, void *ctx)
{
	struct wait *wait = waiting();
	char byte;

	if (!wait || wait__look(wait))
		return 1;
	/* not all the time: every switch of tasks is an event of the capture */
	if (bpf_ktime_get_ns() > wait->next_yield) {
		bpf_copy_from_user_task(&byte, 1, wait->stack, bpf_get_current_task_btf(), 0);
		wait->next_yield = bpf_ktime_get_ns() + yield_ns;
	}
	return 0;
}

/* one loop may not go round often enough for the time */
static long wait_longer(__u32 index, void *ctx)
{
	struct wait *wait;

	bpf_loop(1 << 23, wait_once, NULL, 0);
	wait = waiting();
	return !wait || wait->over != 0;
}

static __always_inline void ask__fill(struct rec_loaded *record, __u16 kind, __u32 size,
				      __u64 ticket)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	header__fill(&record->h, kind, size);
	record->pid = pid_tgid >> 32;
	record->tid = pid_tgid;
	record->ticket = ticket;
}

/* A number of which none is left out: they are answered in order. */
static __always_inline __u64 new_ticket(void)
{
	struct hold_state *state = hold_state();

	return state ? __sync_fetch_and_add(&state->tickets, 1) + 1 : 0;
}

/* @value: what the kind has to say; a ticket, which is returned, if @wait; 0: no room to tell it */
static __always_inline __u64 tell_loader(__u16 kind, bool wait, __u64 value)
{
	void *buffer = this_buffer();
	struct rec_loaded *record;

	record = buffer ? bpf_ringbuf_reserve(buffer, sizeof(*record), 0) : NULL;
	if (!record) {
		if (wait)
			count(COUNT_NOT_HELD, 1);
		return 0;
	}
	if (wait)
		value = new_ticket();
	ask__fill(record, kind, sizeof(*record), value);
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
	return value;
}

/* the loader is told if it was too late */
static __always_inline void wait__end(const struct wait *wait)
{
	if (wait->ticket && !wait->answered)
		tell_loader(REC_WENT_ON, false, bpf_ktime_get_ns() - wait->begin);
}

static __always_inline void hold(__u64 ticket, const void *stack)
{
	struct wait *wait = bpf_task_storage_get(&waits, bpf_get_current_task_btf(), 0,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!ticket || !wait)
		return;
	wait__begin(wait, ticket);
	wait->stack = stack;
	bpf_loop(1 << 10, wait_longer, NULL, 0);
	wait__end(wait);
}

#endif /* TRACER_HOLD_BPF_H */
