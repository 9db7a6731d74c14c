# SPDX-License-Identifier: BSD-2-Clause
"""Compares a Perfetto trace with the runtime's event-by-event journal, event by event.

    truth.py [--killed] TRACE EVENTS

EVENTS is what `journal --events` prints; the tracer was attached before the program's first point.
Prints the differences (the first of each kind) and exits with 1 if there are any, else one line.

  threads   every event that a trace tells the thread of, in order, with all arguments: none missing,
            none invented
  tasks     every event of each task, in order, with names, parents, workers, threads, reasons, objects,
            causes
  rows      markers with their colours, counters, frames of each row, in each thread's order
  order     whatever one thread did after another thing stands after it in the trace, and has a time
            between the journal's stamps before and after it
  gaps      each task: suspended, ready and stopped from when to when, with reason, object, cause, waker
  arrows    creation -> first run; future set -> wake -> resumed run; victim -> thief; flows of the
            program; sent -> received; and no others
  gauges    running, ready and suspended tasks and active continuations at every moment; steals per s

--killed: the program was killed. What the journal has must be in the trace; each thread may have been
in one point that the trace has and the journal has not.
"""
import argparse
import collections
import itertools
import statistics
import sys

from perfetto_check import open_trace
from truth_journal import Expected, read
from truth_trace import Facts, Reader

SHOWN = 5           # differences of a kind
# the points' clocks, the model's putting right of inversions, and the line through the stamps
CLOCK_NS = 5000
# docs/formats.md, "Colours of markers"
PALETTE = ("#0082c8 #e6194b #3cb44b #ffe119 #f58230 #911eb4 #46f0f0 #f032e6 #d2f53c #fabed4 #008080 "
           "#dcbeff #aa6e28 #fffac8 #800000 #aaffc3 #808000 #ffd7b4 #000080 #808080 #d9d9d9 #0000ff").split()
COUNTED = {"running tasks": 0, "ready tasks": 1, "suspended tasks": 2, "active continuations": 3}


class Waits:
    """which tasks wait for a future, from what the trace says up to some point"""

    def __init__(self, tasks):
        self.of = collections.defaultdict(set)
        self.task = {}
        # suspensions, runs, and the ends of lives
        self.changes = sorted(((fact.event.index, where, fact) for where, facts in tasks.items() for fact in facts
                               if fact.what in ("task_suspended", "task_begin", "task_destroyed")),
                              key=lambda change: change[0])
        self.position = 0

    def take(self, fact):
        """everything up to and including that fact of a thread"""
        while self.position < len(self.changes) and self.changes[self.position][0] <= fact.event.index:
            _, where, change = self.changes[self.position]
            self.waits(where, (where[0], change.args[1]) if change.what == "task_suspended" else None)
            self.position += 1
        # without a task: a thread does, and is woken by no RESUMED
        if fact.what == "future_wait" and fact.args[1]:
            self.waits((fact.tid[0], fact.args[1]), (fact.tid[0], fact.args[0]))

    def waits(self, task, future):
        before = self.task.pop(task, None)
        if before:
            self.of[before].discard(task)
        if future and future[1]:
            self.task[task] = future
            self.of[future].add(task)


