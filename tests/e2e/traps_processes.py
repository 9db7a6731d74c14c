#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of processes: fork, vfork, posix_spawn, exec, and the ways to go."""

import collections
import sys

from traps import trap, main

SLOW, BPF = "usdt/tracer/slow.h", "bpf/tracer.bpf.c"


def recorded(t, *words, status=0, **more):
    """Of each process: how often each counter was there, if its values are 0, 1, 2, ..."""
    _, events = t.record(t.cc("processes", "processes.c", "-O2"), *words, status=status, **more)
    parts = collections.defaultdict(list)
    for event in events:
        if event.name == "counter":
            parts[event["name"], event.pid].append(event["value"])
    for (part, pid), values in parts.items():
        t.check(values == list(range(len(values))),
                "process %d, %s: out of order, twice or missing" % (pid, part), values[:100])
    by_part = collections.defaultdict(list)
    for (part, _), values in parts.items():
        by_part[part].append(len(values))
    return dict(by_part), events


@trap("a forked child's copy of an undrained ring: nothing twice, nothing lost",
      without=[{BPF: [("\t\tinherit_ring(its, &mine->rings[i], pid_tgid);\n",
                       "\t\tif (i > STATE_RINGS)\n\t\t\tinherit_ring(its, &mine->rings[i], pid_tgid);\n")]},
               {BPF: [("\tring->tail = ring->seen = TRACER_HEAD_BYTES(head);",
                       "\tring->tail = ring->seen = 0;")]}])
def fork(t):
    parts, _ = recorded(t, "fork")
    t.equal("records", parts, {"parent": [1000], "child": [5] * 100})


@trap("a vforked child records on its parent's ring: nothing twice, nothing lost",
      without=[{BPF: [("\treturn mm && mm == BPF_CORE_READ(task, real_parent, mm) &&", "\treturn 0 && mm &&")]}])
def vfork(t):
    parts, _ = recorded(t, "vfork")
    t.equal("records", parts, {"parent": [60000]})


@trap("posix_spawn and system()", without=[{BPF: [("\tif (tgid == parent_tgid || !follow ||", "\tif (1 ||")]}])
def spawn(t):
    parts, _ = recorded(t, "spawn")
    t.equal("records", parts, {"parent": [200], "leaf": [10] * 20})


PREPARE = ("\t\tdrain_thread(thread, DRAIN_END, REC_CAUSE_EXEC);", "\t\treturn 0;")


@trap("exec: the ring is drained before its memory goes", without=[{BPF: [PREPARE]}])
def before_exec(t):
    parts, _ = recorded(t, "exec")
    t.equal("records", parts, {"parent": [1000], "leaf": [10]})


@trap("exec of another thread than the first: the records of all of them",
      without=[{BPF: [PREPARE, ("\t\t\tif (thread->rings[i].ring)\n\t\t\t\tring__end(&thread->rings[i],",
                                "\t\t\tif (!thread->rings[i].ring)\n\t\t\t\tring__end(&thread->rings[i],"),
                      ("\t\tdrain_thread(thread, DRAIN_INSIDE, REC_CAUSE_BLOCK);", "\t\treturn 0;")]}])
def thread_exec(t):
    parts, _ = recorded(t, "thread-exec")
    t.equal("records", parts, {"first": [1], "other": [100], "parent": [1000], "leaf": [10]})


# Streams that end at exec's entry would lose what follows a failure.
@trap("exec that fails", without=[{BPF: [
    ('SEC("?tp_btf/sched_prepare_exec")', 'SEC("?tp_btf/sys_enter")'),
    ("int BPF_PROG(prepare_exec, struct task_struct *task, struct linux_binprm *bprm)",
     "int BPF_PROG(prepare_exec, struct pt_regs *regs, long number)"),
    ("\tif (thread)\n" + PREPARE[0], "\tif (thread && number == 59)\n" + PREPARE[0])]}])
def failing_exec(t):
    parts, _ = recorded(t, "failing-exec")
    t.equal("records", parts, {"parent": [200]})


# Without the page wiped, a child that was forked while another thread took a ring waits for the lock for ever.
# Without the question who asks, its other threads take the ring that its first thread still uses.
@trap("fork in a program with threads, then new threads in the child", alone=True,
      without=[{SLOW: [("18 /* WIPEONFORK */", "0")]},
               {SLOW: [("\tif (tid == mark->pid && !mark->claimed) {", "\tif (!mark->claimed) {")]}])
def threads_fork(t):
    parts, events = recorded(t, "threads-fork", timeout=30)
    t.equal("records", parts, {"parent": [1000], "child": [5] * 100})
    depths = collections.Counter(event.tid for event in events if event.name == "queue_depth")
    t.equal("threads of children with other than 5 records", [n for n in depths.values() if n != 5], [])
    t.equal("threads of children", len(depths), 300)


@trap("a daemon: fork, setsid, fork", without=[{BPF: [("\tif (tgid == parent_tgid || !follow ||", "\tif (1 ||")]}])
def daemon(t):
    parts, _ = recorded(t, "daemon")
    t.equal("records", parts, {"parent": [20], "child": [10], "grandchild": [10]})


@trap("a process's last records, however it goes",
      without=[{BPF: [("\t\tdrain_thread(thread, DRAIN_END, REC_CAUSE_EXIT);\n\tif (!is_target",
                       "\t\treturn;\n\tif (!is_target")]}])
def last_records(t):
    for how, status in {"_exit": 0, "return": 0, "pthread_exit": 0, "kill": 137, "abort": 134, "fault": 132}.items():
        parts, _ = recorded(t, "end", how, status=status)
        t.equal("records before " + how, parts, {"parent": [1000]})


if __name__ == "__main__":
    sys.exit(main())
