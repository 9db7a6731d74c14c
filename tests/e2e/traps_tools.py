#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Names, clocks and sampling of records; the points under other tools: bpftrace, valgrind, sanitizers."""

import re
import shutil
import sys
import time

from traps import trap, main, Skip

SLOW, POINTS = "usdt/tracer/slow.h", "usdt/tracer/points.h"


@trap("names of run time: long, empty, NULL, moved, changed, 10,000 of them",
      without=[{SLOW: [("\tring->names[string->key % TRACER_NAME_SLOTS] = string->key;\n",
                        "\tring->names[(string->key >> 8) % TRACER_NAME_SLOTS] = string->key;\n"),
                       ("ring->names[string->key % TRACER_NAME_SLOTS] != string->key)",
                        "ring->names[(string->key >> 8) % TRACER_NAME_SLOTS] == 0)")]},
               {SLOW: [("while (length < TRACER_NAME_MAX && string[length])", "while (length < 999 && string[length])")]}])
def names(t):
    _, events = t.record(t.cc("names", "names.c", "-O2"))
    got = [event["name"] for event in events if event.name == "task_renamed"]
    t.equal("names", got, ["x" * 1023, "x" * 1023, "x" * 1022, "", "", None] + ["the same", "The same"] * 3)
    got = [event["reason"] for event in events if event.name == "task_suspended"]
    t.equal("10,000 names", got == ["name number %d" % (i % 10000) for i in range(20000)], True)


@trap("--clock monotonic: stamps of the target, in order with the kernel's",
      without=[{SLOW: [("\tif (clock == TRACER_CLOCK_CYCLES)\n", "\tif (clock <= TRACER_CLOCK_MONOTONIC)\n")]}])
def monotonic(t):
    program = t.cc("link", "link_main.c", "-O2")
    begin = time.clock_gettime(time.CLOCK_BOOTTIME)
    t.record(program, options=["--clock", "monotonic"])
    end = time.clock_gettime(time.CLOCK_BOOTTIME)
    text = t.run(t.tracer, "export", "-q", "-f", "text", "-o", "-", t.path("recorded.trc"))
    stamps = [float(line.split()[0]) for line in text.splitlines() if " counter " in line]
    t.equal("records", len(stamps), 100)
    # what is out of bounds the decoder moves to the next bound
    t.check(len(set(stamps)) > 50, "stamps are all alike: %s" % stamps[:3])
    t.check(begin < min(stamps) and max(stamps) < end, "stamps outside of the run: %s %s" % (begin, stamps[:3]))


HASH = 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, (1 << 64) - 1


def task_hash(task):
    for factor in HASH[:2]:
        task = ((task ^ task >> 33) * factor) & HASH[2]
    return task ^ task >> 33


@trap("--sample 16: one task in 16, the same in every DSO, and of gauges every 16th",
      without=[{SLOW: [("\treturn tracer__is_out(task, level);", "\treturn 0 && tracer__is_out(task, level);")]},
               {SLOW: [("tracer_task_hash(task) >> 48 >> level", "tracer_task_hash(task + "
                        "(uintptr_t)&tracer_v1_dso) >> 48 >> level")]}])
def sampled(t):
    t.cc("libsample.so", "sample.c", "-O2", "-fPIC", "-shared", "-DLIBRARY")
    program = t.cc("sample", "sample.c", "-O2", "-L" + t.folder, "-Wl,-rpath," + t.folder, "-lsample")
    _, events = t.record(program, options=["--sample", "16"])
    expected = [task * 64 for task in range(1, 16001) if task_hash(task * 64) >> 48 < 1 << 12]
    t.check(850 < len(expected) < 1150, "the hash is not one in 16: %d" % len(expected))
    for name in "task_created", "task_begin", "task_end":
        t.equal(name, [event["task"] for event in events if event.name == name] == expected, True)
    t.equal("gauges: one before there is a ring to count in", sum(event.name == "queue_depth" for event in events), 1001)


SCRIPT = """
usdt:PROGRAM:tracer:task_begin { printf("begin %lx %d\\n", arg0, arg1); }
usdt:PROGRAM:tracer:task_created { printf("created %lx %s %lx\\n", arg0, str(arg1), arg2); }
usdt:PROGRAM:tracer:steal { printf("steal %d %d %lx %lx\\n", arg0, arg1, arg2, arg3); }
usdt:PROGRAM:tracer:counter { printf("counter %s %d %lx\\n", str(arg0), (int64)arg1, arg2); }
usdt:PROGRAM:tracer:zone_begin { printf("zone %s %s\\n", str(arg0), str(arg1)); }
"""
EXPECTED = ["begin 123456789abc 7", "created 77 created 66", "steal 1 2 55 ffffffffffffffff",
            "counter real 2 4006000000000000", "counter whole -5 fffffffffffffffb", "zone zone main"]


