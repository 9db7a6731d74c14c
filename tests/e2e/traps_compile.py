#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Traps of compiling: languages, levels, warnings; what is left of removed points."""

import os
import re
import subprocess
import sys

from traps import trap, main, TARGETS, Skip

POINTS, PUBLIC = "usdt/tracer/points.h", "usdt/tracer/tracer.h"
STRICT = ["-pedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wundef", "-Wcast-qual",
          "-Wmissing-declarations"]
C = ["-std=c99", "-std=c11", "-std=c17", "-std=gnu11"]
CXX = ["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20", "-std=c++2b"]
C_ONLY = ["-Wstrict-prototypes"]
CXX_ONLY = ["-Wold-style-cast", "-Wnon-virtual-dtor"]


def compile_all(t, source, standards, compilers, more):
    """Standards matter to the front end, levels to code and to some warnings."""
    for compiler in compilers:
        for standard in standards:
            t.cc(None, source, standard, "-fsyntax-only", *STRICT, *more, compiler=compiler)
        for number, level in enumerate(("-O0", "-O1", "-O2", "-O3")):
            t.cc("x.o", source, standards[number], level, "-c", "-fPIC", *STRICT, *more, compiler=compiler)


@trap("every macro in C: C99 to C17, gcc and clang, -O0 to -O3, strict warnings", builds=True,
      without=[{POINTS: [("extern __inline__ __attribute__((gnu_inline, always_inline, artificial, unused, ",
                          "static __inline__ __attribute__((always_inline, unused, ")]}])
def c_matrix(t):
    compile_all(t, "matrix.c", C, ["gcc", "clang"], C_ONLY)


@trap("every macro in C++: C++11 to C++23, gcc and clang, -O0 to -O3, strict warnings", builds=True,
      without=[{PUBLIC: [("#define TRACER__ON_tracer__in_task 1", "#define TRACER__ON_tracer__in_task task")]}])
def cxx_matrix(t):
    compile_all(t, "matrix.cc", CXX, ["g++", "clang++"], CXX_ONLY)


@trap("removed points compile everywhere, too", builds=True,
      without=[{PUBLIC: [("#define TRACER__USE(x) (void)(x)", "#define TRACER__USE(x) (void)sizeof(x)")]},
               {PUBLIC: [("#define TRACER__USE(x) (void)(x)", "#define TRACER__USE(x) (void)0")]}])
def removed_matrix(t):
    for compiler, source, standards, more in (("gcc", "matrix.c", C, C_ONLY), ("clang", "matrix.c", C, C_ONLY),
                                              ("g++", "matrix.cc", CXX, CXX_ONLY),
                                              ("clang++", "matrix.cc", CXX, CXX_ONLY)):
        for standard in standards[0], standards[-2]:
            t.cc(None, source, standard, "-O2", "-fsyntax-only", "-DTRACER_DISABLE", *STRICT, *more, compiler=compiler)
            t.cc(None, "-x", "c" if source.endswith(".c") else "c++", "arguments.c", standard, "-fsyntax-only",
                 "-DTRACER_DISABLE", "-Wunused", compiler=compiler)


CATEGORIES = ["task", "worker", "steal", "future", "lock", "zone", "marker", "flow", "counter", "message", "frame"]


# %s: what -DTRACER_DISABLE_X has to remove
@trap("a category that is compiled out has no probe, the others have theirs",
      without=[{PUBLIC: [("defined(TRACER_DISABLE_FUTURE)", "defined(TRACER_DISABLE_FUTURES)")]}])
