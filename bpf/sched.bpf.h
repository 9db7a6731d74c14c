/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's scheduling of the targets' threads, a record a switch. Included by tracer.bpf.c.
 *
 * Recorded is: each switch that takes a target's thread off a CPU or puts one on it, each waking of
 * one, and for a foreign thread that got the CPU from a target's thread, the switch that ends its run
 * there. What else runs on the CPU is nobody's business, and must cost next to nothing: a switch
 * between other threads reads two bits and one word.
 *
 * A record that finds no room is counted, in the counters and in the next record of that CPU: so a
 * reader knows when what it knows of the threads' states ends.
 */

const volatile bool sched_tells_state; /* the tracepoint's fourth argument, see below */

/* By the low bits of a thread group's number: may be a target. Set, never cleared. */
__u64 maybe_targets[MAYBE_TARGETS / 64];

struct cpu_run {
	__u32 follower; /* tid of the foreign thread that runs and took over from a target's; 0 none */
	__u32 lost;	/* records that found no room since the last one that did */
	__u64 alone[7]; /* no two CPUs in a cache line */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader: CPUs */
	__type(key, __u32);
	__type(value, struct cpu_run);
} cpu_runs SEC(".maps");

static __always_inline void target__mark(__u32 tgid)
{
	__sync_fetch_and_or(&maybe_targets[tgid / 64 % (MAYBE_TARGETS / 64)], 1ULL << tgid % 64);
}

static __always_inline bool is_sched_target(__u32 tgid)
{
	return maybe_targets[tgid / 64 % (MAYBE_TARGETS / 64)] & 1ULL << tgid % 64 &&
	       is_target(tgid);
}

static __always_inline void *sched__reserve(struct cpu_run *run, __u64 size)
{
	void *buffer = this_buffer(), *record;

	record = buffer ? bpf_ringbuf_reserve(buffer, size, 0) : NULL;
	if (record)
		return record;
	__sync_fetch_and_add(&run->lost, 1);
	count(COUNT_SCHED_LOST, 1);
	return NULL;
}

static __always_inline void sched__submit(struct cpu_run *run, struct rec_header *header, __u32 *lost,
					  __u32 size, __u16 kind, __u64 time)
{
	void *buffer = this_buffer();

	header->size = size;
	header->kind = kind;
	header->cpu = bpf_get_smp_processor_id();
	header->time = time;
	*lost = run->lost;
	if (*lost)
		__sync_fetch_and_add(&run->lost, -*lost);
	bpf_ringbuf_submit(header, buffer ? wakeup(buffer) : 0);
}

/*
 * Before Linux 5.18 a thread's state has to be read from the thread, where another CPU that wakes it
 * may have changed it since it left: then it seems to have been preempted.
 */
SEC("?tp_btf/sched_switch")
int switched(__u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id();
	bool from = is_sched_target(prev->tgid), to = is_sched_target(next->tgid);
	struct cpu_run *run = bpf_map_lookup_elem(&cpu_runs, &cpu);
	__u64 time = 0;
	struct rec_switch *record;
	__u32 state;

	if (!run || (!from && !to && !run->follower))
		return 0;
	time = bpf_ktime_get_boot_ns();
	run->follower = from && !to ? next->pid : 0;
	record = sched__reserve(run, sizeof(*record));
	if (!record)
		return 0;
	state = sched_tells_state ? (__u32)ctx[3] : prev->__state;
	record->state = ctx[0] & 0xff ? TASK_RUNNING : state;
	record->flags = (from ? REC_SWITCH_FROM : 0) | (to ? REC_SWITCH_TO : 0);
	record->prev_pid = prev->tgid;
	record->prev_tid = prev->pid;
	record->prev_prio = prev->prio;
	record->next_pid = next->tgid;
	record->next_tid = next->pid;
	record->next_prio = next->prio;
	record->unused = 0;
	bpf_probe_read_kernel(record->prev_comm, sizeof(record->prev_comm), prev->comm);
	bpf_probe_read_kernel(record->next_comm, sizeof(record->next_comm), next->comm);
	sched__submit(run, &record->h, &record->lost, sizeof(*record), REC_SWITCH, time);
	return 0;
}

/*
 * Whoever runs when an interrupt wakes a thread has nothing to do with it. The kernel's count of interrupts
 * under way can't be read where kallsyms has no data symbols; but idle wakes nobody by itself, and the
 * registers of an interrupted program are not those of a system call. What is missed are interrupts
 * inside system calls.
 */
static __always_inline bool is_interrupt(struct task_struct *current)
{
	struct pt_regs___entry *regs;

	if (!current->pid)
		return true;
	if (!current->mm)
		return false;
	regs = (struct pt_regs___entry *)bpf_task_pt_regs(current);
#ifdef __TARGET_ARCH_arm64
	return BPF_CORE_READ(regs, syscallno) < 0;
#else
	return BPF_CORE_READ(regs, orig_ax) < 0;
#endif
}

SEC("?tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *woken)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct task_struct *waker;
	struct rec_waking *record;
	struct cpu_run *run;
	__u64 time;

	if (!is_sched_target(woken->tgid))
		return 0;
	run = bpf_map_lookup_elem(&cpu_runs, &cpu);
	if (!run)
		return 0;
	time = bpf_ktime_get_boot_ns();
	record = sched__reserve(run, sizeof(*record));
	if (!record)
		return 0;
	waker = bpf_get_current_task_btf();
	record->pid = woken->tgid;
	record->tid = woken->pid;
	record->waker_pid = waker->tgid;
	record->waker_tid = waker->pid;
	record->flags = is_interrupt(waker) ? REC_WAKING_INTERRUPT : 0;
	record->prio = woken->prio;
	bpf_probe_read_kernel(record->waker_comm, sizeof(record->waker_comm), waker->comm);
	sched__submit(run, &record->h, &record->lost, sizeof(*record), REC_WAKING, time);
	return 0;
}
