#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""probes/hpx on an installed HPX that was built with it: what the example says it did is in the trace.

HPX_DIR is where it is installed (or its lib/cmake/HPX); HPX_CXXFLAGS what its headers need besides (-I of stdexec, unless
HPX was configured with Stdexec_ROOT).
"""

import os
import re
import shutil
import subprocess
import tempfile

from hooks_lib import SRC, STOPS, TARGETS, Skip, main, test

STEALING = ("local", "local-priority-fifo", "local-priority-lifo", "abp-priority-fifo", "abp-priority-lifo",
            "shared-priority", "local-workrequesting-fifo", "local-workrequesting-lifo")
SCHEDULERS = STEALING + ("static", "static-priority")
BUILT = {}


def stdexec(lib):
    """The option for stdexec's headers, which HPX's own include."""
    try:
        with open(lib + "/cmake/HPX/HPXConfig.cmake", encoding="utf-8") as file:
            root = re.search(r'set\(Stdexec_ROOT "(.+)"\)', file.read())
    except FileNotFoundError:
        root = None
    return ["-isystem", root[1] + "/include"] if root else []


def built(t, source):
    """Builds a program against HPX_DIR, once for all tests; or skips."""
    if source in BUILT:
        return BUILT[source]
    folder = os.environ.get("HPX_DIR")
    if not folder:
        raise Skip("HPX_DIR does not say where an HPX with probes/hpx in it is installed")
    prefix = folder.split("/lib/cmake/")[0].split("/lib64/cmake/")[0]
    if subprocess.run(["grep", "-rqs", "HPX_HAVE_TRACER", prefix + "/include/hpx/config"], check=False).returncode:
        raise Skip("%s: no HPX, or one without HPX_WITH_TRACER" % prefix)
    lib = prefix + "/lib" if os.path.isdir(prefix + "/lib") else prefix + "/lib64"
    program = os.path.join(os.environ.get("TMP") or tempfile.mkdtemp(prefix="hooks-hpx-"),
                           os.path.basename(source)[:-4])
    t.run("c++", "-std=c++20", "-O2", "-DHPX_APPLICATION_EXPORTS", "-I", prefix + "/include", "-isystem",
          SRC + "/usdt", *stdexec(lib), *os.environ.get("HPX_CXXFLAGS", "").split(), source, "-o", program, "-L" + lib,
          "-Wl,-rpath," + lib, "-lhpx_core", timeout=600)
    BUILT[source] = program
    return program


def example(t):
    return built(t, SRC + "/probes/hpx/example.cpp")


def figures(t, run):
    """The report's figures against what the program says it did."""
    words = run.output.split()
    does = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    report = run.report
    tasks, futures = report["tasks"], report["futures"]
    t.equal("created and deleted", tasks["created"], tasks["destroyed"])
    t.equal("exceptions", futures["exceptions"], does["exceptions"])
    t.equal("continuations", futures["continuations_inline"] + futures["continuations_scheduled"],
            does["continuations"])
    t.equal("wakes, one a suspension", sum(row["count"] for row in report["wakes"]),
            sum(row["count"] for row in report["suspensions"]))
    t.equal("acquisitions of the mutex", max((row["acquisitions"] for row in report["locks"]
                                              if row["name"] == "hpx::mutex"), default=0), does["locks"])
    own = sum(row["count"] for row in tasks["by_name"]
              if any(part in row["name"] for part in ("fibonacci", "lambda", "int (*)(int)")))
    least = does["asyncs"] + does["posts"] + does["continuations"] // 2
    t.check(tasks["completed"] >= least, "%d tasks completed, not %d" % (tasks["completed"], least))
    t.check(own >= does["asyncs"], "%d tasks of the program's own, not %d" % (own, does["asyncs"]))
    t.check(futures["set"] >= does["sets"] + does["asyncs"] - does["exceptions"],
            "%d futures set" % futures["set"])
    numbered(t, run)
    return does


def numbered(t, run):
    """Workers have the numbers that their names say."""
    for process in run.report["processes"]:
        for worker in process["workers"]:
            t.check(worker["name"] and "worker-thread#%d" % worker["index"] in worker["name"],
                    "worker %d is named %s" % (worker["index"], worker["name"]))


