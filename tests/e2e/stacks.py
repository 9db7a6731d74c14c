#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Call stacks at points: the right functions on fibers, of stripped, static and replaced binaries."""

import json
import os
import re
import shutil
import subprocess
import sys

TRACER, SRC, TMP = (os.environ[name] for name in ("TRACER", "SRC", "TMP"))
SOURCE = os.path.join(SRC, "tests/targets/stacks")
FLAGS = ["-O2", "-fomit-frame-pointer", "-I", os.path.join(SRC, "usdt")]
QUIET = ["-q", "--force", "--no-sched", "--buffer-size", "1M"]
COUNT = 40
FIBER = {"1": ["leaf_one", "middle", "outer", "fiber_main"],
         "2": ["leaf_two", "middle", "outer", "fiber_main"]}


class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=TMP)
    if done.returncode:
        raise Wrong(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stdout


def build(name, *flags, compiler="gcc", source="fibers.c"):
    run(compiler, *FLAGS, *flags, "-o", name, os.path.join(SOURCE, source))


def record(name, what="suspend,steal,message", *arguments):
    run(TRACER, "record", *QUIET, "--stacks", what, "-o", name + ".trc", "--", "./" + name, *arguments)


def export(name, *options):
    return run(TRACER, "export", "-q", "-f", "text", *options, name + ".trc").splitlines()


def stacks(lines, event):
    """Of each event of that name: its line, and the functions from the innermost out."""
    found = []
    for line in lines:
        if f" {event} " not in line:
            continue
        stack = re.search(r' stack="([^"]*)"', line)
        found.append((line, stack.group(1).split(";") if stack else None))
    if not found:
        raise Wrong(f"no event {event}")
    return found


def check_fibers(lines, count=COUNT):
    suspensions = stacks(lines, "task_suspended")
    if len(suspensions) != count:
        raise Wrong(f"{len(suspensions)} suspensions instead of {count}")
    for line, stack in suspensions:
        which = re.search(r" object=0x([12])", line).group(1)
        if not stack or stack[:4] != FIBER[which]:
            raise Wrong(f"expected {FIBER[which]}, got {stack} in: {line}")
        # the fiber's own bottom, and nothing of whatever lies behind its stack
        if stack[4:]:
            raise Wrong(f"frames beyond the fiber's first: {stack}")
    for event, first in ("steal", "thief"), ("message", "speaker"):
        for line, stack in stacks(lines, event):
            if not stack or stack[0] != first or "main" not in stack[1]:
                raise Wrong(f"expected {first} and main, got {stack} in: {line}")


def on_fibers(compiler):
    build("fibers", "-g", compiler=compiler)
    record("fibers", "suspend,steal,message", str(COUNT))
    check_fibers(export("fibers"))


def in_reports():
    """Suspensions together by stack and reason, each counted once."""
    report = json.loads(run(TRACER, "report", "--json", "fibers.trc"))
    found = {stack["frames"][0]: (stack["reason"], stack["count"], stack["frames"]) for stack in report["stacks"]}
    wanted = {FIBER[which][0]: ("leaf", COUNT // 2, FIBER[which]) for which in FIBER}
    if found != wanted:
        raise Wrong(f"{found}, expected {wanted}")
    if sum(stack["total_ns"] for stack in report["stacks"]) != report["suspensions"][0]["total_ns"]:
        raise Wrong("times that do not add up")
    if "leaf_one < middle < outer < fiber_main" not in run(TRACER, "report", "fibers.trc"):
        raise Wrong("not in the text")


def with_sample():
    """A sampled-out task's stacks are nobody's."""
    run(TRACER, "record", *QUIET, "--sample", "32768", "--stacks", "suspend,message", "-o", "sampled.trc", "--",
        "./fibers", str(COUNT))
    lines = export("sampled")
    for line, stack in stacks(lines, "message"):
        if not stack or stack[0] != "speaker":
            raise Wrong(f"expected speaker, got {stack} in: {line}")


def depth():
    record("fibers", "suspend:2,message:1", str(COUNT))
    lines = export("fibers")
    for event, frames in ("task_suspended", 2), ("message", 1):
        for line, stack in stacks(lines, event):
            if not stack or len([name for name in stack if name != "..."]) != frames:
                raise Wrong(f"{frames} frames wanted: {line}")
    if any(stack for _, stack in stacks(lines, "steal")):
        raise Wrong("a steal has a stack that nobody asked for")


def split_debug(name, *flags):
    build(name, "-g", *flags)
    run("objcopy", "--only-keep-debug", name, name + ".debug")
    run("strip", name)


def build_id(name):
    notes = run("readelf", "-n", name)
    return re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)


def stripped_by_build_id():
    split_debug("stripped", "-Wl,--build-id")
    number = build_id("stripped")
    folder = os.path.join(TMP, "symbols/.build-id", number[:2])
    os.makedirs(folder)
    shutil.move(os.path.join(TMP, "stripped.debug"), os.path.join(folder, number[2:] + ".debug"))
    record("stripped", "suspend,steal,message", str(COUNT))
    for line, stack in stacks(export("stripped"), "task_suspended"):
        if not stack or not re.fullmatch(r"stripped\+0x[0-9a-f]+", stack[0]) or len(stack) < 4:
            raise Wrong(f"without a debug file: {line}")
    check_fibers(export("stripped", "--debug-dir", "symbols"))


def another_build():
    """A debug file of another build id is not taken."""
    number = build_id("stripped")
    good = os.path.join(TMP, "symbols/.build-id", number[:2], number[2:] + ".debug")
    build("other", "-g", "-Wl,--build-id=0x" + "ab" * 20)
    run("objcopy", "--only-keep-debug", "other", "other.debug")
    os.rename(good, good + ".kept")
    shutil.copy(os.path.join(TMP, "other.debug"), good)
    for line, stack in stacks(export("stripped", "--debug-dir", "symbols"), "task_suspended"):
        if not stack or not stack[0].startswith("stripped+0x"):
            raise Wrong(f"names of another build: {line}")
    os.rename(good + ".kept", good)


def stripped_by_link():
    split_debug("linked", "-Wl,--build-id=none")
    run("objcopy", "--add-gnu-debuglink=linked.debug", "linked")
    record("linked", "suspend,steal,message", str(COUNT))
    check_fibers(export("linked"))


def static_program():
    split_debug("static", "-static", "-Wl,--build-id")
    record("static", "suspend,steal,message", str(COUNT))
    check_fibers(export("static", "--debug-dir", TMP))


def replaced_program():
    build("replaced")  # symbols, but no DWARF
    record("replaced", "suspend,steal,message", str(COUNT))
    with open(os.path.join(TMP, "replaced"), "w", encoding="ascii") as file:
        file.write("something else\n")
    check_fibers(export("replaced"))
    os.unlink(os.path.join(TMP, "replaced"))
    check_fibers(export("replaced"))


def cxx_names():
    build("names", compiler="g++", source="names.cc")
    record("names", "message")
    (line, stack), = stacks(export("names"), "message")
    if not stack or stack[0] != "shapes::box<int>::speak(int)":
        raise Wrong(f"not demangled: {line}")


def in_perfetto():
    if not shutil.which("protoc"):
        raise Wrong("protoc is missing (tools/deps.sh test)")
    record("fibers", "suspend,message", str(COUNT))
    run(TRACER, "export", "-q", "--force", "-o", "fibers.pftrace", "fibers.trc")
    with open(os.path.join(TMP, "fibers.pftrace"), "rb") as file:
        text = subprocess.run(["protoc", "--decode=perfetto_subset.Trace", "-I", os.path.join(SRC, "tests/e2e"),
                               "perfetto.proto"], stdin=file, capture_output=True, text=True, check=True).stdout
    tables = {}
    for kind, body in re.findall(r"^    (function|frame|callstack) \{\n(.*?)^    \}", text, re.M | re.S):
        fields = re.findall(r"(\w+): (.*)", body)
        tables.setdefault(kind, {})[dict(fields)["iid"]] = fields
    names = []
    for number in re.findall(r"^    callstack: (\d+)", text, re.M):
        frames = [value for key, value in tables["callstack"][number] if key == "frame"]
        functions = [dict(tables["frame"][frame]).get("function") for frame in frames]
        names.append([dict(tables["function"][one])["value"].strip('"') for one in functions if one])
    suspended = [stack for stack in names if "leaf_one" in stack or "leaf_two" in stack]
    if len(suspended) != COUNT:
        raise Wrong(f"{len(suspended)} slices with the stack of a suspension instead of {COUNT}")
    for stack in suspended:
        if stack[-4:] not in ([*reversed(FIBER["1"])], [*reversed(FIBER["2"])]):
            raise Wrong(f"a slice with the stack {stack}")
    if len([stack for stack in names if stack[-1:] == ["speaker"]]) != COUNT + 1:
        raise Wrong("messages without their stacks")


def blocks(name):
    """Types of a capture's blocks; 33 are binaries."""
    with open(os.path.join(TMP, name), "rb") as file:
        data = file.read()
    at, found = int.from_bytes(data[12:16], "little"), []
    while at < len(data):
        found.append(int.from_bytes(data[at + 4:at + 6], "little"))
        at += 16 + (int.from_bytes(data[at + 8:at + 12], "little") + 7) // 8 * 8
    return found


def in_parts():
    """Each segment, and a recorder's window, has the stacks of its own events; the program is gone."""
    build("parts", "-g")
    # of one process, whose stacks are alike, no more than buffers hold; then at a rate at which none is lost
    for limit, size, command in (("--flight-recorder", "64K", "./parts 1500"),
                                 ("--flight-recorder", "256K", "for i in $(seq 40); do ./parts 150 || exit 1; done"),
                                 ("--max-file-size", "256K", "for i in $(seq 40); do ./parts 150 || exit 1; done")):
        run(TRACER, "record", *QUIET, "--stacks", "suspend", limit, size, "-o", "parts.trc", "--", "sh", "-c", command)
        os.rename(os.path.join(TMP, "parts"), os.path.join(TMP, "gone"))
        files = [name for name in os.listdir(TMP) if name.startswith("parts.trc")]
        if (len(files) > 2) != (limit == "--max-file-size"):
            raise Wrong(f"{limit}: {len(files)} files")
        for name in files:
            lines = run(TRACER, "export", "-q", "-f", "text", name).splitlines()
            without = [line for line in lines if " task_suspended " in line and not line.startswith("#") and ";middle;outer;fiber_main" not in line]
            # where the file begins, a stack may be in the one before
            if len(without) > 1:
                raise Wrong(f"{limit}, {name}: {len(without)} without their stack, such as {without[0]}")
            if blocks(name).count(33) > 3:
                raise Wrong(f"{limit}, {name}: binaries are told again and again")
        os.rename(os.path.join(TMP, "gone"), os.path.join(TMP, "parts"))
        for name in files:
            os.unlink(os.path.join(TMP, name))


TESTS = [
    ("stacks on fibers, without frame pointers, each at its own event", lambda: on_fibers("gcc")),
    ("the same built by clang", lambda: on_fibers("clang")),
    ("stacks in reports", in_reports),
    ("stacks with --sample", with_sample),
    ("--stacks: depth, and what is not asked for", depth),
    ("stacks in Perfetto's tables", in_perfetto),
    ("a stripped binary, debug file by build id in --debug-dir", stripped_by_build_id),
    ("a debug file of another build is not believed", another_build),
    ("a stripped binary, debug file by link", stripped_by_link),
    ("a static program", static_program),
    ("a program that is replaced, then gone, by the time of the export", replaced_program),
    ("C++ names", cxx_names),
    ("stacks in segments and in a recorder's window", in_parts),
]


def main():
    if os.geteuid() != 0:
        print("skip stacks: not root")
        return 0
    wanted = sys.argv[1:]
    for name, test in TESTS:
        if wanted and not any(word in name for word in wanted):
            continue
        try:
            test()
            print("ok", name)
        except (Wrong, subprocess.CalledProcessError, OSError, AttributeError, KeyError) as error:
            print(f"not ok {name}: {error}")
    return 0


sys.exit(main())
