#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""OpenMP through OMPT: what the tool tells of LLVM's runtime, against what the program says it did."""

import collections
import json
import os
import re

from hooks_lib import BUILD, SRC, TRACER, test, main, Skip

TOOL = os.path.join(BUILD, "libtracer_ompt.so")
ABI = os.path.join(SRC, "probes", "openmp", "ompt_abi.h")


def explicit(run):
    return [task for task in run.tasks if task.name.startswith("task ")]


def check_threads(t, run, said):
    """Each body ran on the thread that the trace says."""
    began = collections.Counter()
    for task in explicit(run):
        began[next(event.tid for event in task.events if event.name == "task_begin")] += 1
    t.equal("explicit tasks by thread", dict(began), {int(tid): count for tid, count in said["threads"].items()})


def depth_below(run, task):
    return 1 + max((depth_below(run, child) for child in run.children(task)), default=-1)


def check_tree(t, run, said):
    """Two children for each inner node, as deep as it was made, each waiting for both with one taskwait."""
    by_parent = collections.defaultdict(list)
    for task in explicit(run):
        by_parent[task.parent].append(task)
    implicit = [task for task in run.named("parallel ") if by_parent[task.id]]
    t.equal("implicit tasks that made tasks", len(implicit), 1)
    root = implicit[0]
    # the tree's two halves are what the root made first
    tops = by_parent[root.id][:2]
    for top in tops:
        t.equal("depth of a half", depth_below(run, top), said["depth"] - 1)
    level, nodes = tops, 0
    while level:
        nodes += len(level)
        for task in level:
            made = len(by_parent[task.id])
            t.check(made in (0, 2), "%s made %d tasks" % (task.name, made))
            t.equal("waits of a node", task.reasons(), ["taskwait"] if made else [])
        level = [child for task in level for child in by_parent[task.id]]
    t.equal("nodes of the tree", nodes, said["tree"])
    t.equal("taskwaits", sum(task.reasons().count("taskwait") for task in run.tasks),
            (said["tree"] - said["leaves"]) + 1 + 1)
    return root


def check_wakes(t, run):
    """Who ended a taskwait by completing last was a child, and is the waker the trace names."""
    tasks = {task.id: task for task in run.tasks}
    found = 0
    for task in run.tasks:
        for event in task.events:
            if event.name == "task_resumed" and event["cause"] == "last child completed":
                t.equal("parent of the waker", tasks[event["object"]].parent, task.id)
                found += 1
    t.check(found > 10, "only %d taskwaits were ended by a child" % found)


def check_chain(t, run, said):
    depends = collections.defaultdict(list)
    for event in run.all("task_depends"):
        depends[event["task"]].append((event["kind"], event["object"]))
    t.equal("tasks with dependences", len(depends), said["chain"])
    t.equal("objects", len({row[0] for row in depends.values()}), 1)
    # an edge is told where the one before had not completed yet; the order holds for all
    order = [event["task"] for event in run.all("task_begin") if event["task"] in depends]
    t.equal("in the order they were made", order, [task for task in depends])
    edges = [(event["future"], event["task"]) for event in run.all("future_wait")]
    after = dict(zip(order, order[1:]))
    for before, task in edges:
        t.equal("who comes after a task of the chain", task, after[before])
    sets = {event["future"] for event in run.all("future_set")}
    t.check({before for before, _ in edges} <= sets, "a predecessor that was not fulfilled")
    t.equal("made ready by a predecessor", len(run.all("task_ready")), len(edges))


