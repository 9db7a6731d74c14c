#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plants one fault after the other in a good trace, and sees that perfetto_check.py finds each.

The trace is made here, by an encoder of its own. Exit status 0 if the good trace passes and every fault
is found for the reason for which it was planted.
"""
import copy
import gzip
import io
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import perfetto_check  # noqa: E402


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class Fixed(int):
    """an integer of eight bytes"""


def message(*fields):
    """fields are (number, value); a list of them is a message inside, None is left out"""
    out = b""
    for number, value in fields:
        if value is None:
            continue
        if isinstance(value, Fixed):
            out += varint(number << 3 | 1) + int(value).to_bytes(8, "little")
        elif isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            if isinstance(value, str):
                value = value.encode()
            elif isinstance(value, list):
                value = message(*value)
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


BOOT = 5_000_000_000
SEQUENCE, NEEDS = (10, 77), (13, 2)
PROCESS, WORKERS, THREAD, TASKS, ROW, COUNTERS, COUNTER, KERNEL, GAUGE, LEVEL = range(1000, 1010)


def clock(number, time, incremental=None):
    return (1, [(1, number), (2, time), (3, incremental)])


def track(uuid, parent, *fields):
    return [SEQUENCE, NEEDS, (60, [(1, uuid), (5, parent)] + list(fields))]


def event(delta, kind, uuid, *fields):
    return [SEQUENCE, NEEDS, (8, delta), (11, [(9, kind), (11, uuid)] + list(fields))]


def titled(delta, kind, uuid, category, *fields):
    return event(delta, kind, uuid, (3, category), (10, 1), *fields)


def state(delta, tid, number, cpu):
    return [SEQUENCE, NEEDS, (8, delta), (117, [(1, cpu), (2, "demo"), (3, tid), (4, number)])]


TASK = (4, [(1, 1), (6, "0xabc")])
PART = (4, [(1, 2), (3, 1)])

GOOD = {
    "clocks": [SEQUENCE, (13, 1), (87, 1), (59, [(58, 64)]),
               (6, [clock(6, BOOT), clock(3, BOOT - 10), clock(1, BOOT + 10), (2, 6)])],
    "incremental": [SEQUENCE, NEEDS, (6, [clock(64, 0, 1), clock(6, BOOT)])],
    "names": [SEQUENCE, NEEDS, (12, [
        (1, [(1, 1), (2, "task.run")]), (1, [(1, 2), (2, "task.ready")]), (1, [(1, 3), (2, "zone")]),
        (1, [(1, 4), (2, "kernel.state")]),
        (2, [(1, 1), (2, "fib")]), (3, [(1, 1), (2, "task")]), (3, [(1, 2), (2, "part")]),
        (29, [(1, 1), (2, "why")])])],
    "process": track(PROCESS, None, (3, [(1, 100), (6, "demo")])),
    "workers": track(WORKERS, PROCESS, (2, "Workers"), (11, 3), (15, 2)),
    "thread": track(THREAD, WORKERS, (4, [(1, 100), (2, 101), (5, "worker 0")])),
    "kernel": track(KERNEL, WORKERS, (2, "worker 0 kernel"), (12, 1), (15, 2)),
    "tasks": track(TASKS, PROCESS, (2, "Tasks"), (11, 3), (15, 2)),
    "row": track(ROW, TASKS, (2, "fib 0xabc"), (12, 0), (15, 2)),
    "counters": track(COUNTERS, PROCESS, (2, "Counters"), (15, 2)),
    "counter": track(COUNTER, COUNTERS, (2, "ready tasks"), (8, []), (15, 2)),
    "gauge": track(GAUGE, COUNTERS, (2, "running tasks"), (8, [(5, 1)]), (15, 2)),
    "level": track(LEVEL, COUNTERS, (2, "suspended tasks"), (8, []), (15, 2)),
    "defaults": [SEQUENCE, NEEDS, (59, [(58, 64), (11, [(31, GAUGE), (31, LEVEL)])])],
    "spawn": titled(10, 3, THREAD, 3, (47, Fixed(9))),
    "ready": titled(0, 1, ROW, 2),
    "unready": event(5, 2, ROW, (4, [(1, 1), (17, 1)]), (12, 5), (12, 7)),
    "run": titled(0, 1, ROW, 1, TASK, (48, Fixed(9))),
    "zone": titled(1, 1, ROW, 3, PART),
    "value": event(0, 4, COUNTER, (30, -3)),
    "unzone": event(2, 2, ROW, (31, COUNTER), (31, GAUGE), (12, 4), (12, -2)),
    "plain": event(0, 4, GAUGE, (30, 6)),
    "stop": event(1, 2, ROW),
    "kernel runs": titled(0, 1, KERNEL, 4),
    "kernel stops": event(1, 2, KERNEL),
    "on": state(0, 101, 3, 1),
    "off": state(1, 101, 2, 1),
    "other on": state(0, 900, 3, 1),
    "other off": state(2, 900, 4, 1),
    "woken": state(0, 102, 2, 0),
    "lost": [SEQUENCE, NEEDS, (8, BOOT + 3), (58, 6), (11, [(9, 3), (11, WORKERS), (3, 3), (23, "x")])],
}


def check(packets, rows_max=None, tail=b""):
    data = b"".join(message((1, packet)) for packet in packets) + tail
    checker = perfetto_check.Checker(rows_max)
    checker.run(io.BytesIO(data))
    return checker


FAULTS = []


def fault(reason, **options):
    """the function changes the good trace, a dict in the order of the file"""
    def add(change):
        FAULTS.append((change.__name__, reason, change, options))
        return change
    return add


def replace(packet, number, value):
    """of the event in a packet"""
    inside = dict(packet)[11]
    packet[-1] = (11, [(n, value if n == number else v) for n, v in inside])


def moved(trace, name, before):
    """the trace with one packet moved before another"""
    packet = trace.pop(name)
    items = list(trace.items())
    at = [key for key, _ in items].index(before)
    items.insert(at, (name, packet))
    trace.clear()
    trace.update(items)


@fault("thread 101 begins to run although it runs on CPU 1")
def runs_twice(t):
    t["off"] = state(1, 101, 3, 1)


@fault("on CPU 1, where thread 101 runs")
def two_on_a_cpu(t):
    del t["off"]


@fault("thread 101 leaves CPU 0, but runs on CPU 1")
def leaves_another_cpu(t):
    t["off"] = state(1, 101, 2, 0)


@fault("time runs back by 1 ns on tid 101")
def state_before_the_last(t):
    t["off"] = [SEQUENCE, NEEDS, (8, BOOT + 19), (58, 6), (117, [(1, 1), (3, 101), (4, 2)])]


@fault("is put into state 9")
def no_state(t):
    t["off"] = state(1, 101, 9, 1)


@fault("thread 0 is put into state")
def idle_is_no_thread(t):
    t["woken"] = state(0, 0, 3, 0)


@fault("zone on row 'worker 0 kernel'")
def zone_on_kernel_row(t):
    t["kernel runs"] = titled(0, 1, KERNEL, 3)


@fault("kernel.state on row 'fib")
def kernel_state_elsewhere(t):
    t["zone"] = titled(1, 1, ROW, 4)


@fault("two states at a time on row 'worker 0 kernel'")
def two_kernel_states(t):
    t["kernel twice"] = titled(0, 1, KERNEL, 4)
    moved(t, "kernel twice", "kernel stops")


@fault("kernel row 'worker 0 kernel' is without explicit order")
def kernel_row_without_rank(t):
    t["kernel"] = track(KERNEL, WORKERS, (2, "worker 0 kernel"), (15, 2))


@fault("left open")
def end_missing(t):
    del t["stop"]


@fault("an end without a begin")
def begin_missing(t):
    del t["run"], t["zone"]


@fault("has no descriptor")
def track_missing(t):
    del t["row"]


@fault("has no descriptor")
def track_after_its_event(t):
    moved(t, "spawn", "thread")


@fault("is not declared")
def parent_missing(t):
    del t["tasks"]


@fault("is not declared")
def parent_after_its_child(t):
    moved(t, "counter", "counters")


@fault("another parent")
def declared_twice(t):
    t["again"] = track(ROW, WORKERS, (2, "fib"), (15, 2))


@fault("another process's tree")
def thread_of_another_process(t):
    t["thread"] = track(THREAD, WORKERS, (4, [(1, 200), (2, 101)]))


@fault("may be merged")
def merged_by_name(t):
    t["row"] = track(ROW, TASKS, (2, "fib 0xabc"), (12, 0))


@fault("without explicit order")
def no_rank(t):
    t["row"] = track(ROW, TASKS, (2, "fib 0xabc"), (15, 2))


@fault("is named after no task and no lane")
def row_without_address(t):
    t["row"] = track(ROW, TASKS, (2, "fib abc"), (12, 0), (15, 2))


@fault("without a uuid")
def no_uuid(t):
    t["row"] = track(0, TASKS, (2, "fib 0xabc"), (12, 0), (15, 2))


@fault("time runs back by 12 ns")
def time_runs_back(t):
    t["back"] = [SEQUENCE, NEEDS, (8, BOOT + 7), (58, 6), (11, [(9, 3), (11, ROW), (3, 3), (23, "x")])]


@fault("the first packet is no clock snapshot")
def no_snapshot(t):
    t["clocks"] = [field for field in t["clocks"] if field[0] != 6]


@fault("has clocks [1, 6] only")
def no_monotonic(t):
    t["clocks"][-1] = (6, [clock(6, BOOT), clock(1, BOOT), (2, 6)])


@fault("primary trace clock")
def no_primary(t):
    t["clocks"][-1] = (6, [clock(6, BOOT), clock(3, BOOT), clock(1, BOOT)])


@fault("clock 64 without a snapshot on its sequence")
def no_incremental_clock(t):
    del t["incremental"]


@fault("clock 5 without a snapshot")
def unknown_clock(t):
    t["lost"][3] = (58, 5)


@fault("clock 64 of a sequence is not incremental")
def not_incremental(t):
    t["incremental"][-1] = (6, [clock(64, 0), clock(6, BOOT)])


@fault("does not clear the incremental state")
def not_cleared(t):
    t["clocks"][1] = NEEDS


@fault("does not clear the incremental state")
def another_sequence(t):
    t["spawn"][0] = (10, 78)


@fault("category 1 is not defined")
def cleared_in_the_middle(t):
    t["run"][1] = (13, 3)


@fault("does not say that it needs them")
def needs_missing(t):
    t["run"].remove(NEEDS)


@fault("no sequence id")
def no_sequence(t):
    t["spawn"].remove(SEQUENCE)


@fault("category 9 is not defined")
def category_undefined(t):
    replace(t["run"], 3, 9)


@fault("event name 9 is not defined")
def name_undefined(t):
    replace(t["run"], 10, 9)


@fault("event name 1 is not defined")
def name_defined_too_late(t):
    names = t["names"][-1][1]
    t["names"][-1] = (12, [field for field in names if field[0] != 2])
    t["late"] = [SEQUENCE, NEEDS, (12, [(2, [(1, 1), (2, "fib")])])]


@fault("annotation name 9 is not defined")
def annotation_undefined(t):
    replace(t["run"], 4, [(1, 9), (6, "0xabc")])


@fault("annotation string 9 is not defined")
def string_undefined(t):
    replace(t["unready"], 4, [(1, 1), (17, 9)])


@fault("without a name or value")
def annotation_empty(t):
    replace(t["run"], 4, [(1, 1)])


@fault("changes from 'fib' to 'other'")
def meaning_changes(t):
    t["again"] = [SEQUENCE, NEEDS, (12, [(2, [(1, 1), (2, "other")])])]


@fault("has id 0")
def interned_zero(t):
    t["again"] = [SEQUENCE, NEEDS, (12, [(2, [(1, 0), (2, "other")])])]


@fault("ends without a start")
def flow_without_start(t):
    del t["spawn"]


@fault("ends without a start")
def flow_starts_behind_its_end(t):
    packet = t.pop("spawn")
    packet[2] = (8, 0)
    t["spawn"] = packet


@fault("ns before its start")
def flow_ends_earlier(t):
    t["spawn"] = [SEQUENCE, NEEDS, (8, BOOT + 900), (58, 6),
                  (11, [(9, 3), (11, THREAD), (3, 3), (10, 1), (47, Fixed(9))])]


@fault("begins on row 'fib 0xabc' inside task.ready")
def states_overlap(t):
    del t["unready"]
    t["end"] = event(1, 2, ROW)


@fault("outside a run")
def zone_outside_a_run(t):
    t["zone2"] = titled(1, 1, ROW, 3)
    t["unzone2"] = event(1, 2, ROW)


@fault("513 slices are open")
def too_deep(t):
    for i in range(513):
        t[f"deep{i}"] = titled(1, 1, THREAD, 3)
    for i in range(513):
        t[f"undeep{i}"] = event(1, 2, THREAD)


@fault("which is none")
def counter_on_a_row(t):
    replace(t["value"], 11, ROW)


@fault("a slice on counter")
def slice_on_a_counter(t):
    replace(t["spawn"], 11, COUNTER)


@fault("1 extra counter values, but 0 counters")
def no_default_counters(t):
    t["defaults"] = [SEQUENCE, NEEDS, (59, [(58, 64)])]
    t["unready"] = event(5, 2, ROW, (12, 5))


@fault("2 extra counter values, but 1 counters")
def too_few_counters(t):
    t["unzone"] = event(2, 2, ROW, (31, COUNTER), (12, 4), (12, -2))


@fault("9 extra counter values")
def more_than_the_importer_takes(t):
    t["unzone"] = event(2, 2, ROW, *[(31, COUNTER)] * 9, *[(12, i) for i in range(9)])


@fault("which is no counter")
def extra_value_on_a_row(t):
    t["unzone"] = event(2, 2, ROW, (31, TASKS), (12, 4))


@fault("is declared again with another differences")
def becomes_absolute(t):
    t["again"] = track(GAUGE, COUNTERS, (2, "running tasks"), (8, []), (15, 2))


@fault("of differences is on two sequences")
def differences_on_two_sequences(t):
    second = (10, 78)
    t["second"] = [second, (13, 1), (8, BOOT + 800), (58, 6), (11, [(9, 4), (11, GAUGE), (30, 1)])]


@fault("time runs back by 11 ns on row 'suspended tasks'")
def extra_value_earlier(t):
    t["early"] = [SEQUENCE, NEEDS, (8, BOOT + 4), (58, 6), (11, [
        (9, 3), (11, WORKERS), (3, 3), (23, "x"), (31, LEVEL), (12, 1)])]


@fault("without a time stamp")
def no_time(t):
    t["spawn"] = [field for field in t["spawn"] if field[0] != 8]


@fault("without category or name")
def no_name(t):
    t["spawn"] = event(10, 3, THREAD, (3, 3), (47, Fixed(9)))


@fault("packet field 500")
def unknown_packet_field(t):
    t["more"] = [SEQUENCE, NEEDS, (500, 1)]


@fault("event field 33")
def unknown_event_field(t):
    replace(t["unzone"], 9, 2)
    t["unzone"] = event(2, 2, ROW, (33, 1))


@fault("not UTF-8")
def not_utf8(t):
    t["names"][-1][1].append((2, [(1, 5), (2, b"\xff\xfe")]))


@fault("more than 0", rows_max=0)
def too_many_rows(t):
    pass


@fault("bytes at the end are no whole packet", tail=b"\x0a\x20abc")
def cut_tail(t):
    pass


@fault("begins no packet", tail=b"\x12\x00")
def rubbish_tail(t):
    pass


@fault("reaches beyond", tail=b"\x0a\x02\x5a\x7f")
def field_too_long(t):
    pass


failed = False


def expect(good, name, found=""):
    global failed
    if good:
        print(f"ok {name}")
    else:
        print(f"not ok {name}: {found}")
        failed = True


def command(*arguments):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto_check.py")
    return subprocess.run([sys.executable, script, *arguments], capture_output=True, check=False)


def files():
    """the same as a file, plain and compressed, by the command"""
    data = b"".join(message((1, packet)) for packet in GOOD.values())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t")
        squeezed = subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True)
        runs = []
        for content in (data, gzip.compress(data), squeezed.stdout, data + b"\x0a"):
            with open(path, "wb") as file:
                file.write(content)
            runs.append(command(path))
        cut = runs.pop()
        expect(all(run.returncode == 0 and run.stdout == runs[0].stdout for run in runs),
               "plain, gzip and zstd files have one tally", [run.stderr for run in runs])
        expect(cut.returncode == 1 and b"whole packet" in cut.stderr, "a cut file is refused", cut.stderr)
        expect(command(path + "none").returncode == 2, "a missing file is told")


def main():
    good = check(GOOD.values())
    expect(not good.violations, "a good trace passes", good.violations)
    tally = good.tally()
    expected = {
        "slices": {"kernel.state": 1, "task.ready": 1, "task.run": 1, "zone": 1},
        "continued": {"zone": 1},
        "durations_ns": {"kernel.state": 1, "task.ready": 5, "task.run": 4, "zone": 2},
        "instants": {"zone": 2},
        "flows": {"points": 1, "ends": 1, "open": 0},
        "tracks": {"counter": 3, "group": 3, "kernel": 1, "process": 1, "task": 1, "thread": 1},
        "task_rows": {"100": 1},
        "lanes": 0,
        "last_time": BOOT + 20,
    }
    for name, value in expected.items():
        expect(tally[name] == value, f"the tally's {name}", tally[name])
    counters = {name: (found[0]["samples"], found[0]["last"]) for name, found in tally["counters"].items()}
    # ready: -3, then 4 beside an end; running: +5, -2, +6; suspended: 7
    expect(counters == {"ready tasks": (2, 4), "running tasks": (3, 9), "suspended tasks": (1, 7)},
           "counters, alone and in other events, and of differences", tally["counters"])
    expect(tally["counters"]["ready tasks"][0]["min"] == -3, "a negative counter", tally["counters"])
    missed = {}
    for name, reason, change, options in FAULTS:
        trace = copy.deepcopy(GOOD)
        change(trace)
        found = check(trace.values(), **options).violations
        if not any(reason in violation for violation in found):
            missed[name] = found
    expect(not missed, f"{len(FAULTS)} faults are planted and found", missed)
    files()
    return failed


if __name__ == "__main__":
    sys.exit(main())
