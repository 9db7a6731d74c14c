#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""truth.py notices: one event left out, one argument changed, one arrow left out, two events swapped, a
time moved, an event invented; each for every sort of event that a run of the runtime leaves in a trace.
"""
import copy
import os
import random
import subprocess
import sys

SRC = os.environ["SRC"]
sys.path.insert(0, os.path.join(SRC, "tests", "e2e"))
sys.dont_write_bytecode = True

from truth import Comparison                # noqa: E402
from truth_journal import Expected          # noqa: E402
from truth_trace import BEGIN, COUNTER, END, Facts, Reader      # noqa: E402

EACH = 2            # mutations of a sort
# what the capture says of itself, and nobody's events
OWN = {"capture"}
# numbers that the trace gives, not the program
FREE = {"zone_id"}


def run(folder, compact, *program):
    tracer, targets = os.environ["TRACER"], os.environ["TARGETS"]
    capture, trace, journal = (os.path.join(folder, name) for name in ("x.trc", "x.pftrace", "j"))
    export = [tracer, "export", "-q", "--force", "-f", "perfetto", "-o", trace, capture]
    if compact:
        export = [os.path.join(targets, "export_compact"), capture, trace]
    for command in ([tracer, "-q", "--force", "-o", capture, "--",
                     os.path.join(targets, "tracer-demo-runtime"), *program, "--journal", journal,
                     "--journal-events", "16384", "--quiet"], export):
        subprocess.run(command, check=True)
    with open(os.path.join(folder, "e"), "w", encoding="utf-8") as out:
        subprocess.run([os.path.join(targets, "journal"), "--events", journal], stdout=out, check=True)
    reader = Reader()
    with open(trace, "rb") as stream:
        reader.run(stream)
    with open(os.path.join(folder, "e"), encoding="utf-8") as lines:
        return reader, list(lines)


def notices(reader, events, lines):
    """differences in a trace with these events"""
    mutant = copy.copy(reader)
    mutant.events = events
    for index, event in enumerate(events):
        event.index, event.begin = index, None
        if event.kind == END:
            event.category = event.name = None
    try:
        comparison = Comparison(Facts(mutant), Expected(lines), False)
        return comparison.run()
    except (IndexError, KeyError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def changed(name, value):
    if name in ("inline", "cut"):
        return 1 - value
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1] != "1" else "2") if value.startswith("0x") else value + "x"
    return value + 1


class Trial:
    def __init__(self, reader, lines, sort):
        self.reader, self.lines, self.sort = reader, lines, sort
        self.tried = self.missed = 0

    def mutate(self, what, change, *places):
        """@change gets the copied events at the places; they are put back afterwards"""
        originals = self.reader.events
        events = list(originals)
        for place in places:
            events[place] = copy.copy(originals[place])
            events[place].args = dict(originals[place].args)
        change(events)
        self.tried += 1
        if not notices(self.reader, events, self.lines):
            self.missed += 1
            print(f"not noticed: {what} of {self.sort[0]} at event {places[0]}")


def sorts(events):
    result = {}
    opened = {}
    for event in events:
        category = event.category or event.track.name
        if event.kind == BEGIN:
            opened.setdefault(event.track.uuid, []).append(category)
        elif event.kind == END:
            category = opened[event.track.uuid].pop()
        result.setdefault((category, event.kind), []).append(event.index)
    return result


def told(event):
    return event.category, event.name, {key: event.args[key] for key in event.args if key not in FREE}


def swap_place(events, place):
    """the next event of what the same thread or task does, at another time"""
    for other in range(place + 1, min(place + 40, len(events))):
        if events[other].track is events[place].track and events[other].kind == events[place].kind and \
                told(events[other]) != told(events[place]):
            return other
    return None


def mutations(trial, place):
    event = trial.reader.events[place]

    def swap(events, other):
        for key in ("category", "name", "args", "flows", "ends", "value"):
            mine, its = getattr(events[place], key), getattr(events[other], key)
            setattr(events[place], key, its)
            setattr(events[other], key, mine)

    trial.mutate("leaving out", lambda events: events.pop(place), place)
    trial.mutate("inventing", lambda events: events.insert(place, copy.copy(events[place])), place)
    if event.kind != COUNTER:
        trial.mutate("another time", lambda events: setattr(events[place], "time", event.time + 20000000),
                     place)
    for name, value in event.args.items():
        if name not in FREE and not isinstance(value, bool):
            trial.mutate(f"another {name}", lambda events, name=name, value=value:
                         events[place].args.update({name: changed(name, value)}), place)
    if event.kind == COUNTER:
        trial.mutate("another value", lambda events: setattr(events[place], "value", event.value + 1), place)
    for key in ("flows", "ends"):
        for number in range(len(getattr(event, key))):
            trial.mutate("leaving out an arrow", lambda events, key=key, number=number: setattr(
                events[place], key, [flow for at, flow in enumerate(getattr(event, key)) if at != number]),
                place)
    other = swap_place(trial.reader.events, place)
    if other is not None and event.kind != END:
        trial.mutate("swapping", lambda events: swap(events, other), place, other)


def trials(name, reader, lines):
    random.seed(1)
    tried = missed = 0
    if notices(reader, [copy.copy(event) for event in reader.events], lines):
        print(f"not ok {name}: the unchanged trace differs already")
        return set()
    found = sorts(reader.events)
    for sort, places in sorted(found.items()):
        if sort[0] in OWN or sort[0] == "steals per s":
            continue
        trial = Trial(reader, lines, sort)
        for place in random.sample(places, min(EACH, len(places))):
            mutations(trial, place)
        tried += trial.tried
        missed += trial.missed
    print(f"{'not ok' if missed or tried < 100 else 'ok'} {name}: {tried} mutations of {len(found)} sorts of "
          f"events, {missed} not noticed")
    return {sort[0] for sort in found}


def main():
    if os.geteuid():
        print("skip mutations are noticed: needs root")
        return 0
    folder = os.environ["TMP"]
    seen = set()
    for program in (["churn", "--size", "200", "--workers", "2"],
                    ["stencil", "--size", "6", "--workers", "2"],
                    ["pipeline", "--size", "70", "--workers", "2"],
                    ["fib", "--size", "6", "--workers", "2"]):
        # written as a large trace is: gauges stand in other events
        compact = program[0] in ("stencil", "fib")
        reader, lines = run(folder, compact, *program)
        if compact != bool(reader.extra_samples):
            print(f"not ok {program[0]} is written as {'large' if compact else 'small'} traces are")
        seen |= trials(f"mutations of {program[0]} are noticed", reader, lines)
    wanted = {"task.run", "worker.task", "task.suspended", "task.ready", "task.wake", "task.spawn", "lock",
              "zone", "marker", "frame", "continuation", "future.set", "flow.start", "flow.step", "flow.end",
              "sent", "received", "message", "worker.sleep", "worker.background", "worker.bulk"}
    print(f"ok all sorts were there" if wanted <= seen else f"not ok all sorts were there: {wanted - seen}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
