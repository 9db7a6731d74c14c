#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of points where they run: nops, thread-locals, signal handlers, errno, malloc, threads."""

import re
import sys

from traps import trap, main, Failed

SLOW, POINTS = "usdt/tracer/slow.h", "usdt/tracer/points.h"
LONG_NOP = '".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\\n"'
FLUSH_NOP = ('"tracer_v1_flush:\\n"\n\t\t"nop\\n"', '"tracer_v1_flush:\\n"\n\t\t' + LONG_NOP)
SITE_NOP = ('".rept 32\\n"\n\t\t"nop\\n"', '".rept 32\\n"\n\t\t' + LONG_NOP)
STUB_NOP = ('":\\n"                                                      \\\n\t\t    "nop\\n"',
            '":\\n"                                                      \\\n\t\t    ' + LONG_NOP)


def code(test, binary, start, size):
    """Bytes at an address of a binary."""
    for line in test.run("readelf", "-lW", binary).splitlines():
        found = re.match(r"\s+LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", line)
        if found:
            offset, address, length = (int(word, 16) for word in found.groups())
            if address <= start < address + length:
                with open(binary, "rb") as file:
                    file.seek(offset + start - address)
                    return file.read(size)
    raise Failed("nothing at %#x" % start)


@trap("no nop of five bytes at any site: flush, gates, USDT stubs",
      without=[{SLOW: [FLUSH_NOP]}, {SLOW: [SITE_NOP]}, {POINTS: [STUB_NOP]}])
def one_byte_nops(t):
    for compiler in "gcc", "clang":
        for level in "-O0", "-O2":
            binary = t.cc("nops", "red_zone.c", level, compiler=compiler)
            sites = 0
            for line in t.run("readelf", "-sW", binary).splitlines():
                word = line.split()
                if len(word) != 8 or word[3] != "FUNC" or not word[7].startswith("tracer_v1_"):
                    continue
                if word[7] in ("tracer_v1_record", "tracer_v1_first_stay", "tracer_v1_keep"):
                    continue
                got = code(t, binary, int(word[1], 16), int(word[2], 0))
                expected = b"\x90" * (32 if word[7] == "tracer_v1_sites" else 1) + b"\xc3"
                t.equal("%s %s: %s" % (compiler, level, word[7]), got.hex(), expected.hex())
                sites += 1
            t.equal("functions looked at", sites, 4)
            for address in re.findall("Location: 0x(\\w+)", t.run("readelf", "-nW", binary)):
                t.equal("code at a USDT note's location", code(t, binary, int(address, 16), 2).hex(), "90c3")


