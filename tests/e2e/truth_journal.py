# SPDX-License-Identifier: BSD-2-Clause
"""The runtime's event-by-event journal, and the facts that a trace of it must have.

Input: what `journal --events FILE` prints, a line of JSON an event.
"""
import collections
import json

STOPS = {"task_end", "task_yielded", "task_suspended", "task_completed"}
# events whose thread a trace tells, beside those of tasks
THREAD = {"future_created", "future_wait", "future_set", "future_exception", "future_callback",
          "continuation_attached", "continuation_end", "steal", "steal_failed", "worker_start",
          "worker_stop", "message", "flow_start", "flow_step", "flow_end", "flow_shared_start",
          "flow_shared_end", "sent", "received", "lock_wait", "lock_acquired", "lock_released",
          "queue_depth"}
# the worker is the thread
WORKER = {"worker_sleep_begin", "worker_background_begin", "worker_bulk_begin", "worker_sleep_end",
          "worker_background_end", "worker_bulk_end"}
# drawn under a name that says less: which of the two it was does not show
SAME = {"flow_shared_start": "flow_start", "flow_shared_end": "flow_end"}


class Record:
    __slots__ = ("pid", "tid", "sequence", "stamp", "event", "args", "facts")

    def __init__(self, row, same):
        self.pid, self.tid, self.sequence = same(row["pid"]), same(row["tid"]), row["sequence"]
        self.stamp, self.event = row["stamp"], same(row["event"])
        self.args = same(tuple(map(same, row["args"])))
        self.facts = ()     # of the trace, found for it


def read(file):
    return map(json.loads, file)


class Expected:
    """threads, tasks and rows as in truth_trace.Facts: lists of (fact's key, record)"""

    def __init__(self, rows):
        self.errors = []
        self.records = collections.defaultdict(list)
        known = {}          # of equal values one
        for row in rows:
            record = Record(row, lambda value: known.setdefault(value, value))
            self.records[record.pid, record.tid].append(record)
        self.threads = collections.defaultdict(list)
        self.tasks = collections.defaultdict(list)
        self.rows = collections.defaultdict(list)
        self.names = collections.defaultdict(list)      # (pid, channel) -> names, oldest first
        self.colors = {}                                # marker's name -> what the program gave it
        self.uncovered = collections.Counter()          # events that nothing here looks for
        self.stacks = collections.defaultdict(list)
        self.begun = collections.Counter()
        self.zones = collections.defaultdict(list)
        self.setters = {}
        self.whole()
        self.tell_tasks()
        self.tell_threads()

    def whole(self):
        for (pid, tid), records in self.records.items():
            for number, record in enumerate(records, 1):
                if record.sequence != number:
                    self.errors.append(f"the journal of thread {tid} has no event {number}")
                    break

    def by_stamp(self, wanted):
        records = [record for thread in self.records.values() for record in thread
                   if wanted(record)]
        # a thread's own order holds also where two stamps are equal
        return sorted(records, key=lambda record: (record.stamp, record.sequence))

    def tell_tasks(self):
        """Events of one task follow from each other in this runtime, so their stamps order them."""
        names, running = {}, {}
        for record in self.by_stamp(lambda record: record.event.startswith("task_")):
            where, event, args = (record.pid, record.args[0]), record.event, record.args
            tid, key = (record.pid, record.tid), None
            if event in ("task_staged", "task_created"):
                names[where] = args[1]
                key = (event, args[1], args[2])
                if event == "task_created":
                    key += (tid,)
            elif event == "task_renamed":
                names[where] = args[1]
                key = (event, args[1])
            elif event == "task_begin":
                running[where] = tid
                key = (event, args[1], names.get(where, "task"), tid)
            elif event in STOPS:
                stopped = running.pop(where, None) is None
                # one stop a stay; what comes after it only ends a life
                if stopped and event != "task_completed":
                    continue
                key = (event,) + tuple(args[1:])
            elif event == "task_resumed":
                key = (event, args[1], args[2], tid)
            else:
                key = (event,)
            self.tasks[where].append((key, record))

    def tell_threads(self):
        for record in self.by_stamp(lambda record: True):
            where = record.pid, record.tid
            if record.event.startswith(("marker", "channel", "counter", "frame")):
                self.row(record)
                continue
            key = self.thread_key(where, record)
            if key is not None:
                self.threads[where].append((key, record))

    def row(self, record):
        event, args, pid = record.event, record.args, record.pid
        if event == "channel_name":
            self.names[pid, args[0]].append(args[1])
        elif event == "marker_color":
            self.colors[args[0]] = f"#{args[1]:06x}"
        elif event == "counter":
            self.rows["counter", pid, args[0]].append(((event,) + tuple(args), record))
        elif event == "frame":
            self.rows["frame", pid, args[0]].append(((event, args[0]), record))
        else:
            self.rows["channel", pid, args[0]].append(((event,) + tuple(args), record))

    def thread_key(self, where, record):
        event, args, pid = record.event, record.args, record.pid
        stack = self.stacks[where]
        if event == "task_begin":
            # a stay: the task, and its number among the thread's
            self.begun[where] += 1
            stack.append((args[0], self.begun[where]))
            return event, args[0], args[1]
        if event in STOPS:
            if not stack or stack[-1][0] != args[0]:
                return None
            stack.pop()
            return "stop", args[0]
        if event in ("task_created", "task_resumed"):
            return (event, args[0]) + tuple(args[1:] if event == "task_resumed" else ())
        if event.startswith("task_"):
            return None
        if event.startswith("zone_"):
            return self.zone(where, record)
        if event in ("future_set", "future_exception"):
            self.setters[pid, args[0]] = (where, stack[-1] if stack else None, self.begun[where])
        if event == "continuation_begin":
            return event, args[0], args[1], self.is_inline(where, args[0])
        if event in WORKER:
            return (event,) + tuple(args[1:])
        if event in THREAD:
            return (SAME.get(event, event),) + tuple(args)
        self.uncovered[event] += 1
        return None

    def zone(self, where, record):
        """zones are the running task's, wherever it runs, else the thread's"""
        event, args, stack = record.event, record.args, self.stacks[where]
        zones = self.zones[(record.pid, stack[-1][0]) if stack else where + ("thread",)]
        if event == "zone_begin":
            zones.append({})
            return event, args[0], args[1], args[2]
        if event == "zone_end":
            notes = zones.pop() if zones else {}
            return event, tuple(sorted(notes.items()))
        if event == "zone_value" and zones:
            zones[-1][args[0]] = args[1]
        else:
            self.uncovered[event] += 1
        return None

    def is_inline(self, where, future):
        """interface, section 5: on the thread that set its future, before that task's next stop"""
        setter, stay, begun = self.setters.get((where[0], future), (None, None, 0))
        if setter != where:
            return False
        return stay in self.stacks[where] if stay else begun == self.begun[where]
