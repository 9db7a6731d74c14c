# SPDX-License-Identifier: BSD-2-Clause
"""Compares a Perfetto trace with the report of the same capture.

	compare_perfetto.py [--tracks lanes|task|workers] TALLY REPORT

TALLY is the output of perfetto_check.py, REPORT of `tracer report --json`. Prints "same", or a line for
each figure that differs, and then exits with status 1.
"""
import argparse
import json
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--tracks", choices=("lanes", "task", "workers"), default="lanes")
parser.add_argument("tally")
parser.add_argument("report")
options = parser.parse_args()
with open(options.tally) as file:
    trace = json.load(file)
with open(options.report) as file:
    report = json.load(file)


def slices(category):
    """without those that are only a further part of one"""
    return trace["slices"].get(category, 0) - trace["continued"].get(category, 0)


def counter_max(name):
    return max((one["max"] for one in trace["counters"].get(name, [])), default=0)


instants = trace["instants"]
tasks = report["tasks"]
workers = [worker for process in report["processes"] for worker in process["workers"]]
pairs = {
    "stays on workers": (slices("worker.task"), tasks["begun"]),
    "steals": (instants.get("steal", 0), report["steals"]["count"]),
    "steals failed": (instants.get("steal.failed", 0), report["steals"]["failed"]),
    "futures set": (instants.get("future.set", 0), report["futures"]["set"]),
    "exceptions": (instants.get("future.exception", 0), report["futures"]["exceptions"]),
    "continuations": (slices("continuation"), report["futures"]["continuations_inline"] +
                      report["futures"]["continuations_scheduled"]),
    "active continuations": (counter_max("active continuations"),
                             report["futures"]["max_active_continuations"]),
    "zones": (slices("zone"), sum(zone["count"] for zone in report["zones"])),
    "sleep": (trace["durations_ns"].get("worker.sleep", 0), sum(w["sleep_ns"] for w in workers)),
    "preempted": (trace["kernel_ns"].get("runnable", 0), sum(w["preempted_ns"] for w in workers)),
    "sent": (instants.get("sent", 0), report["messages"]["sent"]),
    "received": (instants.get("received", 0), report["messages"]["received"]),
    "arrows to first runs": (instants.get("task.spawn", 0), tasks["created"]),
    "lost": (trace["attributes"].get("tracer.lost"), str(report["capture"]["lost"])),
    "records": (trace["attributes"].get("tracer.records"), str(report["capture"]["records"])),
}
if options.tracks != "workers":
    pairs |= {
        "stays": (slices("task.run"), tasks["begun"]),
        "suspensions": (slices("task.suspended"), tasks["suspensions"]),
        "created": (instants.get("task.created", 0), tasks["created"]),
        "completed": (instants.get("task.completed", 0), tasks["completed"]),
        "destroyed": (instants.get("task.destroyed", 0), tasks["destroyed"]),
        "yields": (instants.get("task.yielded", 0), tasks["yields"]),
        "run time": (trace["durations_ns"].get("task.run", 0),
                     sum(name["run_ns"] for name in tasks["by_name"])),
    }
if options.tracks == "task":
    pairs |= {
        "rows": (sum(trace["task_rows"].values()), sum(name["count"] for name in tasks["by_name"])),
        "suspended time": (trace["durations_ns"].get("task.suspended", 0),
                           sum(name["suspended_ns"] for name in tasks["by_name"])),
        "ready time": (trace["durations_ns"].get("task.ready", 0),
                       sum(name["ready_ns"] for name in tasks["by_name"])),
    }
lives = sum(name["count"] for name in tasks["by_name"])
rows = sum(trace["task_rows"].values())
if options.tracks == "workers":
    pairs["rows"] = rows, 0
elif options.tracks == "lanes" and len(report["processes"]) == 1:
    # each its own up to 2,000; beyond, lanes, as many as tasks were alive at once
    pairs["rows"] = rows, lives if lives <= 2000 else min(rows, 2000)
    pairs["rows that are lanes"] = trace["lanes"], rows if lives > 2000 else 0
different = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
for name, (found, expected) in different.items():
    print(f"{name}: trace {found}, report {expected}")
if not different:
    print("same")
sys.exit(bool(different))
