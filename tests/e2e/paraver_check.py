#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks a Paraver trace by the rules of its format; shares no code with the exporter.

    paraver_check.py FILE.prv

FILE.pcf and FILE.row lie beside it; FILE.prv may be FILE.prv.gz. Standard output: a tally as JSON. Exit
status 0, or 1 with the violations on standard error (each with its line), or 2 if a file cannot be read.

What is asserted:
  header   one line "#Paraver (date at time):length_ns:nodes(cpus,...):applications:tasks(threads:node,...)";
           as many lists as it says, none of them empty, nodes that exist
  records  1 state, 2 event, 3 communication, nothing else; integers; as many fields as each has to have
  objects  CPU (0: not known), application, task and thread exist, the CPU on the task's node
  time     0 to the length; records are in the order of the time they begin at; the first begins at 0
  states   end after their begin; those of a thread do not overlap, and have a name in the .pcf
  events   at least one type and value; each type is declared in the .pcf, and values of a type that has names
           have one
  messages are received after, or when, they are sent; logical times not after physical ones of the sender,
           not before those of the receiver
  .pcf     sections and lines of the forms that there are; a type is declared once; colours are colours
  .row     levels APPL, TASK, THREAD (and others) with as many names as they say and the header says
"""
import collections
import gzip
import json
import re
import sys

VIOLATIONS_MAX = 20
HEADER = re.compile(r"#Paraver \((\d\d)/(\d\d)/(\d{2,4}) at (\d\d):(\d\d)\):(\d+)(_ns|_us|_ms)?:(.*)$")
NUMBER = re.compile(r"-?\d+$")


class Checker:
    def __init__(self, path):
        self.path = path
        self.line = 0
        self.violations = []
        self.states = collections.Counter()
        self.state_ns = collections.Counter()
        self.events = collections.Counter()
        self.values = collections.defaultdict(collections.Counter)
        self.messages = collections.Counter()
        self.bytes = 0

    def bad(self, text):
        if len(self.violations) < VIOLATIONS_MAX:
            self.violations.append(f"{self.path}:{self.line}: {text}")

    # .pcf

    def read_pcf(self, path):
        self.state_names, self.types, section, pending = {}, {}, None, []
        values = None
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            line = line.rstrip("\n")
            if not line.strip():
                continue
            word = line.strip()
            if word in ("DEFAULT_OPTIONS", "DEFAULT_SEMANTIC", "STATES", "STATES_COLOR", "EVENT_TYPE",
                    "GRADIENT_COLOR", "GRADIENT_NAMES"):
                section, values = word, None
                if word == "EVENT_TYPE":
                    pending = []
                continue
            where = f"{path}:{number}"
            if section == "EVENT_TYPE" and word == "VALUES":
                if not pending:
                    self.violations.append(f"{where}: values of no type")
                values = {}
                for kind in pending:
                    self.types[kind] = values
                continue
            if section in ("DEFAULT_OPTIONS", "DEFAULT_SEMANTIC"):
                if len(line.split()) < 2:
                    self.violations.append(f"{where}: an option without a value")
            elif section == "STATES":
                match = re.match(r"(\d+)\s+(\S.*)$", line)
                if not match:
                    self.violations.append(f"{where}: no state")
                else:
                    self.state_names[int(match[1])] = match[2]
            elif section == "STATES_COLOR":
                match = re.match(r"(\d+)\s+\{\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\}$", line)
                if not match or max(int(match[i]) for i in (2, 3, 4)) > 255:
                    self.violations.append(f"{where}: no colour")
            elif section == "EVENT_TYPE" and values is None:
                match = re.match(r"(\d+)\s+(\d+)\s+(\S.*)$", line)
                if not match:
                    self.violations.append(f"{where}: no event type")
                    continue
                kind = int(match[2])
                if kind in self.types:
                    self.violations.append(f"{where}: type {kind} is declared twice")
                self.types[kind] = None
                pending.append(kind)
            elif section == "EVENT_TYPE":
                match = re.match(r"(-?\d+)\s+(\S.*)$", line)
                if not match:
                    self.violations.append(f"{where}: no value of an event type")
                elif int(match[1]) in values:
                    self.violations.append(f"{where}: value {match[1]} twice")
                else:
                    values[int(match[1])] = match[2]
            else:
                self.violations.append(f"{where}: outside of all sections")

    # .row

    def read_row(self, path):
        lines = open(path, encoding="utf-8").read().split("\n")
        self.levels, at = {}, 0
        while at < len(lines):
            if not lines[at].strip():
                at += 1
                continue
            match = re.match(r"LEVEL (\S+) SIZE (\d+)$", lines[at])
            if not match:
                self.violations.append(f"{path}:{at + 1}: no LEVEL ... SIZE ...")
                return
            size = int(match[2])
            names = lines[at + 1:at + 1 + size]
            if len(names) < size or not all(name.strip() for name in names):
                self.violations.append(f"{path}:{at + 1}: {size} names of {match[1]}, not all there")
            self.levels[match[1]] = names
            at += 1 + size

    # .prv

    def read_header(self, line):
        match = HEADER.match(line)
        if not match:
            self.bad("no header")
            return False
        self.length = int(match[6])
        if match[7] != "_ns":
            self.bad("times are not in nanoseconds")
        rest = match[8]
        nodes = re.match(r"(\d+)\(([\d,]+)\):(\d+):(.*)$", rest)
        if not nodes:
            self.bad(f"no nodes or applications in {rest!r}")
            return False
        cpus = [int(n) for n in nodes[2].split(",")]
        if len(cpus) != int(nodes[1]) or min(cpus) < 1:
            self.bad("not as many nodes with CPUs as it says")
        self.node_of_cpu = [None] + [node for node, count in enumerate(cpus, 1) for _ in range(count)]
        self.tasks = []
        rest = nodes[4]
        for _ in range(int(nodes[3])):
            one = re.match(r"(\d+)\(((?:\d+:\d+,?)+)\)(?:,\d+)?:?(.*)$", rest)
            if not one:
                self.bad(f"no list of tasks in {rest!r}")
                return False
            tasks = [tuple(int(n) for n in pair.split(":")) for pair in one[2].split(",")]
            if len(tasks) != int(one[1]):
                self.bad("not as many tasks as it says")
            if any(threads < 1 or not 1 <= node <= len(cpus) for threads, node in tasks):
                self.bad("a task without threads or on no node")
            self.tasks.append(tasks)
            rest = one[3]
        if rest:
            self.bad(f"{rest!r} at the end of the header")
        return True

    def check_object(self, cpu, application, task, thread):
        if not 1 <= application <= len(self.tasks) or not 1 <= task <= len(self.tasks[application - 1]):
            self.bad(f"there is no task {application}.{task}")
            return
        threads, node = self.tasks[application - 1][task - 1]
        if not 1 <= thread <= threads:
            self.bad(f"there is no thread {application}.{task}.{thread}")
        if cpu and (cpu >= len(self.node_of_cpu) or self.node_of_cpu[cpu] != node):
            self.bad(f"CPU {cpu} is not of the task's node")

    def check_time(self, *times):
        for time in times:
            if not 0 <= time <= self.length:
                self.bad(f"time {time} is not in the trace")

    def state(self, fields):
        if len(fields) != 7:
            self.bad("a state has 8 fields")
            return
        cpu, application, task, thread, begin, end, state = fields
        self.check_object(cpu, application, task, thread)
        self.check_time(begin, end)
        who = application, task, thread
        if end <= begin:
            self.bad("a state without length")
        if begin < self.state_end.get(who, 0):
            self.bad("it overlaps the state before of that thread")
        self.state_end[who] = end
        if state not in self.state_names:
            self.bad(f"state {state} has no name")
        self.states[state] += 1
        self.state_ns[state] += end - begin

    def event(self, fields):
        if len(fields) < 7 or len(fields) % 2 == 0:
            self.bad("an event has pairs of type and value")
            return
        self.check_object(*fields[:4])
        self.check_time(fields[4])
        for kind, value in zip(fields[5::2], fields[6::2]):
            if kind not in self.types:
                self.bad(f"type {kind} is not in the .pcf")
            elif self.types[kind] is not None and value not in self.types[kind]:
                self.bad(f"value {value} of type {kind} is not in the .pcf")
            self.events[kind] += 1
            if value:
                self.values[kind][value] += 1

    def message(self, fields):
        if len(fields) != 14:
            self.bad("a communication has 15 fields")
            return
        self.check_object(*fields[:4])
        self.check_object(*fields[6:10])
        logical_send, physical_send, logical_receive, physical_receive = fields[4], fields[5], fields[10], fields[11]
        self.check_time(logical_send, physical_send, logical_receive, physical_receive)
        if logical_send > physical_send or logical_receive > physical_receive:
            self.bad("physical before logical")
        if physical_receive < physical_send:
            self.bad("received before it is sent")
        if fields[12] < 0:
            self.bad("a negative size")
        self.messages[fields[13]] += 1
        self.bytes += fields[12]

    def run(self):
        self.state_end = {}
        path = self.path[:-3] if self.path.endswith(".gz") else self.path
        base = path[:-4] if path.endswith(".prv") else path
        self.read_pcf(base + ".pcf")
        self.read_row(base + ".row")
        last, first = 0, None
        kinds = {1: self.state, 2: self.event, 3: self.message}
        opener = gzip.open if self.path.endswith(".gz") else open
        with opener(self.path, "rt", encoding="ascii") as file:
            self.line = 1
            header = file.readline()
            if not header.endswith("\n") or not self.read_header(header[:-1]):
                return
            for self.line, line in enumerate(file, 2):
                if line.startswith("#"):
                    continue
                fields = line.rstrip("\n").split(":")
                if not line.endswith("\n") or not all(NUMBER.match(field) for field in fields):
                    self.bad(f"no record: {line[:60]!r}")
                    continue
                fields = [int(field) for field in fields]
                if fields[0] not in kinds or len(fields) < 6:
                    self.bad(f"no record: {line[:60]!r}")
                    continue
                if first is None:
                    first = fields[5]
                if fields[5] < last:
                    self.bad("it begins before the record before it")
                last = fields[5]
                kinds[fields[0]](fields[1:])
        if first:
            self.bad(f"the first record is at {first}, not at 0")
        threads = sum(count for tasks in self.tasks for count, _ in tasks)
        wanted = {"APPL": len(self.tasks), "TASK": sum(len(tasks) for tasks in self.tasks), "THREAD": threads}
        for level, size in wanted.items():
            if first is not None and len(self.levels.get(level, ())) != size:
                self.violations.append(f"{base}.row: {len(self.levels.get(level, ()))} names of {level}, the header "
                               f"has {size}")

    def tally(self):
        return {
            "length_ns": self.length,
            "tasks": self.tasks,
            "states": {self.state_names.get(state, state): count for state, count in self.states.items()},
            "state_ns": {self.state_names.get(state, state): ns for state, ns in self.state_ns.items()},
            "events": {str(kind): count for kind, count in sorted(self.events.items())},
            # events whose value is not 0: begins, where 0 is an end
            "begins": {str(kind): sum(values.values()) for kind, values in sorted(self.values.items())},
            "values": {str(kind): {(self.types.get(kind) or {}).get(value, str(value)): count
                           for value, count in values.items()}
                   for kind, values in sorted(self.values.items()) if self.types.get(kind)},
            "messages": {str(tag): count for tag, count in sorted(self.messages.items())},
            "bytes": self.bytes,
            "threads": self.levels.get("THREAD", []),
            "violations": len(self.violations),
        }


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    checker = Checker(sys.argv[1])
    try:
        checker.run()
    except (OSError, UnicodeDecodeError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        return 2
    for violation in checker.violations:
        print(violation, file=sys.stderr)
    if hasattr(checker, "tasks"):
        json.dump(checker.tally(), sys.stdout, indent=1)
        print()
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main())
