#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of children: what they load and run has its first events, however it is run, and what has not is told."""

import collections
import json
import os
import resource
import shutil
import signal
import sys
import time

from traps import trap, main, Skip

HOLD, TARGET = "bpf/return.bpf.c", "user/capture/target.c"
WAYS = "execve", "execveat", "fexecve", "memfd", "script", "vfork", "spawn"
RETURN_WORK = "bpf_task_work_schedule_resume_impl"
NO_PROGRAM = {HOLD: [("SEC(\"?tp_btf/sched_process_exec\")\nint BPF_PROG(hold_program, struct task_struct *task, int old_pid, "
                      "struct linux_binprm *bprm)\n{\n\tif (", "SEC(\"?tp_btf/sched_process_exec\")\nint BPF_PROG("
                      "hold_program, struct task_struct *task, int old_pid, struct linux_binprm *bprm)\n{\n\tif (0 && ")]}
NO_CHILD = {HOLD: [("\tif (flags && *flags & TARGET_UNWATCHED)\n\t\thold_on_return", "\tif (!flags)\n\t\thold_on_return")]}
# a forked child that runs a program maps something, too: whoever was held once is the other's
NEITHER = {HOLD: NO_PROGRAM[HOLD] + NO_CHILD[HOLD]}


def needs_return_work():
    """Before Linux 6.18 children that are quick are missed (`tracer doctor`)."""
    with open("/sys/kernel/btf/vmlinux", "rb") as file:
        if RETURN_WORK.encode() not in file.read():
            raise Skip("needs bpf_task_work (Linux 6.18)")


def build(t, *options):
    return t.cc("children", "children.c", "-O2", *options)


def leaf(t, *options):
    return t.cc("leaf", "link_main.c", "-O2", *options)


def plugin(t):
    return t.cc("libplugin.so", "plugin.c", "-O1", "-fPIC", "-shared")


def check_children(t, events, name, count):
    """Each of the children has told 0 to 99."""
    told = collections.defaultdict(list)
    for event in events:
        if event.name == "counter" and event["name"] == name:
            told[event.pid].append(event["value"])
    whole = sum(values == list(range(100)) for values in told.values())
    t.equal("children with all of their records", whole, count)
    t.equal("children with some", len(told), count)


def as_command(t, program, how, count, at_once, file, timeout=120):
    """The events, and the figures."""
    summary = t.path("summary.json")
    said, events = t.record(program, how, count, at_once, file, options=["--summary", summary], timeout=timeout)
    with open(summary, encoding="utf-8") as figures:
        return events, dict(json.load(figures), said=said)


def attached(t, program, how, count, at_once, file, *options):
    summary = t.path("summary.json")
    target = t.start(program, how, count, at_once, file, "wait")
    tracer = t.attach(target, "--summary", summary, *options)
    _, events = t.finish(target, tracer, timeout=120)
    with open(summary, encoding="utf-8") as figures:
        return events, dict(json.load(figures), said=tracer.stdout.read().decode())


def check_complete(t, how, figures):
    t.check(figures["complete"], how + ": not complete", figures)


def check_loading(t, run, program, *options):
    events, figures = run(t, program, "dlopen", 6, 3, plugin(t), *options)
    check_children(t, events, "plugin 0", 6)
    check_complete(t, "dlopen", figures)


# Without points in the parent nothing is attached to before the first child.
@trap("forked children that load a library: nothing of it is missing", without=[NO_CHILD])
def loading(t):
    needs_return_work()
    check_loading(t, as_command, build(t))
    check_loading(t, as_command, build(t, "-DTRACER_DISABLE"))
    check_loading(t, attached, build(t))
    check_loading(t, attached, build(t, "-DTRACER_DISABLE"), "--wait-points")


def check_ways(t, run):
    needs_return_work()
    program = build(t)
    for kind in (), ("-static",):
        file = leaf(t, *kind)
        for how in WAYS:
            shutil.copy(file, file + "-" + how)
        events, figures = run(t, program, ",".join(WAYS), 4, 2, file)
        for how in WAYS:
            check_children(t, events, "leaf-" + how, 4)
        check_complete(t, "all ways", figures)


@trap("programs that a command's children run, by each way to run one", without=[NEITHER])
def command_ways(t):
    check_ways(t, as_command)


@trap("programs that an attached process's children run, by each way to run one", without=[NEITHER])
def attached_ways(t):
    check_ways(t, attached)


