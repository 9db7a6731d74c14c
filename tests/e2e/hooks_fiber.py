#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boost.Fiber with tracer::traced<Algorithm>, against what the program says it did."""

import collections
import json
import os

from hooks_lib import SRC, test, main

LIBRARIES = ["-std=c++11", "-lboost_fiber", "-lboost_context"]


def check_steals(t, run, said):
    """Each steal that the algorithm made, by the same thief, from the same victim."""
    thread = {event["worker"]: event.tid for event in run.all("worker_start")}
    told = collections.Counter((thread[event["thief"]], thread[event["victim"]]) for event in run.all("steal"))
    t.equal("steals", dict(told), {(thief, victim): count for thief, victim, count in said["steals"]})
    for event in run.all("steal"):
        t.equal("who says so", event.tid, thread[event["thief"]])


def check_moves(t, run):
    """A fiber that goes on on another worker was stolen since its last stay."""
    worker = {}
    for event in run.events:
        if event.name == "task_created":
            worker.pop(event["task"], None)
        elif event.name == "steal":
            worker[event["task"]] = event["thief"]
        elif event.name == "task_begin":
            t.equal("worker", event["worker"], worker.get(event["task"], event["worker"]))
            worker[event["task"]] = event["worker"]


def check_kinds(t, run, said):
    posted = run.named("Posted")
    t.equal("posted fibers", len(posted), said["posted"])
    mains = {task.created.tid: task for task in run.named("main fiber")}
    for task in posted:
        t.equal("yields", task.count("task_yielded"), said["yields"])
        t.equal("stays", task.count("task_begin"), said["yields"] + 1)
        t.equal("parent", task.parent, mains[said["main"]].id)
    dispatched = run.named("Dispatched")
    t.equal("dispatched fibers", len(dispatched), said["dispatched"])
    for task in dispatched:
        # it runs at once, in the place of its creator, who is ready meanwhile
        begin = next(event for event in task.events if event.name == "task_begin")
        t.equal("thread", begin.tid, task.created.tid)
    t.check(mains[said["main"]].count("task_yielded") >= said["dispatched"], "main never stood back")
    sleepers = run.named("Sleeper")
    t.equal("sleeping fibers", len(sleepers), said["sleepers"])
    for task in sleepers:
        t.equal("reasons", task.reasons(), ["timed wait"])
        t.equal("causes", task.causes(), ["timer"])
    reasons = collections.Counter(reason for task in run.tasks for reason in task.reasons())
    in_barrier = [cause for task in run.tasks for reason, cause in zip(task.reasons(), task.causes())
                  if reason == "barrier::wait"]
    t.check("barrier complete" in in_barrier and "notified" not in in_barrier, "causes in the barrier: %s" % in_barrier)
    t.check(reasons["barrier::wait"] >= said["in_barrier"] - 1, "waits in the barrier: %s" % reasons)
    t.check(reasons["fiber::join"] > 0 and reasons["mutex::lock"] > 0, "reasons: %s" % reasons)
    renamed = collections.Counter(event["name"] for event in run.all("task_renamed"))
    t.equal("names", renamed, {"odd": said["shifts"] // 2, "even": said["shifts"] // 2,
                               "prioritised": said["prioritised"]})


@test("Boost.Fiber: fibers, parents, yields, reasons and causes, exact steals, names, algorithms with properties")
def everything(t):
    t.need("g++", "boost/fiber/all.hpp")
    program = t.build("g++", "fiber", "fiber.cpp", *LIBRARIES)
    run = t.record(program)
    said = json.loads(run.output)
    t.sound(run)
    check_kinds(t, run, said)
    check_steals(t, run, said)
    check_moves(t, run)
    # those of the program, less what ran in the fourth thread
    ends = collections.Counter(event.tid for task in run.tasks for event in task.events
                               if event.name == "task_completed" and task.parent)
    prioritised = [task for task in run.tasks if task.count("task_renamed") and
                   any(event.name == "task_renamed" and event["name"] == "prioritised" for event in task.events)]
    for task in prioritised:
        ends[next(event.tid for event in task.events if event.name == "task_completed")] -= 1
    t.equal("ends by thread", {tid: count for tid, count in ends.items() if count},
            {int(tid): count for tid, count in said["ends"].items()})
    t.equal("workers", len(run.all("worker_start")), said["threads"] + 1)
    t.equal("workers that stopped", len(run.all("worker_stop")), said["threads"] + 1)


@test("Boost.Fiber: fibers that are ready when their thread ends, an algorithm that is replaced, steals without a virtual steal()")
def edges(t):
    t.need("g++", "boost/fiber/all.hpp")
    program = t.build("g++", "fiber_edges", "fiber_edges.cpp", *LIBRARIES)
    run = t.record(program)
    said = json.loads(run.output)
    t.sound(run)
    left = run.named("Left")
    t.equal("left", len(left), said["left"])
    for task in left:
        t.equal("stays", task.count("task_begin"), 3)
        t.equal("causes", task.causes(), ["timer"])
    kept = run.named("Kept")
    t.equal("kept", len(kept), said["replaced"])
    for task in kept:
        t.equal("yields", task.count("task_yielded"), said["yields"])
        t.equal("stays", task.count("task_begin"), said["yields"] + 1)
        t.equal("stops without a reason", task.count("task_end"), 0)
    mains = run.named("main fiber")
    t.equal("main fibers", len(mains), said["threads"])
    for task in mains:
        t.equal("the last reason", task.reasons()[-1], "thread ends")
        t.equal("its cause", task.causes()[-1], "no fiber left")
        t.equal("ends", task.count("task_completed"), 1)
    t.equal("prey", len(run.named("Prey")), said["prey"])
    t.equal("steals", len(run.all("steal")), said["stolen"])
    check_moves(t, run)
    t.equal("workers that stopped", len(run.all("worker_stop")), said["threads"])


@test("Boost.Fiber: the example")
def example(t):
    t.need("g++", "boost/fiber/all.hpp")
    program = t.build("g++", "example", os.path.join(SRC, "probes", "boost-fiber", "example.cpp"), *LIBRARIES,
                      "-I" + os.path.join(SRC, "probes", "boost-fiber"))
    run = t.record(program)
    t.sound(run)
    t.equal("output", run.output, "330 items\n")
    for name in "producer", "consumer":
        t.equal(name + "s", len([event for event in run.all("task_renamed") if event["name"] == name]), 3)


@test("Boost.Fiber: with TRACER_DISABLE the program does the same, and has no points")
def disabled(t):
    t.need("g++", "boost/fiber/all.hpp")
    program = t.build("g++", "fiber", "fiber.cpp", *LIBRARIES, "-DTRACER_DISABLE")
    said = json.loads(t.run(program))
    t.equal("ends", sum(said["ends"].values()),
            said["posted"] + said["dispatched"] + said["sleepers"] + said["in_barrier"] + said["shifts"])
    t.check(".probes" not in t.run("readelf", "-SW", program), "it has gates")


if __name__ == "__main__":
    main()
