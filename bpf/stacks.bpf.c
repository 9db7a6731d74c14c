// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Call stacks at points (record --stacks).
 *
 * A point that writes a record does not trap; one whose stack is wanted has a probe on its USDT
 * stub, which the point calls right before it writes (usdt/tracer/points.h). Walking frame pointers
 * here would not do: most code has none. So registers and the stack's bytes are handed over as they
 * are, through a buffer of their own, so that stacks never take the room of records.
 *
 * Which record a stack belongs to is known exactly: the ring's head counts the records before it.
 */
#include "kernel.h"
#include <tracer/ring.h>
#include "stack_record.h"
#include "state.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* set by the loader before loading; a multiple of STACK_PIECE */
const volatile __u32 stack_bytes = STACK_BYTES_MAX;

__u64 stacks_taken, stacks_lost;

/* these two are those of tracer.bpf.c, whose file descriptors the loader puts here */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} stacks SEC(".maps");

/*
 * Is the thread inside a point of this ring? Then this is a signal handler, whose points take the
 * nested ring (usdt/tracer/ring.h).
 */
static __always_inline bool is_inside(const struct tracer_ring *user, __u64 *head)
{
	__u32 limits[2] = {}; /* limit, window_end */

	if (bpf_probe_read_user(head, sizeof(*head), &user->head) ||
	    bpf_probe_read_user(limits, sizeof(limits), &user->limit))
		return true;
	return limits[0] == (__u32)*head && limits[1] != limits[0];
}

/*
 * Where the thread's next record in that DSO goes. A global function, so that the program's own frame has less
 * than 64 bytes (hold.bpf.h).
 */
__noinline int stack__locate(struct rec_stack *stack, struct thread_state *thread)
{
	struct ring_state *ring;
	__u64 head;
	__u32 i;

	if (!stack || !thread)
		return 0;
	for (i = 0; i < STATE_RINGS; i++) {
		if (i >= thread->count)
			break;
		ring = &thread->rings[i];
		if (!ring->ring || ring->dso != stack->dso || is_inside((void *)ring->ring, &head))
			continue;
		stack->stream = ring->stream;
		stack->records = ring->seen_records + (__u16)(TRACER_HEAD_RECORDS(head) -
							      TRACER_HEAD_RECORDS(ring->head));
		break;
	}
	return 0;
}

static __always_inline void stack__registers(struct rec_stack *stack, struct pt_regs *ctx)
{
	__u64 *to = stack->registers;
	int i;

#if defined(__TARGET_ARCH_x86)
	to[0] = ctx->rax;
	to[1] = ctx->rdx;
	to[2] = ctx->rcx;
	to[3] = ctx->rbx;
	to[4] = ctx->rsi;
	to[5] = ctx->rdi;
	to[6] = ctx->rbp;
	to[7] = ctx->rsp;
	to[8] = ctx->r8;
	to[9] = ctx->r9;
	to[10] = ctx->r10;
	to[11] = ctx->r11;
	to[12] = ctx->r12;
	to[13] = ctx->r13;
	to[14] = ctx->r14;
	to[15] = ctx->r15;
	to[16] = ctx->rip;
	for (i = 17; i < STACK_REGISTERS; i++)
		to[i] = 0;
#else
	const struct user_pt_regs *user = (void *)ctx;

	for (i = 0; i < 31; i++)
		to[i] = user->regs[i];
	to[31] = user->sp;
	to[32] = user->pc;
#endif
}

/* page by page, up to one that is not there or to the end of the room */
static __always_inline void stack__copy(struct rec_stack *stack, __u64 sp, const bool sleepable)
{
	char *data = (char *)stack + STACK_FULL_SIZE(0);
	__u64 len = STACK_PIECE - (sp & (STACK_PIECE - 1)), off = 0;
	long err;
	int i;

	stack->truncated = 1;
	for (i = 0; i < STACK_BYTES_MAX / STACK_PIECE + 1; i++) {
		/* len is below or at STACK_PIECE; keep the compiler from knowing, so that the
		 * verifier does */
		asm volatile("" : "+r"(len), "+r"(off));
		if (off > stack_bytes || len > STACK_PIECE)
			break;
		if (sleepable)
			err = bpf_copy_from_user(data + off, len, (void *)(sp + off));
		else
			err = bpf_probe_read_user(data + off, len, (void *)(sp + off));
		if (err) {
			stack->truncated = 0; /* nothing is there: no frame either */
			break;
		}
		off += len;
		len = STACK_PIECE;
	}
	stack->len = off;
}

static __always_inline int take(struct pt_regs *ctx, const bool sleepable)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid(), cookie = bpf_get_attach_cookie(ctx);
	__u32 tgid = pid_tgid >> 32;
	struct thread_state *thread;
	struct rec_stack *stack;

	if (!bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	/* a piece more than is wanted: the first one ends where its page does */
	stack = bpf_ringbuf_reserve(&stacks, STACK_FULL_SIZE(STACK_PIECE) + stack_bytes, 0);
	if (!stack) {
		__sync_fetch_and_add(&stacks_lost, 1);
		return 0;
	}
	__builtin_memset(stack, 0, sizeof(*stack));
	stack->h.kind = REC_STACK;
	stack->h.cpu = bpf_get_smp_processor_id();
	stack->h.time = bpf_ktime_get_boot_ns();
	stack->pid = tgid;
	stack->tid = pid_tgid;
	stack->type = STACK_COOKIE_TYPE(cookie);
	stack->depth = STACK_COOKIE_DEPTH(cookie);
	stack->dso = PT_REGS_IP(ctx) + STACK_COOKIE_DISTANCE(cookie);
	thread = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);
	if (thread) {
		/* neither the tick nor the scheduler moves the counts meanwhile */
		thread->busy = 1;
		barrier();
		stack__locate(stack, thread);
		barrier();
		thread->busy = 0;
	}
	stack__registers(stack, ctx);
	stack__copy(stack, PT_REGS_SP(ctx), sleepable);
	stack->h.size = STACK_FULL_SIZE(0) + stack->len;
	__sync_fetch_and_add(&stacks_taken, 1);
	bpf_ringbuf_submit(stack, bpf_ringbuf_query(&stacks, BPF_RB_AVAIL_DATA) >
						  bpf_ringbuf_query(&stacks, BPF_RB_RING_SIZE) / 4
					  ? BPF_RB_FORCE_WAKEUP
					  : BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("?uprobe.s")
int stack(struct pt_regs *ctx)
{
	return take(ctx, true);
}

/* before Linux 6.0: pages that are not resident end the stack */
SEC("?uprobe")
int stack_atomic(struct pt_regs *ctx)
{
	return take(ctx, false);
}
