/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel and user can do. Each feature names the kernel version that brought it (for the
 * reader; the test asks the kernel, not its version) and what is done without it.
 */
#ifndef TRACER_CAPTURE_FEATURES_H
#define TRACER_CAPTURE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#define FEATURES(X)                                                                              \
	X(root, "privileges", "-", true, "",                                                     \
	  "run as root (sudo tracer ...), or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN")       \
	X(btf, "kernel type information (BTF)", "5.2", true, "",                                 \
	  "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y (/sys/kernel/btf/vmlinux)")          \
	X(ringbuf, "BPF ring buffer", "5.8", true, "", "boot Linux 5.15 or newer")               \
	X(task_storage, "BPF task storage in tracing programs", "5.12", true, "",                \
	  "boot Linux 5.15 or newer")                                                            \
	X(uprobe, "uprobes (perf PMU \"uprobe\")", "4.17", true, "",                             \
	  "boot a kernel with CONFIG_UPROBE_EVENTS=y")                                           \
	X(uprobe_ref_ctr, "uprobe reference counters (gates)", "4.20", true, "",                 \
	  "boot Linux 5.15 or newer")                                                            \
	X(sleepable_uprobe, "sleepable uprobe programs", "6.0", false,                           \
	  "a page that is not resident is lost, and counted; a library loaded later misses its " \
	  "first events",                                                                        \
	  "")                                                                                    \
	X(lazy_maps, "hash maps that grow on demand, in every BPF program", "6.1", false,        \
	  "tables of a fixed size: 65,536 processes, 32,768 ends of rings", "")                  \
	X(uprobe_multi, "multi-uprobe links", "6.6", false,                                      \
	  "one perf event per site: attaching and ending take a second or more longer", "")      \
	X(prepare_exec, "tracepoint sched_prepare_exec", "6.10", false,                          \
	  "rings are drained at the entry of execve", "")                                        \
	X(task_work, "work in a thread on its way back to user mode (bpf_task_work)", "6.18",    \
	  false,                                                                                 \
	  "a child that is quicker than the tracer misses the first events of a library or "     \
	  "program; what is noticed of that is said",                                            \
	  "")                                                                                    \
	X(exit_with_mm, "sched_process_exit before the memory goes", "6.16", false,              \
	  "rings are drained at signal delivery and at the entry of exit", "")                   \
	X(switch_state, "sched_switch tells the state a thread left in", "5.18", false,          \
	  "a thread that is woken as it goes to sleep may seem preempted", "")                   \
	X(tick, "perf software clock event (the tick)", "4.9", false,                            \
	  "records of a thread that never leaves the CPU wait until its window is full", "")

enum feature {
#define X(id, title, since, required, without, remedy) FEATURE_##id,
	FEATURES(X)
#undef X
};

struct features {
#define X(id, title, since, required, without, remedy) bool id;
	FEATURES(X)
#undef X
	unsigned int untested;	/* bits 1 << FEATURE_...: false for want of privileges to ask */
	bool nop5_is_optimised; /* a probe on a 5-byte nop becomes a call: never place one there */
};

/* features__detect() - ask the kernel; changes nothing. Takes some milliseconds. */
void features__detect(struct features *features);

struct bpf_program;

/* features__use_uprobe() - have a program loaded, as one for the kind of uprobe that probe.h attaches */
void features__use_uprobe(const struct features *features, struct bpf_program *program);

/*
 * buffer_size__default() - bytes of one CPU's ring buffer if the user names none: a power of two,
 * so that those of @cpus (all that are possible) take at most a 32nd of the memory, 256 KiB to 512
 * MiB each
 */
uint64_t buffer_size__default(int cpus);

/*
 * features__withhold() - do as if features were missing, to try what is done without them
 * @list: names as above, comma-separated
 * Returns 0, or -EINVAL for a name that is none, or of a feature that nothing works without.
 */
int features__withhold(struct features *features, const char *list);

#endif /* TRACER_CAPTURE_FEATURES_H */
