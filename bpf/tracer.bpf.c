// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs that drain the targets' rings.
 *
 * A ring is drained by its own thread only, or by what interrupts it on its CPU: the flush probe,
 * the tick, the scheduler, and the hooks on the ways to die. So one plain flag per thread orders
 * them (thread_state.busy), and a stream's tail needs no atomic access. What they hand over is a
 * struct rec_chunk in the ring buffer of the CPU they run on.
 *
 * The target is hostile: head and header are read from its memory, every distance is bounded by the
 * ring's size, and what does not fit is skipped and counted. Nothing is ever written there.
 *
 * Every program is "?": the loader turns on what the capture needs and the kernel has.
 */
#include "kernel.h"
#include <tracer/ring.h>
#include "records.h"
#include "shared.bpf.h"
#include "state.h"
#include "count.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* set by the loader before loading */
const volatile bool follow = true;
const volatile __u64 wake_bytes =
	1 << 20; /* a CPU's buffer wakes the reader when it holds that much */

/* shared with the loader while running */
int iterator_mode;
bool holds_programs; /* by return.bpf.c, when they are there: nothing is to be done before */
__u64 streams;	     /* given out so far */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct adopt_key);
	__type(value, struct adopted_ring);
} adopted SEC(".maps");

/* final counts of streams whose last chunk found no room */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 18);
	__type(key, __u64); /* stream */
	__type(value, struct rec_chunk);
} ends SEC(".maps");

/*
 * By CPU, written by its tick: what threads have stamped before and while they ran there is handed over, but
 * for those that the capture was told of (REC_HELD). Read by the loader, which tells the least of all CPUs
 * with each ROUND: see user/trace/merge.c.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: CPUs */
	__type(key, __u32);
	__type(value, __u64);
} complete_to SEC(".maps");

static __always_inline __u64 wakeup(void *buffer)
{
	return bpf_ringbuf_query(buffer, BPF_RB_AVAIL_DATA) > wake_bytes ? BPF_RB_FORCE_WAKEUP
									 : BPF_RB_NO_WAKEUP;
}

#include "sched.bpf.h"
#include "drain.bpf.h"
#include "hold.bpf.h"

/* --- the flush probe -------------------------------------------------------------------------- */

/* the slot of a ring; a free one if it has none; -1 if there is none. Global for the verifier's
 * sake. */
__noinline int thread__find(struct thread_state *thread, __u64 address)
{
	int free = -1;
	__u32 i;

	if (!thread)
		return -1;
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= thread->count)
			break;
		if (thread->rings[i].ring == address)
			return (int)i;
		if (!thread->rings[i].ring && free < 0)
			free = (int)i;
	}
	if (free >= 0)
		return free;
	return thread->count < STATE_RINGS ? (int)thread->count : -1;
}

/* a vforked child runs on its parent's ring, which the parent drains when it goes on */
__noinline int is_borrowed(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct mm_struct *mm = BPF_CORE_READ(task, mm);

	return mm && mm == BPF_CORE_READ(task, real_parent, mm) &&
	       BPF_CORE_READ(task, tgid) != BPF_CORE_READ(task, real_parent, tgid);
}

/* rings of a library that was unloaded: another one, or the same again, is where it was */
__noinline int thread__end_dso(struct thread_state *thread, __u64 dso)
{
	__u32 i;

	if (!thread)
		return 0;
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= thread->count)
			break;
		if (thread->rings[i].ring && thread->rings[i].dso == dso)
			drain(thread, i, DRAIN_END | REC_CAUSE_RELEASE << 16);
	}
	return 0;
}

/* a chunk without data: there is a new ring */
__noinline int ring__announce(struct ring_state *ring)
{
	return ring ? piece__hand_over(ring, bpf_get_current_pid_tgid(), 0, REC_CAUSE_NEW, 0, 160,
				       false)
		    : 0;
}

