#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks a Perfetto trace without Perfetto, and without a line of the program that wrote it.

	perfetto_check.py [--rows-max N] FILE

FILE may be plain, gzip or zstd (needs the `zstd` command). Standard output: a tally as JSON, to be
compared with what else is known of the run. Exit status 0, or 1 with the violations on standard error
(each with the number of its packet, from 0), or 2 if the file cannot be read.

What is asserted:
  file       whole packets only; no field of the wrong wire type
  clocks     the first packet has BOOTTIME, MONOTONIC, REALTIME and names BOOTTIME as primary; a clock is
             used only after a snapshot of it (on the same sequence for ids from 64 on)
  sequences  the first packet of each clears the incremental state; what uses it says so; interned ids are
             not 0, defined before use, and never change their meaning
  tracks     every event's track has a descriptor, and that one's parent has one, both before the event;
             a second descriptor of a uuid agrees with the first; a thread belongs to its parent's process
  slices     every begin has its end, every end a begin, time never runs back on a row, depth is 512 at
             most; on the row of a task nothing of the task's states overlaps
  flows      what ends one has a start before it, in the file and in time
  counters   only on counter tracks, and slices only on others; values that stand in other events ("extra
             counter values") are of counters that the event or the sequence's defaults name; counters of
             differences belong to one sequence
  kernel     rows beside the workers' have kernel.state slices only, one at a time, and no other row has
  CPUs       a thread runs on one CPU, a CPU has one thread, and stops with the CPU it ran on; in order of time
  rows       with --rows-max: no process has more rows under "Tasks"
"""
import argparse
import collections
import gzip
import json
import re
import struct
import subprocess
import sys

CHUNK = 8 << 20
EXTRA_MAX = 8           # extra counter values that Perfetto's importer takes from an event
DEPTH_MAX = 512
VIOLATIONS_MAX = 20
BOOTTIME, MONOTONIC, REALTIME = 6, 3, 1
# on a task's row, of these at most one is open at a time, and nothing else outside it
TASK_STATES = {"task.run", "task.suspended", "task.ready", "task.stopped"}


# "<description> <address>", or of a row that tasks share from the beginning "<description> lane <n>"
TASK_ROW = re.compile(r".+ (?:0x[0-9a-f]+|(lane [1-9][0-9]*))", re.DOTALL)

# Perfetto's TaskStateEnum
STATE_RUNNING, STATE_GONE = 3, 8
STATES = {2, STATE_RUNNING, 4, 5, 6, STATE_GONE}


class Violation(Exception):
    pass


def varint(data, pos):
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if shift > 63:
                raise Violation("a varint is longer than ten bytes")
            return value & 0xFFFFFFFFFFFFFFFF, pos
        shift += 7


def fields(data):
    """(number, value) of a message; the value of a message or string is bytes"""
    pos, end, found = 0, len(data), []
    try:
        while pos < end:
            key, pos = varint(data, pos)
            wire = key & 7
            if wire == 0:
                value, pos = varint(data, pos)
            elif wire == 2:
                size, pos = varint(data, pos)
                value = data[pos:pos + size]
                pos += size
            elif wire == 1:
                value = data[pos:pos + 8]
                pos += 8
            elif wire == 5:
                value = data[pos:pos + 4]
                pos += 4
            else:
                raise Violation(f"wire type {wire}")
            if pos > end or not key >> 3:
                raise Violation("a field reaches beyond its message, or has number 0")
            found.append((key >> 3, value))
    except IndexError:
        raise Violation("a field reaches beyond its message") from None
    return found


def text(data):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Violation(f"not UTF-8: {data!r}") from None


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Sequence:
    def __init__(self):
        self.valid = False
        self.clocks = {}        # incremental clock -> BOOTTIME of its last time stamp
        self.clear()

    def clear(self):
        # categories, event names, annotation names, strings
        self.interned = {1: {}, 2: {}, 3: {}, 29: {}}
        self.default_clock = None
        self.default_counters = ()
        self.counts = {}        # counters of differences -> value
        self.part = None


class Track:
    __slots__ = ("uuid", "parent", "name", "pid", "tid", "counter", "differences", "sequence", "merge",
                 "ordering", "rank", "kind",
                 "last", "stack", "on_task", "state", "low", "high", "value", "samples", "children", "events")

    def __init__(self):
        self.uuid = self.parent = self.pid = self.tid = 0
        self.name = ""
        self.counter = self.differences = False
        self.sequence = None
        self.merge = self.ordering = 0
        self.rank = None
        self.kind = None
        self.last = -1
        self.stack = []
        self.on_task = False
        self.low = self.high = self.value = self.state = None
        self.samples = self.children = self.events = 0


class Checker:
    def __init__(self, rows_max=None):
        self.rows_max = rows_max
        self.packet = -1
        self.violations = []
        self.sequences = {}
        self.tracks = {}
        self.offsets = {}       # built-in clocks: BOOTTIME minus that clock
        self.active = {}        # flow id -> time of its last point
        self.flow_points = self.flow_ends = 0
        self.begins = collections.Counter()
        self.instants = collections.Counter()
        self.continued = collections.Counter()
        self.durations = collections.Counter()
        self.lanes = 0
        self.ends = self.samples = self.extra_samples = self.deepest = 0
        self.first_time = self.last_time = None
        self.attributes = {}
        self.dropped = 0
        self.task_state = None  # of the packet
        self.state_times = {}   # ("tid" or "cpu", number) -> time of the last change
        self.running = {}       # tid -> (CPU, since)
        self.cpus = {}          # CPU -> tid
        self.kernel_ns = collections.Counter()
        self.cpu_runs = collections.Counter()
        self.cpu_ns = collections.Counter()
        self.cpu_threads = collections.defaultdict(set)

    def bad(self, message):
        self.violations.append(f"packet {self.packet}: {message}")
        if len(self.violations) >= VIOLATIONS_MAX:
            raise Violation("too many violations, the rest is not looked at")

    # everything but events: rare, so plain

    def clock_snapshot(self, data, sequence):
        clocks, incremental, primary = {}, set(), None
        for number, value in fields(data):
            if number == 1:
                clock = dict(fields(value))
                clocks[clock.get(1, 0)] = clock.get(2, 0)
                if clock.get(3):
                    incremental.add(clock.get(1, 0))
            elif number == 2:
                primary = value
        boot = clocks.get(BOOTTIME)
        if self.packet == 0:
            if not {BOOTTIME, MONOTONIC, REALTIME} <= set(clocks):
                self.bad(f"the first snapshot has clocks {sorted(clocks)} only")
            if primary != BOOTTIME:
                self.bad("the primary trace clock is not BOOTTIME")
        if boot is None:
            self.bad("a clock snapshot without BOOTTIME")
            return
        for clock, now in clocks.items():
            if clock < 64:
                self.offsets[clock] = boot - now
            elif sequence is None:
                self.bad(f"a snapshot of clock {clock} without a sequence")
            elif clock not in incremental:
                self.bad(f"clock {clock} of a sequence is not incremental")
            else:
                sequence.clocks[clock] = boot
                if now:
                    self.bad(f"incremental clock {clock} starts at {now}, not 0")

    def interned(self, data, sequence):
        for number, value in fields(data):
            table = sequence.interned.get(number)
            if table is None:
                self.bad(f"interned data of kind {number} is not known to this checker")
                continue
            entry = dict(fields(value))
            iid, name = entry.get(1, 0), text(entry.get(2, b""))
            if not iid:
                self.bad(f"interned {name!r} has id 0")
            elif table.setdefault(iid, name) != name:
                self.bad(f"interned id {iid} changes from {table[iid]!r} to {name!r}")
            if number == 3 and name == "part":
                sequence.part = iid

    def descriptor(self, data):
        track = Track()
        for number, value in fields(data):
            if number == 1:
                track.uuid = value
            elif number == 2:
                track.name = text(value)
            elif number == 3:
                process = dict(fields(value))
                track.kind, track.pid = "process", process.get(1, 0)
                track.name = track.name or text(process.get(6, b""))
            elif number == 4:
                thread = dict(fields(value))
                track.kind, track.pid, track.tid = "thread", thread.get(1, 0), thread.get(2, 0)
                track.name = track.name or text(thread.get(5, b""))
            elif number == 5:
                track.parent = value
            elif number == 8:
                track.counter, track.kind = True, "counter"
                track.differences = bool(dict(fields(value)).get(5))
            elif number == 11:
                track.ordering = value
            elif number == 12:
                track.rank = value
            elif number == 15:
                track.merge = value
        if not track.uuid:
            self.bad("a track without a uuid")
            return
        before = self.tracks.get(track.uuid)
        if before is not None:
            for what in ("parent", "pid", "tid", "counter", "differences"):
                if getattr(before, what) != getattr(track, what):
                    self.bad(f"track {track.uuid} {track.name!r} is declared again with another {what}")
            before.name = track.name
            return
        self.tracks[track.uuid] = track
        self.place(track)

    def place(self, track):
        if track.kind == "process":
            if not track.pid:
                self.bad(f"process {track.name!r} without a pid")
            return
        parent = self.tracks.get(track.parent)
        if parent is None:
            self.bad(f"track {track.name!r}: its parent {track.parent} is not declared")
            return
        parent.children += 1
        if parent.counter:
            self.bad(f"track {track.name!r} is a child of a counter")
        if track.kind == "thread":
            if not track.tid or track.pid != self.root(track).pid:
                self.bad(f"thread {track.tid} of process {track.pid} is in another process's tree")
        elif track.merge != 2:
            self.bad(f"track {track.name!r} may be merged with its siblings")
        if track.kind is None and parent.kind is None and parent.name == "Workers":
            track.kind = "kernel"
            if track.rank is None or parent.ordering != 3:
                self.bad(f"kernel row {track.name!r} is without explicit order")
        if track.kind is None and parent.kind is None and parent.name == "Tasks":
            track.kind = "task"
            track.on_task = True
            if track.rank is None or parent.ordering != 3:
                self.bad(f"task row {track.name!r} is without explicit order")
            if not TASK_ROW.fullmatch(track.name):
                self.bad(f"task row {track.name!r} is named after no task and no lane")
            else:
                self.lanes += TASK_ROW.fullmatch(track.name)[1] is not None

    def root(self, track):
        for _ in range(10):
            parent = self.tracks.get(track.parent)
            if parent is None:
                return track
            track = parent
        self.bad(f"track {track.name!r}: more than 10 ancestors")
        return track

    def trace_attributes(self, data):
        for _, value in fields(data):
            entry = dict(fields(value))
            self.attributes[text(entry.get(1, b""))] = (
                text(entry[3]) if 3 in entry else signed(entry.get(2, 0)))

    def annotation(self, data, sequence):
        """of an event, in full; returns (name, value)"""
        name, value, named = None, None, False
        for number, item in fields(data):
            if number == 1:
                named = True
                name = sequence.interned[3].get(item)
                if name is None:
                    self.bad(f"annotation name {item} is not defined")
            elif number == 10:
                named = True
                name = text(item)
            elif number == 17:
                value = sequence.interned[29].get(item)
                if value is None:
                    self.bad(f"annotation string {item} is not defined")
            elif number == 6:
                value = text(item)
            elif number == 5:
                value = struct.unpack("<d", item)[0]
            elif number == 4:
                value = signed(item)
            elif number in (2, 3, 7):
                value = item
            elif number in (11, 12):
                value = "..."
            else:
                self.bad(f"annotation field {number} is not known to this checker")
        if not named or value is None:
            self.bad(f"annotation {name!r} without a name or value")
        return name, value

    def thread_state(self, data, time):
        """a packet of generic task state"""
        change = dict(fields(data))
        tid, state, cpu = change.get(3, 0), change.get(4, 0), change.get(1, 0)
        text(change.get(2, b""))
        if not tid or state not in STATES or not set(change) <= {1, 2, 3, 4, 5}:
            self.bad(f"thread {tid} is put into state {state}")
        on = self.running.pop(tid, None)
        if on:
            del self.cpus[on[0]]
            self.cpu_ns[on[0]] += time - on[1]
        if state == STATE_RUNNING:
            if on:
                self.bad(f"thread {tid} begins to run although it runs on CPU {on[0]}")
            if cpu in self.cpus:
                self.bad(f"thread {tid} begins to run on CPU {cpu}, where thread {self.cpus[cpu]} runs")
                self.running.pop(self.cpus[cpu])
            self.running[tid] = cpu, time
            self.cpus[cpu] = tid
            self.cpu_runs[cpu] += 1
            self.cpu_threads[cpu].add(tid)
        elif on and on[0] != cpu:
            self.bad(f"thread {tid} leaves CPU {cpu}, but runs on CPU {on[0]}")
        for key in [("tid", tid)] + ([("cpu", cpu)] if on or state == STATE_RUNNING else []):
            if time < self.state_times.get(key, 0):
                self.bad(f"time runs back by {self.state_times[key] - time} ns on {key[0]} {key[1]}")
            self.state_times[key] = time

    def flow(self, ids, ends, time):
        active = self.active
        for flow in ids:
            self.flow_points += 1
            active[flow] = time
        for flow in ends:
            self.flow_ends += 1
            start = active.pop(flow, None)
            if start is None:
                self.bad(f"flow {flow:#x} ends without a start")
            elif start > time:
                self.bad(f"flow {flow:#x} ends {start - time} ns before its start")

    def rare(self, number, value, sequence):
        if number == 60:
            self.descriptor(value)
        elif number == 126:
            self.trace_attributes(value)
        elif number == 117:
            self.task_state = value
        elif number == 42:
            self.dropped += 1
        elif number in (50, 133):
            self.bad("compressed packets are not known to this checker")
        elif number not in (6, 8, 10, 11, 12, 13, 58, 59, 79, 87, 98):
            self.bad(f"packet field {number} is not known to this checker")

    def slow_packet(self, found, sequence_id, flags):
        """the part of a packet that comes before its event: state, clocks, names, descriptors"""
        sequence = self.sequences.get(sequence_id)
        if sequence is None:
            if not sequence_id:
                self.bad("no sequence id")
            sequence = self.sequences[sequence_id] = Sequence()
            if not flags & 1:
                self.bad("the first packet of a sequence does not clear the incremental state")
        if flags & 1:
            sequence.clear()
            sequence.valid = True
        packet = dict(found)
        if self.packet == 0 and 6 not in packet:
            self.bad("the first packet is no clock snapshot")
        if 59 in packet:
            defaults = dict(fields(packet[59]))
            # new defaults replace all of the old ones
            sequence.default_clock = defaults.get(58)
            sequence.default_counters = [value for number, value in fields(defaults.get(11, b""))
                                         if number == 31]
        if 6 in packet:
            self.clock_snapshot(packet[6], sequence)
        if 12 in packet:
            if not sequence.valid or not flags & 3:
                self.bad("interned data without incremental state")
            self.interned(packet[12], sequence)
        for number, value in found:
            self.rare(number, value, sequence)
        return sequence

    def time(self, stamp, clock, sequence):
        if clock is None:
            clock = sequence.default_clock
        if clock is None:
            clock = BOOTTIME
        if clock >= 64:
            if clock not in sequence.clocks:
                self.bad(f"clock {clock} without a snapshot on its sequence")
                sequence.clocks[clock] = 0
            sequence.clocks[clock] += stamp
            return sequence.clocks[clock]
        if clock not in self.offsets:
            self.bad(f"clock {clock} without a snapshot")
            return stamp
        return stamp + self.offsets[clock]

    def sample(self, track, value, sequence):
        """returns the counter's value"""
        self.samples += 1
        if track.differences:
            if track.sequence not in (None, sequence):
                self.bad(f"counter {track.name!r} of differences is on two sequences")
            track.sequence = sequence
            value += sequence.counts.get(track.uuid, 0)
            sequence.counts[track.uuid] = value
        track.samples += 1
        track.value = value
        if track.low is None or value < track.low:
            track.low = value
        if track.high is None or value > track.high:
            track.high = value
        return value

    def extra(self, values, counters, time, sequence):
        """values of counters that stand in an event; yields (track, value before, value)"""
        counters = counters or sequence.default_counters
        if len(values) > min(len(counters), EXTRA_MAX):
            self.bad(f"{len(values)} extra counter values, but {len(counters)} counters")
        for uuid, value in zip(counters, values):
            track = self.tracks.get(uuid)
            if track is None or not track.counter:
                self.bad(f"an extra counter value on {uuid}, which is no counter")
                continue
            if time < track.last:
                self.bad(f"time runs back by {track.last - time} ns on row {track.name!r}")
            track.last = time
            track.events += 1
            self.extra_samples += 1
            before = track.value
            yield track, before, self.sample(track, value, sequence)

    def event(self, data, time, sequence, flags):
        """a track event; this and run() are all that is done per event, so written for speed"""
        kind = track_id = category = name = None
        value = None
        part = 0
        ids = ends = extra = counters = ()
        names = sequence.interned[3]
        pos, end = 0, len(data)
        while pos < end:
            key = data[pos]
            pos += 1
            if key == 0x22:             # annotation
                size = data[pos]
                pos += 1
                if size > 127:
                    size, pos = varint(data, pos - 1)
                stop = pos + size
                # the common ones: an interned name below 128, then a string or a small integer
                if (size > 3 and data[pos] == 8 and data[pos + 1] in names
                        and data[pos + 2] == 0x32 and data[pos + 3] == size - 4):
                    pass
                elif (size == 4 and data[pos] == 8 and data[pos + 1] in names
                        and data[pos + 2] == 0x18 and data[pos + 3] < 128):
                    if data[pos + 1] == sequence.part:
                        part = data[pos + 3]
                else:
                    said, said_value = self.annotation(data[pos:stop], sequence)
                    if said == "part":
                        part = said_value
                pos = stop
                continue
            if key > 127:
                key, pos = varint(data, pos - 1)
            wire = key & 7
            if wire == 0:
                number = data[pos]
                pos += 1
                if number > 127:
                    number, pos = varint(data, pos - 1)
                if key == 0x58:
                    track_id = number
                elif key == 0x48:
                    kind = number
                elif key == 0x18:
                    category = number
                elif key == 0x50:
                    name = number
                elif key == 0xF0:
                    value = signed(number)
                elif key == 0x60:
                    extra += (signed(number),)
                elif key == 0xF8:
                    counters += (number,)
                else:
                    self.bad(f"event field {key >> 3} is not known to this checker")
            elif wire == 1:
                if key == 0x179:
                    ids += (int.from_bytes(data[pos:pos + 8], "little"),)
                elif key == 0x181:
                    ends += (int.from_bytes(data[pos:pos + 8], "little"),)
                elif key == 0x161:
                    value = struct.unpack_from("<d", data, pos)[0]
                else:
                    self.bad(f"event field {key >> 3} is not known to this checker")
                pos += 8
            elif key == 0xBA:           # name, written out
                size, pos = varint(data, pos)
                name = text(data[pos:pos + size])
                pos += size
            else:
                self.bad(f"event field {key >> 3} is not known to this checker")
                return
        if pos != end:
            self.bad("a field reaches beyond its event")
        track = self.tracks.get(track_id)
        if track is None:
            self.bad(f"an event on track {track_id}, which has no descriptor")
            return
        if time < track.last:
            self.bad(f"time runs back by {track.last - time} ns on row {track.name!r}")
        track.last = time
        track.events += 1
        if extra or counters:
            for _ in self.extra(extra, counters, time, sequence):
                pass
        if kind == 4:
            if not track.counter or value is None:
                self.bad(f"a counter event without a value, or on {track.name!r}, which is none")
                return
            self.sample(track, value, sequence)
            return
        if track.counter:
            self.bad(f"a slice on counter {track.name!r}")
        if kind == 2:
            if not track.stack:
                self.bad(f"an end without a begin on row {track.name!r}")
            else:
                began, category = track.stack.pop()
                self.ends += 1
                if track.kind == "kernel":
                    self.kernel_ns[track.state] += time - began
                self.durations[category] += time - began
        else:
            if not flags & 2:
                self.bad("an event with interned ids does not say that it needs them")
            if category is None or name is None:
                self.bad("an event without category or name")
            label = sequence.interned[1].get(category)
            if label is None:
                self.bad(f"category {category} is not defined")
            if name.__class__ is int and name not in sequence.interned[2]:
                self.bad(f"event name {name} is not defined")
            if kind == 1:
                stack = track.stack
                if track.on_task and (label in TASK_STATES) == bool(stack):
                    self.bad(f"{label} begins on row {track.name!r} " +
                             (f"inside {stack[-1][1]}" if stack else "outside a run"))
                if (label == "kernel.state") != (track.kind == "kernel"):
                    self.bad(f"{label} on row {track.name!r}")
                elif stack and track.kind == "kernel":
                    self.bad(f"two states at a time on row {track.name!r}")
                elif track.kind == "kernel":
                    track.state = name if name.__class__ is str else sequence.interned[2].get(name)
                    if track.state not in ("running", "blocked"):
                        track.state = "runnable"
                stack.append((time, label))
                self.begins[label] += 1
                if part:
                    self.continued[label] += 1
                if len(stack) > self.deepest:
                    self.deepest = len(stack)
                    if self.deepest > DEPTH_MAX:
                        self.bad(f"{self.deepest} slices are open on row {track.name!r}")
            elif kind == 3:
                self.instants[label] += 1
            else:
                self.bad(f"event type {kind}")
        if ids or ends:
            self.flow(ids, ends, time)

    def one(self, data):
        """a packet"""
        sequence_id = flags = 0
        stamp = clock = event = None
        slow = False
        pos, end = 0, len(data)
        while pos < end:
            key = data[pos]
            pos += 1
            if key > 127:
                key, pos = varint(data, pos - 1)
            wire = key & 7
            if wire == 0:
                number = data[pos]
                pos += 1
                if number > 127:
                    number, pos = varint(data, pos - 1)
                if key == 0x50:
                    sequence_id = number
                elif key == 0x68:
                    flags = number
                elif key == 0x40:
                    stamp = number
                elif key == 0x1D0:
                    clock = number
                else:
                    slow = True
            elif wire == 2:
                size = data[pos]
                pos += 1
                if size > 127:
                    size, pos = varint(data, pos - 1)
                if key == 0x5A:
                    event = data[pos:pos + size]
                else:
                    slow = True
                pos += size
            else:
                slow = True
                break
        if pos > end:
            raise Violation(f"packet {self.packet}: a field reaches beyond it")
        sequence = self.sequences.get(sequence_id)
        if slow or flags & 1 or sequence is None or event is None:
            sequence = self.slow_packet(fields(data), sequence_id, flags)
        if flags & 2 and not sequence.valid:
            self.bad("needs an incremental state that nothing has started")
        if stamp is None:
            if event is not None:
                self.bad("an event without a time stamp")
            return
        time = self.time(stamp, clock, sequence)
        if self.task_state is not None:
            self.thread_state(self.task_state, time)
            self.task_state = None
        if event is None:
            return
        if self.last_time is None:
            self.first_time = self.last_time = time
        elif time > self.last_time:
            self.last_time = time
        elif time < self.first_time:
            self.first_time = time
        self.event(event, time, sequence, flags)

    def run(self, stream):
        left = b""
        try:
            while True:
                chunk = stream.read(CHUNK)
                data = left + chunk if left else chunk
                if not data:
                    break
                pos = self.chunk(data)
                left = data[pos:]
                if not chunk:
                    self.bad(f"{len(left)} bytes at the end are no whole packet")
                    break
            self.finish()
        except Violation as violation:
            self.violations.append(str(violation))
        except IndexError:
            self.violations.append(f"packet {self.packet}: a field reaches beyond it")

    def chunk(self, data):
        pos, end = 0, len(data)
        one = self.one
        while pos < end:
            if data[pos] != 0x0A:
                raise Violation(f"after packet {self.packet}: byte {data[pos]:#x} begins no packet")
            try:
                size = data[pos + 1]
                start = pos + 2
                if size > 127:
                    size, start = varint(data, pos + 1)
            except IndexError:
                return pos
            if start + size > end:
                return pos
            self.packet += 1
            one(data[start:start + size])
            pos = start + size
        return pos

    def finish(self):
        if self.packet < 0:
            raise Violation("no packet at all")
        for track in self.tracks.values():
            if track.stack:
                self.bad(f"{len(track.stack)} slices are left open on row {track.name!r}: " +
                         ", ".join(str(label) for _, label in track.stack[:3]))
        for pid, rows in self.task_rows().items():
            if self.rows_max is not None and rows > self.rows_max:
                self.bad(f"process {pid} has {rows} rows of tasks, more than {self.rows_max}")

    def task_rows(self):
        rows = collections.Counter()
        for track in self.tracks.values():
            if track.kind == "task":
                rows[self.root(track).pid] += 1
        return rows

    def tally(self):
        kinds = collections.Counter()
        counters = {}
        for track in self.tracks.values():
            kinds[track.kind or ("group" if track.children else "row")] += 1
            if track.counter:
                counters.setdefault(track.name, []).append({
                    "pid": self.root(track).pid, "samples": track.samples, "min": track.low,
                    "max": track.high, "last": track.value})
        return {
            "packets": self.packet + 1,
            "sequences": len(self.sequences),
            "first_time": self.first_time,
            "last_time": self.last_time,
            "slices": dict(sorted(self.begins.items())),
            "continued": dict(sorted(self.continued.items())),
            "durations_ns": dict(sorted(self.durations.items())),
            "instants": dict(sorted(self.instants.items())),
            "begins": sum(self.begins.values()),
            "ends": self.ends,
            "open": sum(len(track.stack) for track in self.tracks.values()),
            "deepest": self.deepest,
            "flows": {"points": self.flow_points, "ends": self.flow_ends, "open": len(self.active)},
            "tracks": dict(sorted(kinds.items())),
            "task_rows": {str(pid): rows for pid, rows in sorted(self.task_rows().items())},
            "lanes": self.lanes,
            "kernel_ns": dict(sorted(self.kernel_ns.items())),
            "cpus": {str(cpu): {"runs": runs, "busy_ns": self.cpu_ns[cpu],
                                "threads": len(self.cpu_threads[cpu])}
                     for cpu, runs in sorted(self.cpu_runs.items())},
            "samples": self.samples,
            "extra_samples": self.extra_samples,
            "counters": counters,
            "attributes": self.attributes,
            "violations": len(self.violations),
        }


def open_trace(path):
    with open(path, "rb") as file:
        magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        return gzip.open(path), None
    if magic == b"\x28\xb5\x2f\xfd":
        process = subprocess.Popen(["zstd", "-dc", "--", path], stdout=subprocess.PIPE)
        return process.stdout, process
    return open(path, "rb"), None


def main():
    parser = argparse.ArgumentParser(description="checks a Perfetto trace, prints a tally as JSON")
    parser.add_argument("--rows-max", type=int, help="rows of tasks that a process may have")
    parser.add_argument("file")
    options = parser.parse_args()
    checker = Checker(options.rows_max)
    try:
        stream, process = open_trace(options.file)
        with stream:
            checker.run(stream)
        # a violation leaves the rest unread: the pipe's breaking is not the file's fault then
        if process and process.wait() and not checker.violations:
            print(f"{options.file}: zstd could not read it", file=sys.stderr)
            return 2
    except (OSError, EOFError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 2
    json.dump(checker.tally(), sys.stdout, indent=1)
    print()
    for violation in checker.violations:
        print(f"{options.file}: {violation}", file=sys.stderr)
    return 1 if checker.violations else 0


if __name__ == "__main__":
    sys.exit(main())
