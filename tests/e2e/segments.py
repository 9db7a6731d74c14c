#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every run of adjacent segments of the bundled runtime, alone: nothing is lost, no anomaly, no record twice or never;
and all together are what the runtime's journal has."""
import glob
import json
import os
import subprocess
import sys

TRACER, TARGETS, TMP = (os.environ[name] for name in ("TRACER", "TARGETS", "TMP"))
os.chdir(TMP)


def report(files):
    return json.loads(subprocess.run([TRACER, "report", "-q", "--json", *files], check=True, stdout=subprocess.PIPE).stdout)


def test(name, arguments, size):
    for old in glob.glob("x.trc*") + glob.glob("journal*"):
        os.unlink(old)
    subprocess.run([TRACER, "-q", "--max-file-size", size, "-o", "x.trc", "--", TARGETS + "/tracer-demo-runtime", *arguments,
                    "--quiet", "--journal", "journal"], check=True)
    files = sorted(glob.glob("x.trc*"), key=lambda path: int(path[6:] or 0))
    truth = json.loads(subprocess.run([TARGETS + "/journal", "journal"], check=True, stdout=subprocess.PIPE).stdout)
    whole, wrong = report(reversed(files)), []
    if len(files) < 4:
        wrong.append("%d segments only" % len(files))
    for key in "created", "begun", "completed", "destroyed", "suspensions", "yields", "migrations":
        if whole["tasks"][key] != truth["tasks"][key]:
            wrong.append("all: %s is %d, the journal has %d" % (key, whole["tasks"][key], truth["tasks"][key]))
    if whole["capture"]["records"] != truth["capture"]["records"]:
        wrong.append("all: %d records, the journal has %d" % (whole["capture"]["records"], truth["capture"]["records"]))
    records = [0]
    for first in range(len(files)):
        for last in range(first, min(len(files), first + 7)):
            part = report(files[first:last + 1])
            if first == last:
                records.append(records[-1] + part["capture"]["records"])
            if part["anomalies"] or part["capture"]["lost"] or not part["capture"]["complete"]:
                wrong.append("%d to %d: %s, %d lost" % (first, last, part["anomalies"], part["capture"]["lost"]))
            strangers = {task["name"] for task in part["tasks"]["by_name"]} - {task["name"] for task in whole["tasks"]["by_name"]}
            if strangers:
                wrong.append("%d to %d: names that the whole has not: %s" % (first, last, ", ".join(strangers)))
    if records[-1] != whole["capture"]["records"]:
        wrong.append("one by one %d records, together %d" % (records[-1], whole["capture"]["records"]))
    print(("not ok %s: %s" % (name, "; ".join(wrong[:5]))) if wrong else "ok " + name)


if os.geteuid():
    print("skip any run of segments stands for itself: root is needed")
    sys.exit()
test("any run of segments stands for itself: futures and recursion", ["fib", "--size", "22", "--workers", "4"], "256K")
test("any run of segments stands for itself: suspensions and reuse", ["churn", "--tasks", "20000", "--workers", "4"], "256K")
