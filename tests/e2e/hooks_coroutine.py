#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""C++20 coroutines with the promise base class, against what the program says it did."""

import collections
import json
import os
import shutil

from hooks_lib import SRC, TARGETS, WARNINGS, test, main

FLAGS = ["-std=c++20"]


def check_tree(t, run, said):
    nodes = run.named("tree")
    t.equal("coroutines of the tree", len(nodes), 2 ** (said["depth"] + 1) - 1)
    # frames are used again: who is a parent is a matter of time
    alive, parent, children = {}, {}, collections.Counter()
    by_event = {id(task.created): task for task in run.tasks}
    for event in run.events:
        if event.name == "task_created":
            task = by_event[id(event)]
            parent[task] = alive.get(event["parent"])
            children[parent[task]] += 1
            alive[event["task"]] = task
    roots = run.named("detached by name")
    t.equal("detached coroutines", len(roots), 1)
    hops = 0
    for task in nodes:
        made = children[task]
        t.check(made in (0, 2), "%d coroutines made by one" % made)
        t.equal("awaited", task.reasons(), ["Task", "Task"] if made else ["hop"])
        t.equal("resumed by", task.causes(), ["symmetric transfer"] * 2 if made else ["resume"])
        for event in task.events:
            if event.name == "task_suspended" and event["reason"] == "Task":
                t.check(any(child.id == event["object"] and parent[child] is task for child in nodes),
                        "the object is no child")
        for gap, wake in zip((e for e in task.events if e.name == "task_suspended"),
                             (e for e in task.events if e.name == "task_resumed")):
            if gap["reason"] == "Task":
                t.equal("who went on with it", wake["object"], gap["object"])
        hops += not made
    t.equal("leaves", hops, said["leaves"])
    t.check(parent[next(task for task in nodes if parent[task] is roots[0])] is roots[0], "nobody made the top")
    ends = collections.Counter(event.tid for task in nodes for event in task.events if event.name == "task_completed")
    t.equal("ends by thread", dict(ends), {int(tid): count for tid, count in said["ends"].items()})
    return roots[0]


@test("coroutines: function names, awaited objects, resumers, symmetric transfer, threads, exceptions, early ends")
def everything(t):
    t.need("g++", "coroutine", *FLAGS)
    program = t.build("g++", "coroutine", "coroutine.cpp", *FLAGS)
    run = t.record(program)
    said = json.loads(run.output)
    t.sound(run, ended=False)
    t.equal("the program's own counts", (said["leaves"], said["caught"], said["left"]),
            (2 ** said["depth"], said["failing"], 1))
    root = check_tree(t, run, said)
    reasons = collections.Counter(root.reasons())
    t.equal("awaited by the root", reasons, {"Task": 1 + said["failing"], "Refuses": said["refused"]})
    t.equal("went on after all", collections.Counter(root.causes())["await_suspend: false"], said["refused"])
    fails = run.named("fails")
    t.equal("coroutines that threw", len(fails), said["failing"])
    exceptions = [event["future"] for event in run.all("future_exception")]
    t.equal("exceptions", len(exceptions), said["failing"] + 1)
    # destroyed before they began, and between two yields
    unused = run.named("unused")
    t.equal("never begun", [(task.count("task_begin"), task.count("task_destroyed")) for task in unused],
            [(0, 1)] * said["dropped"])
    numbers = run.named("count")
    t.equal("generators", len(numbers), 2)
    t.equal("yields", [task.reasons() for task in numbers], [["co_yield"] * said["yields"], ["co_yield"] * 2])
    t.equal("ends of generators", [task.count("task_completed") for task in numbers], [1, 0])
    tasks = run.report["tasks"]
    t.equal("destroyed", tasks["destroyed"], tasks["created"])
    t.equal("completed", tasks["completed"], tasks["created"] - said["dropped"] - 1)
    t.equal("workers", {event["name"] for event in run.all("worker_start")}, {"pool", "thread"})


