# SPDX-License-Identifier: BSD-2-Clause
"""What a Perfetto trace says happened, as facts that can be compared with a journal.

The decoder is perfetto_check.py's. Nothing here knows the exporter's code: only where the interface says
that each event is found. A fact is what one event of events.def left in the trace.
"""
import collections

from perfetto_check import Checker, signed, text, varint

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
NONE = {}           # of annotations, of most events: not one each


class Event:
    """of the trace; an end has its begin's category, name and, beside its own, annotations"""
    __slots__ = ("index", "time", "kind", "track", "category", "name", "args", "flows", "ends", "value",
                 "begin")

    def __init__(self, index, time, kind, track):
        self.index, self.time, self.kind, self.track = index, time, kind, track
        self.category = self.name = self.value = self.begin = None
        self.args, self.flows, self.ends = NONE, (), ()


class Reader(Checker):
    """
    Keeps every event in full, but for the kernel's, on rows of their own. Values of counters that stand in
    another event are samples of their own here, behind it; a counter that has its value already says nothing.
    """

    def __init__(self):
        super().__init__()
        self.events = []
        self.kernel_rows = set()
        self.same = {}          # of equal values one: addresses stand in many events

    def event(self, data, time, sequence, flags):
        kind = track = category = name = value = None
        args, flows, ends, extra, counters = {}, [], [], [], []
        pos, end = 0, len(data)
        while pos < end:
            key, pos = varint(data, pos)
            if key & 7 == 0:
                number, pos = varint(data, pos)
                if key == 0x58:
                    track = self.tracks.get(number)
                elif key == 0x48:
                    kind = number
                elif key == 0x18:
                    category = sequence.interned[1].get(number)
                elif key == 0x50:
                    name = sequence.interned[2].get(number)
                elif key == 0xF0:
                    value = signed(number)
                elif key == 0x60:
                    extra.append(signed(number))
                elif key == 0xF8:
                    counters.append(number)
            elif key & 7 == 1:
                number = int.from_bytes(data[pos:pos + 8], "little")
                pos += 8
                if key == 0x179:
                    flows.append(number)
                elif key == 0x181:
                    ends.append(number)
                else:
                    value = number      # no program of the runtime's has a counter of doubles
            else:
                size, pos = varint(data, pos)
                if key == 0x22:
                    said, said_value = self.annotation(data[pos:pos + size], sequence)
                    args[said] = self.same.setdefault(said_value, said_value)
                elif key == 0xBA:
                    name = text(data[pos:pos + size])
                pos += size
        if track is None:
            self.bad("an event on a track without a descriptor")
            return
        if category and category.startswith("kernel."):
            self.kernel_rows.add(track.uuid)
        samples = [(other, now) for other, before, now in self.extra(extra, counters, time, sequence)
                   if now != before]
        if track.uuid not in self.kernel_rows:
            if kind == COUNTER:
                value = self.sample(track, value, sequence)
            event = self.keep(time, kind, track)
            event.category, event.name, event.value = category, name, value
            event.flows, event.ends = tuple(flows), tuple(ends)
            if args:
                event.args = self.same.setdefault(tuple(args.items()), args)
        for other, now in samples:
            self.keep(time, COUNTER, other).value = now

    def keep(self, time, kind, track):
        event = Event(len(self.events), time, kind, track)
        self.events.append(event)
        return event


def number(value):
    """identities are hexadecimal strings"""
    return int(value, 16) if isinstance(value, str) and value.startswith("0x") else value or 0


class Fact:
    __slots__ = ("what", "args", "event", "tid", "running", "dead", "interrupted", "flows", "ends",
                 "shared", "wait")

    def __init__(self, what, args, event, tid=None, running=None):
        self.what, self.args, self.event, self.tid, self.running = what, args, event, tid, running
        self.dead = self.interrupted = False
        self.flows, self.ends = event.flows, event.ends
        self.shared = None
        self.wait = ()                  # of a lock that is acquired: annotations of the wait's parts

    def key(self):
        return (self.what,) + tuple(self.args)


class Gap:
    __slots__ = ("category", "name", "begin", "end", "args")

    def __init__(self, event):
        self.category, self.name, self.begin, self.end = event.category, event.name, event, None
        self.args = {}


FUTURES = {"future.created": "future_created", "future.wait": "future_wait", "future.set": "future_set",
           "future.exception": "future_exception", "future.callback": "future_callback",
           "continuation.attached": "continuation_attached"}
