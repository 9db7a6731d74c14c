// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The programs behind probe specs: a machine that runs what user/spec compiled (spec.h).
 *
 * One instruction is one call of a global function, which the verifier looks at once; the loop around
 * it is all it has to walk through, so the size of what specs ask for does not matter to it. The
 * machine lives in the thread's storage: a hit of a thread is over before its next one begins. What
 * the machine does to the target is read: nothing is written.
 *
 * Tracepoints may come in the middle of a hit of the same thread, so they have machines of their own,
 * one per CPU, and the thread's kept values through them.
 */
#include "kernel.h"
#include <tracer/ring.h>
#include "records.h"
#include "shared.bpf.h"
#include "spec.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* set by the loader before loading */
const volatile __u64 wake_bytes = 1 << 20;
const volatile __u32 sample_below = 1 << 16; /* of the upper 16 bits of a task's hash; see ring.h */

/* Set once all probes are there, cleared before the first one goes: no half of a picture. */
__u32 armed;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct spec_thread);
} spec_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct spec_thread);
} spec_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPEC_CODE);
	__type(key, __u32);
	__type(value, struct spec_insn);
} code SEC(".maps");

/* values under a key; the oldest go when it is full */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct spec_key);
	__type(value, __u64);
} keyed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct spec_frame_key);
	__type(value, struct spec_frame);
} frames SEC(".maps");

/* workers that a process has so far */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 12);
	__type(key, __u32);
	__type(value, __u32);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SPEC_PROBES);
	__type(key, __u32);
	__type(value, __u64);
} hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SPEC_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} spec_counters SEC(".maps");

static __always_inline void count(enum spec_counter which)
{
	__u32 key = which;
	__u64 *value = bpf_map_lookup_elem(&spec_counters, &key);

	if (value)
		*value += 1;
}

static __always_inline __u32 this_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

#define NO_WORKER 0xffffffffU /* TRACER_NO_WORKER */

/* --- the machine ------------------------------------------------------------------------------ */

static __always_inline void push(struct spec_thread *thread, __u64 value)
{
	thread->stack[thread->sp++ & (SPEC_STACK - 1)] = value;
}

static __always_inline __u64 pop(struct spec_thread *thread)
{
	return thread->stack[--thread->sp & (SPEC_STACK - 1)];
}

static __always_inline __u64 *top(struct spec_thread *thread)
{
	return &thread->stack[(thread->sp - 1) & (SPEC_STACK - 1)];
}

static __always_inline __u64 extend(__u64 value, __u32 size, bool is_signed)
{
	__u32 shift = (64 - size * 8) & 63;

	value <<= shift;
	return is_signed ? (__u64)((__s64)value >> shift) : value >> shift;
}

/* a page that is not there yet is fetched where the program may sleep */
static __always_inline void load(struct spec_thread *thread, const struct spec_insn *insn,
				 const bool sleepable)
{
	const void *address = (const void *)(*top(thread) + insn->imm);
	__u32 size = insn->a;
	__u64 value = 0;
	long err;

	if (size > 8)
		size = 8;
	err = bpf_probe_read_user(&value, size, address);
	if (err && sleepable)
		err = bpf_copy_from_user(&value, size, address);
	if (err)
		count(SPEC_FAULTS);
	*top(thread) = err ? 0 : extend(value, size, insn->b);
}

/*
 * A function of its own, as others below, so that no frame has 64 bytes or more: since Linux 6.13
 * those are in memory of the CPU, which another thread's hit there takes while this one sleeps.
 */
__noinline int spec__load(struct spec_thread *thread, struct spec_insn *insn)
{
	if (thread && insn)
		load(thread, insn, true);
	return 0;
}

__noinline int spec__keyed(struct spec_thread *thread, __u32 op, __u32 table)
{
	struct spec_key key = {.tgid = this_process(), .table = table};
	__u64 *found, value;

	if (!thread)
		return 0;
	if (op == OP_SET_KEYED) {
		value = pop(thread);
		key.key = pop(thread);
		bpf_map_update_elem(&keyed, &key, &value, BPF_ANY);
		return 0;
	}
	key.key = pop(thread);
	if (op == OP_FORGET) {
		bpf_map_delete_elem(&keyed, &key);
		return 0;
	}
	found = bpf_map_lookup_elem(&keyed, &key);
	push(thread, found ? *found : 0);
	return 0;
}

