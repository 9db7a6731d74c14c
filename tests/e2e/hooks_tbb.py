#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""oneTBB through the ITT collector and the library's exported functions, against what the program says it did."""

import collections
import json
import os

from hooks_lib import BUILD, SRC, test, main

COLLECTOR = os.path.join(BUILD, "libtracer_itt.so")
WHOLE = {"LD_PRELOAD": COLLECTOR, "INTEL_LIBITTNOTIFY64": COLLECTOR}


def first_begin(task):
    return next(event for event in task.events if event.name == "task_begin")


def check_tree(t, run, said):
    nodes = run.named("function_task<tree(")
    expected = 2 * (2 ** said["depth"] - 1)
    t.equal("tasks of the tree", len(nodes), expected)
    by_parent = collections.defaultdict(list)
    for task in nodes:
        by_parent[task.parent].append(task)
    # the top is called by main, which is no task
    t.equal("made by nobody", len(by_parent[0]), 2)
    inner = 0
    for task in nodes:
        made = len(by_parent[task.id])
        t.check(made in (0, 2), "%d tasks made by one" % made)
        t.equal("waits of a node", task.reasons(), ["wait"] if made else [])
        inner += made > 0
    t.equal("inner nodes", inner, expected // 2 - 1)
    began = collections.Counter(first_begin(task).tid for task in nodes)
    began[said["main"]] += 1  # the top
    t.equal("tasks by thread", dict(began), {int(tid): count for tid, count in said["bodies"].items()})
    # what ended a wait is a task that ran below
    tasks = {task.id: task for task in run.tasks}
    woken = [event for task in nodes for event in task.events
             if event.name == "task_resumed" and event["cause"] == "last reference released"]
    t.check(len(woken) > inner // 2, "only %d of %d waits have their waker" % (len(woken), inner))
    t.check(all(event["task"] in tasks for event in woken), "a wake of nobody")


def check_steals(t, run):
    worker = {event.tid: event["worker"] for event in run.all("worker_start")}
    stolen = {event["task"]: (event["thief"], event["victim"]) for event in run.all("steal")}
    for task in run.named("function_task<tree("):
        begin = first_begin(task)
        pair = (worker[begin.tid], worker[task.created.tid])
        t.equal("steal of a task", stolen.get(task.id), pair if pair[0] != pair[1] else None)


def check_suspended(t, run, said):
    tasks = [task for task in run.tasks if "tbb::task::suspend" in task.reasons()]
    t.equal("suspended tasks", len(tasks), said["suspended"])
    for task in tasks:
        gap = next(event for event in task.events if event.name == "task_suspended")
        wake = next(event for event in task.events if event.name == "task_resumed")
        t.equal("who resumed", (wake.tid, wake["cause"]), (said["waker"], "tbb::task::resume"))
        t.equal("suspend point", wake["object"], gap["object"])
        t.equal("stays", task.count("task_begin"), 2)


@test("an unmodified, stripped oneTBB program: every task with creator, worker, steal, suspension, waker")
def whole(t):
    program = t.build("g++", "tbb", "tbb.cpp", "-ltbb", requires="tbb/tbb.h")
    t.run("strip", program)
    run = t.record(program, env=WHOLE)
    said = json.loads(run.output)
    t.sound(run)
    t.equal("the program's own counts", (said["sum"], said["ran"], said["gone_on"], said["caught"]),
            (2 ** said["depth"], said["leaves"], said["suspended"], said["thrown"]))
    check_tree(t, run, said)
    check_steals(t, run)
    check_suspended(t, run, said)
    # a range of 64 is split until each part is 1: a task for each part
    loop = run.named("start_for<blocked_range<int>, main::{lambda(")
    t.equal("tasks of the loop", len(loop), said["leaves"])
    t.equal("roots of the loop", sum(task.parent not in {other.id for other in loop} for task in loop), 1)
    rest = [task for task in run.named("function_task<main::") if "tbb::task::suspend" not in task.reasons()]
    t.equal("tasks that threw", len(rest), said["thrown"])
    t.equal("enqueued tasks", len(run.named("enqueue_task<main::")), said["enqueued"])
    # main waited outside tasks: its thread's sleep
    t.check(any(event.tid == said["main"] and event["reason"] == "wait" for event in run.all("worker_sleep_begin")),
            "main never waited")
    asleep = collections.Counter()
    for event in run.events:
        if event.name in ("worker_sleep_begin", "worker_sleep_end"):
            asleep[event.tid] += 1 if event.name == "worker_sleep_begin" else -1
            t.check(asleep[event.tid] in (0, 1), "sleeps do not alternate")
    # workers are still there when the program ends
    t.equal("main is awake in the end", asleep[said["main"]], 0)
    t.check("TBB Worker Thread" in {event["name"] for event in run.all("worker_start")}, "no worker has its name")


@test("without LD_PRELOAD: tasks from their begin on, and nothing made up")
def collector_alone(t):
    program = t.build("g++", "tbb", "tbb.cpp", "-ltbb", requires="tbb/tbb.h")
    run = t.record(program, env={"INTEL_LIBITTNOTIFY64": COLLECTOR})
    said = json.loads(run.output)
    nodes = run.named("function_task<tree(")
    t.equal("tasks of the tree", len(nodes), 2 * (2 ** said["depth"] - 1))
    t.equal("completed", run.report["tasks"]["completed"], run.report["tasks"]["created"])
    t.equal("parents", {task.parent for task in run.tasks}, {0})
    t.equal("steals", len(run.all("steal")), 0)
    for task in nodes:
        t.equal("created where it begins", task.created.tid, first_begin(task).tid)


@test("a C program whose plugin uses oneTBB: names and creators as everywhere")
def plugin(t):
    library = t.build("g++", "plugin.so", "tbb_plugin.cpp", "-DPLUGIN", "-fPIC", "-shared", "-ltbb",
                      requires="tbb/tbb.h")
    program = t.build("g++", "loader", "tbb_plugin.cpp", "-nodefaultlibs", "-lc")
    run = t.record(program, library, env=WHOLE)
    t.equal("output", run.output, "100\n")
    t.sound(run)
    tasks = run.named("function_task<work::")
    t.equal("tasks of the plugin", len(tasks), 100)
    t.equal("who made them", {task.created.tid for task in tasks}, {tasks[0].created.pid})


@test("the example: words are counted by tasks, one waits for the device")
def example(t):
    program = t.build("g++", "example", os.path.join(SRC, "probes", "itt", "example.cpp"), "-ltbb",
                      requires="tbb/tbb.h")
    run = t.record(program, env=WHOLE)
    t.equal("output", run.output, "100000 words, device answered\n")
    t.sound(run)
    # 500,000 characters are halved until 50,000 or less are left
    t.equal("tasks that count", len(run.named("function_task<count(")), 30)
    t.equal("suspended", [task.reasons() for task in run.named("function_task<main::")], [["tbb::task::suspend"]])


if __name__ == "__main__":
    main()
