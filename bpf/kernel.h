/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The few kernel types that the programs look into, with only the members they use; CO-RE finds where
 * those are in the running kernel. No vmlinux.h: 3 MB of types for these lines.
 */
#ifndef TRACER_KERNEL_H
#define TRACER_KERNEL_H

#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

typedef _Bool bool;
#define true 1
#define false 0

#define __co_re __attribute__((preserve_access_index))

struct mm_struct;

struct bpf_map {
	__u32 id;
} __co_re;

struct atomic_counter {
	int counter;
} __co_re;

struct signal_struct {
	struct atomic_counter live;
	int group_exit_code;
	unsigned int flags;
} __co_re;

/* registers at the kernel's entry: of a system call its number, else -1 */
struct pt_regs___entry {
	long orig_ax;  /* x86 */
	int syscallno; /* arm64 */
} __co_re;

struct task_struct {
	int pid;
	int tgid;
	unsigned int __state;
	int exit_code;
	unsigned int flags;
	int prio;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	struct signal_struct *signal;
	char comm[16];
} __co_re;

/* where thread-locals are */
struct thread_struct___tls {
	unsigned long fsbase; /* x86 */
	struct {
		unsigned long tp_value; /* arm64 */
	} uw;
} __co_re;

struct task_struct___tls {
	struct thread_struct___tls thread;
} __co_re;

struct linux_binprm;
struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 session_id;
	__u64 seq_num;
} __co_re;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} __co_re;

#define TASK_RUNNING 0
#define SIGNAL_GROUP_EXIT 4
#define PF_EXITING 4

#endif /* TRACER_KERNEL_H */