def births(t, run, does):
    """Each description is staged by the task that runs there, and becomes the task of the same identity."""
    running, staged, created = {}, {}, {}
    for event in run.events:
        if event.name == "task_begin":
            running.setdefault(event.tid, []).append(event["task"])
        elif event.name in STOPS and event["task"] in running.get(event.tid, []):
            running[event.tid].remove(event["task"])
        elif event.name in ("task_staged", "task_created"):
            here = running.get(event.tid) or [None]
            task = event["task"]
            if event.name == "task_staged":
                t.check(task not in staged, "an identity is staged twice", event)
                t.equal("parent of a description", event["parent"] or None, here[-1])
                staged[task] = event
            else:
                t.check(task not in created, "an identity is created twice", event)
                created[task] = event
                if task in staged:
                    t.equal("parent of %s" % event["name"], event["parent"], staged[task]["parent"])
                    t.equal("name", event["name"], staged[task]["name"])
                else:
                    t.equal("parent of a task that was not staged", event["parent"] or None, here[-1])
        elif event.name in ("task_ready", "task_resumed", "task_suspended", "task_destroyed", "steal"):
            t.check(event["task"] in created, "of a task that was not created", event)
    t.equal("descriptions without a task", sorted(set(staged) - set(created)), [])
    t.check(len(staged) >= does["asyncs"], "%d tasks were staged, of %d" % (len(staged), does["asyncs"]))


@test("hpx: the example's tasks, wakes, futures, continuations and locks are in the trace, 1 worker")
def one_worker(t):
    run = t.record(example(t), "50", "--hpx:threads=1")
    t.sound(run, ended=False)
    t.equal("unfinished", run.report["unfinished"], [])
    births(t, run, figures(t, run))
    t.equal("steals", run.all("steal"), [])


@test("hpx: the same on 2 workers with every scheduler, those that steal and those that do not")
def schedulers(t):
    program = example(t)
    for scheduler in SCHEDULERS:
        queuing = "--hpx:queuing=" + scheduler
        if "not configured in this build" in t.run("sh", "-c", 'exec "$@" 2>&1', "sh", program, "1", queuing,
                                                   status=None):
            continue
        run = t.record(program, "20", "--hpx:threads=2", queuing)
        t.sound(run, ended=False)
        t.equal("unfinished", run.report["unfinished"], [])
        births(t, run, figures(t, run))
        if scheduler not in STEALING:
            t.equal("steals of %s" % scheduler, len(run.all("steal")), 0)
        for event in run.all("steal"):
            t.equal("thief and victim of %s" % scheduler, {event["thief"], event["victim"]}, {0, 1})


@test("hpx: bulk work of the fork-join executor, sleeps, suspensions with their reasons")
def the_rest(t):
    run = t.record(example(t), "5", "--hpx:threads=2")
    t.equal("workers with bulk work", {event["worker"] for event in run.all("worker_bulk_begin")}, {0, 1})
    zones = [event for event in run.all("zone_begin") if event["name"].startswith("fork_join_executor::")]
    t.check(zones, "no zone of the executor's")
    for zone in zones:
        t.check("fork_join_executor.hpp:" in zone["where"], "a zone's place", zone)
    t.equal("ends of bulk work", len(run.all("worker_bulk_end")), len(run.all("worker_bulk_begin")))
    reasons = {row["reason"] for row in run.report["suspensions"]}
    for reason in ("future_data_base::wait", "hpx::latch::arrive_and_wait", "this_thread::sleep_until"):
        t.check(reason in reasons, "no suspension by %s" % reason, sorted(reasons))


@test("hpx: stackless tasks end once, a forked one has its function's name")
def stackless(t):
    run = t.record(built(t, os.path.join(TARGETS, "hpx_stackless.cpp")), "--hpx:threads=2")
    t.sound(run, ended=False)
    t.equal("unfinished", run.report["unfinished"], [])
    tasks = [task for task in run.tasks if "lambda" in task.name]
    t.equal("stackless", ["stackless", str(len(tasks))], run.output.split())
    for task in tasks:
        t.equal("stays", [task.count("task_begin"), task.count("task_completed"), task.count("task_end")], [1, 1, 0])
    t.equal("forked", [task.name for task in run.tasks if task.name == "int (*)()"], ["int (*)()"])