def categories(t):
    with open(os.path.join(t.tree, "usdt/tracer/events.def"), encoding="utf-8") as file:
        rows = re.findall(r"^TRACER_EVENT\d\(\d+, (\w+), (\w+)", file.read(), re.M)
    # not those of the adapters, which have no macro for everybody
    with open(os.path.join(t.tree, PUBLIC), encoding="utf-8") as file:
        public = set(re.findall(r"\btracer__(\w+)", file.read()))
    rows = [row for row in rows if row[0] in public]
    for category in CATEGORIES:
        made = t.cc("x.o", "matrix.c", "-std=c11", "-O0", "-c", "-DTRACER_DISABLE_" + category.upper())
        probes = set(re.findall(r"Name: (\w+)", t.run("readelf", "-nW", made)))
        expected = {event for event, its in rows if its != category}
        t.equal("probes without " + category, sorted(probes), sorted(expected))


def text_of(t, made):
    """Every section with code or data, and its bytes, without what tells of the source alone."""
    sections = {}
    for line in t.run("objdump", "-h", "-w", made).splitlines():
        found = re.match(r"\s*\d+ (\S+)\s+(\w+)\s", line)
        if found and "ALLOC" in line and int(found[2], 16) and not found[1].startswith((".note.gnu", ".eh_frame")):
            out = t.path("section")
            subprocess.run(["objcopy", "-O", "binary", "--only-section", found[1], "--set-section-flags",
                            found[1] + "=alloc,load", made, out], check=True, stderr=subprocess.DEVNULL)
            with open(out, "rb") as file:
                sections[found[1]] = file.read()
    return sections


@trap("TRACER_DISABLE: the object code is that without the macros",
      without=[{PUBLIC: [("((void)(0 && (uses, 0)))", "((void)(1 && (uses, 0)))")]}])
