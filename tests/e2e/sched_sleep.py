# SPDX-License-Identifier: BSD-2-Clause
"""Compares the sleeps that workers told with the kernel's record of the same threads.

	sched_sleep.py TEXT	(of `tracer export -f text`)

For each span from worker_sleep_begin to worker_sleep_end: how long before the kernel took the thread off the
CPU it began, and how long after the kernel gave it one again it ended. Time in between in which the
thread could run but had no CPU is nobody's fault and left out. Prints "N sleeps within 50 us", or what
differs, and then exits with status 1. In a hundredth of them the thread may have been interrupted for
longer (by the machine below this one, for example).
"""
import collections
import sys

LIMIT_NS = 50_000
SLEEPS_MIN = 20


class Span:
    def __init__(self, begin):
        self.begin = begin
        self.first = self.last = None   # blocked from and to, the outermost
        self.away = [0, 0]              # preempted before and after
        self.off = None

    def end(self, time):
        return self.first - self.begin - self.away[0], time - self.last - self.away[1]


def spans(lines):
    open_spans = {}
    for line in lines:
        stamp, thread, event, *arguments = line.split()
        seconds, nanoseconds = stamp.split(".")
        time = int(seconds) * 10**9 + int(nanoseconds)
        if event == "worker_sleep_begin":
            open_spans[thread] = Span(time)
            continue
        span = open_spans.get(thread)
        if span is None:
            continue
        if event == "off_cpu":
            span.off = time, "state=0" in arguments
        elif event == "on_cpu" and span.off:
            if span.off[1]:
                span.away[span.first is not None] += time - span.off[0]
            else:
                span.first = span.first or span.off[0]
                span.last, span.away[1] = time, 0
            span.off = None
        elif event == "worker_sleep_end":
            yield thread, time, open_spans.pop(thread)


def main():
    counts = collections.Counter()
    strange = []
    with open(sys.argv[1], encoding="utf-8") as file:
        for thread, time, span in spans(file):
            counts["spans"] += 1
            if span.first is None:
                counts["woken before they slept"] += 1
                continue
            counts["sleeps"] += 1
            before, after = span.end(time)
            if min(before, after) < -1000:
                strange.append(f"{thread}: awake {-min(before, after)} ns inside a span")
            elif max(before, after) > LIMIT_NS:
                counts["late"] += 1
    if counts["sleeps"] < SLEEPS_MIN or counts["late"] > counts["sleeps"] / 100 or strange:
        print(dict(counts), *strange[:5], sep="\n")
        return 1
    print(f"{counts['sleeps']} sleeps within {LIMIT_NS // 1000} us")
    return 0


sys.exit(main())
