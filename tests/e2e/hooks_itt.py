#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The ITT collector: what a program tells by ITT's calls, against what it says it did."""

import collections
import json
import os

from hooks_lib import BUILD, test, main

COLLECTOR = os.path.join(BUILD, "libtracer_itt.so")


def check_tasks(t, run, said):
    outer, inner = run.named("outer"), run.named("inner")
    t.equal("outer tasks (one more ran while collection was paused)", len(outer), said["rounds"])
    t.equal("parents of inner tasks", [task.parent for task in inner], [task.id for task in outer])
    t.equal("identities given by the program differ", len({task.id for task in inner}), said["rounds"])
    t.equal("parents of outer tasks", {task.parent for task in outer}, {0})
    texts = collections.defaultdict(dict)
    for event in run.all("task_text"):
        texts[event["task"]][event["key"]] = event["text"]
    for event in run.all("task_value"):
        texts[event["task"]]["number"] = event["value"]
    for i, task in enumerate(inner):
        t.equal("what is told of a task", texts[task.id],
                {"domain": "app.domain", "detail": "in words", "number": 10 * i})


def check_overlapped(t, run, said):
    requests = run.named("request")
    t.equal("overlapped tasks", len(requests), said["overlapped"])
    for task in requests:
        begins = [event for event in task.events if event.name == "task_begin"]
        t.equal("threads", [event.tid for event in begins], [said["starter"], said["finisher"]])
        t.equal("gap", task.reasons(), ["overlapped"])
    relations = [(event["task"], event["kind"], event["object"]) for event in run.all("task_depends")]
    t.equal("relations", relations, [(requests[1].id, "dependent on", requests[0].id)])


def check_marks(t, run, said):
    counters = collections.defaultdict(list)
    for event in run.all("counter"):
        counters[event["name"]].append(event["value"])
    t.equal("counters", dict(counters), {"depth": [2 * i + 2 for i in range(said["rounds"])],
                                         "load": [i + 0.5 for i in range(said["rounds"])]})
    t.equal("frames", [event["name"] for event in run.all("frame")], ["app.domain"] * said["rounds"])
    markers = [event["name"] for event in run.all("marker_set")]
    t.equal("extents of frames and events", markers, ["app.domain"] * said["rounds"] + ["phase"])
    t.equal("their ends", len(run.all("marker_reset")), len(markers))
    t.equal("markers", [event["text"] for event in run.all("message")], ["outer"])
    t.equal("locks", [(row["name"], row["acquisitions"]) for row in run.report["locks"]],
            [("mutex queue", said["rounds"])])
    names = {event.tid: event["name"] for event in run.all("worker_start")}
    t.equal("names of threads", names, {said["starter"]: "starter", said["finisher"]: "finisher"})
    t.equal("pause and resume", (len(run.all("capture_off")), len(run.all("capture_on"))), (1, 1))


@test("ITT: tasks, overlapped tasks, domains, metadata, relations, frames, counters, sync objects, threads")
def everything(t):
    program = t.build("gcc", "itt", "itt.c", "-ldl")
    run = t.record(program, env={"INTEL_LIBITTNOTIFY64": COLLECTOR})
    said = json.loads(run.output)
    t.sound(run)
    check_tasks(t, run, said)
    check_overlapped(t, run, said)
    check_marks(t, run, said)


@test("ITT: the program is the same with the collector and nobody recording")
def alone(t):
    program = t.build("gcc", "itt", "itt.c", "-ldl")
    said = json.loads(t.run(program, env={"INTEL_LIBITTNOTIFY64": COLLECTOR}))
    t.equal("overlapped tasks", said["overlapped"], 3)


if __name__ == "__main__":
    main()