#ifdef __TARGET_ARCH_arm64
#define REG_SP 31
#else
#define REG_SP 19
#endif

static const struct spec_frame no_frame = {};

__noinline int spec__frame(struct spec_thread *thread, struct spec_insn *insn)
{
	struct spec_frame_key key = {.tgid = this_process()};
	struct spec_frame *frame;
	__u64 value;
	__u32 index;

	if (!thread || !insn)
		return 0;
	key.sp = thread->regs[REG_SP];
	key.function = insn->imm;
	index = insn->a & (SPEC_ENTRIES - 1);
	frame = bpf_map_lookup_elem(&frames, &key);
	switch (insn->op) {
	case OP_ENTRY:
		push(thread, frame ? frame->values[index] : 0);
		break;
	case OP_HAS_ENTRY:
		push(thread, frame != NULL);
		break;
	case OP_SET_ENTRY:
		value = pop(thread);
		if (!frame) {
			bpf_map_update_elem(&frames, &key, &no_frame, BPF_ANY);
			frame = bpf_map_lookup_elem(&frames, &key);
		}
		if (frame)
			frame->values[index] = value;
		break;
	default:
		if (frame)
			bpf_map_delete_elem(&frames, &key);
	}
	return 0;
}

static __always_inline __u64 compute(__u32 op, __u64 a, __u64 b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return b ? a / b : 0;
	case OP_MOD:
		return b ? a % b : 0;
	case OP_AND:
		return a & b;
	case OP_OR:
		return a | b;
	case OP_XOR:
		return a ^ b;
	case OP_SHL:
		return a << (b & 63);
	case OP_SHR:
		return a >> (b & 63);
	case OP_SAR:
		return (__s64)a >> (b & 63);
	case OP_EQ:
		return a == b;
	case OP_NE:
		return a != b;
	case OP_LT:
		return a < b;
	case OP_LE:
		return a <= b;
	case OP_LT_SIGNED:
		return (__s64)a < (__s64)b;
	default:
		return (__s64)a <= (__s64)b;
	}
}