def disabled(t):
    with open(os.path.join(TARGETS, "disabled.c"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    plain = [line for line in lines if not re.match(r"\s+TRACER_", line)]
    t.check(len(lines) - len(plain) > 15, "too few points")
    for extension in "c", "cc":
        with open(t.path("with." + extension), "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        with open(t.path("plain." + extension), "w", encoding="utf-8") as file:
            file.write("\n".join(line for line in plain if "tracer.h" not in line))
    for compiler, extension in ("gcc", "c"), ("clang", "c"), ("g++", "cc"), ("clang++", "cc"):
        for level in "-O0", "-O1", "-O2", "-O3":
            # a parameter that only points used is unused without them
            flags = [level, "-c", "-Wno-unused-parameter", "-fno-asynchronous-unwind-tables"]
            one = t.cc("with.o", "with." + extension, "-DTRACER_DISABLE", *flags, compiler=compiler)
            other = t.cc("plain.o", "plain." + extension, *flags, compiler=compiler)
            t.equal("%s %s: code" % (compiler, level), text_of(t, one), text_of(t, other))


@trap("arguments of closed and of removed points are not evaluated", builds=True,
      without=[{PUBLIC: [("\t\tif (__builtin_expect(tracer__gate != 0, 0))                                           \\\n",
                          "\t\tif (1)                                                                                \\\n")]}])
def arguments(t):
    for compiler, flags in ("gcc", ()), ("clang", ()), ("g++", ("-x", "c++")), ("clang++", ("-x", "c++")):
        t.cc("closed", *flags, "arguments.c", "-O1", compiler=compiler)
        t.equal(compiler + ": closed", t.run(t.path("closed")), "0\n")
        t.cc("removed", *flags, "arguments.c", "-O1", "-DTRACER_DISABLE", compiler=compiler)
        t.equal(compiler + ": removed", t.run(t.path("removed")), "0\n")
        t.cc("no-future", *flags, "arguments.c", "-O1", "-DTRACER_DISABLE_FUTURE", compiler=compiler)
        t.equal(compiler + ": closed, and no futures", t.run(t.path("no-future")), "0\n")
    out, _ = t.record(t.path("closed"))
    t.equal("open", out, "4\n")
    out, events = t.record(t.path("no-future"))
    t.equal("open, and no futures", out, "3\n")
    t.equal("futures", [event for event in events if event.name.startswith("future")], [])


@trap("the header in two C++ files and two C files of one program", builds=True,
      without=[{POINTS: [('#define TRACER__ONCE __attribute__((weak, noinline, visibility("hidden"), '
                          "no_instrument_function))", "#define TRACER__ONCE __attribute__((noinline, "
                          'visibility("hidden"), no_instrument_function))')]}])
def two_files(t):
    for level in "-O0", "-O2":
        made = [t.cc(name + ".o", source, level, "-c", compiler=compiler) for name, source, compiler in
                (("a", "matrix.c", "gcc"), ("b", "matrix.cc", "g++"), ("c", "link_c.c", "clang"),
                 ("d", "link_cxx.cc", "clang++"), ("e", "link_main.c", "gcc"))]
        t.run("g++", *made, "-o", t.path("program"))
        symbols = t.run("readelf", "-sW", t.path("program"))
        for symbol in "tracer_v1_gates", "tracer_v1_dso", "tracer_v1_record", "tracer_v1_flush":
            t.equal("copies of " + symbol, len(re.findall(r" %s$" % symbol, symbols, re.M)), 1)


@trap("the global module fragment of a C++20 module", builds=True,
      without=[{POINTS: [("#define TRACER__HELPER inline __attribute__((visibility", "#define TRACER__HELPER static inline "
                          "__attribute__((visibility"),
                         ("#define TRACER__INLINE \\\n\tinline __attribute__((always_inline, visibility(\"hidden\"), unused, ",
                          "#define TRACER__INLINE \\\n\tstatic inline __attribute__((always_inline, unused, ")]}])
def module(t):
    with open(t.path("user.cc"), "w", encoding="utf-8") as file:
        file.write("import traced;\nint main()\n{\n\tint one = 0;\n\ttraced_run(&one);\n#ifndef __clang__\n"
                   "\ttraced_each(3);\n#endif\n}\n")
    include = "-I" + os.path.join(t.tree, "usdt")
    source = os.path.join(TARGETS, "module.cc")
    t.run("clang++", include, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-x", "c++-module", "--precompile", source,
          "-o", t.path("traced.pcm"))
    t.run("clang++", "-c", t.path("traced.pcm"), "-o", t.path("traced.o"))
    t.run("clang++", include, "-std=c++20", "-fmodule-file=" + t.path("traced.pcm"), t.path("user.cc"), t.path("traced.o"),
          "-o", t.path("user-clang"))
    t.run("g++", include, "-std=c++20", "-fmodules-ts", "-Wall", "-Wextra", "-Werror", source, t.path("user.cc"), "-o",
          t.path("user-gcc"))
    _, events = t.record("sh", "-e", "-c", t.path("user-clang") + ";" + t.path("user-gcc"))
    t.equal("records", sum(event.name.startswith("task_") for event in events), 7)


@trap("AArch64: compiles, and stamps with cntvct_el0", builds=True,
      without=[{POINTS: [("mrs %0, cntvct_el0", "mov %0, xzr")]}])
def aarch64(t):
    for compiler, source, more in (("aarch64-linux-gnu-gcc", "matrix.c", C_ONLY + ["-std=c99"]),
                                   ("aarch64-linux-gnu-g++", "matrix.cc", CXX_ONLY + ["-std=c++20"]),
                                   ("clang", "matrix.c", ["--target=aarch64-linux-gnu", "-std=c99"])):
        for level in "-O0", "-O2":
            made = t.cc("arm.s", source, level, "-S", *STRICT, *more, compiler=compiler)
            with open(made, encoding="utf-8") as file:
                text = file.read()
            t.check("cntvct_el0" in text.lower(), compiler + ": no cntvct_el0")
            t.cc("arm.o", source, level, "-c", "-fPIC", *more, compiler=compiler)
    t.cc("arm", "link_main.c", "-O2", compiler="aarch64-linux-gnu-gcc")
    t.check("counter" in t.run("readelf", "-nW", t.path("arm")), "no USDT notes")


if __name__ == "__main__":
    sys.exit(main())