def check_regions(t, run, said, barrier_names):
    team = said["threads_in_team"]
    implicit = run.named("parallel ")
    t.equal("implicit tasks", len(implicit), 2 * team)
    initial = run.named("initial task")
    t.equal("initial tasks", len(initial), 1)
    for task in implicit:
        t.equal("parent of an implicit task", task.parent, initial[0].id)
    t.equal("the initial task's gaps", initial[0].reasons(), ["parallel region"] * 2)
    second = [task for task in implicit if task.name != implicit[0].name]
    t.equal("implicit tasks of the second region", len(second), team)
    for task in second:
        waits = [reason for reason in task.reasons() if "barrier" in reason]
        # its own, the loop's, the region's
        t.equal("barriers", len(waits), said["barriers"] + 2)
        t.check(set(waits) <= set(barrier_names), "barriers: %s" % waits)
    # one barrier: all of the team wait for the same object, all but the last are woken by another thread
    members = collections.defaultdict(set)
    for task in second:
        for event in task.events:
            if event.name == "task_suspended" and "barrier" in event["reason"]:
                members[event["object"]].add(task.id)
    for barrier, who in members.items():
        t.equal("tasks in barrier %x" % barrier, len(who), team)


def check_work(t, run, said):
    loops = [event for event in run.all("worker_bulk_begin") if event["name"].startswith("loop ")]
    t.equal("loops", len(loops), said["threads_in_team"])
    t.equal("loops ended", len(run.all("worker_bulk_end")), len(loops))
    locks = {row["name"]: row for row in run.report["locks"]}
    t.equal("locks", sorted(locks), ["critical", "omp_lock_t"])
    for row in locks.values():
        t.equal("acquisitions of " + row["name"], row["acquisitions"], said["criticals"])
    sleeps = run.all("worker_sleep_begin")
    t.equal("sleeps ended", len(run.all("worker_sleep_end")), len(sleeps))
    t.check({event["reason"] for event in sleeps} >= {"taskwait", "taskgroup"}, "reasons of sleep",
            {event["reason"] for event in sleeps})


def check_steals(t, run):
    """A steal is told for each explicit task that first runs on another worker than the one that queued it."""
    worker = {event.tid: event["worker"] for event in run.all("worker_start")}
    ready = {event["task"]: event.tid for event in run.all("task_ready")}
    expected = 0
    for task in explicit(run):
        begin = next(event for event in task.events if event.name == "task_begin")
        home = ready.get(task.id, task.created.tid)
        expected += worker[begin.tid] != worker[home]
    t.equal("steals", len(run.all("steal")), expected)


def check_all(t, run, barrier_names):
    said = json.loads(run.output)
    t.sound(run)
    t.equal("the program's own sums", (said["in_order"], said["leaves"]), (said["chain"], 1 << said["depth"]))
    expected = said["tree"] + said["chain"] + said["group"] + said["undeferred"] + said.get("detached", 0)
    t.equal("explicit tasks", len(explicit(run)), expected)
    check_threads(t, run, said)
    root = check_tree(t, run, said)
    check_wakes(t, run)
    check_chain(t, run, said)
    check_regions(t, run, said, barrier_names)
    check_work(t, run, said)
    check_steals(t, run)
    t.equal("undeferred tasks", root.reasons().count("undeferred task"), said["undeferred"])
    t.equal("workers", len({event["worker"] for event in run.all("worker_start")}), said["threads_in_team"])
    t.equal("workers that stopped", len(run.all("worker_stop")), len(run.all("worker_start")))
    return said, root


@test("clang's OpenMP program: tasks, parents, waits and their ends, dependences, steals, loops, locks")
def clang(t):
    program = t.build("clang", "openmp", "openmp.c", "-fopenmp", "-DDETACH", requires="omp.h")
    run = t.record(program, env={"OMP_TOOL_LIBRARIES": TOOL})
    said, root = check_all(t, run, ["barrier", "implicit barrier"])
    t.equal("taskgroups", root.reasons().count("taskgroup"), 2)
    t.check(run.named("task tree+0x"), "no task is named after the function that made it",
            {task.name for task in run.tasks})
    # detached: fulfilled by a thread that is none of OpenMP's
    detached = [task for task in run.tasks if "detach" in task.reasons()]
    fulfilled = [event for event in run.all("future_set") if event.tid == said["fulfiller"]]
    t.equal("events fulfilled from outside", len(fulfilled), said["detached"])
    t.check(detached, "no task was over before its event came")
    for task in detached:
        wake = next(event for event in task.events if event.name == "task_resumed")
        t.equal("who fulfilled it", (wake.tid, wake["cause"]), (said["fulfiller"], "omp_fulfill_event"))
        t.check(task.id in {event["future"] for event in fulfilled}, "its event was not fulfilled")