class Locks:
    """
    Arrows from a release, if somebody waits, to who of these acquires the lock next; and of each wait whether
    it was one, and for whom.
    """

    def __init__(self, compared):
        self.compared = compared
        self.waiting = collections.defaultdict(dict)    # lock -> who waits -> waited at the last release
        self.released = {}
        self.holds = collections.defaultdict(list)      # lock -> (who, name, tid), newest first
        self.turns = collections.Counter()              # lock -> acquired and released, how often
        self.last = {}
        self.begun = {}                                 # lock, who -> as the wait began
        self.runs = collections.Counter()
        self.names = {}

    def take(self, fact, result):
        if fact.what == "task_begin":
            self.runs[fact.tid[0], fact.args[0]] += 1
            self.names[fact.tid[0], fact.args[0]] = fact.event.name
        if fact.what not in ("lock_wait", "lock_acquired", "lock_released"):
            return
        lock, who = (fact.tid[0], fact.args[0]), fact.running or fact.tid
        waiting = self.waiting[lock]
        if fact.what == "lock_wait":
            waiting[who] = False
            self.begun[lock, who] = self.holder(lock, who), self.turns[lock], self.runs[fact.tid[0], who]
        elif fact.what == "lock_acquired":
            self.wait(fact, lock, who)
            self.holds[lock].insert(0, (who, self.names.get((fact.tid[0], who)), fact.tid[1]))
            self.last[lock] = self.holds[lock][0]
            self.turns[lock] += 1
            arrow = self.released.pop(lock, None)
            result["lock"].append(([], [arrow] if waiting.pop(who, False) and arrow else [], fact))
        else:
            self.holds[lock] = [hold for hold in self.holds[lock] if hold[0] != who]
            self.turns[lock] += 1
            self.released.pop(lock, None)
            if waiting:
                self.released[lock] = self.compared.only(fact.flows, fact, "lock")[0]
            result["lock"].append(([self.released[lock]] if waiting else [], [], fact))
            for other in waiting:
                waiting[other] = True

    def holder(self, lock, who):
        return next((hold for hold in self.holds[lock] if hold[0] != who), None)

    def wait(self, fact, lock, who):
        """annotations of the wait's last part, and before that what was known when it began"""
        held, turns, runs = self.begun.pop((lock, who), (None, None, None))
        if turns is None:
            return
        others = self.turns[lock] != turns
        holder = held or (self.last[lock] if others and self.last[lock][0] != who and lock in self.last else None)
        contended = bool(held or others or self.runs[fact.tid[0], who] != runs)
        parts = fact.wait or [{}]
        told = [self.annotations(True, held) if held else {}] + [{}] * (len(parts) - 2)
        told = told[:len(parts) - 1] + [self.annotations(contended, holder)]
        if parts != told:
            self.compared.differ("threads", f"wait for {fact.key()} until {fact.event.time}: {parts}, should be {told}")

    @staticmethod
    def annotations(contended, holder):
        args = {"contended": contended}
        if holder and not isinstance(holder[0], tuple):
            args["holder"] = f"{holder[0]:#x}"
            args["holder_name"] = holder[1]
        if holder:
            args["holder_tid"] = holder[2]
        return args