/*
 * The slot of the ring whose header was read, ready to be handed over; -1: it is not to be. Apart from the
 * probe, for the sake of that one's stack.
 */
__noinline int flush__prepare(struct thread_state *thread, __u64 address, __u32 reason)
{
	struct ring_header *header;
	struct ring_state *ring;
	bool is_new;
	int slot;

	if (!thread)
		return -1;
	header = &thread->flushed;
	if (reason == TRACER_FLUSH_NEW)
		thread__end_dso(thread, thread->flushed_dso);
	slot = thread__find(thread, address);
	if (slot < 0 || slot >= STATE_RINGS) {
		count(COUNT_RINGS_REFUSED, 1);
		return -1;
	}
	ring = &thread->rings[slot];
	is_new = reason == TRACER_FLUSH_NEW || reason == TRACER_FLUSH_NESTED;
	if (ring->ring != address || is_new) {
		if (!is_new && is_borrowed())
			return -1;
		ring__begin(ring, address, thread->flushed_dso, header->head, header->tid);
		if ((__u32)slot >= thread->count)
			thread->count = slot + 1;
		if (is_new) {
			ring__announce(ring);
			return -1;
		}
		/* nobody told us of this ring: what is in its window is all there is */
		ring->tail -= (__u32)((__u32)header->head - thread->flushed_window) &
			      (TRACER_RING_SIZE - 1);
	}
	if (ring->flags & RING_HARVESTED)
		return -1;
	ring->owner = header->tid;
	ring_state__look(ring, header->head);
	/* the point that hands over stamps its record afterwards */
	ring->flags &= ~RING_UNDER_WAY;
	ring__skip_overrun(ring, 0);
	return slot;
}

static __always_inline void flush_ring(struct thread_state *thread, __u64 address, __u64 reason,
				       const bool sleepable)
{
	struct tracer_ring *user = (void *)address;
	struct ring_header *header = &thread->flushed;
	struct ring_state *ring;
	__u32 slot;
	int i, err;

	if (sleepable)
		err = bpf_copy_from_user(header, sizeof(*header), user) ?:
			      bpf_copy_from_user(&thread->flushed_dso, 8, &user->dso) ?:
			      bpf_copy_from_user(&thread->flushed_window, 4, &user->window_start);
	else
		err = bpf_probe_read_user(header, sizeof(*header), user) ?:
			      bpf_probe_read_user(&thread->flushed_dso, 8, &user->dso) ?:
			      bpf_probe_read_user(&thread->flushed_window, 4, &user->window_start);
	if (err) {
		count(COUNT_FAULTS, 1);
		return;
	}
	slot = flush__prepare(thread, address, (__u32)reason);
	/* the compiler knows that, and would drop what tells the verifier */
	asm volatile("" : "+r"(slot));
	if (slot >= STATE_RINGS)
		return;
	ring = &thread->rings[slot];
	for (i = 0; i < 4; i++) {
		if (!(sleepable ? flush_piece(ring) : flush_piece_atomic(ring)))
			break;
	}
	ring->marks[1] = ring->marks[0];
	ring->marks[0].position = ring->seen;
	ring->marks[0].records = ring->seen_records;
	count(COUNT_FLUSHES, 1);
}

static __always_inline int do_flush(struct pt_regs *ctx, const bool sleepable)
{
	struct thread_state *thread;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count(COUNT_RINGS_REFUSED, 1);
		return 0;
	}
	thread->busy = 1;
	barrier();
	flush_ring(thread, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), sleepable);
	barrier();
	thread->busy = 0;
	return 0;
}

SEC("?uprobe.s")
int flush(struct pt_regs *ctx)
{
	return do_flush(ctx, true);
}

/* before Linux 6.0: pages that are not resident are lost, and counted */
SEC("?uprobe")
int flush_atomic(struct pt_regs *ctx)
{
	return do_flush(ctx, false);
}