@test("gcc's OpenMP program, stripped and unmodified, on LLVM's runtime")
def gcc(t):
    program = t.build("gcc", "openmp", "openmp.c", "-fopenmp", requires="omp.h")
    t.run("strip", program)
    if "libomp.so.5" not in t.run("/sbin/ldconfig", "-p"):
        raise Skip("no libomp.so.5")
    run = t.record(program, env={"OMP_TOOL_LIBRARIES": TOOL, "LD_PRELOAD": "libomp.so.5"})
    check_all(t, run, ["barrier", "implicit barrier", "runtime barrier"])
    t.check(run.named("task openmp+0x"), "no task is named after its place", {task.name for task in run.tasks})


def check_corners(t, run):
    said = json.loads(run.output)
    t.sound(run)
    t.equal("the child", said["status"], 0)
    for task in run.tasks:
        # a barrier, a region: whoever waited is told that it is over, also if nothing follows
        t.equal("ends of the waits of %s" % task.name, task.count("task_resumed"), task.count("task_suspended"))
    inner = [task for task in run.tasks if task.name == "parallel" or task.name.startswith("parallel ")
             and any(parent.id == task.parent and parent.name.startswith("parallel") for parent in run.tasks)]
    t.check(len(inner) >= said["inner"], "only %d members of nested regions" % len(inner))
    t.equal("places in the runtime", [task.name for task in run.tasks if "libomp" in task.name or "+" in task.name and
                                      ("GOMP_" in task.name or "__kmp" in task.name)], [])
    child = [task for task in run.tasks if task.created.pid == said["child"]]
    t.equal("the child's initial task", [(task.name, task.parent) for task in child][0], ("initial task", 0))
    t.equal("the child's members", sum(task.name.startswith("parallel ") for task in child), 2)
    t.equal("the child's tasks", sum(task.name.startswith("task ") for task in child), said["tasks"])
    known = {task.id for task in child}
    t.equal("parents from outside", [task.name for task in child[1:] if task.parent not in known], [])
    workers = [event for event in run.all("worker_start") if event.pid == said["child"]]
    t.equal("the child's workers", [(event["worker"], event["name"]) for event in workers],
            [(0, "initial thread"), (1, "OpenMP worker")])


@test("nested regions in tail calls, teams, regions of one thread, a forked child: clang and gcc")
def corners(t):
    program = t.build("clang", "corners", "openmp_corners.c", "-fopenmp", "-O2", requires="omp.h")
    check_corners(t, t.record(program, env={"OMP_TOOL_LIBRARIES": TOOL}))
    if "libomp.so.5" not in t.run("/sbin/ldconfig", "-p"):
        raise Skip("no libomp.so.5")
    program = t.build("gcc", "corners", "openmp_corners.c", "-fopenmp", "-O2", requires="omp.h")
    check_corners(t, t.record(program, env={"OMP_TOOL_LIBRARIES": TOOL, "LD_PRELOAD": "libomp.so.5"}))


@test("gcc's runtime: one function that takes no probe does not keep the others from it")
def atomic(t):
    program = t.build("gcc", "atomic", "openmp_atomic.c", "-fopenmp", "-O2", requires="omp.h")
    run = t.record(program)
    t.equal("members", run.output, "60\n")
    t.equal("anomalies", [row for row in run.report["anomalies"] if row["count"]], [])
    begun = collections.Counter(event["name"] for event in run.all("worker_bulk_begin"))
    t.equal("members of the other region", begun["turns._omp_fn.0"], 30)
    t.equal("ends", len(run.all("worker_bulk_end")), sum(begun.values()))


