#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Boost.Asio and standalone Asio through tracer_asio.hpp, against what the programs say they did."""

import collections
import json
import os
import re
import subprocess

import asio_trace
from hooks_lib import SRC, TRACER, main, test

PROBES = os.path.join(SRC, "probes", "asio")
TARGETS = os.path.join(SRC, "tests", "targets", "asio")
BOOST = "-DBOOST_ASIO_CUSTOM_HANDLER_TRACKING=<tracer_asio.hpp>"
ALONE = "-DASIO_CUSTOM_HANDLER_TRACKING=<tracer_asio.hpp>"


def build(t, compiler, source, output, *words):
    t.build(compiler, output, source, "-I" + PROBES, "-I" + TARGETS, "-O0", *words)
    return t.path(output)


def said(output):
    """'accepts 3 closed 2' as a dict"""
    words = output.split()
    return {name: int(value) for name, value in zip(words[::2], words[1::2])}


class Recorded:
    """What all captures of such programs must show, and what is found in this one."""

    def __init__(self, t, whole=True):
        self.report = json.loads(t.run(TRACER, "report", "--json", "run.trc"))
        t.run(TRACER, "export", "-q", "--force", "-o", "run.pftrace", "run.trc")
        reader = asio_trace.read(t.path("run.pftrace"))
        t.equal("violations of the trace's format", reader.violations, [])
        t.equal("anomalies", [row for row in self.report["anomalies"] if row["count"]], [])
        self.figures = self.report["asio"]
        if not whole:
            return
        self.found = asio_trace.check(reader)
        t.equal("wrong in the trace", self.found.wrong, [])
        t.check(self.report["capture"]["complete"], "the capture is not complete")
        tasks, figures = self.report["tasks"], self.figures
        t.equal("created", figures["created"], figures["invoked"] + figures["destroyed"])
        t.equal("tasks", [tasks[name] for name in ("created", "begun", "completed", "destroyed")],
                [figures[name] for name in ("created", "invoked", "invoked", "destroyed")])
        t.equal("invocations under a run", self.found.under_run, figures["invoked"])
        t.equal("arrows to an invocation", self.found.arrows, figures["invoked"])
        t.equal("system calls", self.found.syscalls, figures["syscalls"])
        t.equal("titles of invocations", sum(self.found.invoked.values()), figures["invoked"])
        self.kinds = asio_trace.kinds(self.found.titles)
        invoked = asio_trace.kinds(self.found.invoked)
        t.check(all(self.kinds[kind] >= count for kind, count in invoked.items()),
                "an invocation is not titled as its creation", invoked, self.kinds)
        check_chrome(t, self.found, figures)