/* on a gate's site, which nothing runs: being there is what it does */
SEC("?uprobe")
int gate(struct pt_regs *ctx)
{
	return 0;
}

/* --- leaving the CPU, and the tick ------------------------------------------------------------ */

/*
 * Under the run queue's lock with interrupts off, so short: mostly some hundred bytes, and at the
 * worst the 64 KiB (about 6 us) of a thread that has just filled a window. Less will not do. A
 * thread that blocks may sleep for hours, one that is preempted on a full machine for most of a
 * second, and the merge by time has to hold everybody else's events back for what it keeps.
 */
SEC("?tp_btf/sched_switch")
int BPF_PROG(leave_cpu, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct thread_state *thread = bpf_task_storage_get(&threads, prev, 0, 0);
	bool blocks;

	if (!thread)
		return 0;
	blocks = !preempt && BPF_CORE_READ(prev, __state) != TASK_RUNNING;
	drain_thread(thread, DRAIN_INSIDE, blocks ? REC_CAUSE_BLOCK : REC_CAUSE_SWITCH);
	if (thread->busy || thread->lent || thread->since != thread->looked)
		thread__tell(thread, thread->since);
	/* it waits for the child; before, it may have been preempted */
	if (blocks)
		thread->lent = 0;
	return 0;
}

SEC("?perf_event")
int tick(void *ctx)
{
	struct thread_state *thread = thread__get();
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 *told = bpf_map_lookup_elem(&complete_to, &cpu);
	__u64 now = bpf_ktime_get_boot_ns();

	if (thread) {
		drain_thread(thread, DRAIN_INSIDE, REC_CAUSE_TICK);
		now = thread->since;
	}
	/* a thread that came here since the last tick may have been looked at before that */
	if (told && now > *told)
		*told = now;
	return 0;
}

/* --- processes: fork, exec, exit -------------------------------------------------------------- */

static __always_inline void report_task(struct task_struct *task, __u16 kind, __u32 parent,
					__s32 status)
{
	void *buffer = this_buffer();
	struct rec_task *record;

	record = buffer ? bpf_ringbuf_reserve(buffer, sizeof(*record), 0) : NULL;
	if (!record) {
		count(COUNT_TASK_RECORDS_LOST, 1);
		return;
	}
	header__fill(&record->h, kind, sizeof(*record));
	record->pid = BPF_CORE_READ(task, tgid);
	record->tid = BPF_CORE_READ(task, pid);
	record->parent = parent;
	record->status = status;
	bpf_probe_read_kernel(record->comm, sizeof(record->comm), &task->comm);
	/* the loader acts on these: other binaries, one target less */
	bpf_ringbuf_submit(record,
			   kind == REC_THREAD_EXIT ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
}

/* the child's copy of the parent's ring goes on where the parent's is now */
static __always_inline void inherit_ring(struct thread_state *child, const struct ring_state *ring,
					 __u64 pid_tgid)
{
	struct ring_state *copy;
	__u32 slot = child->count;
	__u64 head;

	if (!ring->ring || slot >= STATE_RINGS ||
	    bpf_probe_read_user(&head, sizeof(head), (void *)ring->ring))
		return;
	copy = &child->rings[slot];
	ring__begin(copy, ring->ring, ring->dso, head, ring->owner);
	child->count = slot + 1;
	piece__hand_over(copy, pid_tgid, 0, REC_CAUSE_NEW, 0, 160, false);
}

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = BPF_CORE_READ(child, tgid), parent_tgid = BPF_CORE_READ(parent, tgid),
	      flags = TARGET_UNWATCHED;
	struct thread_state *mine, *its;
	__u64 pid_tgid = (__u64)tgid << 32 | (__u32)BPF_CORE_READ(child, pid);
	__u32 i;

	if (tgid == parent_tgid || !follow || !is_target(parent_tgid))
		return 0;
	target__mark(tgid);
	bpf_map_update_elem(&targets, &tgid, &flags, BPF_ANY);
	report_task(child, REC_FORK, parent_tgid, 0);
	mine = bpf_task_storage_get(&threads, parent, 0, 0);
	if (!mine || !mine->count)
		return 0;
	/* vfork: the child runs on the parent's rings */
	if (BPF_CORE_READ(child, mm) == BPF_CORE_READ(parent, mm)) {
		mine->lent = 1;
		return 0;
	}
	its = bpf_task_storage_get(&threads, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!its) {
		count(COUNT_RINGS_REFUSED, 1);
		return 0;
	}
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= mine->count)
			break;
		inherit_ring(its, &mine->rings[i], pid_tgid);
	}
	return 0;
}

