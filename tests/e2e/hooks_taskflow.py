#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Taskflow with its observer, against what the program says it did. TASKFLOW_DIR: where taskflow/taskflow.hpp is."""

import collections
import json
import os

from hooks_lib import SRC, test, main, Skip


def flags(t):
    """Skips where there is no Taskflow."""
    place = os.environ.get("TASKFLOW_DIR")
    include = ["-I" + place] if place else []
    try:
        t.need("g++", "taskflow/taskflow.hpp", "-std=c++20", *include)
    except Skip:
        raise Skip("no Taskflow: %s" % ("nothing in TASKFLOW_DIR=" + place if place else
                                        "TASKFLOW_DIR is not set, and none is installed")) from None
    return ["-std=c++20"] + ([flag.replace("-I", "-isystem") for flag in include])


@test("Taskflow: executions, names, who made them ready, workers, steals")
def everything(t):
    program = t.build("g++", "taskflow", "taskflow.cpp", *flags(t))
    run = t.record(program)
    said = json.loads(run.output)
    t.sound(run)
    t.equal("executions by name", dict(collections.Counter(task.name for task in run.tasks)), said["runs"])
    t.equal("executions by thread", dict(collections.Counter(event.tid for event in run.all("task_begin"))),
            {int(tid): count for tid, count in said["threads"].items()})
    tasks = {task.id: task for task in run.tasks}
    for task in run.tasks:
        parent = tasks[task.parent].name if task.parent else None
        if task.name.startswith("layer "):
            layer = int(task.name.split()[1])
            t.equal("who made %s ready" % task.name, parent, "layer %d" % (layer - 1) if layer else None)
        elif task.name == "body":
            t.check(parent in ("first", "condition"), "body after %s" % parent)
        elif task.name in ("condition", "last", "inner b"):
            t.equal("who made %s ready" % task.name, parent,
                    {"condition": "body", "last": "condition", "inner b": "inner a"}[task.name])
        # what makes a task ready ends no later than it begins
        if parent:
            end = next(event for event in tasks[task.parent].events if event.name == "task_completed")
            begin = next(event for event in task.events if event.name == "task_begin")
            t.check(run.events.index(end) < run.events.index(begin), "%s begins before %s ends" % (task.name, parent))
    worker = {event.tid: event["worker"] for event in run.all("worker_start")}
    t.equal("workers", len(worker), len(said["threads"]))
    stolen = {event["task"]: (event["thief"], event["victim"]) for event in run.all("steal")}
    for task in run.tasks:
        begin = next(event for event in task.events if event.name == "task_begin")
        pair = (worker[begin.tid], worker[task.created.tid])
        t.equal("steal", stolen.get(task.id), pair if pair[0] != pair[1] else None)


@test("Taskflow: modules, what an exception leaves out, dependent asynchronous tasks: each once, under its own name")
def edges(t):
    program = t.build("g++", "taskflow_edges", "taskflow_edges.cpp", *flags(t))
    run = t.record(program)
    said = json.loads(run.output)
    t.sound(run, ended=False)
    begun = collections.Counter(task.name for task in run.tasks if task.count("task_begin"))
    for name in "module", "placeholder":  # older Taskflow tells of them
        begun.pop(name, None)
    rounds = said["rounds"]
    t.equal("said", (said["inside"], said["outside"], said["dependent"]), (rounds, 3 * rounds, 4 * rounds))
    t.equal("executions", dict(begun), {"inside": rounds, "before": rounds, "behind": rounds, "after": rounds,
                                        "throws": 1, "async": 4 * rounds})
    t.equal("never begun", [task.name for task in run.tasks if not task.count("task_begin")], ["left out"])


@test("Taskflow: the example")
def example(t):
    program = t.build("g++", "example", os.path.join(SRC, "probes", "taskflow", "example.cpp"), *flags(t),
                      "-I" + os.path.join(SRC, "probes", "taskflow"))
    run = t.record(program)
    t.equal("output", run.output, "62 tasks ran, 5 rounds\n")
    t.sound(run)
    t.equal("executions", len(run.tasks), 62 + 5)


@test("Taskflow: with TRACER_DISABLE the program does the same")
def disabled(t):
    program = t.build("g++", "taskflow", "taskflow.cpp", *flags(t), "-DTRACER_DISABLE")
    said = json.loads(t.run(program))
    t.equal("layers", said["runs"]["layer 0"], said["width"] * said["repeats"])


if __name__ == "__main__":
    main()
