#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truth.py notices: one event left out, one annotation changed or left out, one arrow left out, two events
swapped, a time or a name changed, an event invented; each for every sort of event that a run of the runtime
leaves in a trace, and for each annotation and arrow that such events have.

What is tried follows from the trace alone. A program runs again until its trace has what it is run for.
"""
import copy
import os
import subprocess
import sys

SRC = os.environ["SRC"]
sys.path.insert(0, os.path.join(SRC, "tests", "e2e"))
sys.dont_write_bytecode = True

from truth import Comparison                # noqa: E402
from truth_journal import Expected, read    # noqa: E402
from truth_trace import BEGIN, COUNTER, END, Facts, Reader      # noqa: E402

EACH = 2            # events of a sort; of each annotation one
RUNS = 20
# longer than a busy machine keeps a thread between a point and its entry in the journal: in between, no
# time can be told from the right one
LATER_NS = 10_000_000_000
# what the capture says of itself, and nobody's events; and what is counted again from them
OWN = {"capture", "steals per s"}
# numbers that the trace gives, not the program
FREE = {"zone_id"}
KINDS = {BEGIN: "begin", END: "end", COUNTER: "sample"}
# each annotation must be tried, of one of these programs at least: its sort of event, kind of event
COMMON = {"task.staged": "name task", "task.created": "name parent task", "task.completed": "task",
          "task.destroyed": "task", "task.spawn": "task", "task.wake": "task object cause",
          "task.run begin": "task worker", "worker.task begin": "task worker", "task.ready begin": "task",
          "task.ready end": "", "task.suspended begin": "task object", "task.suspended end": "cause waker",
          "worker.start": "worker", "worker.stop": "worker", "worker.sleep begin": "reason",
          "worker.sleep end": "cause", "future.created": "object", "future.set": "object",
          "future.wait": "object task", "steal.failed": "thief victim",
          "zone begin": "file function line part"}
LOCKS = {"lock wait begin": "object part", "lock wait end": "contended holder holder_name holder_tid",
         "lock held begin": "object", "lock held end": "", "task.yielded": "task"}
PROGRAMS = (
    (("churn", "--size", "100"), False, COMMON | LOCKS | {
        "continuation begin": "continuation inline object", "continuation.attached": "continuation object",
        "future.callback": "object", "future.exception": "object", "message": "", "task.renamed": "name task",
        "lock held begin": "object part"}),
    (("stencil", "--size", "6"), True, COMMON | {
        "marker begin": "color extra", "frame begin": "", "steal": "task thief victim victim_depth",
        "stolen": "thief victim", "zone end": "step", "worker.bulk begin": "", "worker.bulk end": "",
        "worker.background begin": "", "worker.background end": ""}),
    (("pipeline", "--size", "40"), False, COMMON | LOCKS | {
        "flow.start": "id", "flow.step": "id", "flow.end": "id", "sent": "bytes destination id",
        "received": "bytes id source"}),
    (("fib", "--size", "6"), True, {"task.run begin": "task worker", "message": "", "zone begin": ""}),
)


def run(folder, compact, program):
    tracer, targets = os.environ["TRACER"], os.environ["TARGETS"]
    capture, trace, journal = (os.path.join(folder, name) for name in ("x.trc", "x.pftrace", "j"))
    export = [tracer, "export", "-q", "--force", "-f", "perfetto", "-o", trace, capture]
    if compact:
        export = [os.path.join(targets, "export_compact"), capture, trace]
    for command in ([tracer, "-q", "--force", "-o", capture, "--",
                     os.path.join(targets, "tracer-demo-runtime"), *program, "--workers", "2",
                     "--journal", journal, "--journal-events", "16384", "--quiet"], export):
        subprocess.run(command, check=True)
    lines = subprocess.run([os.path.join(targets, "journal"), "--events", journal], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    reader = Reader()
    with open(trace, "rb") as stream:
        reader.run(stream)
    return reader, list(read(lines.splitlines()))


def notices(reader, events, rows):
    """differences in a trace with these events"""
    mutant = copy.copy(reader)
    mutant.events = events
    for index, event in enumerate(events):
        event.index, event.begin = index, None
        if event.kind == END:
            event.category = event.name = None
    try:
        comparison = Comparison(Facts(mutant), Expected(rows), False)
        return comparison.run()
    except (IndexError, KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def changed(name, value):
    if name in ("inline", "cut", "contended"):
        return 1 - value
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1] != "1" else "2") if value.startswith("0x") else value + "x"
    return value + 1


class Trial:
    def __init__(self, reader, rows):
        self.reader, self.rows = reader, rows
        self.tried = self.missed = 0
        self.sort = None

    def mutate(self, what, change, *places):
        """@change gets the events, those at the places copied; the originals are put back afterwards"""
        originals = self.reader.events
        events = list(originals)
        for place in places:
            events[place] = copy.copy(originals[place])
            events[place].args = dict(originals[place].args)
        change(events)
        self.tried += 1
        if not notices(self.reader, events, self.rows):
            self.missed += 1
            print(f"not noticed: {what} of {self.sort} at event {places[0]}")


def sorts(events):
    """sort -> places"""
    result, opened = {}, {}
    for place, event in enumerate(events):
        sort, name = event.category or event.track.name, event.name
        if event.kind == BEGIN:
            opened.setdefault(event.track.uuid, []).append((sort, name))
        elif event.kind == END:
            sort, name = opened[event.track.uuid].pop()
        if sort in OWN:
            continue
        if sort == "lock":
            sort = f"lock {name.partition(':')[0]}"
        result.setdefault(f"{sort} {KINDS.get(event.kind, '')}".strip(), []).append(place)
    return result


def annotations(events, places):
    """name -> places of these events that have it"""
    result = {}
    for place in places:
        for name in events[place].args.keys() - FREE:
            result.setdefault(name, []).append(place)
    return result


def some(places, count=EACH):
    """the same of the same trace: from within, since the first and the last of a sort may be special"""
    return sorted({places[len(places) * (2 * i + 1) // (2 * count)] for i in range(count)})


def told(event):
    return event.category, event.name, {key: event.args[key] for key in event.args if key not in FREE}


def swap_place(events, place):
    """the next event of what the same thread or task does, at another time"""
    for other in range(place + 1, min(place + 40, len(events))):
        if events[other].track is events[place].track and events[other].kind == events[place].kind and \
                told(events[other]) != told(events[place]):
            return other
    return None


def mutate_event(trial, place):
    event = trial.reader.events[place]

    def swap(events, other):
        for key in ("category", "name", "args", "flows", "ends", "value"):
            mine, its = getattr(events[place], key), getattr(events[other], key)
            setattr(events[place], key, its)
            setattr(events[other], key, mine)

    trial.mutate("leaving out", lambda events: events.pop(place), place)
    trial.mutate("inventing", lambda events: events.insert(place, copy.copy(events[place])), place)
    if event.kind == COUNTER:
        trial.mutate("another value", lambda events: setattr(events[place], "value", event.value + 1), place)
    else:
        trial.mutate("another time", lambda events: setattr(events[place], "time", event.time + LATER_NS),
                     place)
    if event.name and event.kind != END:
        trial.mutate("another name", lambda events: setattr(events[place], "name", event.name + "x"), place)
    other = swap_place(trial.reader.events, place)
    if other is not None and event.kind != END:
        trial.mutate("swapping", lambda events: swap(events, other), place, other)


def mutate_annotation(trial, place, name):
    value = trial.reader.events[place].args[name]
    trial.mutate(f"another {name}", lambda events: events[place].args.update({name: changed(name, value)}),
                 place)
    trial.mutate(f"leaving out {name}", lambda events: events[place].args.pop(name), place)


def mutate_arrows(trial, place, key):
    flows = getattr(trial.reader.events[place], key)
    for number in range(len(flows)):
        trial.mutate("leaving out an arrow", lambda events, number=number: setattr(
            events[place], key, flows[:number] + flows[number + 1:]), place)


def missing(reader, wanted):
    """sorts of events and annotations of these that the trace does not have"""
    found = sorts(reader.events)
    return sorted(f"{sort}: {name}" for sort, names in wanted.items() for name in [""] + names.split()
                  if sort not in found or name and name not in annotations(reader.events, found[sort]))


def trials(name, reader, rows):
    if notices(reader, [copy.copy(event) for event in reader.events], rows):
        print(f"not ok {name}: the unchanged trace differs already")
        return
    events, trial = reader.events, Trial(reader, rows)
    found = sorts(events)
    for sort, places in sorted(found.items()):
        trial.sort = sort
        for place in some(places):
            mutate_event(trial, place)
        for annotation, having in sorted(annotations(events, places).items()):
            for place in some(having, 1):
                mutate_annotation(trial, place, annotation)
        for key in ("flows", "ends"):
            having = [place for place in places if getattr(events[place], key)]
            for place in some(having) if having else []:
                mutate_arrows(trial, place, key)
    bad = trial.missed or trial.tried < 100
    print(f"{'not ok' if bad else 'ok'} {name}: {trial.tried} mutations of {len(found)} sorts of events, "
          f"{trial.missed} not noticed")


def main():
    if os.geteuid():
        print("skip mutations are noticed: needs root")
        return 0
    for program, compact, wanted in PROGRAMS:
        for _ in range(RUNS):
            reader, rows = run(os.environ["TMP"], compact, program)
            lacks = missing(reader, wanted)
            if not lacks:
                break
        name = f"mutations of {program[0]} are noticed"
        # written as a large trace is: gauges stand in other events
        if compact != bool(reader.extra_samples):
            print(f"not ok {program[0]} is written as {'large' if compact else 'small'} traces are")
        if lacks:
            print(f"not ok {name}: in {RUNS} runs never all of these: {', '.join(lacks)}")
        else:
            trials(name, reader, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