class Comparison:
    def __init__(self, facts, expected, killed):
        self.facts, self.expected, self.killed = facts, expected, killed
        self.kinds = collections.Counter()
        self.differences = []
        self.compared = collections.Counter()
        self.extra = collections.Counter()
        self.rows_of_threads = {(track.pid, track.tid): track.name
                                for track in facts.reader.tracks.values() if track.kind == "thread"}

    def differ(self, kind, message):
        self.kinds[kind] += 1
        if self.kinds[kind] <= SHOWN:
            self.differences.append(f"{kind}: {message}")

    # events

    def sequence(self, kind, where, facts, expected):
        """two lists that must be the same; a killed thread's trace may have one event more"""
        for number, (fact, (key, record)) in enumerate(zip(facts, expected)):
            self.compared[kind] += 1
            if self.key(kind, fact) != key:
                before = [self.key(kind, fact) for fact in facts[max(0, number - 2):number]]
                self.differ(kind, f"{where} number {number}: trace {self.key(kind, fact)} at "
                                  f"{fact.event.time}, journal {key}; before it {before}")
                return
            record.facts += (fact,)
        more = len(facts) - len(expected)
        if more < 0:
            self.differ(kind, f"{where}: missing {-more}, first {expected[len(facts)][0]}")
        elif more:
            self.extra[kind] += more
            if not self.killed or more > 1:
                self.differ(kind, f"{where}: invented {more}, first "
                                  f"{self.key(kind, facts[len(expected)])}")

    @staticmethod
    def key(kind, fact):
        if kind == "tasks" and fact.what in ("task_created", "task_begin", "task_resumed"):
            return fact.key() + (fact.tid,)
        return fact.key()

    def events(self):
        for kind in ("threads", "tasks"):
            found, expected = getattr(self.facts, kind), getattr(self.expected, kind)
            for where in sorted(found.keys() | expected.keys(), key=repr):
                self.sequence(kind, where, found.get(where, []), expected.get(where, []))
        for event, count in self.expected.uncovered.items():
            self.differ("threads", f"{count} times {event}, which is not looked for")

    def rows(self):
        """samples of several threads on one row: each is matched to an equal one of a thread, in order"""
        found, expected = self.facts.rows, self.expected.rows
        for row in sorted(found.keys() | expected.keys(), key=repr):
            queues = collections.defaultdict(collections.deque)
            for key, record in expected.get(row, []):
                queues[record.tid].append((key, record))
            if row[0] == "channel":
                self.idle_resets(expected.get(row, []), queues)
            for fact in found.get(row, []):
                heads = [queue for queue in queues.values() if queue and queue[0][0] == fact.key()]
                heads.sort(key=lambda queue: queue[0][1].stamp)
                self.compared["rows"] += 1
                if not heads:
                    self.extra["rows"] += 1
                    if not self.killed:
                        self.differ("rows", f"{row}: trace {fact.key()} at {fact.event.time}, journal "
                                            f"{[queue[0][0] for queue in queues.values() if queue]}")
                        break
                    continue
                heads[0].popleft()[1].facts += (fact,)
            for queue in queues.values():
                if queue:
                    self.differ("rows", f"{row}: missing {len(queue)}, first {queue[0][0]}")

    @staticmethod
    def idle_resets(expected, queues):
        """a reset of a channel without an open marker leaves nothing in the trace"""
        is_open = False
        for key, record in expected:
            if key[0] == "marker_reset" and not is_open:
                queues[record.tid].remove((key, record))
            is_open = key[0] == "marker_set" or key[0] != "marker_reset" and is_open

    def names(self):
        for (pid, channel), names in self.expected.names.items():
            track = self.facts.channel_names.get((pid, channel))
            if track and track.name != names[-1]:
                self.differ("rows", f"channel {channel}: named {track.name!r}, journal {names}")
        palette = itertools.cycle(PALETTE)
        for name, found in self.facts.colors.items():
            color = self.expected.colors.get(name) or next(palette)
            if found != {color}:
                self.differ("rows", f"marker {name}: colours {found}, should be {color}")

    def counted_extra(self):
        """what the trace has beyond the journal: one event a thread at most"""
        if not self.killed:
            return
        extra = self.extra["threads"] + self.extra["rows"]
        # those of tasks whose thread shows were counted as their thread's
        for where, facts in self.facts.tasks.items():
            for fact in facts[len(self.expected.tasks.get(where, [])):]:
                extra += fact.what in ("task_staged", "task_ready", "task_destroyed", "task_renamed")
        if extra > len(self.expected.records):
            self.differ("threads", f"{extra} events more than the journal, of "
                                   f"{len(self.expected.records)} threads")

    # order and time

    def line(self):
        """boottime = a + b * stamp, along the points that were journalled with the least delay"""
        pairs = [(record.stamp, record.facts[0].event.time) for records in
                 self.expected.records.values() for record in records if record.facts]
        if len(pairs) < 2:
            return None
        pairs.sort()
        first = pairs[0]
        best = [(stamp - first[0], time - first[1]) for stamp, time in pairs]
        size = max(len(pairs) // 64, 1)
        # medians: a time that is wrong must not bend the line until it is right
        slope = self.slope(best)
        for _ in range(4):
            best = [max(((stamp - first[0], time - first[1]) for stamp, time in pairs[i:i + size]),
                        key=lambda point: point[1] - slope * point[0]) for i in range(0, len(pairs), size)]
            slope = self.slope(best)
        rest = statistics.median(y - slope * x for x, y in best)
        return lambda stamp: first[1] + rest + slope * (stamp - first[0])

    @staticmethod
    def slope(points):
        """the median of those between points that are half of all apart"""
        half = (len(points) + 1) // 2
        slopes = [(other[1] - one[1]) / (other[0] - one[0]) for one, other in zip(points, points[half:])
                  if other[0] > one[0]]
        return statistics.median(slopes) if slopes else 1

    def order(self):
        line = self.line()
        if line is None:
            self.differ("order", "too little to compare")
            return
        for (pid, tid), records in self.expected.records.items():
            last, time, before = -1, 0, None
            for record in records:
                if record.facts:
                    indices = [fact.event.index for fact in record.facts]
                    if min(indices) <= last:
                        self.differ("order", f"thread {tid}: event {record.sequence} {record.event} "
                                             f"{record.args} stands before the one before it")
                    last = max(indices)
                    if any(fact.event.time < time for fact in record.facts):
                        self.differ("order", f"thread {tid}: event {record.sequence} {record.event} "
                                             f"{record.args} has a time before the one before it")
                    time = max(fact.event.time for fact in record.facts)
                    early = line(before.stamp) - CLOCK_NS if before else 0
                    late = line(record.stamp) + CLOCK_NS
                    for fact in record.facts:
                        self.compared["times"] += 1
                        if not early <= fact.event.time <= late:
                            self.differ("times", f"thread {tid}: event {record.sequence} {record.event}"
                                                 f" {record.args} at {fact.event.time}, journal "
                                                 f"{early:.0f} to {late:.0f}")
                before = record

    # gaps

    def gaps(self):
        for where in sorted(self.facts.tasks.keys() | self.facts.gaps.keys()):
            expected = self.expected_gaps(self.facts.tasks.get(where, []))
            found = [(gap.category, gap.name, gap.begin.time, gap.end.time if gap.end else None,
                      tuple(sorted((key, value) for key, value in gap.args.items() if key != "cut")))
                     for gap in self.facts.gaps.get(where, [])]
            # those that the end of the program cut
            cut = {i for i, gap in enumerate(self.facts.gaps.get(where, [])) if gap.args.get("cut")}
            expected += self.never_ready(self.facts.tasks.get(where, []), found[len(expected):])
            self.compared["gaps"] += len(expected)
            for number in range(max(len(found), len(expected))):
                mine = found[number] if number < len(found) else None
                other = expected[number] if number < len(expected) else None
                if mine and other and (number in cut) == (other[3] is None):
                    if number in cut and mine[:3] == other[:3] or mine == other:
                        continue
                self.differ("gaps", f"task {where[1]:#x} number {number}: trace {mine}, events {other}")
                break

    def expected_gaps(self, facts):
        gaps, opened, early = [], None, None

        def close(event, *args):
            nonlocal opened
            if opened:
                gaps.append(opened + (event and event.time, tuple(sorted(args))))
            opened = None

        for fact in facts:
            time, what = fact.event.time, fact.what
            if what == "task_ready":
                close(fact.event)
                opened = ("task.ready", "ready", time)
            elif what == "task_begin" or what == "task_destroyed":
                close(fact.event)
            elif what == "task_yielded":
                opened = ("task.ready", "ready", time)
            elif what in ("task_suspended", "task_end"):
                reason = fact.args[0] if fact.args else None
                opened = ("task.suspended", f"suspended: {reason}" if reason else "suspended", time) \
                    if what == "task_suspended" else ("task.stopped", "stopped", time)
                if early:
                    close(fact.event, *self.wake_args(early))
                    opened, early = ("task.ready", "ready", time), None
            elif what == "task_resumed":
                if not opened:
                    early = fact
                    continue
                close(fact.event, *self.wake_args(fact))
                opened = ("task.ready", "ready", time)
            elif what == "task_completed":
                close(fact.event)
        close(None)
        return gaps

    def never_ready(self, facts, rest):
        """created, and killed before it was said to be ready: may be drawn as ready, if there is a row"""
        if not self.killed or not rest or not facts or facts[-1].what != "task_created":
            return []
        return [("task.ready", "ready", facts[-1].event.time, None, ())]

    def wake_args(self, wake):
        """a task by its identity, a thread on which none ran by the name of its row"""
        cause, waker = wake.args[0], wake.running
        args = [("cause", cause)] if cause else []
        if waker:
            return args + [("waker", f"{waker:#x}")]
        return args + [("waker", self.rows_of_threads[wake.tid] or f"thread {wake.tid[1]}"),
                       ("tid", wake.tid[1])]

    # arrows

    def arrows(self):
        points = self.arrow_points()
        expected = self.expected_arrows()
        for name, ids in expected.items():
            for number, (flows, ends, fact) in enumerate(ids):
                self.compared["arrows"] += 1
                if sorted(fact.flows) != sorted(flows) or sorted(fact.ends) != sorted(ends):
                    self.differ("arrows", f"{name} of {fact.key()} at {fact.event.time}: flows "
                                          f"{[hex(i) for i in fact.flows]} ends {[hex(i) for i in fact.ends]},"
                                          f" should be {[hex(i) for i in flows]}, {[hex(i) for i in ends]}")
        told = sum(len(flows) + len(ends) for ids in expected.values() for flows, ends, _ in ids)
        told += len(self.facts.stolen)
        if told != points:
            self.differ("arrows", f"{points} ends of arrows in the trace, {told} with a reason")

    def arrow_points(self):
        return sum(len(event.flows) + len(event.ends) for event in self.facts.reader.events)

    def expected_arrows(self):
        """for every fact that an arrow must touch: ids that pass, ids that end; None: any new one"""
        self.used = set()
        result = collections.defaultdict(list)
        everything = sorted((fact for facts in self.facts.threads.values() for fact in facts),
                            key=lambda fact: fact.event.index)
        sets, wakes, waits, locks = {}, {}, Waits(self.facts.tasks), Locks(self)
        for fact in everything:
            pid = fact.tid[0]
            waits.take(fact)
            locks.take(fact, result)
            if fact.what in ("future_set", "future_exception"):
                # one for each task that waits, in the order of their wakes, and one for all others
                where = pid, fact.args[0]
                sets[where] = self.fresh(fact, "set", len(waits.of[where]) + 1), set(waits.of[where])
                result["set"].append((sets[where][0][:], [], fact))
            elif fact.what == "future_created":
                sets.pop((pid, fact.args[0]), None)
            elif fact.what == "task_resumed":
                flows = self.wake(fact, *sets.get((pid, fact.args[2]), ([], set())))
                wakes[fact.event.index] = flows[0]
                result["wake"].append((flows, [], fact))
            elif fact.what == "steal":
                self.steal(fact, result)
        self.task_arrows(result, wakes)
        self.program_arrows(everything, result)
        return result

    def wake(self, fact, told, waited):
        """the arrow to the woken task's run first; @told: those left of the future's set, whom @waited for"""
        task = fact.tid[0], fact.args[0]
        if task in waited:
            waited.discard(task)
            if len(told) > 1:
                return [told.pop(0)]
            self.differ("arrows", f"wake: {fact.key()} at {fact.event.time} has no arrow from the set")
        shared = told[-1:]
        return self.only([flow for flow in fact.flows if flow not in shared], fact, "wake") + shared

    def fresh(self, fact, name, count):
        """so many arrows start here, and nowhere else"""
        flows = set(fact.flows)
        if len(flows) != count or len(fact.flows) != count or self.used & flows:
            self.differ("arrows", f"{name}: not {count} arrows of its own leave {fact.key()} at "
                                  f"{fact.event.time}, but {len(fact.flows)}")
        self.used |= flows
        return sorted(flows)

    def only(self, flows, fact, name):
        """the one of these that starts here, and nowhere else"""
        if len(flows) != 1 or flows[0] in self.used:
            self.differ("arrows", f"{name}: no arrow of its own leaves {fact.key()} at {fact.event.time}")
            return [0]
        self.used.add(flows[0])
        return flows

    def task_arrows(self, result, wakes):
        """@wakes: place in the trace -> the arrow from there to the run that follows"""
        for facts in self.facts.tasks.values():
            create = wake = None
            for fact in facts:
                if fact.what == "task_created":
                    create, wake = self.only(fact.flows, fact, "spawn")[0], None
                    result["spawn"].append(([create], [], fact))
                elif fact.what == "task_resumed":
                    wake = wakes.get(fact.event.index)
                elif fact.what == "task_begin":
                    result["run"].append(([], [flow for flow in (create, wake) if flow], fact))
                    create = wake = None

    def steal(self, fact, result):
        flow = fact.ends[0] if fact.ends else 0
        result["steal"].append(([], [flow], fact))
        where, args, time = self.facts.stolen.get(flow, (None, {}, 0))
        victim = self.facts.workers.get((fact.tid[0], fact.args[1]))
        if where != (fact.tid[0], victim) or time != fact.event.time or \
                (args.get("thief"), args.get("victim")) != fact.args[:2]:
            self.differ("arrows", f"steal {fact.key()} at {fact.event.time}: no arrow from worker "
                                  f"{fact.args[1]}'s row")

    def program_arrows(self, everything, result):
        """each id of the program's, of each kind, is one arrow: start, steps, end"""
        marks = [fact for facts in self.facts.rows.values() for fact in facts
                 if fact.what.startswith("marker_flow")]
        shared = self.shared_ids()
        ids, running = {}, set()
        points = [fact for fact in everything if fact.what in ("flow_start", "flow_step", "flow_end",
                                                               "sent", "received")] + marks
        for fact in sorted(points, key=lambda fact: fact.event.index):
            kind = "message" if fact.what in ("sent", "received") else fact.what[:11]
            if fact.what in ("flow_start", "flow_step", "flow_end"):
                kind = "shared" if fact.event.index in shared else f"own {fact.tid[0]}"
            thing = fact.args[1] if kind == "marker_flow" else fact.args[0]
            here = (fact.flows + fact.ends + (0,))[0]
            flow = ids.setdefault((kind, thing), here)
            starts = fact.what.endswith(("start", "sent"))
            ends = fact.what.endswith(("end", "received"))
            if starts and flow not in running and flow in self.used:
                self.differ("arrows", f"{kind} {thing:#x}: shares an arrow with another")
            if starts:
                running.add(flow)
                self.used.add(flow)
            terminates = ends and flow in running
            if terminates:
                running.discard(flow)
            elif not starts and flow not in running:
                self.differ("arrows", f"{kind} {thing:#x}: {fact.what} without a start before")
            result["flow"].append(([] if terminates else [flow], [flow] if terminates else [], fact))

    def shared_ids(self):
        """places of facts whose journal says that it was a shared one"""
        return {record.facts[0].event.index for records in self.expected.records.values()
                for record in records if record.facts and "shared" in record.event}

    # gauges

    def gauges(self):
        """at each sample, and whenever time goes on, the count of what the facts so far say"""
        changes = []
        for (pid, _), facts in self.facts.tasks.items():
            state = None
            for fact in facts:
                new = {"task_created": 1, "task_ready": 1, "task_yielded": 1, "task_begin": 0,
                       "task_resumed": 1, "task_suspended": 2}.get(fact.what)
                if new == state or fact.what == "task_renamed":
                    continue
                changes.append((fact.event.index, fact.event.time, pid, state, new))
                state = new
        # its thread ended under it, before the process did
        for pid, _, event in self.facts.cuts:
            changes.append((event.index, event.time, pid, 0, None))
        for (pid, _), facts in self.facts.threads.items():
            for fact in facts:
                if fact.what.startswith("continuation_") and fact.what != "continuation_attached":
                    pair = (None, 3) if fact.what.endswith("begin") else (3, None)
                    changes.append((fact.event.index, fact.event.time, pid) + pair)
        changes.sort(key=lambda change: change[0])
        self.gauge_samples(changes)

    def gauge_samples(self, changes):
        counts = collections.defaultdict(lambda: [0, 0, 0, 0])
        samples = [(event.index, event.time, pid, name, event.value)
                   for (pid, name), events in self.facts.gauges.items() for event in events]
        samples.sort()
        # a killed process ends there, and all of its tasks with it
        ends = {pid: time for _, time, pid, _, _ in samples} if self.killed else {}
        shown = collections.defaultdict(lambda: [None, None, None, 0])
        position = 0
        for index, time, pid, name, value in samples + [(1 << 62, 1 << 62, None, None, None)]:
            while position < len(changes) and changes[position][0] < index:
                _, when, owner, old, new = changes[position]
                if position and when > changes[position - 1][1]:
                    self.same_gauges(counts, shown, when)
                if old is not None:
                    counts[owner][old] -= 1
                if new is not None:
                    counts[owner][new] += 1
                position += 1
            if pid is not None:
                which = COUNTED[name]
                if value == shown[pid][which]:
                    self.differ("gauges", f"{name} is {value} at {time}, as it was")
                shown[pid][which] = value
                self.compared["gauges"] += 1
                if value != counts[pid][which] and time != ends.get(pid):
                    self.differ("gauges", f"{name} is {value} at {time}, events say {counts[pid][which]}")
        if not self.killed:
            self.same_gauges(counts, shown, None)

    def same_gauges(self, counts, shown, time):
        for pid in counts:
            if counts[pid] != shown[pid]:
                self.differ("gauges", f"before {time}: gauges say {shown[pid]}, events {counts[pid]}")

    def rates(self):
        for pid, samples in self.facts.steal_rates.items():
            steals = sum(fact.what == "steal" for (owner, _), facts in self.facts.threads.items()
                         for fact in facts if owner == pid)
            # each is a stretch of 10 ms
            told = sum(sample.value for sample in samples) / 100
            if told != steals:
                self.differ("gauges", f"steals per s add up to {told}, events to {steals}")

    def run(self):
        for error in self.expected.errors + self.facts.errors:
            self.differ("whole", error)
        self.events()
        self.rows()
        self.names()
        self.counted_extra()
        self.order()
        self.gaps()
        self.arrows()
        self.gauges()
        self.rates()
        return sum(self.kinds.values())


def load(trace, events):
    reader = Reader()
    stream, process = open_trace(trace)
    with stream:
        reader.run(stream)
    if process:
        process.wait()
    with open(events, encoding="utf-8") as file:
        return reader, Expected(read(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--killed", action="store_true")
    parser.add_argument("trace")
    parser.add_argument("events")
    options = parser.parse_args()
    reader, expected = load(options.trace, options.events)
    comparison = Comparison(Facts(reader), expected, options.killed)
    for violation in reader.violations:
        comparison.differ("file", violation)
    differences = comparison.run()
    for line in comparison.differences:
        print(line)
    records = sum(len(records) for records in expected.records.values())
    print(f"{records} events, {comparison.compared['gaps']} gaps, {comparison.compared['arrows']} arrows "
          f"compared, {differences} differences")
    return 1 if differences or not records or not comparison.compared["arrows"] else 0


if __name__ == "__main__":
    sys.exit(main())