@trap("bpftrace on the plain USDT probes, alone and beside the tracer", alone=True,
      without=[{POINTS: [("\tif (__builtin_expect((tracer__gate & TRACER_GATE_DIRECT) != 0, 0)) ", "\tif (0 && tracer__gate) ")]},
               {POINTS: [("\t\t(void)*TRACER__CAST(const volatile char *, string);\n", "\t\treturn string;\n")]},
               {POINTS: [('#define TRACER__U8_3 "8@%%rdx"', '#define TRACER__U8_3 "8@%%rcx"')]}])
def bpftrace(t):
    if not shutil.which("bpftrace"):
        raise Skip("needs the command bpftrace")
    for compiler in "gcc", "clang":
        program = t.cc("probes-" + compiler, "probes.c", "-O2", compiler=compiler)
        out = t.run("bpftrace", "-e", SCRIPT.replace("PROGRAM", program), "-c", program)
        t.equal(compiler + ": what bpftrace sees", [line for line in out.splitlines() if line in EXPECTED or
                                                    re.match("begin|created|steal|counter|zone", line)], EXPECTED)
    out, events = t.record("bpftrace", "-e", SCRIPT.replace("PROGRAM", program), "-c", program)
    t.equal("beside the tracer: what bpftrace sees", [line for line in out.splitlines() if line in EXPECTED], EXPECTED)
    names = [event.name for event in events if event.name in ("task_begin", "task_created", "steal", "counter", "zone_begin")]
    t.equal("beside bpftrace: what the tracer sees", names,
            ["task_begin", "task_created", "steal", "counter", "counter", "zone_begin"])


@trap("operands of the USDT notes can be parsed, and begin with what the event has", builds=True,
      without=[{POINTS: [('#define TRACER__U4_2 "4@%%esi"', '#define TRACER__U4_2 "4@tracer_v1_ring@gottpoff(%%rip)"')]}])
def operands(t):
    for compiler in "gcc", "clang":
        for level in "-O0", "-O3":
            notes = t.run("readelf", "-nW", t.cc("x.o", "matrix.c", level, "-std=c11", "-c", compiler=compiler))
            arguments = re.findall(r"Arguments:(.*)", notes)
            t.check(len(arguments) > 50, "too few probes: %d" % len(arguments))
            for line in arguments:
                for operand in line.split():
                    t.check(re.fullmatch(r"-?[48]@%[a-z]+", operand), "operand " + operand)


RECORDS = 2 * 4 * 5000 * 7 + 2 * 4 * 2


def count_sanitized(t, events):
    own = [event for event in events if event.name in (
        "worker_start", "worker_stop", "zone_begin", "zone_end", "task_created", "task_begin", "task_completed",
        "counter", "steal")]
    t.equal("records", len(own), RECORDS)


def under(t, sanitizer, compiler):
    program = t.cc("sanitized", "sanitized.c", "-O1", "-g", "-fsanitize=" + sanitizer, "-fno-sanitize-recover=all",
                   compiler=compiler)
    out, events = t.record(program)
    t.equal("what it says", out, "")
    count_sanitized(t, events)


@trap("AddressSanitizer and UBSan find nothing in recorded points",
      without=[{SLOW: [("while (length < TRACER_NAME_MAX && string[length])",
                        "while (length < TRACER_NAME_MAX && (length < 30 || string[length]))")]}])
def asan(t):
    under(t, "address,undefined", "gcc")
    under(t, "address,undefined", "clang")


# The lists of rings are shared by threads, and a closed gate is raised while they run.
@trap("ThreadSanitizer finds nothing in recorded points",
      without=[{SLOW: [("\ttracer__lock(&mark->lock);\n\tif (!mark->idle &&", "\tif (!mark->idle &&")]}])
def tsan(t):
    under(t, "thread", "gcc")
    under(t, "thread", "clang")


@trap("valgrind runs a program with closed points", builds=True,
      without=[{"usdt/tracer/tracer.h": [("if (__builtin_expect(tracer__gate != 0, 0)) ", "if (((volatile char *)8)[tracer__gate]) ")]}])
def valgrind(t):
    if not shutil.which("valgrind"):
        raise Skip("needs the command valgrind")
    t.run("valgrind", "-q", "--error-exitcode=9", t.cc("sanitized", "sanitized.c", "-O1", "-g"))


if __name__ == "__main__":
    sys.exit(main())