__noinline int spec__worker(struct spec_thread *thread)
{
	struct spec_thread *own = bpf_task_storage_get(&spec_threads, bpf_get_current_task_btf(), 0,
						       BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 tgid = this_process(), none = 0, *next;

	if (!thread)
		return 0;
	if (own && !own->worker) {
		next = bpf_map_lookup_elem(&workers, &tgid);
		if (!next) {
			bpf_map_update_elem(&workers, &tgid, &none, BPF_NOEXIST);
			next = bpf_map_lookup_elem(&workers, &tgid);
		}
		if (next)
			own->worker = __sync_fetch_and_add(next, 1) + 1;
	}
	push(thread, own && own->worker ? own->worker - 1 : NO_WORKER);
	return 0;
}

/* --- the event under construction ------------------------------------------------------------- */

static __always_inline void arg(struct spec_thread *thread, __u32 index, __u32 kind, __u64 value)
{
	index &= SPEC_ARGS - 1;
	thread->event.args[index] = value;
	thread->event.kinds[index] = kind;
	thread->event.text_len[index] = 0;
}

/* where the next string goes; the array has room for a whole one behind the last place */
static __always_inline char *text_place(struct spec_thread *thread)
{
	return &thread->event.text[thread->event.text_used & (SPEC_TEXT - 1)];
}

static __always_inline void text_took(struct spec_thread *thread, __u32 index, long len)
{
	/* the mask of text_place() must not bring it back to the beginning */
	long room = SPEC_TEXT - 1 - (long)thread->event.text_used;

	if (len > room)
		len = room;
	if (len < 0)
		len = 0;
	thread->event.text_len[index & (SPEC_ARGS - 1)] = len;
	thread->event.text_used += len;
}

static __always_inline void arg_string(struct spec_thread *thread, __u32 index,
				       const bool sleepable)
{
	__u64 address = pop(thread);
	char *place = text_place(thread), byte;
	long len;

	arg(thread, index, address ? REC_FOREIGN_STRING : REC_FOREIGN_NULL, 0);
	if (!address)
		return;
	len = bpf_probe_read_user_str(place, SPEC_STRING, (const void *)address);
	if (len < 0 && sleepable && !bpf_copy_from_user(&byte, 1, (const void *)address))
		len = bpf_probe_read_user_str(place, SPEC_STRING, (const void *)address);
	if (len < 0) {
		count(SPEC_FAULTS);
		arg(thread, index, REC_FOREIGN_NULL, 0);
		return;
	}
	text_took(thread, index, len - 1);
}

static __always_inline void arg_bytes(struct spec_thread *thread, __u32 index, const bool sleepable)
{
	__u64 len = pop(thread), address = pop(thread);
	char *place = text_place(thread);
	long err;

	arg(thread, index, address ? REC_FOREIGN_STRING : REC_FOREIGN_NULL, 0);
	if (!address)
		return;
	asm volatile("" : "+r"(len));
	if (len > SPEC_STRING - 1)
		len = SPEC_STRING - 1;
	err = bpf_probe_read_user(place, len, (const void *)address);
	if (err && sleepable)
		err = bpf_copy_from_user(place, len, (const void *)address);
	if (err) {
		count(SPEC_FAULTS);
		arg(thread, index, REC_FOREIGN_NULL, 0);
		return;
	}
	text_took(thread, index, len);
}

__noinline int spec__comm(struct spec_thread *thread, __u32 index)
{
	char comm[16] = {};

	if (!thread)
		return 0;
	bpf_get_current_comm(comm, sizeof(comm));
	arg(thread, index, REC_FOREIGN_STRING, 0);
	text_took(thread, index,
		  bpf_probe_read_kernel_str(text_place(thread), sizeof(comm), comm) - 1);
	return 0;
}

static __always_inline bool sampled_out(__u64 task)
{
	if (sample_below >= 1 << 16 || !task)
		return false;
	task ^= task >> 33;
	task *= TRACER_HASH_1;
	task ^= task >> 33;
	task *= TRACER_HASH_2;
	task ^= task >> 33;
	return task >> 48 >= sample_below;
}

static __always_inline void hand_over(struct spec_thread *thread, struct spec_thread *own,
				      const struct spec_insn *insn, const __u32 room)
{
	__u32 cpu = bpf_get_smp_processor_id(), len = thread->event.text_used;
	void *buffer = bpf_map_lookup_elem(&buffers, &cpu);
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct rec_foreign *record;

	record = buffer ? bpf_ringbuf_reserve(buffer, sizeof(*record) + room, 0) : NULL;
	if (!record) {
		if (!own->lost)
			own->lost_since = bpf_ktime_get_boot_ns();
		own->lost++;
		count(SPEC_LOST);
		return;
	}
	if (len > room)
		len = room;
	/* now that the place is taken: nothing older comes behind it but by preemption */
	header__fill(&record->h, REC_FOREIGN, sizeof(*record) + len);
	record->pid = pid_tgid >> 32;
	record->tid = pid_tgid;
	record->lost = own->lost;
	record->lost_since = own->lost_since;
	record->type = insn->imm;
	record->nargs = insn->a;
	record->unused = 0;
	__builtin_memcpy(record->args, thread->event.args, sizeof(record->args));
	__builtin_memcpy(record->lens, thread->event.text_len, sizeof(record->lens));
	__builtin_memcpy(record->kinds, thread->event.kinds, sizeof(record->kinds));
	record->probe = thread->cookie >> 32;
	if (room)
		bpf_probe_read_kernel(record->data, room, thread->event.text);
	own->lost = 0;
	bpf_ringbuf_submit(record, bpf_ringbuf_query(buffer, BPF_RB_AVAIL_DATA) > wake_bytes
					   ? BPF_RB_FORCE_WAKEUP
					   : BPF_RB_NO_WAKEUP);
	count(SPEC_EVENTS);
}

/* Global for the verifier's sake, as the next ones. */
__noinline int spec__emit(struct spec_thread *thread, struct spec_insn *insn)
{
	struct spec_thread *own;

	if (!thread || !insn)
		return 0;
	own = bpf_task_storage_get(&spec_threads, bpf_get_current_task_btf(), 0,
				   BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!own) {
		count(SPEC_NO_STATE);
		count(SPEC_LOST);
		return 0;
	}
	if (!insn->b || !sampled_out(thread->event.args[(insn->b - 1) & (SPEC_ARGS - 1)])) {
		if (!thread->event.text_used)
			hand_over(thread, own, insn, 0);
		else if (thread->event.text_used <= 64)
			hand_over(thread, own, insn, 64);
		else
			hand_over(thread, own, insn, SPEC_TEXT);
	}
	thread->event.text_used = 0;
	return 0;
}

/* one instruction of the kinds that keep to the machine itself; 1 if it was one of them */
static __always_inline bool simple_op(struct spec_thread *thread, const struct spec_insn *insn)
{
	__u64 b;

	switch (insn->op) {
	case OP_PUSH:
		push(thread, insn->imm);
		return true;
	case OP_REG:
		push(thread, thread->regs[insn->a & (SPEC_REGS - 1)]);
		return true;
	case OP_TID:
		push(thread, (__u32)bpf_get_current_pid_tgid());
		return true;
	case OP_PID:
		push(thread, this_process());
		return true;
	case OP_CPU:
		push(thread, bpf_get_smp_processor_id());
		return true;
	case OP_TIME:
		push(thread, bpf_ktime_get_boot_ns());
		return true;
	case OP_ADD ... OP_LE_SIGNED:
		b = pop(thread);
		*top(thread) = compute(insn->op, *top(thread), b);
		return true;
	case OP_NOT:
		*top(thread) = !*top(thread);
		return true;
	case OP_EXTEND:
		*top(thread) = extend(*top(thread), insn->a & 15, insn->b);
		return true;
	case OP_JUMP:
		thread->pc += insn->imm;
		return true;
	case OP_JUMP_IF_NOT:
		if (!pop(thread))
			thread->pc += insn->imm;
		return true;
	case OP_DUP:
		b = *top(thread);
		push(thread, b);
		return true;
	case OP_POP:
		pop(thread);
		return true;
	case OP_ARG:
		b = pop(thread);
		arg(thread, insn->a, REC_FOREIGN_NUMBER, b);
		return true;
	case OP_ARG_SYMBOL:
		b = pop(thread);
		arg(thread, insn->a, b ? REC_FOREIGN_SYMBOL : REC_FOREIGN_NULL, b);
		return true;
	case OP_ARG_TEXT:
		arg(thread, insn->a, REC_FOREIGN_TEXT, insn->imm);
		return true;
	case OP_ARG_ENUM:
		b = pop(thread);
		if (b < insn->imm >> 32)
			arg(thread, insn->a, REC_FOREIGN_TEXT, (__u32)insn->imm + b);
		else
			arg(thread, insn->a, REC_FOREIGN_NUMBER, b);
		return true;
	case OP_ARG_NULL:
		arg(thread, insn->a, REC_FOREIGN_NULL, 0);
		return true;
	}
	return false;
}

static __always_inline void kept_op(struct spec_thread *thread, const struct spec_insn *insn)
{
	struct spec_thread *own = bpf_task_storage_get(&spec_threads, bpf_get_current_task_btf(), 0,
						       BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 slot = insn->a & (SPEC_KEPT - 1);

	if (insn->op == OP_KEPT)
		push(thread, own ? own->kept[slot] : 0);
	else if (own)
		own->kept[slot] = pop(thread);
	else
		pop(thread);
}

/* the rest; 1: the program has ended */
static __always_inline int other_op(struct spec_thread *thread, struct spec_insn *insn,
				    const bool sleepable)
{
	__u64 value = 0;

	switch (insn->op) {
	case OP_CONTEXT:
		__builtin_memcpy(&value, &thread->context[insn->imm & (SPEC_CONTEXT - 8)], 8);
		push(thread, extend(value >> 8 * (insn->imm & 7), insn->a & 15, insn->b));
		return 0;
	case OP_LOAD:
		if (sleepable)
			spec__load(thread, insn);
		else
			load(thread, insn, false);
		return 0;
	case OP_KEPT:
	case OP_KEEP:
		kept_op(thread, insn);
		return 0;
	case OP_KEYED:
	case OP_SET_KEYED:
	case OP_FORGET:
		spec__keyed(thread, insn->op, insn->a);
		return 0;
	case OP_ENTRY:
	case OP_SET_ENTRY:
	case OP_HAS_ENTRY:
	case OP_END_ENTRY:
		spec__frame(thread, insn);
		return 0;
	case OP_WORKER:
		spec__worker(thread);
		return 0;
	case OP_ARG_STRING:
		arg_string(thread, insn->a, sleepable);
		return 0;
	case OP_ARG_BYTES:
		arg_bytes(thread, insn->a, sleepable);
		return 0;
	case OP_ARG_COMM:
		spec__comm(thread, insn->a);
		return 0;
	case OP_EMIT:
		spec__emit(thread, insn);
		return 0;
	}
	return 1;
}

static __always_inline int step(struct spec_thread *thread, const bool sleepable)
{
	struct spec_insn *insn;
	__u32 pc;

	if (!thread)
		return 1;
	pc = thread->pc++;
	insn = bpf_map_lookup_elem(&code, &pc);
	if (!insn)
		return 1;
	if (simple_op(thread, insn))
		return 0;
	return other_op(thread, insn, sleepable);
}

__noinline int spec__step(struct spec_thread *thread)
{
	return step(thread, false);
}

__noinline int spec__step_sleepable(struct spec_thread *thread)
{
	return step(thread, true);
}

static __always_inline void begin(struct spec_thread *thread, __u64 cookie)
{
	__u32 probe = (cookie >> 32) & (SPEC_PROBES - 1);
	__u64 *hit = bpf_map_lookup_elem(&hits, &probe);

	if (hit)
		*hit += 1;
	count(SPEC_HITS);
	thread->pc = cookie;
	thread->sp = 0;
	thread->cookie = cookie;
	thread->event.text_used = 0;
}

/* --- the programs ----------------------------------------------------------------------------- */

#ifdef __TARGET_ARCH_arm64
#define REG_WORDS 34
#else
#define REG_WORDS 21
#endif

static __always_inline __u64 thread_pointer(void)
{
	struct task_struct___tls *task = (void *)bpf_get_current_task();

#ifdef __TARGET_ARCH_arm64
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return BPF_CORE_READ(task, thread.fsbase);
#endif
}

static __always_inline struct spec_thread *hit(struct pt_regs *ctx)
{
	__u32 tgid = this_process();
	struct spec_thread *thread;

	if (!armed || !bpf_map_lookup_elem(&targets, &tgid))
		return NULL;
	thread = bpf_task_storage_get(&spec_threads, bpf_get_current_task_btf(), 0,
				      BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread) {
		count(SPEC_NO_STATE);
		count(SPEC_LOST);
		return NULL;
	}
	bpf_probe_read_kernel(thread->regs, REG_WORDS * 8, ctx);
	thread->regs[SPEC_REG_TLS] = thread_pointer();
	begin(thread, bpf_get_attach_cookie(ctx));
	return thread;
}

SEC("?uprobe.s")
int spec_probe(struct pt_regs *ctx)
{
	struct spec_thread *thread = hit(ctx);
	int i;

	for (i = 0; thread && i < SPEC_STEPS; i++) {
		if (spec__step_sleepable(thread))
			break;
	}
	return 0;
}

/* before Linux 6.0: what is in a page that is not resident reads as 0 */
SEC("?uprobe")
int spec_probe_atomic(struct pt_regs *ctx)
{
	struct spec_thread *thread = hit(ctx);
	int i;

	for (i = 0; thread && i < SPEC_STEPS; i++) {
		if (spec__step(thread))
			break;
	}
	return 0;
}

SEC("?tp")
int spec_tracepoint(void *ctx)
{
	__u32 tgid = this_process(), zero = 0;
	struct spec_thread *machine;
	int i;

	if (!armed || !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	machine = bpf_map_lookup_elem(&spec_cpus, &zero);
	if (!machine)
		return 0;
	bpf_probe_read_kernel(machine->context, sizeof(machine->context), ctx);
	begin(machine, bpf_get_attach_cookie(ctx));
	for (i = 0; i < SPEC_STEPS; i++) {
		if (spec__step(machine))
			break;
	}
	return 0;
}
