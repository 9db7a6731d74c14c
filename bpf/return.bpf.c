// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that are held on their way back to user mode: one that runs another program, before its first
 * instruction, and a forked child that maps something, before it loads a library in which it would not
 * wait (loaded() in tracer.bpf.c is a probe for one process, and a child has none).
 *
 * What happens is told by tracepoints, in which nothing may sleep. Since Linux 6.18 they can have work
 * done by the thread itself where it may. However a program is run (execveat, a descriptor, a script, from
 * a vforked child), it is there then, with its files mapped.
 *
 * An object of its own: where the kernel has not that call, or another one by then, the rest works.
 */
#include "kernel.h"
#include "records.h"
#include "shared.bpf.h"
#include "count.bpf.h"
#include "hold.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* as the kernel knows it, by name */
struct bpf_task_work {
	__u64 opaque;
} __attribute__((aligned(8)));

typedef int (*bpf_task_work_callback_t)(struct bpf_map *map, void *key, void *value);

extern int bpf_task_work_schedule_resume_impl(struct task_struct *task, struct bpf_task_work *work,
					      void *map__map, bpf_task_work_callback_t callback,
					      void *aux__prog) __ksym;

/*
 * A thread waits in turns, each some work that the one before has asked for: between two of them it can be
 * preempted, and holds no lock and no read side of RCU that the loader would have to wait for. Work that
 * is being done can't be asked for again, so there are two, by turns.
 */
#define TURN_NS 50000

struct turn {
	struct bpf_task_work work;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u64); /* thread, and which of the two */
	__type(value, struct turn);
} turns SEC(".maps");

static int take_turn(struct bpf_map *map, void *key, void *value);

static __always_inline int ask_for_turn(__u64 key)
{
	struct turn *turn = bpf_map_lookup_elem(&turns, &key);

	return turn ? bpf_task_work_schedule_resume_impl(bpf_get_current_task_btf(), &turn->work,
							 &turns, take_turn, NULL)
		    : -ENOMEM;
}

static long look(__u32 index, void *ctx)
{
	struct wait *wait = waiting();

	return !wait || wait__look(wait) || bpf_ktime_get_ns() > wait->next_yield;
}

static __always_inline void end_turns(struct wait *wait, __u32 tid)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32,
	      *flags = bpf_map_lookup_elem(&targets, &tgid);
	__u64 key = (__u64)tid << 1;

	wait->pending = 0;
	if (flags)
		*flags &= ~TARGET_UNWATCHED;
	bpf_map_delete_elem(&turns, &key);
	key |= 1;
	bpf_map_delete_elem(&turns, &key);
}

static int take_turn(struct bpf_map *map, void *key, void *value)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct wait *wait = waiting();

	if (!wait)
		return 0;
	if (!wait->ticket && is_target(pid_tgid >> 32) && !(task->flags & PF_EXITING))
		wait__begin(wait, tell_loader(REC_LOADED, true, 0));
	if (!wait->ticket || wait->over) {
		wait__end(wait);
		end_turns(wait, (__u32)pid_tgid);
		return 0;
	}
	/* the next first: it has to be there when this one is over */
	if (ask_for_turn(*(__u64 *)key ^ 1)) {
		count(COUNT_NOT_HELD, 1);
		end_turns(wait, (__u32)pid_tgid);
		return 0;
	}
	wait->next_yield = bpf_ktime_get_ns() + TURN_NS;
	bpf_loop(1 << 20, look, NULL, 0);
	return 0;
}

static __always_inline void hold_on_return(void)
{
	__u64 key = (__u64)(__u32)bpf_get_current_pid_tgid() << 1, other = key | 1;
	struct wait *wait = bpf_task_storage_get(&waits, bpf_get_current_task_btf(), 0,
						 BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct turn none = {};

	if (wait && wait->pending)
		return;
	bpf_map_update_elem(&turns, &key, &none, BPF_NOEXIST);
	bpf_map_update_elem(&turns, &other, &none, BPF_NOEXIST);
	if (wait) {
		wait->ticket = wait->over = wait->answered = 0;
		wait->pending = 1;
		if (!ask_for_turn(key))
			return;
		wait->pending = 0;
	}
	count(COUNT_NOT_HELD, 1);
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(hold_program, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	if (is_target(bpf_get_current_pid_tgid() >> 32))
		hold_on_return();
	return 0;
}

/* at the latest when it maps the first of what it loads */
SEC("?tp_btf/vm_unmapped_area")
int BPF_PROG(hold_child, unsigned long address, void *info)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const __u32 *flags = bpf_map_lookup_elem(&targets, &tgid);

	if (flags && *flags & TARGET_UNWATCHED)
		hold_on_return();
	return 0;
}

/* as loaded() in tracer.bpf.c, in whose place it is */
SEC("?uprobe")
int hold_library(struct pt_regs *ctx)
{
	if (is_target(bpf_get_current_pid_tgid() >> 32))
		hold_on_return();
	return 0;
}