@test("hpx: workers of two pools have numbers of their own")
def pools(t):
    run = t.record(built(t, os.path.join(TARGETS, "hpx_pools.cpp")), "--hpx:threads=2")
    t.sound(run, ended=False)
    numbered(t, run)
    workers = {}
    for event in run.all("task_begin"):
        workers.setdefault(event["task"], set()).add(event["worker"])
    for name in ("int (*)()", "long (*)()", "long int (*)()"):
        ran = [workers[task.id] for task in run.tasks if task.name == name]
        workers[name] = set().union(*ran)
        t.check(len(ran) in (0, int(run.output.split()[1])), "%d tasks %s" % (len(ran), name))
    t.equal("workers of the pools", [len(workers["int (*)()"]), len(workers["int (*)()"] | workers["long (*)()"] |
                                                                    workers["long int (*)()"])], [1, 2])


@test("hpx: background work on its workers' rows, and tasks that it makes are its children")
def background(t):
    run = t.record(built(t, os.path.join(TARGETS, "hpx_background.cpp")), "--hpx:threads=2")
    t.sound(run, ended=False)
    children = [task for task in run.tasks if "void (*)()" in task.name or "child_of" in task.name]
    t.equal("children", ["children", str(len(children))], run.output.split())
    inside, tasks = {}, {}
    for event in run.events:
        if event.name == "worker_background_begin":
            inside[event.tid] = event["name"]
        elif event.name == "worker_background_end":
            inside[event.tid] = None
        elif event.name == "task_begin" and inside.get(event.tid):
            tasks[event["task"]] = inside[event.tid]
    for child in children:
        t.equal("work that made a child", tasks.get(child.parent), "background_work")
        t.equal("name of its task", {task.name for task in run.tasks if task.id == child.parent}, {"background_work"})


@test("hpx: active continuations are counted once somebody asks, and not before")
def counter(t):
    program = built(t, os.path.join(TARGETS, "hpx_counter.cpp"))
    t.equal("counters", t.run(program, "--hpx:threads=2").split(),
            "before 0 inside 3 after 0 cumulative 3".split())


def git(t, folder, *words):
    return t.run("git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@localhost", *words)


def tree(t):
    """Something like HPX, and a copy of probes/hpx whose patch is for it: (script, tree, a file)."""
    source, probes = t.path("hpx"), t.path("probes/hpx")
    script, file = probes + "/apply", source + "/libs/core/tracing/tracing.hpp"
    shutil.copytree(SRC + "/probes/hpx", probes)
    for folder in ("include/hpx/tracing/backends", "src/backends"):
        os.makedirs(source + "/libs/core/tracing/" + folder)
    shutil.copy(SRC + "/README.md", file)
    git(t, source, "init", "-q")
    git(t, source, "add", ".")
    git(t, source, "commit", "-q", "-m", "as it was")
    with open(file, encoding="utf-8") as text:
        lines = text.readlines()
    with open(file, "w", encoding="utf-8") as text:
        text.writelines(lines[:5] + ["ours\n"] + lines[5:])
    with open(probes + "/hpx.patch", "w", encoding="utf-8") as patch:
        patch.write("revision: the one of the test\n\n" + git(t, source, "diff", "-U0", "--full-index"))
    git(t, source, "checkout", "-q", ".")
    return script, source, file


@test("hpx: apply adds what belongs to its revision, once, and takes it out again; also inside another repository")
def apply(t):
    script, source, file = tree(t)
    t.run(script, source)
    t.check("ours" in git(t, source, "diff"), "nothing was added")
    copied = git(t, source, "ls-files", "--others").split()
    t.equal("copied", sorted(map(os.path.basename, copied)), ["tracer.cpp", "tracer.hpp", "tracer_detail.hpp"])
    t.check("already" in t.run("sh", "-c", '"$@" 2>&1', "sh", script, source, status=1), "applied twice")
    t.run(script, "-R", source)
    t.equal("left behind", git(t, source, "status", "--short"), "")
    shutil.rmtree(source + "/.git")
    git(t, os.path.dirname(source), "init", "-q")
    t.run(script, source)
    with open(file, encoding="utf-8") as text:
        t.check("ours\n" in text.readlines(), "nothing was added inside another repository")


@test("hpx: apply leaves another revision as it is, also one where git would find room for the lines")
def another_revision(t):
    script, source, file = tree(t)
    with open(file, "a", encoding="utf-8") as text:
        text.write("a line more\n")
    before = git(t, source, "diff")
    output = t.run("sh", "-c", '"$@" 2>&1', "sh", script, source, status=1)
    t.check("another revision" in output and "libs/core/tracing/tracing.hpp" in output, output)
    t.equal("changes", git(t, source, "diff"), before)
    t.check(not os.path.exists(source + "/libs/core/tracing/src/backends/tracer.cpp"), "the backend is there")


if __name__ == "__main__":
    main()
