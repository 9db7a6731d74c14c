#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""probes/hpx on an installed HPX that was built with it: what the example says it did is in the trace.

HPX_DIR is where it is installed (or its lib/cmake/HPX); HPX_CXXFLAGS what its headers need besides (-I of stdexec).
"""
import json
import os
import subprocess
import sys

SRC, TMP = os.environ["SRC"], os.environ["TMP"]
NAME = "hpx: the example's tasks, wakes, futures, continuations and locks are in the trace"


def skip(why):
    print(f"skip {NAME}: {why}")
    sys.exit(0)


def built():
    folder = os.environ.get("HPX_DIR")
    if not folder:
        skip("HPX_DIR does not say where an HPX with probes/hpx in it is installed")
    prefix = folder.split("/lib/cmake/")[0].split("/lib64/cmake/")[0]
    found = subprocess.run(["grep", "-rqs", "HPX_HAVE_TRACER", f"{prefix}/include/hpx/config"])
    if found.returncode:
        skip(f"{prefix}: no HPX, or one without HPX_WITH_TRACER")
    lib = f"{prefix}/lib" if os.path.isdir(f"{prefix}/lib") else f"{prefix}/lib64"
    program = f"{TMP}/example"
    command = ["c++", "-std=c++20", "-O2", "-DHPX_APPLICATION_EXPORTS", "-I", f"{prefix}/include", "-isystem",
               f"{SRC}/usdt", *os.environ.get("HPX_CXXFLAGS", "").split(), f"{SRC}/probes/hpx/example.cpp", "-o",
               program, f"-L{lib}", f"-Wl,-rpath,{lib}", "-lhpx_core"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"not ok {NAME}: the example does not compile\n{done.stderr[-3000:]}")
        sys.exit(1)
    return program


def traced(program, threads):
    capture = f"{TMP}/hpx{threads}.trc"
    run = subprocess.run([os.environ["TRACER"], "record", "-q", "-o", capture, "--", program, "50",
                          f"--hpx:threads={threads}"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"not ok {NAME}: status {run.returncode}: {run.stderr}")
    words = run.stdout.split()
    does = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
    report = subprocess.run([os.environ["TRACER"], "report", "--json", capture], capture_output=True, text=True)
    return does, json.loads(report.stdout)


def wrong(does, report):
    tasks, futures = report["tasks"], report["futures"]
    by_name = {}
    for row in tasks["by_name"]:
        by_name[row["name"]] = by_name.get(row["name"], 0) + row["count"]
    of_program = sum(n for name, n in by_name.items() if "fibonacci" in name or "lambda" in name or "int (*)(int)" in name)
    scheduled = does["continuations"] // 2
    wakes = sum(row["count"] for row in report["wakes"])
    suspensions = sum(row["count"] for row in report["suspensions"])
    expected = {
        "complete": (report["capture"]["complete"], True),
        "anomalies": (report["anomalies"], []),
        "unfinished": (report["unfinished"], []),
        "created and deleted": (tasks["created"], tasks["destroyed"]),
        "exceptions": (futures["exceptions"], does["exceptions"]),
        "continuations": (futures["continuations_inline"] + futures["continuations_scheduled"],
                          does["continuations"]),
        "wakes, one a suspension": (wakes, suspensions),
        "acquisitions of the mutex": (max((row["acquisitions"] for row in report["locks"]
                                           if row["name"] == "hpx::mutex"), default=0), does["locks"]),
    }
    for what, (is_, should) in expected.items():
        if is_ != should:
            yield f"{what}: {is_}, not {should}"
    least = does["asyncs"] + does["posts"] + scheduled
    if tasks["completed"] < least or of_program < does["asyncs"]:
        yield f"tasks: {tasks['completed']} completed, {of_program} of the program's own, not {least}"
    if futures["set"] < does["sets"] + does["asyncs"] - does["exceptions"]:
        yield f"futures set: {futures['set']}"
    workers = [worker for process in report["processes"] for worker in process["workers"]]
    if any(worker["name"] is None for worker in workers):
        yield "a worker without a name"


program = built()
failed = False
for threads in (1, 2):
    does, report = traced(program, threads)
    faults = list(wrong(does, report))
    failed |= bool(faults)
    print(f"not ok {NAME}, {threads} workers: {'; '.join(faults)}" if faults else f"ok {NAME}, {threads} workers")
sys.exit(failed)
