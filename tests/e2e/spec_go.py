#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Goroutines as the tracer sees them, against what the program's own runtime/trace records in the
same run: the program of targets/spec/goroutines.go, as built and stripped."""

import collections
import os
import re
import shutil
import subprocess
import sys

TRACER, SRC, TMP = os.environ["TRACER"], os.environ["SRC"], os.environ["TMP"]

# runtime/trace's kinds of blocking, and Go's wait reasons for them
REASONS = {
    "GoBlockSend": {"chan send"},
    "GoBlockRecv": {"chan receive"},
    "GoBlockSelect": {"select"},
    "GoBlockSync": {"semacquire", "sync.Mutex.Lock", "sync.RWMutex.Lock", "sync.RWMutex.RLock"},
    "GoBlockCond": {"sync.Cond.Wait"},
    "GoBlockNet": {"IO wait"},
    "GoSleep": {"sleep"},
}
STAMP_NS = 3_000  # a stamp is some microseconds before the other, of which a short wait is made

# what goroutines of the program are started with, and how many: as runtime/trace has it, not the
# wrapper that the compiler makes of `go f(x)`
NAMES = {
    "main.squarer": 4,
    "main.adder": 1,
    "main.locker": 3,
    "main.selector": 1,
    "main.echo": 1,
    "main.caller": 1,
    "main.conditional": 3,
}


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def of_go(path):
    """goroutine -> its blocked times by reason in ns; those created, those ended"""
    blocked = collections.defaultdict(lambda: collections.defaultdict(list))
    since, created, ended = {}, set(), set()
    for line in run("go", "tool", "trace", "-d", path, stderr=subprocess.DEVNULL).splitlines():
        match = re.match(r"(\d+) (\w+) p=\S+ g=(\d+) off=\d+ ?(?:.*\bg=(\d+))?", line)
        if not match:
            continue
        time, kind, running, other = int(match[1]), match[2], match[3], match[4]
        if kind == "GoCreate":
            created.add(int(other))
        elif kind == "GoEnd":
            ended.add(int(running))
        elif kind in REASONS:
            since[int(running)] = (kind, time)
        elif kind == "GoUnblock" and int(other) in since:
            reason, begin = since.pop(int(other))
            blocked[int(other)][reason].append(time - begin)
    return blocked, created, ended


def of_tracer(path):
    blocked = collections.defaultdict(lambda: collections.defaultdict(list))
    since, created, ended, names = {}, set(), set(), {}
    for line in run(TRACER, "export", "-f", "text", "-o", "-", path, stderr=subprocess.DEVNULL).splitlines():
        match = re.match(r"(\d+)\.(\d+) \S+ (task_\w+) task=(0x[0-9a-f]+)(.*)", line)
        if not match:
            continue
        time = int(match[1]) * 10**9 + int(match[2].ljust(9, "0"))
        kind, task, rest = match[3], int(match[4], 16), match[5]
        if kind == "task_created":
            created.add(task)
            names[task] = re.search(r'name="(.*?)"', rest)[1]
        elif kind == "task_completed":
            ended.add(task)
        elif kind == "task_suspended":
            since[task] = (re.search(r'reason="(.*?)"', rest)[1], time)
        elif kind == "task_resumed" and task in since:
            reason, begin = since.pop(task)
            blocked[task][reason].append(time - begin)
    return blocked, created, ended, names


def tell(name, wrong):
    print(f"not ok {name}: {wrong}" if wrong else f"ok {name}")


def traced(program, how):
    """both recordings of one run, read"""
    trace, capture = f"{TMP}/{how}.trace", f"{TMP}/{how}.trc"
    environment = dict(os.environ, GOMAXPROCS="2")
    said = run(TRACER, "-q", "--force", "--max-overhead", "100", "-o", capture, "--", program, trace, "60", env=environment)
    return of_go(trace), of_tracer(capture), "true" in said


def different_waits(go_blocked, blocked, names):
    """(goroutine, reason, waits and ns as Go has them, as we do) where they are not the same"""
    different = []
    for goroutine in go_blocked:
        # the main goroutine and the recorder's own wait outside of the recording too
        if names.get(goroutine, "").startswith("runtime"):
            continue
        for reason, its in go_blocked[goroutine].items():
            ours = [wait for r in REASONS[reason] for wait in blocked[goroutine][r]]
            # but for a wait or two at whose ends an interrupt came, or another virtual machine
            pairs = sorted(zip(its, ours), key=lambda pair: abs(pair[0] - pair[1]))[: -1 - len(its) // 50]
            off = abs(sum(its for its, _ in pairs) - sum(ours for _, ours in pairs))
            if len(ours) != len(its) or off > 0.05 * sum(its) + STAMP_NS * len(its):
                different.append((goroutine, reason, len(its), sum(its), len(ours), sum(ours)))
    return different


def compare(program, how):
    (go_blocked, go_created, go_ended), (blocked, created, ended, names), is_ahead = traced(program, how)

    missing = go_created - created
    more = created - go_created
    tell(f"goroutines and their numbers are those of runtime/trace ({how})",
         f"missing {sorted(missing)}, too many {sorted(more)}" if missing or more else "")
    found = collections.Counter(names.values())
    wrong = {name: found[name] for name in NAMES if found[name] != NAMES[name]}
    tell(f"each is named after its function ({how})", wrong)
    # the runtime's own may end after the program stopped its recording
    more = {goroutine for goroutine in ended - go_ended if names.get(goroutine, "").startswith("main.")}
    tell(f"the same have ended ({how})", sorted(go_ended - ended) or sorted(more))
    name = f"blocked as often and as long, for the same reasons ({how})"
    if is_ahead:
        tell(name, different_waits(go_blocked, blocked, names)[:5])
    else:
        print(f"skip {name}: no real-time priority here, and what else runs would come between the two recordings")


def main():
    name = "goroutines against runtime/trace"
    if os.geteuid():
        print(f"skip {name}: needs root")
        return
    if not shutil.which("go"):
        print(f"skip {name}: no go (Debian: golang)")
        return
    version = re.search(r"go1\.(\d+)", run("go", "version"))
    if not version or int(version[1]) > 21:
        print(f"skip {name}: this go's own trace has another format")
        return
    environment = dict(os.environ, GOCACHE=f"{TMP}/cache", GOFLAGS="-mod=mod", GO111MODULE="off")
    source = f"{SRC}/tests/targets/spec/goroutines.go"
    for how, flags in (("as built", ""), ("stripped", "-s -w")):
        program = f"{TMP}/goroutines-{how.split()[0]}"
        run("go", "build", "-ldflags", flags, "-o", program, source, env=environment)
        compare(program, how)


sys.exit(main())