@trap("after the parent has flushed, a forked child records 1 MiB and lives", without=[{SLOW: [FLUSH_NOP]}])
def child_after_flush(t):
    _, events = t.record(t.cc("child", "child_after_flush.c", "-O2"), status=7)
    depths = {}
    for event in events:
        if event.name == "queue_depth":
            depths.setdefault(event.pid, []).append(event["depth"])
    t.equal("processes", len(depths), 2)
    parent, child = sorted(depths)
    t.equal("the parent's records", depths[parent] == list(range(20000)) * 2, True)
    t.equal("the child's records", depths[child] == list(range((1 << 20) // 24)), True)


# The points call their slow half as any function does: a call that the compiler does not know of harms.
HIDDEN_CALL = """
	{
		register uint64_t a __asm__("rdi") = TRACER__META(type, size, strings, sampled_by);
		register uint64_t b __asm__("rsi") = w1;
		register uint64_t c __asm__("rdx") = w2;
		register uint64_t d __asm__("rcx") = w3;
		__asm__ __volatile__("call tracer_v1_record" : "+r"(a), "+r"(b), "+r"(c), "+r"(d) ::
				     "rax", "r8", "r9", "r10", "r11", "memory", "xmm0", "xmm1");
	}
"""


@trap("leaf functions keep their red zone around points",
      without=[{POINTS: [("\ttracer_v1_record(TRACER__META(type, size, strings, sampled_by), w1, w2, w3);\n",
                          HIDDEN_CALL),
                         ("\tif (__builtin_expect((tracer__gate & TRACER_GATE_DIRECT) != 0, 0))  ",
                          "\tif (0)  ")]}])
def red_zone(t):
    commands = []
    for compiler in "gcc", "clang":
        for level in "-O1", "-O2", "-O3":
            commands.append(t.cc("red" + compiler + level, "red_zone.c", level, compiler=compiler))
    out, events = t.record("sh", "-e", "-c", "; ".join(commands))
    t.equal("what they say", out, "0 wrong\n" * len(commands))
    t.equal("records", sum(event.name.startswith("task_") for event in events), 20000 * len(commands))


# Without the asm the compiler may compute the address once in a function: code for libraries does, if nothing
# but straight code lies between two points, which is what the change of TRACER__OPEN is for.
@trap("a fiber that another thread resumes in mid-function records into that thread's ring",
      without=[{POINTS: [("/* the calling thread's ring in this DSO",
                          "extern __thread struct tracer_ring *tracer_v1_ring TRACER__HIDDEN;\n/* the"),
                         ("\tstruct tracer_ring *ring;\n\n#if defined(__x86_64__)",
                          "\tstruct tracer_ring *ring = tracer_v1_ring;\n\treturn ring;\n#if defined(__x86_64__)")],
                "usdt/tracer/tracer.h": [("\t\tuint32_t tracer__gate = TRACER__GATE(category); ",
                                          "\t\tuint32_t tracer__gate = TRACER_GATE_RECORDED; ")]}])
def fibers(t):
    commands, records = [], 0
    for compiler in "gcc", "clang":
        for level in "-O2", "-O3":
            name = compiler + level
            t.cc("lib%s.so" % name, "fibers.c", level, "-fPIC", "-shared", compiler=compiler)
            commands.append(t.cc(name + "-pic", "fibers_main.c", "-L" + t.folder, "-Wl,-rpath," + t.folder,
                                 "-l" + name, compiler=compiler))
            commands.append(t.cc(name, "fibers.c", "fibers_main.c", level, compiler=compiler))
            records += 2 * 2 * 500 * 6
    _, events = t.record("sh", "-e", "-c", "; ".join(commands))
    seen = 0
    for event in events:
        if event.name in ("queue_depth", "task_begin", "task_end"):
            seen += 1
            said = event["depth"] if event.name == "queue_depth" else event["task"]
            t.check(event.tid == said, "thread %d's ring has a record of thread %d" % (event.tid, said))
    t.equal("records", seen, records)


def both_series(t, kind):
    out, events = t.record(t.cc("signals", "signals.c", "-O2"), kind)
    return out.split(), events


@trap("a signal handler's points inside points: nothing lost, nothing torn", alone=True,
      without=[{POINTS: [("\tring->limit = TRACER__CAST(uint32_t, head);\n", "")]}])
def signal_fast(t):
    (main_count, handled, _), events = both_series(t, "fast")
    t.check(int(handled) > 1000, "too few signals to tell: %s" % handled)
    t.series(events, "main", int(main_count))
    t.series(events, "handler", int(handled))


# Exhaustive where the test above is random: the signal comes between any two instructions.
@trap("a signal between any two instructions of a point", alone=True,
      without=[{POINTS: [("ring->head != head", "0")]}])
def signal_steps(t):
    out, events = t.record(t.cc("signal_steps", "signal_steps.c", "-O2"))
    got = [event["value"] for event in events if event.name == "counter" and event["name"] == "main"]
    t.equal("main's records", got, list(range(-1, int(out))))
    t.series(events, "handler", int(out))


# Between publishing a record and taking its mark away, head is ahead of the mark.
@trap("a signal between any two instructions of a window's last point", alone=True,
      without=[{POINTS: [("TRACER__CAST(int32_t, limit - TRACER__CAST(uint32_t, head)) <\n"
                          "\t\t\t\t     TRACER__CAST(int32_t, size)",
                          "limit - TRACER__CAST(uint32_t, head) < size")]}])
def signal_steps_edge(t):
    out, events = t.record(t.cc("signal_steps", "signal_steps.c", "-O2"), "edge")
    t.series(events, "handler", int(out))


@trap("a signal handler's points inside the slow half, names of run time in both", alone=True,
      without=[{SLOW: [("\ttracer__enter(ring);\n", "")]}])
def signal_slow(t):
    (main_count, handled, _), events = both_series(t, "slow")
    t.check(int(handled) > 1000, "too few signals to tell: %s" % handled)
    for kind, count in ("main", int(main_count)), ("handler", int(handled)):
        got = [(event["name"], event["value"]) for event in events
               if event.name == "counter" and event["name"].startswith(kind)]
        t.equal(kind + "'s records", got == [(kind + "abcdefgh"[n % 8], n) for n in range(count)], True)


# Without the signals blocked a handler waits for the lock that the point it interrupted holds.
@trap("a thread's first point interrupted by, or inside, a signal handler", alone=True,
      without=[{SLOW: [("\ttracer__syscall(TRACER__SYS_rt_sigprocmask, 0 /* block */", "\tif (0)\n"
                        "\ttracer__syscall(TRACER__SYS_rt_sigprocmask, 0 /* block */")]}])
def signal_first(t):
    out, events = t.record(t.cc("signals", "signals.c", "-O2"), "first", timeout=30)
    threads, handled = map(int, out.split())
    t.series(events, "handler", handled)
    got = [event["depth"] for event in events if event.name == "queue_depth"]
    t.equal("the threads' records", got == [n for n in range(threads) for _ in range(3)], True)


@trap("a handler that leaves a point by siglongjmp", alone=True,
      without=[{SLOW: [("while (ring && (ring->busy || ring->limit != ring->window_end)) {",
                        "while (0) {"),
                       ("\tring->limit = TRACER__CAST(uint32_t, head);\n}", "}"),
                       ("\tring->limit = ring->window_end;\n}", "}")]}])
def signal_jump(t):
    (main_count, handled, jumps), events = both_series(t, "jump")
    t.equal("jumps", int(jumps), 20)
    t.series(events, "main", int(main_count))
    t.series(events, "handler", int(handled))


@trap("points keep errno, in whatever they do",
      without=[{SLOW: [("\treturn result;\n#else",
                        "\tif ((int64_t)result < 0 && (int64_t)result > -4096)\n"
                        "\t\t*({ extern int *__errno_location(void); __errno_location(); }) = "
                        "(int)-(int64_t)result;\n\treturn result;\n#else")]}])
def keeps_errno(t):
    out, events = t.record(t.cc("errno", "errno.c", "-O2"))
    t.equal("what it says", out, "")
    t.equal("records", sum(event.name == "task_renamed" for event in events), 40 * 2000)


@trap("points in malloc and free, in constructors and destructors",
      without=[{SLOW: [("uint64_t address = tracer__syscall(TRACER__SYS_mmap, 0, size, 3, 0x22,\n"
                        "\t\t\t\t\t   TRACER__CAST(uint64_t, -1));",
                        "uint64_t address = (uint64_t)__builtin_calloc(size, 1);")]}])
def in_malloc(t):
    out, events = t.record(t.cc("allocator", "allocator.c", "-O2", "-fno-builtin", "-Wl,-z,now"))
    t.check(int(out) > 4000, "too few calls: " + out)
    # several threads count at once: each number once, but between taking it and the point another may come
    numbers = [event["value"] for event in events if event.name == "counter" and event["name"] == "malloc"]
    t.equal("numbers of malloc", sorted(numbers), list(range(int(out))))
    for name in "constructor", "destructor", "atexit":
        t.series(events, name, 1)
    texts = [event["text"] for event in events if event.name == "message"]
    t.equal("destructors of a key", texts.count("key's destructor"), 4)
    t.check(texts.count("free") >= 4000, "calls of free: %d" % texts.count("free"))


@trap("threads by the thousand: all records, and memory for those that live", alone=True,
      without=[{SLOW: [("\t\ttracer__sweep(dso);\n", "\t\tdso->next_sweep = 0;\n")]}])
def many_threads(t):
    out, events = t.record(t.cc("threads", "threads.c", "-O2"), 5000, 500, 4)
    sequential_kb, all_kb, resident_kb, threads = map(int, out.split())
    depths = [0] * threads
    for event in events:
        if event.name == "queue_depth":
            depths[event["depth"]] += 1
    t.equal("threads with 5 records", depths.count(5), threads)
    ring = 132
    t.check(sequential_kb < 40 * ring, "%d kB for 5,000 threads one after the other" % sequential_kb)
    t.check(all_kb < 2 * 510 * ring, "%d kB for 500 threads at a time" % all_kb)
    t.check(resident_kb < 150 << 10, "%d kB resident" % resident_kb)


if __name__ == "__main__":
    sys.exit(main())