STATES = {"task.staged": "task_staged", "task.created": "task_created", "task.yielded": "task_yielded",
          "task.completed": "task_completed", "task.destroyed": "task_destroyed",
          "task.renamed": "task_renamed"}
SPANS = {"worker.sleep": "worker_sleep", "worker.background": "worker_background",
         "worker.bulk": "worker_bulk"}
GAPS = {"task.suspended", "task.ready", "task.stopped"}
GAUGES = {"running tasks", "ready tasks", "suspended tasks", "active continuations"}


class Facts:
    """threads, tasks and rows: lists of facts in the order of the trace, by (pid, tid), (pid, task), row"""

    def __init__(self, reader):
        self.reader = reader
        self.errors = []
        self.threads = collections.defaultdict(list)
        self.tasks = collections.defaultdict(list)
        self.gaps = collections.defaultdict(list)
        self.rows = collections.defaultdict(list)
        self.cuts = []                  # ends of stays that no event ended
        self.gauges = collections.defaultdict(list)
        self.steal_rates = collections.defaultdict(list)
        self.stolen = {}                # flow of the arrow -> its instant's (pid, tid, args, time)
        self.channel_names = {}
        self.colors = {}                # marker's name -> colours; names in the order in which they are drawn
        self.stacks = collections.defaultdict(list)     # (pid, tid) -> stays, innermost last
        self.open = collections.defaultdict(list)       # track -> begins
        self.hosts = {}                 # row of a task -> (pid, tid) while it runs
        self.holders = {}               # row of a task -> task
        self.gap_says = set()           # whether gaps are annotated with their task
        self.open_gaps = {}             # row of a task -> gap
        self.ended = {}                 # identity of a slice in parts -> fact of its last end
        self.runs_ended = {}            # (pid, task) -> end of its run, until the stay's
        self.waits_ended = {}           # lock's identity -> end of the wait for it
        self.wait_parts = collections.defaultdict(list)     # ... -> annotations of the ends of its parts
        self.lock_names = {}            # (pid, lock) -> name of the last wait
        self.lanes_ended = {}           # row -> last end of a marker or frame
        self.notes = {}                 # ... -> annotations of its parts so far
        self.parked = collections.defaultdict(list)     # (pid, task) -> facts of ends at its last stop
        self.workers = {}               # (pid, worker) -> tid
        self.spawned = {}
        self.last_stay = None
        self.latest = 0
        self.pids = {}
        for event in reader.events:
            self.take(event)
            self.latest = max(self.latest, event.time)
        self.finish()

    def bad(self, event, message):
        self.errors.append(f"event {event.index} at {event.time} ({event.category} "
                           f"{event.name!r}): {message}")

    def pid(self, track):
        if track.uuid not in self.pids:
            self.pids[track.uuid] = self.reader.root(track).pid
        return self.pids[track.uuid]

    def place(self, event):
        """(pid, tid) of whoever caused the event, None: not known; and the innermost task there"""
        track = event.track
        if track.kind == "thread":
            where = (track.pid, track.tid)
        else:
            where = self.hosts.get(track.uuid)
        if where is None:
            return None, 0
        stack = self.stacks[where]
        return where, stack[-1].args[0] if stack else 0

    def take(self, event):
        if event.kind == COUNTER:
            self.sample(event)
        elif event.kind == INSTANT:
            self.instant(event)
        elif event.kind == BEGIN:
            self.open[event.track.uuid].append(event)
            self.begin(event)
        else:
            stack = self.open[event.track.uuid]
            if not stack:
                self.bad(event, "an end without a begin")
                return
            event.begin = stack.pop()
            event.category, event.name = event.begin.category, event.begin.name
            self.end(event)

    def on_thread(self, event, what, *args):
        where, running = self.place(event)
        if where is None:
            self.bad(event, f"{what} on row {event.track.name!r}, whose task does not run")
            return None
        fact = Fact(what, args, event, where, running)
        self.threads[where].append(fact)
        return fact

    def on_task(self, event, task, what, *args, tid=None, running=0):
        fact = Fact(what, args, event, tid, running)
        self.tasks[self.pid(event.track), task].append(fact)
        return fact

    def sample(self, event):
        track, pid = event.track, self.pid(event.track)
        if track.name in GAUGES:
            self.gauges[pid, track.name].append(event)
        elif track.name == "steals per s":
            self.steal_rates[pid].append(event)
        elif track.name.startswith("queue depth "):
            worker = int(track.name.split()[-1])
            where = pid, self.workers.get((pid, worker))
            self.threads[where].append(Fact("queue_depth", (worker, event.value), event, where))
        else:
            self.rows["counter", pid, track.name].append(Fact("counter", (track.name, event.value), event))

    def instant(self, event):
        category, args, track = event.category, event.args, event.track
        pid = self.pid(track)
        task, thing = number(args.get("task")), number(args.get("object"))
        if category != "message" and event.name != category:
            self.bad(event, "its name is not its category's")
        if category in STATES:
            self.state(event, pid, task)
        elif category == "task.spawn":
            fact = self.on_thread(event, "task_created", task)
            if fact:
                self.spawned[pid, task] = fact
        elif category == "task.wake":
            fact = self.on_thread(event, "task_resumed", task, args.get("cause"), thing)
            if fact:
                fact.shared = self.on_task(event, task, "task_resumed", args.get("cause"), thing,
                                           tid=fact.tid, running=fact.running)
        elif category in FUTURES:
            extra = ()
            if category == "future.wait":
                extra = (task,)
            elif category == "continuation.attached":
                extra = (number(args.get("continuation")),)
            self.on_thread(event, FUTURES[category], thing, *extra)
        elif category == "steal":
            self.on_thread(event, "steal", args.get("thief"), args.get("victim"), task,
                           args.get("victim_depth"))
        elif category == "stolen":
            for flow in event.flows:
                self.stolen[flow] = ((track.pid, track.tid), args, event.time)
        elif category == "steal.failed":
            self.on_thread(event, "steal_failed", args.get("thief"), args.get("victim"))
        elif category in ("worker.start", "worker.stop"):
            if category == "worker.start":
                self.workers[pid, args.get("worker")] = track.tid
                self.on_thread(event, "worker_start", args.get("worker"), track.name)
            else:
                self.on_thread(event, "worker_stop", args.get("worker"))
        elif category == "message":
            self.on_thread(event, "message", event.name)
        elif category in ("flow.start", "flow.step", "flow.end"):
            self.flow(event, pid)
        elif category in ("sent", "received"):
            other = "destination" if category == "sent" else "source"
            self.on_thread(event, category, number(args.get("id")), number(args.get(other)),
                           args.get("bytes"))
        elif category == "lock.released":
            self.on_thread(event, "lock_released", thing)
        elif category != "capture":
            self.bad(event, "a category that no event of the runtime leads to")

    def flow(self, event, pid):
        thing = number(event.args.get("id"))
        what = event.category.replace(".", "_")
        if event.track.kind is None:
            channel = event.track.rank
            self.rows["channel", pid, channel].append(Fact("marker_" + what, (channel, thing), event))
        else:
            self.on_thread(event, what, thing)

    def state(self, event, pid, task):
        what, args = STATES[event.category], ()
        self.holders[event.track.uuid] = task
        if what == "task_staged":
            args = (event.args.get("name"), number(event.args.get("parent")))
        elif what == "task_created":
            args = (event.args.get("name"), number(event.args.get("parent")))
        elif what == "task_renamed":
            args = (event.args.get("name"),)
        fact = self.on_task(event, task, what, *args)
        if what == "task_created":
            spawn = self.spawned.pop((pid, task), None)
            if spawn is None:
                self.bad(event, "no task.spawn in the creator")
                return
            fact.tid, fact.flows, spawn.shared = spawn.tid, spawn.flows, fact
        elif what == "task_destroyed":
            self.parked.pop((pid, task), None)

    def parted(self, event):
        """identity of a slice that may go on in parts"""
        args, pid = event.args, self.pid(event.track)
        if event.category == "zone":
            return "zone", args.get("zone_id")
        if event.category == "continuation":
            return "continuation", pid, args.get("object"), args.get("continuation")
        if event.category == "lock":
            # several may wait for one lock
            return "lock", pid, args.get("object"), event.name, self.place(event)[1] or event.track.uuid
        return event.category, event.track.uuid, event.name, args.get("task")

    def begin(self, event):
        category, args, track = event.category, event.args, event.track
        pid = self.pid(track)
        if args.get("part"):
            self.part(event)
        elif category == "worker.task":
            task = number(args.get("task"))
            where = track.pid, track.tid
            fact = Fact("task_begin", (task, args.get("worker")), event, where)
            self.threads[where].append(fact)
            self.stacks[where].append(fact)
            self.parked.pop((pid, task), None)
            fact.shared = self.on_task(event, task, "task_begin", args.get("worker"), event.name, tid=where)
            if self.last_stay:
                self.bad(self.last_stay.event, "is not on its task's row")
            self.last_stay = fact
        elif category == "task.run":
            self.run(event)
        elif category in GAPS:
            self.gap(event)
        elif category in SPANS:
            if category == "worker.sleep":
                said = (args.get("reason"),)
                if event.name != f"sleep: {args.get('reason')}":
                    self.bad(event, "its name is not its reason's")
            else:
                said = (event.name,)
            self.on_thread(event, SPANS[category] + "_begin", *said)
        elif category == "zone":
            where = f"{args.get('file')}:{args.get('line')}"
            if not {"zone_id", "part"} <= args.keys():
                self.bad(event, "without zone_id or part")
            self.on_thread(event, "zone_begin", event.name, args.get("function"), where)
        elif category == "continuation":
            if event.name != category:
                self.bad(event, "its name is not its category's")
            self.on_thread(event, "continuation_begin", number(args.get("object")),
                           number(args.get("continuation")), args.get("inline"))
        elif category == "lock":
            what, _, name = event.name.partition(": ")
            thing = number(args.get("object"))
            if what == "wait":
                self.lock_names[pid, thing] = name
                self.on_thread(event, "lock_wait", thing, name)
            else:
                if (what, name) != ("held", self.lock_names.get((pid, thing))):
                    self.bad(event, "is not named after what was waited for")
                fact = self.on_thread(event, "lock_acquired", thing)
                wait = self.waits_ended.pop((pid, thing, self.place(event)[1]), None)
                if fact:
                    fact.wait = self.wait_parts.pop((pid, thing, self.place(event)[1]), [])
                if wait is None or wait.time != event.time:
                    self.bad(event, "the wait for it does not end here")
        elif category in ("marker", "frame"):
            self.lane(event, pid)
        elif category != "lost":
            self.bad(event, "a category that no event of the runtime leads to")

    def part(self, event):
        """goes on where the part before it was interrupted"""
        end = self.ended.pop(self.parted(event), None)
        if end is None:
            self.bad(event, "a part of a slice without the part before")
            return
        before = end.event.begin
        if (before.name, dict(before.args, part=0)) != (event.name, dict(event.args, part=0)) or \
                event.args["part"] != before.args.get("part", 0) + 1:
            self.bad(event, f"differs from the part before it, {before.args}")
        event.begin = before
        end.dead = True
        # it was interrupted by the end of the run, and goes on as the next begins
        if not end.interrupted or self.open[event.track.uuid][0].time != event.time:
            self.bad(event, "goes on at another time than its task")

    def run(self, event):
        """the same stay, on the task's row"""
        if len(self.open[event.track.uuid]) > 1:
            self.bad(event, "begins inside another slice")
        stay = self.last_stay
        self.last_stay = None
        if (stay is None or stay.event.time != event.time or stay.event.name != event.name or
                stay.event.args != event.args):
            self.bad(event, "differs from what is on the worker's row")
            return
        self.holders[event.track.uuid] = stay.args[0]
        self.hosts[event.track.uuid] = stay.tid
        stay.shared.ends += event.ends

    def gap(self, event):
        row, pid = event.track.uuid, self.pid(event.track)
        task = number(event.args.get("task"))
        # left out if no task shares a row, in all of the trace
        self.gap_says.add(bool(task))
        if len(self.gap_says) > 1:
            self.bad(event, "says whose gap it is, or not, unlike others")
        if not task and event.track.name.rpartition(" ")[2].startswith("0x"):
            task = number(event.track.name.rpartition(" ")[2])
        if not task:
            self.bad(event, "whose gap it is cannot be found")
            return
        if len(self.open[row]) > 1:
            self.bad(event, "begins inside another slice")
        facts = self.tasks[pid, task]
        gap = Gap(event)
        self.gaps[pid, task].append(gap)
        self.open_gaps[row] = gap
        last = facts[-1] if facts else None
        if event.category == "task.suspended":
            reason = event.name.partition(": ")[2] or None
            self.on_task(event, task, "task_suspended", reason, number(event.args.get("object")))
        elif event.category == "task.stopped":
            self.on_task(event, task, "task_end")
        elif event.time >= self.latest and not (
                last and last.event.time == event.time and
                last.what in ("task_yielded", "task_resumed", "task_suspended")):
            self.on_task(event, task, "task_ready")

    def lane(self, event, pid):
        last = self.lanes_ended.pop(event.track.uuid, None)
        if len(self.open[event.track.uuid]) > 1:
            self.bad(event, "the one before has not ended")
        if last and (last.index, last.time) != (event.index - 1, event.time) and event.category == "frame":
            self.bad(event, "the one before did not end here")
        if last and last.args.get("cut") and (last.index, last.time) == (event.index - 1, event.time):
            self.bad(event, "the one before is cut, and goes on")
        if event.category == "frame":
            self.rows["frame", pid, event.track.name].append(Fact("frame", (event.name,), event))
            return
        channel = event.track.rank
        self.channel_names[pid, channel] = event.track
        facts = self.rows["channel", pid, channel]
        # a set ends the one before
        if facts and facts[-1].what == "marker_reset" and facts[-1].event.index == event.index - 1 and \
                facts[-1].event.time == event.time:
            facts.pop()
        facts.append(Fact("marker_set", (channel, event.name, event.args.get("extra")), event))
        self.colors.setdefault(event.name, set()).add(event.args.get("color"))

    def end(self, event):
        category, track = event.category, event.track
        pid, begin = self.pid(track), event.begin
        cut = bool(event.args.get("cut"))
        fact = None
        if category == "worker.task":
            task = number(begin.args.get("task"))
            where = track.pid, track.tid
            fact = self.on_thread(event, "stop", task)
            run = self.runs_ended.pop((pid, task), None)
            if run is None or run.time != event.time or bool(run.args.get("cut")) != cut:
                self.bad(event, "does not end so on its task's row")
            if cut:
                self.cuts.append((pid, task, event))
            if self.stacks[where] and self.stacks[where][-1].args[0] == task:
                self.stacks[where].pop()
        elif category == "task.run":
            self.runs_ended[pid, number(begin.args.get("task"))] = event
            self.park(event, pid)
            self.hosts.pop(track.uuid, None)
        elif category in GAPS:
            gap = self.open_gaps.pop(track.uuid, None)
            if gap:
                gap.end, gap.args = event, dict(event.args)
        elif category in SPANS:
            said = (event.args.get("cause"),) if category == "worker.sleep" else ()
            fact = self.on_thread(event, SPANS[category] + "_end", *said)
        elif category == "zone":
            notes = self.notes.setdefault(self.parted(begin), {})
            notes.update(event.args)
            notes.pop("cut", None)
            fact = self.on_thread(event, "zone_end", tuple(sorted(notes.items())))
        elif category == "continuation":
            fact = self.on_thread(event, "continuation_end", number(begin.args.get("object")),
                                  number(begin.args.get("continuation")))
        elif category == "lock" and begin.name.startswith("held"):
            fact = self.on_thread(event, "lock_released", number(begin.args.get("object")))
        elif category == "lock" and not cut:
            where = pid, number(begin.args.get("object")), self.place(event)[1]
            self.waits_ended[where] = event
            self.wait_parts[where].append(event.args)
        if category in ("marker", "frame"):
            self.lanes_ended[track.uuid] = event
        if category == "marker":
            channel = track.rank
            fact = Fact("marker_reset", (channel,), event)
            self.rows["channel", pid, channel].append(fact)
        if fact:
            fact.dead = cut
        if fact or category == "lock":
            self.ended[self.parted(begin)] = fact or Fact("none", (), event)

    def park(self, event, pid):
        """slices that end with a run are only interrupted, if their task stops there and never runs again"""
        task = number(event.begin.args.get("task"))
        where, index = (pid, task), event.index - 1
        events = self.reader.events
        while index and events[index].track is event.track and events[index].time == event.time and \
                events[index].kind == END and events[index].category in ("zone", "continuation", "lock"):
            fact = self.ended.get(self.parted(events[index].begin))
            if fact and fact.event is events[index]:
                fact.interrupted = True
                self.parked[where].append(fact)
            index -= 1

    def finish(self):
        if self.last_stay:
            self.bad(self.last_stay.event, "is not on its task's row")
        for end in self.lanes_ended.values():
            if end.category == "frame" and not end.args.get("cut"):
                self.bad(end, "ends, although no other frame follows")
        for facts in self.parked.values():
            for fact in facts:
                fact.dead = True
        for lists in (self.threads, self.tasks, self.rows):
            for key, facts in lists.items():
                lists[key] = [fact for fact in facts if not fact.dead]
