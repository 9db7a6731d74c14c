#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of libraries: loaded before and after attaching, unloaded, many of them."""

import sys

from traps import trap, main

SLOW, TARGET = "usdt/tracer/slow.h", "user/capture/target.c"
NOT_LOADED = {TARGET: [("\tif (!count || dso->loaded ||", "\tif (count < 9 || dso->loaded ||")]}


def build(t, count, *options):
    """The program, and `count` libraries."""
    paths = [t.cc("libplugin%d.so" % i, "plugin.c", "-O1", "-fPIC", "-shared", "-DNUMBER=%d" % i, *options)
             for i in range(count)]
    return t.cc("dlopen", "dlopen.c", "-O2"), paths


@trap("libraries that were loaded before attaching", alone=True,
      without=[{TARGET: [("\tfor (i = 0; i < mappings.count && !err; i++)", "\tfor (i = 0; i < 1 && !err; i++)")]}])
def before(t):
    program, paths = build(t, 2)
    target = t.start(program, "before", *paths)
    _, events = t.finish(target, t.attach(target))
    for i in range(2):
        t.series(events, "plugin %d" % i, 1000)


@trap("libraries that are loaded while attached: their first events are there", alone=True, without=[NOT_LOADED])
def after(t):
    program, paths = build(t, 3)
    target = t.start(program, "after", *paths)
    _, events = t.finish(target, t.attach(target))
    for i in range(3):
        t.series(events, "plugin %d" % i, 1000)


DESTRUCTOR = ("/* the thread's first ring, or one for a signal",
              "static void tracer__gone(void *ring)\n{\n\ttracer_v1_flush((struct tracer_ring *)ring, 2);\n}\n/* the")
SET_RING = "\t\t\ttracer__set_ring(ring);\n"


# With the loader's lock taken in a thread's first point (for a destructor) the constructor waits for ever.
@trap("a library whose constructor runs threads with points and waits for them", alone=True,
      without=[NOT_LOADED, {SLOW: [DESTRUCTOR, (SET_RING, "\t\t\ttracer__set_ring(ring), ({ extern int "
                                    "__cxa_thread_atexit_impl(void (*)(void *), void *, void *); "
                                    "__cxa_thread_atexit_impl(tracer__gone, ring, &tracer_v1_gates); });\n")]}])
def constructor(t):
    program, paths = build(t, 2, "-DCONSTRUCTOR")
    target = t.start(program, "after", *paths)
    _, events = t.finish(target, t.attach(target), timeout=15)
    for i in range(2):
        t.series(events, "plugin %d" % i, 1000)
    for thread in range(4):
        got = sorted(event["depth"] for event in events if event.name == "queue_depth" and event["worker"] == thread)
        t.equal("records of thread %d" % thread, got, sorted(2 * list(range(10))))


# A key's destructor would be called in the library that is no more.
@trap("dlclose, then the threads end that have used the library",
      without=[{SLOW: [DESTRUCTOR, (SET_RING, "\t\t\ttracer__set_ring(ring), ({ unsigned key; extern int "
                                    "pthread_key_create(unsigned *, void (*)(void *)), pthread_setspecific(unsigned, "
                                    "const void *); pthread_key_create(&key, tracer__gone); pthread_setspecific(key, "
                                    "ring); });\n")]}])
def closed(t):
    program, paths = build(t, 2)
    _, events = t.record(program, "close", *paths)
    threads = {event.tid for event in events if event.name == "counter"}
    t.equal("threads", len(threads), 3)
    for thread in threads:
        for name, count in ("plugin 0", 10), ("plugin 1", 10), ("own", 1):
            t.series(events, name, count, thread)


# Libraries take turns at one address, and every time the thread gets a ring.
@trap("dlopen, use, dlclose, again and again", alone=True,
      without=[NOT_LOADED, {TARGET: [("\tprocess__forget_unmapped(session, process, &mappings);\n",
                                      "\tif (!session)\n\t\tprocess__forget_unmapped(session, process, &mappings);\n")]},
               {"bpf/tracer.bpf.c": [("\tif (reason == TRACER_FLUSH_NEW)\n", "\tif (reason > 100)\n")]}])
def cycles(t):
    program, paths = build(t, 2)
    _, events = t.record(program, "cycle", 100, *paths)
    for i in range(2):
        t.series(events, "plugin %d" % i, 500)


if __name__ == "__main__":
    sys.exit(main())
