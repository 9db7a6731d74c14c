#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs of runtimes without points, traced as they are: recognised by themselves, or by --runtime.
What each must show is what its program does (targets/spec)."""

import json
import os
import shutil
import subprocess
import sys

TRACER, SRC, TMP = os.environ["TRACER"], os.environ["SRC"], os.environ["TMP"]
SOURCES = f"{SRC}/tests/targets/spec"


def traced(command, *options, environment=None):
    capture = f"{TMP}/x.trc"
    done = subprocess.run(
        [TRACER, "--force", "-v", *options, "-o", capture, "--", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, **(environment or {})),
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {done.stderr}")
    report = subprocess.run([TRACER, "report", "--json", capture], check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(report.stdout), done.stderr


def names(report):
    return {row["name"]: row["count"] for row in report["tasks"]["by_name"]}


def reasons(report):
    return {row["reason"]: row["count"] for row in report["suspensions"]}


def expect(wrong, what, is_true, found):
    if not is_true:
        wrong.append(f"{what}: {found}")


def built(*command, output):
    subprocess.run([*command, "-o", output], check=True, stderr=subprocess.PIPE)
    return output


def asyncio():
    report, said = traced(["/usr/bin/python3", f"{SOURCES}/coroutines.py"])
    wrong, found, waits = [], names(report), reasons(report)
    expect(wrong, "recognised", "python-asyncio (recognised)" in said, said)
    for name, count in {"fetch": 10, "consume": 1, "locked": 3, "yielding": 1, "main": 1, "gr??e": 1}.items():
        expect(wrong, name, found.get(name) == count, found)
    expect(wrong, "sleeps", waits.get("sleep") == 14, waits)
    expect(wrong, "waits by name", {"Queue.get", "Queue.put", "Lock.acquire"} <= set(waits), waits)
    expect(wrong, "yields", report["tasks"]["yields"] == 3, report["tasks"]["yields"])
    expect(wrong, "completed", report["tasks"]["completed"] == report["tasks"]["created"], report["tasks"])
    expect(wrong, "nothing amiss", not report["anomalies"], report["anomalies"])
    return wrong


def asyncio_exceptions():
    report, _ = traced(["/usr/bin/python3", f"{SOURCES}/exceptions.py"])
    wrong, found, waits, tasks = [], names(report), reasons(report), report["tasks"]
    roots = {"main": 1, "cancelled": 2, "timed": 1, "never": 1, "failed": 1, "forgiven": 1, "cleans_up": 1, "goes_on": 1}
    ours = {name: count for name, count in found.items() if not name.startswith("BaseEventLoop.")}
    expect(wrong, "tasks, and no others", ours == roots, found)
    expect(wrong, "completed", tasks["completed"] == tasks["created"] == sum(found.values()), tasks)
    expect(wrong, "goes on", waits.get("Event.wait") == 1 and tasks["yields"] == 1, [waits, tasks["yields"]])
    # never() awaited by cancelled, cleans_up, goes_on and as a task; the two of main; the one while cleaning up
    expect(wrong, "sleeps", waits.get("sleep") == 7, waits)
    expect(wrong, "futures", waits.get("_asyncio.Future") == 2, waits)
    expect(wrong, "nothing amiss", not report["anomalies"], report["anomalies"])
    return wrong


def jvm():
    subprocess.run(["javac", "-d", TMP, f"{SOURCES}/Threads.java"], check=True)
    report, _ = traced(["java", "-XX:+DTraceMonitorProbes", "-cp", TMP, "Threads"], "--runtime", "jvm")
    wrong, found, waits = [], names(report), reasons(report)
    for name in ("pool-1-thread-1", "pool-1-thread-2", "pool-1-thread-3", "napper"):
        expect(wrong, name, found.get(name) == 1, found)
    expect(wrong, "sleeps", waits.get("sleep", 0) >= 31, waits)
    expect(wrong, "contention by class", waits.get("java/lang/Object", 0) > 0, waits)
    expect(wrong, "parks", waits.get("park", 0) > 0, waits)
    return wrong


def libgomp():
    program = built("gcc", "-O2", "-fopenmp", f"{SOURCES}/openmp.c", output=f"{TMP}/openmp")
    report, said = traced([program])
    wrong, found = [], names(report)
    expect(wrong, "recognised", "libgomp (recognised)" in said, said)
    expect(wrong, "tasks", sum(found.values()) == 184 and report["tasks"]["completed"] == 184, found)
    expect(wrong, "tasks that are a single ret", 8 in found.values(), found)
    export = [TRACER, "export", "-q", "-f", "text", "-o", "-", f"{TMP}/x.trc"]
    text = subprocess.run(export, check=True, stdout=subprocess.PIPE, text=True)
    open_tasks = [line for line in text.stdout.splitlines() if line.startswith("# mismatch ") and " task_" in line]
    expect(wrong, "each task ends", not open_tasks, open_tasks)
    expect(wrong, "waits", reasons(report).get("taskwait") == 87, reasons(report))
    expect(wrong, "critical", [lock["acquisitions"] for lock in report["locks"]] == [2], report["locks"])
    return wrong


def starpu():
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "starpu-1.3"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.split()
    program = built("gcc", "-O1", f"{SOURCES}/starpu.c", *flags, output=f"{TMP}/starpu")
    environment = {"STARPU_NCPU": "2", "STARPU_NCUDA": "0", "STARPU_NOPENCL": "0", "STARPU_HOME": TMP, "STARPU_SILENT": "1"}
    report, _ = traced([program], "--runtime", "starpu", environment=environment)
    wrong, found = [], names(report)
    expect(wrong, "tasks", found.get("scale") == 20 and found.get("odd scale") == 20, found)
    expect(wrong, "stays", report["tasks"]["begun"] >= 40, report["tasks"])
    return wrong


def boost_fiber():
    program = built(
        "g++", "-O1", "-std=c++14", f"{SOURCES}/fibers.cpp", "-lboost_fiber", "-lboost_context", output=f"{TMP}/fibers"
    )
    report, said = traced([program])
    wrong, found, waits = [], names(report), reasons(report)
    expect(wrong, "recognised", "boost-fiber (recognised)" in said, said)
    expect(wrong, "fibers", found.get("fiber") == 3 and report["tasks"]["completed"] == 3, found)
    expect(wrong, "waits", waits.get("wait_until") == 1 and waits.get("wait", 0) > 5, waits)
    expect(wrong, "yields", report["tasks"]["yields"] == 1, report["tasks"])
    expect(wrong, "nothing amiss", not report["anomalies"], report["anomalies"])
    return wrong


def tbb():
    program = built("g++", "-O2", "-std=c++17", f"{SOURCES}/tbb.cpp", "-ltbb", output=f"{TMP}/tbb")
    report, said = traced([program])
    wrong = []
    expect(wrong, "recognised", "tbb (recognised)" in said, said)
    tasks = [row for row in report["tasks"]["by_name"] if "fib(int)" in row["name"]]
    expect(wrong, "tasks", sum(row["count"] for row in tasks) == 66, names(report))
    expect(wrong, "ended", report["tasks"]["completed"] == report["tasks"]["created"], report["tasks"])
    return wrong


def tokio():
    report, said = traced([os.environ["TOKIO"]])
    wrong = []
    expect(wrong, "recognised", "tokio (recognised)" in said, said)
    expect(wrong, "tasks", report["tasks"]["created"] > 0, report["tasks"])
    expect(wrong, "ended", report["tasks"]["completed"] > 0, report["tasks"])
    expect(wrong, "wakes", any(row["cause"] == "wake" for row in report["wakes"]), report["wakes"])
    return wrong


def main():
    if os.geteuid():
        print("skip runtimes without points: needs root")
        return
    lib, python = "/usr/lib/x86_64-linux-gnu", os.path.exists("/usr/bin/python3.11")
    cases = (
        ("coroutines of an unmodified python3", asyncio, python, "no CPython 3.11"),
        ("coroutines that exceptions are thrown into", asyncio_exceptions, python, "no CPython 3.11"),
        ("threads of a JVM", jvm, shutil.which("javac"), "no javac (Debian: openjdk-17-jdk-headless)"),
        ("tasks of GCC's OpenMP", libgomp, shutil.which("gcc"), "no gcc"),
        ("tasks of StarPU", starpu, os.path.exists(f"{lib}/libstarpu-1.3.so"), "no libstarpu-dev"),
        ("fibers of Boost", boost_fiber, os.path.exists(f"{lib}/libboost_fiber.so"), "no libboost-fiber-dev"),
        ("tasks of oneTBB", tbb, os.path.exists(f"{lib}/libtbb.so"), "no libtbb-dev"),
        ("tasks of tokio", tokio, "TOKIO" in os.environ, "TOKIO=PROGRAM names no program built with tokio"),
    )
    for name, test, there, missing in cases:
        if not there:
            print(f"skip {name}: {missing}")
            continue
        try:
            wrong = test()
        except (RuntimeError, subprocess.CalledProcessError, KeyError) as error:
            wrong = [repr(error)]
        print(f"not ok {name}: {'; '.join(wrong)[:2000]}" if wrong else f"ok {name}")


sys.exit(main())