@test("coroutines: two co_awaits in one expression, awaitables made by an await_transform() of the program's own")
def edges(t):
    t.need("g++", "coroutine", *FLAGS)
    local = {"g++": "asks::Local", "clang++-16": "Local"}  # as compilers write it, without arguments
    for compiler in "g++", "clang++-16":
        if not shutil.which(compiler):
            continue
        program = t.build(compiler, "coroutine_edges", "coroutine_edges.cpp", *FLAGS)
        run = t.record(program)
        said = json.loads(run.output)
        t.sound(run)
        t.equal("fibonacci", said["fibonacci"], 21)
        t.equal("sum", said["sum"], sum(range(said["asked"])) + said["asked"])
        nodes = run.named("fibonacci")
        t.equal("coroutines", len(nodes), 67 + 2)
        for task in nodes:
            waits = task.count("task_suspended")
            t.check(waits in (0, 2), "%d waits" % waits)
            t.equal("stays", task.count("task_begin"), waits + 1)
            t.equal("causes", task.causes(), ["symmetric transfer"] * waits)
        asks = run.named("asks")[0]
        t.equal("awaited", asks.reasons(), ["Asks::Answer"] * said["asked"] + ["Asks::Kept", local[compiler], "co_yield"])
        t.equal("yielded to", [e["object"] for e in asks.events if e.name == "task_suspended"][-1], 0x1234)
        t.equal("workers", [(event["worker"], event["name"]) for event in run.all("worker_start")],
                [(0, "thread"), (5, "numbered"), (6, "thread")])
    program = t.build("g++", "coroutine_edges", "coroutine_edges.cpp", *FLAGS, "-DTRACER_DISABLE")
    t.equal("disabled", json.loads(t.run(program)), said)


@test("coroutines: the example")
def example(t):
    t.need("g++", "coroutine", *FLAGS)
    program = t.build("g++", "example", os.path.join(SRC, "probes", "coroutine", "example.cpp"), *FLAGS,
                      "-I" + os.path.join(SRC, "probes", "coroutine"))
    run = t.record(program)
    t.sound(run)
    requests, lookups = run.named("request"), run.named("lookup")
    t.equal("requests and lookups", (len(requests), len(lookups)), (20, 60))
    for task in requests:
        t.equal("awaited", task.reasons(), ["pool::hop", "task", "task", "task"])
        t.equal("woken", task.causes(), ["queued"] + ["symmetric transfer"] * 3)
    for task in lookups:
        t.equal("woken", task.causes(), ["queued"])


@test("coroutines: with TRACER_DISABLE promises have not a byte more, and programs do the same")
def disabled(t):
    t.need("g++", "coroutine", *FLAGS)
    program = t.build("g++", "coroutine", "coroutine.cpp", *FLAGS, "-DTRACER_DISABLE")
    said = json.loads(t.run(program))
    t.equal("leaves", said["leaves"], 2 ** said["depth"])
    source = t.path("size.cpp")
    with open(source, "w", encoding="utf-8") as file:
        file.write('#include "coroutine/tracer_coroutine.hpp"\n'
                   "struct a : tracer::coroutine_promise<a> { int x; };\n"
                   'static_assert(sizeof(a) == sizeof(int), "");\n'
                   "int main() {}\n")
    t.build("g++", "size", source, *FLAGS, "-DTRACER_DISABLE")


@test("coroutines: ThreadSanitizer finds nothing in the base class")
def sanitized(t):
    t.need("g++", "coroutine", *FLAGS)
    program = t.path("tsan")
    t.run("g++", "-I" + os.path.join(SRC, "usdt"), "-I" + os.path.join(SRC, "probes"), *WARNINGS, *FLAGS, "-O1", "-g",
          "-fsanitize=thread", os.path.join(TARGETS, "coroutine.cpp"), "-o", program, "-pthread")
    # without randomised addresses, which some kernels' are too wide for it
    said = json.loads(t.run("setarch", "-R", program))
    t.equal("leaves", said["leaves"], 2 ** said["depth"])


if __name__ == "__main__":
    main()