def check_chrome(t, found, figures):
    """what the Perfetto trace has of Asio is in the Chrome trace, too"""
    t.run(TRACER, "export", "-q", "--force", "-o", "run.json", "run.trc")
    with open(t.path("run.json"), encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    stacks, seen, under_run, titles = {}, collections.Counter(), 0, collections.Counter()
    for event in events:
        stack = stacks.setdefault((event["pid"], event.get("tid")), [])
        seen[event["ph"], event.get("cat")] += 1
        if event["ph"] == "B":
            under_run += event["cat"] == "worker.task" and "asio.run" in stack
            stack.append(event["cat"])
        elif event["ph"] == "E":
            stack.pop()
            seen["exceptions"] += "exception" in event.get("args", {})
        elif event.get("cat") == "task.spawn" and event["ph"] == "i":
            titles[event["name"]] += 1
    t.equal("chrome: invocations under a run", under_run, figures["invoked"])
    t.equal("chrome: runs", seen["B", "asio.run"], sum(found.runs.values()))
    t.equal("chrome: system calls", [seen["i", "asio.syscall"], seen["t", "task.spawn"]], [figures["syscalls"]] * 2)
    t.equal("chrome: titles", titles, found.titles)
    t.equal("chrome: close, cancel", seen["i", "asio.operation"], sum(found.operations.values()))
    t.equal("chrome: reactor", seen["i", "asio.reactor"], sum(found.reactor.values()))
    t.equal("chrome: exceptions", seen["exceptions"], 2 * found.exceptions)  # on the worker's row and the task's


LINE = re.compile(r"@asio\|\d+\.\d{6}\|(?:"
                  r"\d+\*\d+\|\w+@0x[0-9a-f]+\.\S+|"
                  r"\d+\^\d+\|(?:in|called from) ('[^']*' )?\(.+:\d+\)|"
                  r">\d+\|(?:ec=[\w.]+:-?\d+(?:,bytes_transferred=\d+|,signal_number=\d+|,\.\.\.)?)?|"
                  r"[<!~]\d+\||"
                  r"\.\d+\|\w+,ec=[\w.]+:-?\d+(?:,bytes_transferred=\d+)?|"
                  r"\d+\|\w+@0x[0-9a-f]+\.\S+)")


def check_text(t, figures):
    """Asio's own format: a grammar, and what a reader of it relies on"""
    lines = t.run(TRACER, "export", "-f", "asio", "run.trc").splitlines()
    created, entered, left = set(), set(), set()
    for line in lines:
        t.check(LINE.fullmatch(line), "not a line of handler tracking: " + line)
        action = line.split("|")[2]
        if "*" in action:
            inside, number = map(int, action.split("*"))
            t.equal("handlers are numbered in order", number, len(created) + 1)
            t.check(inside == 0 or inside in entered - left, "created in a handler that nobody is in: " + line)
            created.add(number)
        elif action[0] == ">":
            t.check(int(action[1:]) in created - entered, "entered before it was created, or twice: " + line)
            entered.add(int(action[1:]))
        elif action[0] in "<!":
            t.check(int(action[1:]) in entered - left, "left and not entered, or twice: " + line)
            left.add(int(action[1:]))
        elif action[0] == "~":
            t.check(int(action[1:]) in created - entered, "destroyed though it was entered: " + line)
    t.equal("handlers in the text", [len(created), len(entered), len(left)],
            [figures["created"], figures["invoked"], figures["invoked"]])
    return lines


def check_graph(t, tasks):
    t.run(TRACER, "export", "-q", "--force", "--limit=0", "-o", "run.dot", "run.trc")
    with open(t.path("run.dot"), encoding="utf-8") as file:
        graph = file.read()
    t.equal("nodes of tasks", len(re.findall(r"^\t\tt\d+ \[", graph, re.M)), tasks)
    t.equal("edges of creations", len(re.findall(r"label=\"creates", graph)), tasks)
    t.run("nop", "-p", "run.dot")       # Graphviz's own parser
    return graph


@test("asio: an echo server of 8 threads and 200 connections")
def echo(t):
    t.need("g++", "boost/asio.hpp", "-std=c++14")
    program = build(t, "g++", os.path.join(PROBES, "example_echo.cpp"), "echo", "-std=c++14", BOOST)
    known = said(t.record(program, "200", "2", "8").output)
    run = Recorded(t)
    t.equal("the program's own count", [known["accepts"], known["echoes"], known["closed"]], [200, 400, 200])
    expected = {"socket.async_accept": 201, "socket.async_connect": 200, "socket.async_send": 2 * 400,
                "socket.async_receive": 2 * 400 + 200}
    t.equal("operations", {kind: run.kinds[kind] for kind in expected}, expected)
    t.equal("ends of file", run.found.errors["asio.misc:2"], known["closed"])
    t.equal("the stopped accept", run.found.errors["system:125"], 1)
    t.equal("runs", dict(run.found.runs), {"run": 8})
    t.equal("registered", run.found.reactor["registration"], run.found.reactor["deregistration"])
    t.check(run.found.reactor["readiness"] >= 400, "hardly any readiness")
    t.equal("call paths of async_read and async_write", sum("in 'async_" in path for path in run.found.paths), 3 * 400)
    t.check("close" in run.found.operations, "no close")
    lines = check_text(t, run.figures)
    t.equal("accepted sockets are arguments that Asio does not show",
            sum(line.endswith(",...") for line in lines), run.kinds["socket.async_accept"])
    waits = {row["reason"]: row["count"] for row in run.report["suspensions"]}
    t.equal("waits for connections", waits["socket.async_accept"], 201)
    woken = {row["cause"]: row["count"] for row in run.report["wakes"]}
    t.equal("woken by a connection", woken["non_blocking_accept"], 200)

    # from the middle of a run: no run() is seen to begin, and operations are under way
    with subprocess.Popen([program, "20", "1000000", "2"], stdout=subprocess.DEVNULL) as busy:
        try:
            t.run(TRACER, "-q", "--force", "-o", "run.trc", "-d", "20ms", "-p", str(busy.pid))
        finally:
            busy.kill()
    middle = Recorded(t, whole=False)
    t.check(middle.figures["created_before"] > 0, "no handler from before", middle.figures)
    found = asio_trace.check(asio_trace.read(t.path("run.pftrace")))
    t.equal("invocations under a run", found.under_run, sum(found.invoked.values()))


@test("asio: a chat in coroutines, on standalone Asio")
def chat(t):
    t.need("g++", "asio.hpp", "-std=c++20")
    program = build(t, "g++", os.path.join(PROBES, "example_chat.cpp"), "chat", "-std=c++20", "-DSTANDALONE", ALONE)
    known = said(t.record(program, "5", "10").output)
    run = Recorded(t)
    t.check(known["delivered"] >= 5 * 10, "the chat did not work", known)
    t.check(run.found.errors["asio.system:125"] and not run.found.errors["system:125"],
            "errors are not of Asio's own category", run.found.errors)
    t.equal("runs", dict(run.found.runs), {"poll": 1, "run": 1})
    t.equal("accepts", run.kinds["socket.async_accept"], 5)
    here = [path for path in run.found.paths if "example_chat.cpp:" in path]
    t.check(any("'accept'" in path for path in here), "use_awaitable's place is not there", run.found.paths[:5])
    t.check(len(here) >= 5 + 5 + 50, "only %d places of use_awaitable" % len(here))
    check_text(t, run.figures)
    graph = check_graph(t, run.report["tasks"]["created"])
    t.check("non_blocking_recv" in graph, "no wake in the graph")


@test("asio: timers, strands, pools, exceptions, abandoned handlers; a program's own header chained")
def timers(t):
    t.need("clang++", "boost/asio.hpp", "-std=c++11")
    program = build(t, "clang++", os.path.join(PROBES, "example_timers.cpp"), "timers", "-std=c++11", BOOST,
                    '-DTRACER_ASIO_CHAIN="count_tracking.hpp"', "-DTRACER_ASIO_CHAIN_LOCATIONS")
    output = t.record(program, "100").output.splitlines()
    known, chained = said(output[0]), said(output[1])
    run = Recorded(t)
    t.equal("timers", [known["expired"] + known["cancelled"], run.kinds["deadline_timer.async_wait"]], [100, 101])
    t.equal("cancelled", run.found.errors["system:125"], known["cancelled"])
    t.equal("exceptions", [run.figures["exceptions"], run.found.exceptions], [known["thrown"]] * 2)
    t.equal("destroyed", run.figures["destroyed"], known["abandoned"])
    t.equal("through the strand", run.kinds["strand_executor.execute"] + run.kinds["strand_executor.post"],
            known["strand"])
    runs = run.found.runs
    t.equal("kinds of runs", [runs["poll"], runs["poll_one"], runs["run"] > 0, runs["run_one"] > 100],
            [1, 1, True, True])
    t.check(run.found.nested >= known["posted"], "handlers of the nested poll() are not nested")
    t.check(any("'start' (" in path for path in run.found.paths), "HANDLER_LOCATION is not there")
    # the other header was served as before
    t.equal("what the chained header counted", [chained[name] for name in ("created", "completed", "begun", "ended")],
            [run.figures["created"], run.figures["created"], run.figures["invoked"],
             run.figures["invoked"] - run.figures["exceptions"]])
    lines = check_text(t, run.figures)
    t.equal("left by an exception, destroyed", [sum("|!" in line for line in lines), sum("|~" in line for line in lines)],
            [1, 2])


@test("asio: separately compiled, and from library to library")
def apart(t):
    t.need("g++", "boost/asio.hpp", "-std=c++14")
    separate = "-DBOOST_ASIO_SEPARATE_COMPILATION"
    build(t, "g++", os.path.join(TARGETS, "separate.cpp"), "asio.o", "-std=c++14", BOOST, separate, "-c")
    build(t, "g++", os.path.join(TARGETS, "library.cpp"), "liblibrary.so", "-std=c++17", BOOST, "-shared", "-fPIC",
          "-fvisibility=hidden")
    program = build(t, "g++", os.path.join(TARGETS, "library_main.cpp"), "main", "-std=c++14", BOOST, separate,
                    t.path("asio.o"), t.path("liblibrary.so"), "-Wl,-rpath," + t.folder)
    output, run = t.record(program).output, Recorded(t)
    t.equal("handlers", [int(output), run.figures["created"]], [1 + 200 + 50] * 2)
    places = [line.split("|")[3] for line in check_text(t, run.figures) if "^" in line]
    t.equal("long names are cut as Asio does, each by itself", places,
            ["in '%s' (%s:7)" % ("function()" * 8, "filename/f" * 8)])


@test("asio: TRACER_DISABLE leaves nothing")
def disabled(t):
    t.need("g++", "boost/asio.hpp", "-std=c++14")
    program = build(t, "g++", os.path.join(TARGETS, "empty.cpp"), "empty", "-std=c++14", BOOST, "-DTRACER_DISABLE")
    t.check("tracer" not in t.run("nm", program), "there are symbols of the tracer")


if __name__ == "__main__":
    main()
