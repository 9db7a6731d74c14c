#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Probe specs on targets of every kind: running, deleted, in other namespaces, libraries loaded later,
children after fork and exec, stripped with their symbols elsewhere. All run 60 jobs of targets/spec/small.c,
and its spec of 5 probes shows what they did."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

TRACER, SRC, TMP = os.environ["TRACER"], os.environ["SRC"], os.environ["TMP"]
SPEC = f"{SRC}/tests/targets/spec/small.probes"
SMALL = f"{SRC}/tests/targets/spec/small.c"


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def build(name, *flags):
    run("gcc", "-O2", "-g", "-Wall", SMALL, "-o", f"{TMP}/{name}", "-lpthread", "-ldl", *flags)
    return f"{TMP}/{name}"


def report_of(capture):
    return json.loads(run(TRACER, "report", "--json", capture))


def shown(report):
    """what is wrong with the report of 60 jobs, or '' """
    tasks = report["tasks"]
    names = {row["name"]: row["count"] for row in tasks["by_name"]}
    waits = {row["reason"]: row["count"] for row in report["suspensions"]}
    if names != {"odd": 30, "even": 30} or tasks["completed"] != 60 or waits != {"long event": 20}:
        return f"{names} {tasks['completed']} completed, {waits}"
    if report["capture"]["lost"] or not report["capture"]["complete"]:
        return f"{report['capture']}"
    return f"{report['anomalies']}" if report["anomalies"] else ""


def command(*words, options=()):
    capture = f"{TMP}/x.trc"
    run(TRACER, "-q", "--force", "--spec", SPEC, *options, "-o", capture, "--", *words, stderr=subprocess.PIPE)
    return shown(report_of(capture))


def running(words, before=None, after=None, options=()):
    """attaches to a process that waits, lets it go on"""
    capture = f"{TMP}/x.trc"
    target = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        target.stdout.readline()
        pid = before(target) if before else target.pid
        ready, write = os.pipe()
        tracer = subprocess.Popen(
            [TRACER, "-q", "--force", "--spec", SPEC, "--ready-fd", str(write), *options, "-o", capture, "-p", str(pid)],
            pass_fds=(write,),
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(write)
        if os.read(ready, 1) != b"\0":
            return tracer.communicate()[1]
        os.close(ready)
        target.stdin.write("go\n")
        target.stdin.close()
        target.stdout.read()
        target.wait()
        if tracer.wait(timeout=30):
            return tracer.communicate()[1]
    finally:
        target.kill()
        target.wait()
        if after:
            after()
    return shown(report_of(capture))


def deleted(program):
    copy = f"{TMP}/deleted"
    shutil.copy(program, copy)

    def remove(target):
        os.remove(copy)
        shutil.copy("/bin/true", copy)  # and something else has its name
        return target.pid

    return running([copy, "wait"], before=remove)


def namespaces(program):
    script = f"mount -t tmpfs none /mnt && cp {program} /mnt/hidden && exec /mnt/hidden wait"

    def find(target):
        # the child of unshare; it wrote its line already, so it is the program
        return int(run("pgrep", "-P", str(target.pid)).split()[0])

    return running(["unshare", "--pid", "--mount", "--fork", "--kill-child", "sh", "-c", script], before=find)


def minidebuginfo(program):
    stripped, table = f"{TMP}/mini", f"{TMP}/mini.debug"
    run("objcopy", "--only-keep-debug", program, table)
    run("objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section", ".comment", table, table + ".s", stderr=subprocess.PIPE)
    run("objcopy", "--strip-debug", table)
    run("xz", "-f", table)
    run("strip", "-o", stripped, program)
    run("objcopy", "--add-section", f".gnu_debugdata={table}.xz", stripped)
    return command(stripped)


def separate_debug(program):
    stripped = f"{TMP}/separate"
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program))[1]
    folder = f"/usr/lib/debug/.build-id/{build_id[:2]}"
    os.makedirs(folder, exist_ok=True)
    debug = f"{folder}/{build_id[2:]}.debug"
    try:
        run("objcopy", "--only-keep-debug", program, debug)
        run("strip", "-o", stripped, program)
        return command(stripped)
    finally:
        if os.path.exists(debug):
            os.remove(debug)
        if not os.listdir(folder):
            os.rmdir(folder)


def stripped(program):
    plain = f"{TMP}/stripped"
    run("strip", "-o", plain, program)
    done = subprocess.run(
        [TRACER, "-v", "--force", "--spec", SPEC, "-o", f"{TMP}/x.trc", "--", plain], stderr=subprocess.PIPE, text=True, check=False
    )
    wanted = "no such function in it, as far as a stripped binary tells"
    return "" if "nothing in the target for it" in done.stderr or wanted in done.stderr else done.stderr


def plain_usdt():
    program = f"{TMP}/plain_usdt"
    run("gcc", "-O1", f"{SRC}/tests/targets/spec/plain_usdt.c", "-o", program)
    capture = f"{TMP}/x.trc"
    run(TRACER, "-q", "--force", "-o", capture, "--", program)
    tasks = report_of(capture)["tasks"]
    names = {row["name"]: row["count"] for row in tasks["by_name"]}
    return "" if names == {"odd": 10, "even": 10} and tasks["completed"] == 20 else f"{names} {tasks}"


def operands():
    program, capture, spec = f"{TMP}/plain_usdt", f"{TMP}/x.trc", f"{TMP}/many.probes"
    wanted = [100, -200, 300, -900, -500, 600, 600, 800, 75, -900, 2, -1, 1300, 1400]
    with open(spec, "w", encoding="utf-8") as file:
        file.write("usdt many:places\n")
        for i in range(len(wanted)):
            file.write(f'\t=> counter("arg{i}", arg{i})\n')
    run(TRACER, "-q", "--force", "--spec", spec, "-o", capture, "--", program)
    found = {row["name"]: row["last"] for row in report_of(capture)["counters"]}
    return "" if found == {f"arg{i}": value for i, value in enumerate(wanted)} else f"{found}"