@trap("a command that becomes another program, and that another", without=[NO_PROGRAM])
def becomes(t):
    needs_return_work()
    file = leaf(t, "-static")
    _, events = t.record("sh", "-c", "exec sh -c 'exec %s'" % file)
    t.series(events, "leaf", 100)


@trap("1,000 children that live for a moment: records and losses are what was written", alone=True, without=[NEITHER])
def brief(t):
    needs_return_work()
    program, file = build(t), leaf(t, "-static")
    for how in "vfork", "spawn":
        events, figures = as_command(t, program, how, 500, 2, file)
        # two of the parent's; of a child 100 counters and 100 tasks
        t.equal(how + ": written", figures["records"] + figures["lost"], 2 + 500 * 200)
        t.equal(how + ": recorded", figures["recorded"], 2 + 500 * 200)
        check_children(t, events, "leaf", 500)
        check_complete(t, how, figures)


# They are quick, and nobody holds them: then either all is there, or the capture does not claim it.
@trap("before Linux 6.18: what children ran before its gates were open is told", alone=True,
      without=[{"user/capture/miss.c": [("\tif (process->unheld)\n", "\tif (process->unheld && !process)\n")]}])
def unheld(t):
    program, file = build(t), leaf(t, "-static")
    for how in "execve", "execveat", "vfork":
        shutil.copy(file, file + "-" + how)
        events, figures = attached(t, program, how, 12, 4, file + "-" + how, "--without", "task_work")
        told = sum(event.name == "counter" and event["name"] == "leaf-" + how for event in events)
        t.check(told == 1200 or not figures["complete"], "%s: %d of 1200, and complete" % (how, told), figures)


def finish_incomplete(t, target, tracer):
    """What the tracer said, of a capture that says that it is not complete."""
    target.communicate(b"\n", 60)
    t.equal("status of the target", target.returncode, 0)
    said = tracer.communicate(timeout=60)[0].decode()
    with open(t.path("summary.json"), encoding="utf-8") as figures:
        figures = json.load(figures)
    t.equal("complete", figures["complete"], False)
    t.check(figures["missed"] > 0, "none was missed", figures)
    lines = [line for line in said.splitlines() if "process %d" % target.pid in line]
    t.equal("lines of the process\n" + said, len(lines), 1)
    return lines[0]


# As many descriptors as are open: of the library there is none to be had.
@trap("gates that can't be opened: the capture says so, and of which process", alone=True,
      without=[{"user/capture/miss.c": [("\tsession->missed++;\n", "")]}])
def unopened(t):
    target = t.start(t.cc("dlopen", "dlopen.c", "-O2"), "after", plugin(t))
    tracer = t.attach(target, "--summary", t.path("summary.json"))
    most = resource.prlimit(tracer.pid, resource.RLIMIT_NOFILE)[1]
    # one is for /proc/PID/maps, and then the file
    resource.prlimit(tracer.pid, resource.RLIMIT_NOFILE, (first_free(tracer.pid) + 1, most))
    try:
        target.stdin.write(b"\n")
        target.stdin.flush()
        target.wait(60)
    finally:
        resource.prlimit(tracer.pid, resource.RLIMIT_NOFILE, (most, most))
    line = finish_incomplete(t, target, tracer)
    t.check("Too many open files" in line and "libplugin.so" in line, "no reason: " + line)


def first_free(pid):
    """Of several looks: now and then it has one more open, for a moment."""
    used = set(range(1 << 20))
    for _ in range(20):
        used &= {int(number) for number in os.listdir("/proc/%d/fd" % pid)}
        time.sleep(0.002)
    return next(number for number in range(1 << 20) if number not in used)


@trap("the tracer does not come in time: the capture says so, and of which process", alone=True,
      without=[{"user/capture/miss.c": [("\tsession->missed++;\n", "")]}])
def late(t):
    target = t.start(t.cc("dlopen", "dlopen.c", "-O2"), "after", plugin(t))
    tracer = t.attach(target, "--summary", t.path("summary.json"))
    tracer.send_signal(signal.SIGSTOP)
    target.stdin.write(b"\n")
    target.stdin.flush()
    target.wait(60)
    tracer.send_signal(signal.SIGCONT)
    t.check("went on" in finish_incomplete(t, target, tracer), "no reason")


if __name__ == "__main__":
    sys.exit(main())