@test("LLVM's runtime is not taken for gcc's; a program with gcc's linked in is recognised")
def recognised(t):
    libraries = dict(re.findall(r"^\s*(\S+) .*=> (\S+)$", t.run("/sbin/ldconfig", "-p"), re.M))
    if "libomp.so.5" not in libraries or "libgomp.so.1" not in libraries:
        raise Skip("no libomp.so.5 or no libgomp.so.1")
    t.check("libgomp" not in t.run(TRACER, "list", libraries["libomp.so.5"]).split("\n", 1)[1],
            "LLVM's runtime is taken for libgomp")
    t.check("libgomp" in t.run(TRACER, "list", libraries["libgomp.so.1"]).split("\n", 1)[1],
            "libgomp is not recognised")
    linked = t.build("gcc", "linked", os.path.join(SRC, "probes", "openmp", "example.c"), "-fopenmp", "-static",
                     requires="omp.h")
    t.check("libgomp" in t.run(TRACER, "list", linked), "libgomp in a static program is not recognised")


@test("the example: a task for each block operation, in the order of its dependences")
def example(t):
    program = t.build("clang", "example", os.path.join(SRC, "probes", "openmp", "example.c"), "-fopenmp",
                      requires="omp.h")
    run = t.record(program, env={"OMP_TOOL_LIBRARIES": TOOL, "OMP_NUM_THREADS": "3"})
    t.sound(run)
    # blocks * blocks steps of elimination: one factor, two solves a panel, and the inner updates
    expected = sum(1 + 2 * n + n * n for n in range(8))
    t.equal("tasks", len(explicit(run)), expected)
    busy = {}
    for event in run.all("task_depends"):
        busy.setdefault(event["object"], []).append((event["kind"], event["task"]))
    t.equal("blocks", len(busy), 64)
    for users in busy.values():
        spans = []
        for kind, task in users:
            events = next(entry for entry in run.tasks if entry.id == task).events
            begin = next(run.events.index(event) for event in events if event.name == "task_begin")
            end = next(run.events.index(event) for event in events if event.name == "task_completed")
            spans.append((begin, end, kind))
        for first, second in zip(spans, spans[1:]):
            if "inout" in (first[2], second[2]):
                t.check(first[1] < second[0], "two uses of a block overlap")


@test("OMPT's numbers in probes/openmp/ompt_abi.h are those of omp-tools.h")
def abi(t):
    t.need("clang", "omp-tools.h")
    with open(ABI, encoding="utf-8") as file:
        text = file.read()
    theirs = {"OMPT_SCOPE_": "ompt_scope_", "OMPT_SYNC_": "ompt_sync_region_", "OMPT_WORK_": "ompt_work_",
              "OMPT_MUTEX_": "ompt_mutex_", "OMPT_TASK_": "ompt_task_", "OMPT_THREAD_": "ompt_thread_",
              "OMPT_DEPENDENCE_": "ompt_dependence_type_", "OMPT_STATUS_": "ompt_task_"}
    lines, body = ["#include <omp-tools.h>", '#include "%s"' % ABI], []
    callbacks = re.search(r"enum ompt_callback_number \{(.*?)\}", text, re.S).group(1)
    for name in re.findall(r"OMPT_(\w+)", callbacks):
        body.append("_Static_assert((int)OMPT_%s == (int)ompt_callback_%s, \"\");" % (name, name.lower()))
    names = re.findall(r"\b(OMPT_[A-Z_]+)\b", text.replace(callbacks, ""))
    for name in sorted(set(names)):
        for mine, other in theirs.items():
            if not name.startswith(mine) or name.startswith("OMPT_WORK_LOOP_"):
                continue
            word = other + name[len(mine):].lower()
            if name == "OMPT_STATUS_TASKWAIT_COMPLETE":
                word = "ompt_taskwait_complete"
            body.append("_Static_assert((long)%s == (long)%s, \"\");" % (name, word))
    t.check(len(body) > 60, "only %d names compared" % len(body))
    body.append("_Static_assert(sizeof(struct ompt_dependence) == sizeof(ompt_dependence_t), \"\");")
    body.append("_Static_assert(sizeof(struct ompt_tool) == sizeof(ompt_start_tool_result_t), \"\");")
    source = t.path("abi.c")
    with open(source, "w", encoding="utf-8") as file:
        # our tags are named as their typedefs' are: the two live in different name spaces
        file.write("\n".join(lines + body) + "\n")
    t.run("clang", "-fsyntax-only", source)


if __name__ == "__main__":
    main()
