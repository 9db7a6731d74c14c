#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compare `tracer report --json` with the runtime's own journal (build/targets/journal FILE).

    compare_journal.py REPORT.json JOURNAL.json [--killed] [--skip KEY]...

The tracer must have been attached before the program's first point. Every figure that both have must
be the same; a figure that the report lacks, or does not know (null), is a difference too. Prints the
differences and exits with 1 if there are any.

--killed: the program was killed. Each thread may have been in one point that the tracer has and the
journal has not yet, so a count may be larger than the journal's by up to the number of threads, and
never smaller. Figures that depend on how things end are left out.
--skip KEY: leave out the figures whose path begins with KEY, such as locks or tasks.by_name.
"""
import argparse
import json
import sys

MISSING = object()


def get(document, *path):
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return MISSING
        document = document[key]
    return document


def plain(value):
    """Objects come as numbers or as hexadecimal strings."""
    return int(value, 0) if isinstance(value, str) and value.startswith("0x") else value


class Comparison:
    def __init__(self, report, journal, killed, skip):
        self.report = report
        self.journal = journal
        self.slack = len(journal["threads"]) if killed else 0
        self.killed = killed
        self.skip = skip
        self.compared = 0
        self.differences = []

    def differ(self, path, reported, expected):
        shown = "missing" if reported is MISSING else json.dumps(reported)
        self.differences.append(f"{path}: report {shown}, journal {json.dumps(expected)}")

    def skipped(self, path):
        return any(path == key or path.startswith((key + ".", key + "[")) for key in self.skip)

    def value(self, path, reported, expected):
        if self.skipped(path):
            return
        self.compared += 1
        if isinstance(expected, int) and isinstance(reported, int) and not isinstance(reported, bool):
            same = expected <= reported <= expected + self.slack
        elif isinstance(expected, float) and isinstance(reported, (int, float)):
            # a mean; the report may print it with fewer digits
            same = abs(reported - expected) <= (0.5 if isinstance(reported, int) else 0.001)
            same = same or self.killed
        else:
            same = reported == expected
        if not same:
            self.differ(path, reported, expected)

    def members(self, path, keys):
        reported, expected = get(self.report, *path), get(self.journal, *path)
        for key in keys:
            self.value(".".join(path) + "." + key, get(reported, key), get(expected, key))

    def rows(self, path, identity, keys, reported=MISSING, expected=MISSING):
        """Lists whose rows are known by the members `identity`: the same rows, the same figures."""
        name = ".".join(path)
        if self.skipped(name):
            return
        reported = get(self.report, *path) if reported is MISSING else reported
        expected = get(self.journal, *path) if expected is MISSING else expected
        if not isinstance(reported, list):
            self.differ(name, reported, expected)
            return

        def index(rows):
            result = {}
            for row in rows:
                key = tuple(plain(get(row, k)) for k in identity)
                if key in result:
                    self.differences.append(f"{name}: two rows of {key}")
                result[key] = row
            return result

        reported, expected = index(reported), index(expected)
        for key in sorted(expected.keys() | reported.keys(), key=repr):
            label = f"{name}[{', '.join(map(str, key))}]"
            if self.skipped(label):
                continue
            if key not in expected:
                # at a kill, the point of a name's first use may have been under way
                if not self.killed:
                    self.differ(label, {k: reported[key].get(k) for k in keys}, None)
                continue
            for figure in keys:
                have = get(reported[key], figure) if key in reported else MISSING
                self.value(f"{label}.{figure}", have, get(expected[key], figure))

    def processes(self):
        reported = {process.get("pid"): process for process in get(self.report, "processes") or []}
        for process in self.journal["processes"]:
            if not process["workers"]:
                continue
            mine = reported.get(process["pid"])
            path = f"processes[{process['pid']}].workers"
            if mine is None:
                self.differ(path, MISSING, len(process["workers"]))
                continue
            figures = ["tid", "name", "tasks", "steals", "stolen_from", "max_queue_depth"]
            self.rows([path], ["index"], figures, mine.get("workers", MISSING), process["workers"])

    def run(self):
        journal = self.journal
        self.members(["capture"], ["records"])
        self.processes()
        self.members(["tasks"], ["created", "begun", "completed", "destroyed", "migrations",
                                 "suspensions", "yields"])
        self.members(["steals"], ["count", "failed"])
        self.rows(["steals", "pairs"], ["thief", "victim"], ["count", "mean_victim_depth"])
        self.members(["futures"], ["created", "set", "exceptions", "continuations_inline",
                                   "continuations_scheduled"])
        self.members(["messages"], ["sent", "received"])
        self.rows(["suspensions"], ["reason"], ["count"])
        if self.killed:
            return
        if not journal["journal"]["finished"]:
            self.differences.append("the program did not finish: use --killed")
        # with one worker the order of things is the same for both; with more, two threads' points
        # may lie the other way round in time than what they tell of
        alone = sum(len(process["workers"]) for process in journal["processes"]) == 1
        if alone:
            self.members(["futures"], ["max_active_continuations"])
        self.value("messages.matched", get(self.report, "messages", "matched"),
                   min(journal["messages"]["sent"], journal["messages"]["received"]))
        self.rows(["tasks", "by_name"], ["name"], ["count"])
        self.rows(["wakes"], ["cause"], ["count"])
        self.rows(["zones"], ["name", "function", "line"], ["file", "count"])
        # `contended` is left out: the journal counts who had to wait, also for a lock that was on
        # its way to another waiter, which no point tells
        self.rows(["locks"], ["name", "object"], ["acquisitions"])
        self.rows(["counters"], ["name"], ["count", "min", "max"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report")
    parser.add_argument("journal")
    parser.add_argument("--killed", action="store_true")
    parser.add_argument("--skip", action="append", default=[], metavar="KEY")
    arguments = parser.parse_args()
    with open(arguments.report) as report, open(arguments.journal) as journal:
        comparison = Comparison(json.load(report), json.load(journal), arguments.killed,
                                arguments.skip)
    if comparison.journal["journal"]["refused"]:
        comparison.differences.append("the journal itself had no room: it is not complete")
    comparison.run()
    for difference in comparison.differences:
        print(difference)
    print(f"{comparison.compared} figures compared, {len(comparison.differences)} differences")
    return 1 if comparison.differences or not comparison.compared else 0


if __name__ == "__main__":
    sys.exit(main())
