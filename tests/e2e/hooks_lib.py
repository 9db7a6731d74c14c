# SPDX-License-Identifier: BSD-2-Clause
"""What the hooks_*.py have in common: building a program on a real runtime, recording it, and comparing what
the capture says with what the program says it did.

A test is a function with @test("NAME"). It gets a Test: a folder of its own and the verbs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from traps import Event, Failed, Skip

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
TRACER = os.environ.get("TRACER") or os.path.join(BUILD, "tracer")
TARGETS = os.path.join(SRC, "tests", "targets", "hooks")
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
STOPS = ("task_end", "task_yielded", "task_suspended", "task_completed")
TESTS = []


def test(name):
    def add(function):
        TESTS.append((name, function))
        return function
    return add


class Task:
    """A lifetime, as the text export has it: what happened to it, in order."""

    def __init__(self, event):
        self.id, self.name, self.parent = event["task"], event["name"], event["parent"]
        self.created, self.events = event, []

    def count(self, name):
        return sum(event.name == name for event in self.events)

    def reasons(self):
        return [event["reason"] for event in self.events if event.name == "task_suspended"]

    def causes(self):
        return [event["cause"] for event in self.events if event.name == "task_resumed"]


class Run:
    """A recorded run: the program's output, the events, the tasks, the report."""

    def __init__(self, output, text, report):
        self.output, self.report = output, report
        self.events = []
        self.tasks = []
        alive = {}
        for line in text.splitlines():
            # remarks of the exporter's stand between the events
            if "/" not in line.split(" ", 2)[1]:
                continue
            event = Event(line)
            self.events.append(event)
            if event.name == "task_created":
                task = alive[event["task"]] = Task(event)
                self.tasks.append(task)
            if event.name.startswith("task_") and event["task"] in alive:
                alive[event["task"]].events.append(event)

    def all(self, name):
        return [event for event in self.events if event.name == name]

    def named(self, part):
        return [task for task in self.tasks if task.name.startswith(part)]

    def children(self, task):
        return [child for child in self.tasks if child.parent == task.id]


class Test:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="hooks-")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, good, why, *details):
        if not good:
            raise Failed("\n".join([why, *map(str, details)]))

    def equal(self, what, got, expected):
        self.check(got == expected, "%s: %r instead of %r" % (what, got, expected))

    def run(self, *command, status=0, timeout=120, env=None):
        """Standard output of a command."""
        command = [str(word) for word in command]
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "INTEL_"))}
        try:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=timeout, check=False, env=dict(environment, **(env or {})),
                                  stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Failed("%s: timeout" % " ".join(command)) from None
        except FileNotFoundError:
            raise Skip("needs the command %s" % command[0]) from None
        if status is not None and done.returncode != status:
            raise Failed("%s: status %d\n%s%s" % (" ".join(command), done.returncode,
                                                  done.stdout.decode(errors="replace"),
                                                  done.stderr.decode(errors="replace")))
        return done.stdout.decode(errors="replace")

    def build(self, compiler, output, source, *words, requires=None):
        """Builds a program; @requires: an include without which the test is skipped."""
        if requires:
            self.need(compiler, requires)
        if not os.path.isabs(source):
            source = os.path.join(TARGETS, source)
        self.run(compiler, "-I" + os.path.join(SRC, "usdt"), "-I" + os.path.join(SRC, "probes"), *WARNINGS,
                 "-O1", source, "-o", self.path(output), "-pthread", *words)
        return self.path(output)

    def need(self, compiler, include, *words):
        """Skips the test where there is no such header."""
        source = self.path("need.c" if compiler in ("gcc", "clang") else "need.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <%s>\n" % include)
        try:
            self.run(compiler, "-fsyntax-only", *words, source)
        except Failed:
            raise Skip("no %s for %s" % (include, compiler)) from None

    def record(self, *command, env=None, options=(), status=0):
        """Runs a program under the tracer, with @env for the program alone."""
        if os.geteuid():
            raise Skip("needs root")
        words = ["env"] + ["%s=%s" % pair for pair in (env or {}).items()] if env else []
        output = self.run(TRACER, "-q", "--force", "-o", "run.trc", *options, "--", *words, *command, status=status)
        text = self.run(TRACER, "export", "--force", "-f", "text", "-o", "-", "run.trc")
        return Run(output, text, json.loads(self.run(TRACER, "report", "--json", "run.trc")))

    def sound(self, run, ended=True):
        """What holds for every run of a program that comes to its end."""
        report = run.report
        self.check(report["capture"]["complete"], "the capture is not complete", report["capture"])
        self.equal("anomalies", [row for row in report["anomalies"] if row["count"]], [])
        tasks = report["tasks"]
        for figure in ("completed", "destroyed") if ended else ():
            self.equal("tasks " + figure, tasks[figure], tasks["created"])
        if ended:
            self.equal("unfinished", report["unfinished"], [])
        for task in run.tasks:
            running = False
            for event in task.events:
                if event.name == "task_begin":
                    self.check(not running, "%s begins twice" % task.name)
                    running = True
                elif event.name in STOPS:
                    running = False
        for row in run.report["processes"]:
            for worker in row["workers"]:
                self.check(worker["tid"], "a worker without a thread")


def main():
    patterns = sys.argv[1:]
    failed = 0
    for name, function in TESTS:
        if patterns and not any(pattern in name for pattern in patterns):
            continue
        a_test = Test()
        try:
            function(a_test)
            print("ok " + name)
        except Skip as skip:
            print("skip %s: %s" % (name, skip))
        except Failed as error:
            print("%s\nnot ok %s: %s" % (error, name, str(error).splitlines()[0]))
            failed = 1
        finally:
            a_test.close()
        sys.stdout.flush()
    sys.exit(failed)