def tracepoint(program):
    spec, capture = f"{TMP}/kernel.probes", f"{TMP}/x.trc"
    with open(spec, "w", encoding="utf-8") as file:
        file.write(
            'tracepoint syscalls:sys_enter_clock_nanosleep\n\tif which_clock == 0 => counter("sleeps", 1)\n'
            'tracepoint nobody:knows => message("never")\n'
        )
    done = subprocess.run(
        [TRACER, "-v", "--force", "--spec", SPEC, "--spec", spec, "-o", capture, "--", program],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found = {row["name"]: row["count"] for row in report_of(capture)["counters"]}
    if "this kernel has no such tracepoint" not in done.stderr:
        return done.stderr
    return "" if found == {"sleeps": 20} else f"{found}"


def left_out(program):
    """a limit that any probe exceeds: the dear ones go, the trace says so"""
    capture = f"{TMP}/x.trc"
    # looked at once a second; nobody lives that long but the shell, which does nothing itself
    loop = f"for i in 1 2; do for j in $(seq 20); do {program} >{TMP}/out; done; sleep 1.2; done"
    done = subprocess.run(
        [TRACER, "--force", "--spec", SPEC, "--max-overhead", "0.001", "-o", capture, "--", "sh", "-c", loop],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    text = run(TRACER, "export", "-f", "text", "-o", "-", capture, stderr=subprocess.PIPE)
    said = "is left out from here on"
    return "" if said in done.stderr and said in text else done.stderr


def late(program):
    """a child that waits for a tracer that does not come goes on in the end, and the capture says so"""
    capture = f"{TMP}/late.trc"
    script = f"echo up; read go; {program}; echo done"
    tracer = subprocess.Popen(
        [TRACER, "--force", "--spec", SPEC, "-o", capture, "--", "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        tracer.stdout.readline()
        tracer.send_signal(signal.SIGSTOP)
        tracer.stdin.write("go\n")
        tracer.stdin.close()
        tracer.stdin = None
        while tracer.stdout.readline() not in ("done\n", ""):
            pass
        tracer.send_signal(signal.SIGCONT)
        said = tracer.communicate()[1]
    finally:
        tracer.kill()
        tracer.wait()
    text = run(TRACER, "export", "-q", "-f", "text", "-o", "-", capture)
    sentence = "before points and probes of what it loaded were attached"
    return "" if sentence in said and sentence in text else said + text[-500:]


def crowded(program):
    """who waits for the tracer does so until it has answered, however many others pass the same places"""
    crowd = [subprocess.Popen(["sh", "-c", "while :; do /bin/true; done"]) for _ in range(2)]
    try:
        for _ in range(5):
            done = subprocess.run(
                [TRACER, "--force", "--spec", SPEC, "-o", f"{TMP}/x.trc", "--", "sh", "-c", program],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                check=True,
            )
            wrong = shown(report_of(f"{TMP}/x.trc")) or ("went on" in done.stderr and done.stderr)
            if wrong:
                return wrong
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    return ""


def main():
    if os.geteuid():
        print("skip specs on targets of every kind: needs root")
        return
    program = build("small")
    fixed = build("small-no-pie", "-no-pie")
    static = build("small-static", "-static")
    library = build("libsmall.so", "-shared", "-fPIC", "-DLIBRARY")
    cases = (
        ("a command", lambda: command(program)),
        ("a command that is not position-independent", lambda: command(fixed)),
        ("a process that runs already", lambda: running([program, "wait"])),
        ("the same with --no-follow", lambda: running([program, "wait"], options=["--no-follow"])),
        ("a process whose file was deleted and replaced", lambda: deleted(program)),
        ("a process in another PID and mount namespace", lambda: namespaces(program)),
        ("a library that a command loads", lambda: command(program, "load", library)),
        ("a library that is loaded after attaching", lambda: running([program, "wait", "load", library])),
        ("a child that forks and runs another program", lambda: running([program, "wait", "fork"])),
        ("a static program that a command becomes", lambda: command("env", "X=1", static)),
        ("a static program that a shell starts", lambda: command("sh", "-c", f"cd {TMP}; ./small-static; echo")),
        ("a program whose start others crowd", lambda: crowded(program)),
        ("without multi-uprobe links and sleepable probes", lambda: command(program, options=["--without", "uprobe_multi,sleepable_uprobe"])),
        ("symbols in .gnu_debugdata", lambda: minidebuginfo(program)),
        ("symbols in a separate file, by build-id", lambda: separate_debug(program)),
        ("a stripped binary says why there is nothing", lambda: stripped(program)),
        ("points that are plain USDT probes of provider tracer", plain_usdt),
        ("fourteen USDT arguments in every kind of place", operands),
        ("tracepoints of the kernel", lambda: tracepoint(program)),
        ("probes are left out beyond --max-overhead, and the trace says so", lambda: left_out(program)),
        ("a child that could not wait long enough is told of", lambda: late(program)),
    )
    only = sys.argv[1:]
    for name, test in cases:
        if only and not any(word in name for word in only):
            continue
        try:
            wrong = test()
        except subprocess.CalledProcessError as error:
            wrong = f"{error} {error.stderr or ''}"
        print(f"not ok {name}: {str(wrong)[:1500]}" if wrong else f"ok {name}")


sys.exit(main())