/* past the point of no return, the old program's memory still there (Linux 6.10) */
SEC("?tp_btf/sched_prepare_exec")
int BPF_PROG(prepare_exec, struct task_struct *task, struct linux_binprm *bprm)
{
	struct thread_state *thread = thread__get();

	if (thread)
		drain_thread(thread, DRAIN_END, REC_CAUSE_EXEC);
	/* the loader puts its probe where the new program will map its libraries, see loaded() */
	if (!holds_programs && is_target(bpf_get_current_pid_tgid() >> 32))
		tell_loader(REC_EXECUTING, false, 0);
	return 0;
}

/* before Linux 6.10: at the system call's entry; it may still fail, so the streams do not end here
 */
static __always_inline int enter_exec(void)
{
	struct thread_state *thread = thread__get();

	if (thread)
		drain_thread(thread, 0, REC_CAUSE_EXEC);
	if (is_target(bpf_get_current_pid_tgid() >> 32))
		tell_loader(REC_EXECUTING, false, 0);
	return 0;
}

SEC("?tp/syscalls/sys_enter_execve")
int enter_execve(void *ctx)
{
	return enter_exec();
}

SEC("?tp/syscalls/sys_enter_execveat")
int enter_execveat(void *ctx)
{
	return enter_exec();
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(execed, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, i;
	struct thread_state *thread;

	if (!is_target(tgid))
		return 0;
	thread = thread__get();
	if (thread) {
		/* streams that no prepare_exec has ended */
		for (i = 0; i < STATE_RINGS; i++) {
			if (i >= thread->count)
				break;
			if (thread->rings[i].ring)
				ring__end(&thread->rings[i], REC_CAUSE_EXEC);
		}
		thread->count = 0;
	}
	report_task(bpf_get_current_task_btf(), REC_EXEC, 0, 0);
	return 0;
}

static __always_inline void thread_exits(struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct thread_state *thread =
		bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	__s32 status;

	if (thread)
		drain_thread(thread, DRAIN_END, REC_CAUSE_EXIT);
	if (!is_target(tgid))
		return;
	report_task(task, REC_THREAD_EXIT, 0, 0);
	if (BPF_CORE_READ(task, signal, live.counter))
		return;
	status = BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT
			 ? BPF_CORE_READ(task, signal, group_exit_code)
			 : BPF_CORE_READ(task, exit_code);
	report_task(task, REC_PROCESS_EXIT, 0, status);
	bpf_map_delete_elem(&targets, &tgid);
}

/* with the memory still there since Linux 6.16 */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(exited, struct task_struct *task)
{
	thread_exits(task);
	return 0;
}

/*
 * Before Linux 6.16 the memory is gone at sched_process_exit. SIGKILL is delivered in every thread
 * of a killed process, with its memory readable; those that leave by themselves pass the exit
 * system calls.
 */
static __always_inline int leaves(void)
{
	struct thread_state *thread = thread__get();

	if (thread)
		drain_thread(thread, 0, REC_CAUSE_EXIT);
	return 0;
}

SEC("?tp_btf/signal_deliver")
int BPF_PROG(signalled, int signal)
{
	return leaves();
}

SEC("?tp/syscalls/sys_enter_exit")
int enter_exit(void *ctx)
{
	return leaves();
}

SEC("?tp/syscalls/sys_enter_exit_group")
int enter_exit_group(void *ctx)
{
	return leaves();
}

/* --- libraries that are loaded later ---------------------------------------------------------- */

/*
 * On the dynamic linker's _dl_debug_state, which it calls when libraries have been mapped and
 * before any of their code runs. The thread waits here, a bounded time, until the loader has looked
 * for points and opened their gates: else a library's first events would be missed.
 */
SEC("?uprobe.s")
int loaded(struct pt_regs *ctx)
{
	if (is_target(bpf_get_current_pid_tgid() >> 32))
		hold(tell_loader(REC_LOADED, true, 0), (const void *)PT_REGS_SP(ctx));
	return 0;
}

/* --- programs about to run -------------------------------------------------------------------- */

/*
 * On the C library's execve(). A program with a dynamic linker is held there again, with its
 * libraries mapped; a static one is not, and may be over soon.
 */
SEC("?uprobe.s")
int will_run(struct pt_regs *ctx)
{
	const void *name = (const void *)PT_REGS_PARM1(ctx);
	void *buffer = this_buffer();
	struct rec_will_run *record;
	__u64 ticket;
	char byte;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return 0;
	/* a page that is not there yet */
	bpf_copy_from_user(&byte, 1, name);
	record = buffer ? bpf_ringbuf_reserve(buffer, sizeof(*record), 0) : NULL;
	if (!record) {
		count(COUNT_NOT_HELD, 1);
		return 0;
	}
	if (bpf_probe_read_user_str(record->path, sizeof(record->path), name) < 0) {
		bpf_ringbuf_discard(record, 0);
		return 0;
	}
	ticket = new_ticket();
	ask__fill(&record->asks, REC_WILL_RUN, sizeof(*record), ticket);
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
	hold(ticket, (const void *)PT_REGS_SP(ctx));
	return 0;
}

/* --- at both ends of a capture ---------------------------------------------------------------- */

static __always_inline void adopt(struct task_struct *task)
{
	struct adopt_key key = {.tid = BPF_CORE_READ(task, pid)};
	struct thread_state *thread = NULL;
	struct adopted_ring *found;
	struct ring_state *ring;
	int i, slot;

	for (i = 0; i < STATE_RINGS; i++) {
		key.number = i;
		found = bpf_map_lookup_elem(&adopted, &key);
		if (!found)
			break;
		if (!thread)
			thread = bpf_task_storage_get(&threads, task, 0,
						      BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!thread)
			break;
		slot = thread__find(thread, found->ring);
		/* registered by itself in the meantime, which is better */
		if (slot < 0 || slot >= STATE_RINGS || thread->rings[slot].ring == found->ring)
			continue;
		ring = &thread->rings[slot];
		ring__begin(ring, found->ring, found->dso, found->head, found->owner);
		ring->stream = found->stream;
		ring->flags |= found->flags;
		if ((__u32)slot >= thread->count)
			thread->count = slot + 1;
	}
}

static __always_inline void harvest(struct seq_file *seq, struct task_struct *task)
{
	struct thread_state *thread = bpf_task_storage_get(&threads, task, 0, 0);
	struct harvested_ring out = {};
	__u32 i;

	if (!thread)
		return;
	out.pid = BPF_CORE_READ(task, tgid);
	out.tid = BPF_CORE_READ(task, pid);
	out.busy = thread->busy;
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= thread->count)
			break;
		if (!thread->rings[i].ring || thread->rings[i].flags & RING_HARVESTED)
			continue;
		if (!out.busy)
			thread->rings[i].flags |= RING_HARVESTED;
		out.state = thread->rings[i];
		bpf_seq_write(seq, &out, sizeof(out));
	}
}

SEC("?iter/task")
int each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (iterator_mode == ITERATE_ADOPT)
		adopt(task);
	else
		harvest(ctx->meta->seq, task);
	return 0;
}
