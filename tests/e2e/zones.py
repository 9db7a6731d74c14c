#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Zones: what tests/targets/zones is known to do, in the report, the Perfetto trace and the text."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

TRACER, TARGETS, SRC = os.environ["TRACER"], os.environ["TARGETS"], os.environ["SRC"]
MS = 1000000


class Failed(Exception):
    pass


def check(what, got, expected):
    if got != expected:
        raise Failed("%s: %r, expected %r" % (what, got, expected))


def at_least(what, got, least):
    if got < least:
        raise Failed("%s: %r, expected %r at least" % (what, got, least))


def run(*command, status=0, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != status:
        raise Failed("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return done.stdout


def target(name="zones"):
    return os.path.join(TARGETS, "zones", name)


def capture(*command):
    """a capture of a command, x.trc, and its report"""
    run(TRACER, "record", "-q", "--force", "-o", "x.trc", "--", *command)
    report = json.loads(run(TRACER, "report", "--json", "x.trc"))
    check("records lost", report["capture"]["lost"], 0)
    return report


def zones_of(report):
    return {zone["name"]: zone for zone in report["zones"]}


def anomalies_of(report):
    return {one["kind"]: one["count"] for one in report["anomalies"]}


def tally(*options):
    """what the Perfetto trace holds, read by a decoder of its own"""
    run(TRACER, "export", "-q", "--force", "-f", "perfetto", "-o", "x.pftrace", *options, "x.trc")
    return json.loads(run(sys.executable, os.path.join(SRC, "tests/e2e/perfetto_check.py"), "x.pftrace"))


def text():
    return run(TRACER, "export", "-f", "text", "-o", "-", "x.trc").splitlines()


def nested():
    report = capture(target(), "nested")
    zones = zones_of(report)
    check("zones", {name: zone["count"] for name, zone in zones.items()},
          {"outer": 5, "inner": 5, "second": 5, "by hand": 5})
    check("anomalies", anomalies_of(report), {})
    outer, inner = zones["outer"], zones["inner"]
    check("depths", [zones[name]["max_depth"] for name in ("outer", "inner", "second", "by hand")], [1, 2, 2, 3])
    check("where", (outer["function"], os.path.basename(outer["file"])), ("nested", "zones.c"))
    with open(os.path.join(SRC, "tests/targets/zones/zones.c"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for name in ("outer", "inner", "second", "by hand"):
        if '"%s"' % name not in lines[zones[name]["line"] - 1]:
            raise Failed("line of %s: %d" % (name, zones[name]["line"]))
    at_least("time in inner", inner["total_ns"], 15 * MS)
    at_least("time in outer", outer["total_ns"], 25 * MS)
    inside = sum(zones[name]["total_ns"] for name in ("inner", "second"))
    check("self and inner of outer", outer["self_ns"], outer["total_ns"] - inside)
    for zone in zones.values():
        order = [zone[key] for key in ("min_ns", "p50_ns", "p99_ns", "max_ns")]
        check("order of %s" % zone["name"], order, sorted(order))
        check("mean of %s" % zone["name"], zone["mean_ns"], zone["total_ns"] // zone["count"])
    events = text()
    check("texts", sum('zone_text text="odd"' in line for line in events), 2)
    check("values", sum("zone_value name=\"half\" value=1.5" in line for line in events), 1)
    check("colours", sum("zone_color rgb=658188" in line for line in events), 5)
    check("ends", sum(" zone_end" in line for line in events), 20)
    check("zones drawn", tally()["slices"]["zone"], 20)


def recursion():
    report = capture(target(), "recursion")
    zone = zones_of(report)["recurse"]
    check("calls", zone["count"], 127)
    check("depth", zone["max_depth"], 7)
    check("function", zone["function"], "recurse")
    # 64 leaves of a millisecond; each of the seven levels would count them again
    at_least("time", zone["total_ns"], 64 * MS)
    check("all of it is its own", zone["self_ns"], zone["total_ns"])
    check("the longest is the outermost, which is all", zone["max_ns"], zone["total_ns"])


def longjmp():
    report = capture(target(), "longjmp")
    zones = zones_of(report)
    check("zones", {name: zone["count"] for name, zone in zones.items()},
          {"around": 1, "between": 100, "jumped out of": 100})
    check("closed and counted", anomalies_of(report), {"zone_left_open": 200})
    check("depth of what was not left", zones["around"]["max_depth"], 1)
    at_least("time around", zones["around"]["total_ns"], MS)
    check("zones drawn", tally()["slices"]["zone"], 201)


def threads():
    report = capture(target(), "threads")
    check("zones", {name: zone["count"] for name, zone in zones_of(report).items()},
          {"thread": 3000, "never left": 3000})
    # the last threads' ends may be told together with that of the process, which is no anomaly
    at_least("closed and counted", anomalies_of(report).get("zone_left_open", 0), 5000)
    # how long they were is not known, so there is no mean either, for programs and for people
    check("the mean of what was never left", zones_of(report)["never left"]["mean_ns"], None)
    line = re.search(r"^  never left .*$", run(TRACER, "report", "x.trc"), re.M)[0]
    check("min, mean, p50, p99, max for people", line.split()[-7:-2], ["-"] * 5)


def at_once():
    """programs that a shell begins all at once wait until they are looked at, however long that takes"""
    report = capture("sh", "-c", 'for i in 1 2 3 4 5 6 7 8; do "$0" nested & done; wait', target())
    check("zones", {name: zone["count"] for name, zone in zones_of(report).items()},
          {"outer": 40, "inner": 40, "second": 40, "by hand": 40})


def exceptions():
    report = capture(target("exceptions"))
    check("zones", {name: zone["count"] for name, zone in zones_of(report).items()},
          {"all": 1, "catcher": 50, "tried": 50, "middle": 50, "inner": 50, "handler": 50})
    check("anomalies", anomalies_of(report), {})
    check("depths", {name: zone["max_depth"] for name, zone in zones_of(report).items()},
          {"all": 1, "catcher": 2, "tried": 3, "middle": 4, "inner": 5, "handler": 3})


def migration():
    report = capture(target(), "migration")
    zone = zones_of(report)["across"]
    check("count", zone["count"], 1)
    check("anomalies", anomalies_of(report), {})
    at_least("time without the gap", zone["total_ns"], 4 * MS)
    task = report["tasks"]["by_name"][0]
    at_least("the task's time holds the zone's", task["run_ns"], zone["total_ns"])
    at_least("the gap", task["suspended_ns"] + task["ready_ns"], 30 * MS)
    check("migrations", report["tasks"]["migrations"], 1)
    check("parts drawn on the task's row", tally()["slices"]["zone"], 2)


def stats_only():
    """the same figures without a trace"""
    run(TRACER, "record", "-q", "--stats-only", "--summary", "s.json", "--", target(), "recursion")
    with open("s.json", encoding="utf-8") as file:
        figures = json.load(file)
    zone = zones_of(figures)["recurse"]
    check("calls", (zone["count"], zone["max_depth"]), (127, 7))
    check("records", (figures["records"], figures["lost"], figures["complete"]), (254, 0, True))
    check("exit", figures["target_exit"], 0)
    at_least("time", zone["total_ns"], 64 * MS)
    check("files", sorted(os.listdir(".")), ["s.json"])
    out = run(TRACER, "record", "--stats-only", "--report=json", "--", target(), "nested")
    check("report on standard output", {z["name"]: z["count"] for z in json.loads(out)["zones"]},
          {"outer": 5, "inner": 5, "second": 5, "by hand": 5})
    out = run(TRACER, "record", "--stats-only", "--", target(), "recursion")
    if not re.search(r"^  recurse +127 ", out, re.M):
        raise Failed("no report: " + out)


def stats_so_far():
    """SIGUSR1: figures while it goes on; then more of them at the end"""
    endless = subprocess.Popen([target(), "endless"], stdout=subprocess.PIPE, text=True)
    tracer = None
    try:
        endless.stdout.readline()
        ready, told = os.pipe()
        tracer = subprocess.Popen([TRACER, "record", "-q", "--stats-only", "--report=json", "--ready-fd", str(told),
                                   "-p", str(endless.pid)], pass_fds=[told], stdout=subprocess.PIPE, text=True)
        os.close(told)
        check("attached", len(os.read(ready, 1)), 1)
        counts = []
        while len(counts) < 3:
            tracer.send_signal(signal.SIGUSR1)
            zones = zones_of(document(tracer.stdout))
            # until there is something to show, and more than before
            if "round" in zones and zones["round"]["count"] > (counts or [0])[-1]:
                counts.append(zones["round"]["count"])
            time.sleep(0.02)
        tracer.send_signal(signal.SIGINT)
        last = document(tracer.stdout)
        check("status", tracer.wait(), 0)
        at_least("ever more", zones_of(last)["round"]["count"], counts[-1])
        check("records lost", last["capture"]["lost"], 0)
    finally:
        endless.kill()
        endless.wait()
        if tracer and tracer.poll() is None:
            tracer.kill()


def document(stream):
    """one report of several: it ends with a brace on a line of its own"""
    lines = []
    for line in stream:
        lines.append(line)
        if line == "}\n":
            return json.loads("".join(lines))
    raise Failed("no report: %r" % lines)


def memory():
    """the tracer's buffers are not in what the kernel says was the most that the command had, ru_maxrss"""
    most = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    plain = int(run(sys.executable, "-c", most))
    traced = run(TRACER, "record", "-q", "--force", "-o", "x.trc", "--buffer-size", "64M", "--", sys.executable, "-c", most)
    at_least("KiB of a command that is traced, at most those of one that is not and 16 MiB",
             plain + 16384, int(traced))


def refused():
    done = subprocess.run([TRACER, "record", "--stats-only", "-o", "x.trc", "--", "true"], stderr=subprocess.PIPE,
                          text=True, check=False)
    check("status", done.returncode, 125)
    if "leave one of them out" not in done.stderr or os.path.exists("x.trc"):
        raise Failed(done.stderr)


TESTS = {
    "zones nest, and have text, values, colours, call sites, and statistics that add up": nested,
    "recursion is not counted twice": recursion,
    "zones that longjmp leaves are closed and counted, and those around are right": longjmp,
    "zones that a thread's end leaves are closed and counted, of 3,000 threads": threads,
    "eight programs begun at once": at_once,
    "exceptions leave no zone open": exceptions,
    "a zone goes with its task to another worker, without the gap": migration,
    "--stats-only: the same figures, and no trace": stats_only,
    "--stats-only: figures so far on SIGUSR1": stats_so_far,
    "--stats-only with -o is refused": refused,
    "the peak of a command's memory is its own": memory,
}


def main():
    if os.geteuid():
        print("skip zones: needs root")
        return
    for name, test in TESTS.items():
        os.chdir(tempfile.mkdtemp(dir=os.environ["TMP"]))
        try:
            test()
            print("ok " + name)
        except (Failed, KeyError, IndexError, json.JSONDecodeError) as failure:
            print("not ok %s: %s" % (name, repr(failure) if not isinstance(failure, Failed) else failure))


if __name__ == "__main__":
    main()
