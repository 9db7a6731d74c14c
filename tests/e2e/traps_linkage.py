#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of linking: static, stripped, PIE or not, collected sections, LTO, several DSOs, many of them."""

import os
import re
import shutil
import sys

from traps import trap, main, Skip

SLOW, POINTS = "usdt/tracer/slow.h", "usdt/tracer/points.h"

# how a program is built; static ones are run by the tracer itself, the others from one shell
PROGRAMS = {
    "pie": ("gcc", "-O2", "-fPIE", "-pie"),
    "pie-clang": ("clang", "-O2", "-fPIE", "-pie"),
    "nopie": ("gcc", "-O2", "-fno-pie", "-no-pie"),
    "nopie-clang": ("clang", "-O2", "-fno-pie", "-no-pie"),
    "stripped": ("gcc", "-O2", "-s"),
    "stripped-nopie": ("clang", "-O2", "-s", "-fno-pie", "-no-pie"),
    "debug": ("gcc", "-O0", "-g"),
    "debug-clang": ("clang", "-O0", "-g"),
    "sections": ("gcc", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"),
    "sections-clang": ("clang", "-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-fuse-ld=lld"),
    "sections-gold": ("gcc", "-O2", "-ffunction-sections", "-Wl,--gc-sections", "-fuse-ld=gold"),
    "lto": ("gcc", "-O2", "-flto"),
    "lto-sections": ("gcc", "-O2", "-flto", "-ffunction-sections", "-Wl,--gc-sections"),
    "lto-clang": ("clang", "-O2", "-flto", "-fuse-ld=lld"),
    "lto-thin": ("clang", "-O2", "-flto=thin", "-fuse-ld=lld"),
    "lld": ("clang", "-O2", "-fuse-ld=lld"),
    "gold": ("gcc", "-O2", "-fuse-ld=gold"),
    "hidden": ("gcc", "-O2", "-fvisibility=hidden"),
    "now": ("gcc", "-O2", "-Wl,-z,now", "-Wl,-z,relro"),
    "large": ("gcc", "-O2", "-mcmodel=medium"),
    "cet": ("gcc", "-O2", "-fcf-protection=full", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"),
    "icf": ("clang", "-O2", "-fuse-ld=lld", "-Wl,--icf=all", "-ffunction-sections"),
}
STATIC = {
    "static": ("gcc", "-O2", "-static"),
    "static-pie": ("gcc", "-O2", "-static-pie", "-fPIE"),
    "static-stripped": ("clang", "-O2", "-static", "-s"),
    "static-lto": ("gcc", "-O2", "-static", "-flto", "-Wl,--gc-sections", "-ffunction-sections"),
}
LIBRARIES = {
    "lib": ("gcc",),
    "lib-default": ("gcc", "-fvisibility=default"),
    "lib-hidden": ("clang", "-fvisibility=hidden"),
    "lib-bsymbolic": ("gcc", "-Wl,-Bsymbolic"),
    "lib-versioned": ("gcc", "-Wl,--version-script=versions"),
    "lib-now": ("gcc", "-Wl,-z,now"),
    "lib-lto": ("gcc", "-flto"),
    "lib-lld": ("clang", "-fuse-ld=lld", "-flto=thin"),
}


def linker_there(words):
    linkers = {"-fuse-ld=lld": "ld.lld", "-fuse-ld=gold": "ld.gold"}
    return all(shutil.which(linkers[word]) for word in words if word in linkers)


def looks_right(t, events, name):
    t.series(events, name, 100)
    pids = {event.pid for event in events if event.name == "counter" and event["name"] == name}
    names = [event["name"] for event in events if event.name == "task_created" and event.pid in pids]
    t.equal(name + ": the literals", names, ["a literal"] * 100)


# Exported gates are those of whatever DSO comes first, and the note of ours then names none that can be linked.
@trap("every way to link a program", builds=True,
      without=[{SLOW: [('".hidden tracer_v1_sites\\n"', '".globl tracer_v1_sites_gone\\n"'),
                       ('".4byte tracer_v1_sites - .\\n"', '".4byte 0\\n"')]}])
def programs(t):
    built = []
    for name, (compiler, *words) in PROGRAMS.items():
        if linker_there(words):
            built.append(t.cc(name, "link_main.c", *words, compiler=compiler))
    _, events = t.record("sh", "-e", "-c", "; ".join(built))
    for path in built:
        looks_right(t, events, os.path.basename(path))


@trap("static programs",
      without=[{"user/capture/binary.c": [("reader->binary.has_points && !reader->binary.interpreter &&",
                                           "reader->binary.has_points && !reader->binary.info.size &&")],
                "user/capture/hold.c": [("\tif (!session->features.task_work ||", "\tif (1 ||")]}])
def static_programs(t):
    for name, (compiler, *words) in STATIC.items():
        _, events = t.record(t.cc(name, "link_main.c", *words, compiler=compiler))
        looks_right(t, events, name)


@trap("collected sections: gates stay, the probes of dead functions go",
      without=[{POINTS: [('".pushsection .note.stapsdt,\\"G\\",@note,tracer_v1_usdt_" name ",comdat\\n"',
                          '".pushsection .note.stapsdt,\\"\\",@note\\n"')]}])
def collected(t):
    for name in "sections", "sections-clang", "lto-sections":
        compiler, *words = PROGRAMS[name]
        if not linker_there(words):
            continue
        binary = t.cc(name, "link_main.c", *words, compiler=compiler)
        probes = set(re.findall(r"Name: (\w+)", t.run("readelf", "-nW", binary)))
        t.equal(name + ": probes", probes, {"counter", "task_created"})
        _, events = t.record(binary)
        looks_right(t, events, name)


@trap("several DSOs, each with C and C++ and gates of its own", builds=True,
      without=[{POINTS: [('#define TRACER__HIDDEN __attribute__((visibility("hidden")))\n#else',
                          '#define TRACER__HIDDEN\n#else'),
                         ('#define TRACER__HIDDEN __attribute__((visibility("hidden")))\n#endif',
                          '#define TRACER__HIDDEN\n#endif')],
                SLOW: [('".hidden tracer_v1_gates\\n"', '"\\n"')]}])
def libraries(t):
    built = []
    with open(t.path("versions"), "w", encoding="utf-8") as file:
        file.write("V1 { global: library_c; library_cxx; local: *; };\n")
    for name, (compiler, *words) in LIBRARIES.items():
        if not linker_there(words):
            continue
        words = [word.replace("=versions", "=" + t.path("versions")) for word in words]
        flags = [word for word in words if not word.startswith(("-Wl", "-fuse"))]
        t.cc(name + "-c.o", "link_c.c", "-O2", "-fPIC", "-c", *flags, compiler=compiler)
        t.cc(name + "-cxx.o", "link_cxx.cc", "-O2", "-fPIC", "-c", *flags, compiler=compiler.replace("gcc", "g++"))
        library = t.cc("lib%s.so" % name, name + "-c.o", name + "-cxx.o", "-shared", "-O2", *words, compiler=compiler)
        exported = re.findall(r"tracer\S*", t.run("readelf", "--dyn-syms", "-W", library))
        t.equal(name + ": exported", exported, [])
        # code that is not position-independent would take copies of what a library exports
        for kind in ("-fno-pie", "-no-pie"), ("-fPIE", "-pie"):
            program = t.cc("with-" + name + kind[1], "link_main.c", "-DLIBRARIES", "-O2", *kind,
                           "-L" + t.folder, "-Wl,-rpath," + t.folder, "-l" + name)
            copies = re.findall(r"R_X86_64_COPY.*tracer.*", t.run("readelf", "-rW", program))
            t.equal(name + ": copies", copies, [])
            built.append(program)
    _, events = t.record("sh", "-e", "-c", "; ".join(built))
    for path in built:
        name = os.path.basename(path)
        looks_right(t, events, name)
        pid = next(event.pid for event in events if event.name == "counter" and event["name"] == name)
        mine = [event for event in events if event.pid == pid]
        for library in "library c", "library c++":
            t.series(mine, library, 100)


@trap("a gate of each DSO: libraries record although the program's points are not compiled in",
      without=[{SLOW: [('".4byte tracer_v1_gates - .\\n"', '".4byte tracer_v1_gates + 64 - .\\n"')]}])
def library_only(t):
    t.cc("libonly.so", "link_c.c", "link_cxx.cc", "-O2", "-fPIC", "-shared")
    program = t.cc("only", "link_main.c", "-DLIBRARIES", "-DTRACER_DISABLE", "-O2", "-L" + t.folder,
                   "-Wl,-rpath," + t.folder, "-lonly")
    _, events = t.record(program)
    t.series(events, "library c", 100)
    t.series(events, "library c++", 100)


def plugins(t, count):
    """Libraries that differ in their number only: one is built, the others are patched copies."""
    paths = []
    first = t.cc("libmany.so", "plugin.c", "-O1", "-fPIC", "-shared", "-DNUMBER=777777", "-Wl,--build-id=none")
    with open(first, "rb") as file:
        content = file.read()
    for i in range(count):
        paths.append(t.path("libmany%d.so" % i))
        with open(paths[-1], "wb") as file:
            file.write(content.replace(b"plugin 777777", b"plugin %06d" % i))
    return paths


@trap("40 DSOs with points in one process", alone=True,
      without=[{"bpf/state.h": [("#define STATE_RINGS 64", "#define STATE_RINGS 8")]}])
def forty(t):
    paths = plugins(t, 40)
    _, events = t.record(t.cc("many", "many_main.c", "-O2"), *paths)
    threads = {event.tid for event in events if event.name == "counter"}
    t.equal("threads", len(threads), 2)
    for thread in threads:
        for i in range(40):
            t.series(events, "plugin %06d" % i, 10, thread)


if __name__ == "__main__":
    sys.exit(main())
