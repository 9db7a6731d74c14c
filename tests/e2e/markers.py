#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Markers, channels and flows: what tests/targets/zones/markers is known to do, in the trace; and programs
written for TraCR and InstProf, traced by way of probes/compat."""
import json
import os
import re
import subprocess
import sys
import tempfile

TRACER, TARGETS, SRC = os.environ["TRACER"], os.environ["TARGETS"], os.environ["SRC"]


class Failed(Exception):
    pass


def check(what, got, expected):
    if got != expected:
        raise Failed("%s: %r, expected %r" % (what, got, expected))


def run(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    if done.returncode:
        raise Failed("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()))
    return done.stdout


def target(name):
    return os.path.join(TARGETS, "zones", name)


def capture(*command):
    """a capture of a command, x.trc; what the command printed"""
    out = run(TRACER, "record", "-q", "--force", "-o", "x.trc", "--summary", "s.json", "--", *command)
    with open("s.json", encoding="utf-8") as file:
        check("records lost", json.load(file)["lost"], 0)
    return out


def tally():
    run(TRACER, "export", "-q", "--force", "-o", "x.pftrace", "x.trc")
    return json.loads(run(sys.executable, os.path.join(SRC, "tests/e2e/perfetto_check.py"), "x.pftrace"))


def chrome():
    """slices and arrows of the Chrome trace, and the names of its rows"""
    run(TRACER, "export", "-q", "--force", "-o", "x.json", "x.trc")
    with open("x.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    rows = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    return events, rows


def markers_of(events, rows):
    """(row, name, extra, colour) in the order of time"""
    slices = [e for e in events if e.get("cat") == "marker" and e["ph"] == "B"]
    return [(rows.get((e["pid"], e["tid"])), e["name"], e["args"].get("extra"), e["args"].get("color"))
            for e in slices]


def text(*words):
    lines = run(TRACER, "export", "-f", "text", "-o", "-", "x.trc").splitlines()
    return [line.split(" ", 2)[2] for line in lines if line.split(" ", 3)[2] in words]


def plain():
    capture(target("markers"), "plain")
    events, rows = chrome()
    got = [(name, extra, color) for _, name, extra, color in markers_of(events, rows)]
    first, second, third = "#0082c8", "#e6194b", "#3cb44b"
    check("markers", got, [("red", 1, "#ff0000"), ("first", 2, first), ("second", None, second), ("first", 0, first),
                           ("left open", 3, third)])
    begins = [e for e in events if e.get("cat") == "marker" and e["ph"] == "B"]
    ends = [e for e in events if e["ph"] == "E" and (e["pid"], e["tid"]) in {(b["pid"], b["tid"]) for b in begins}]
    durations = [end["ts"] - begin["ts"] for begin, end in zip(begins, ends)]
    if not (durations[0] >= 2000 and durations[1] >= 2000 and durations[2] >= 1000):
        raise Failed("a set does not end the one before where it begins: %r us" % durations)
    found = tally()
    check("slices", found["slices"], {"marker": 5})
    check("violations", found["violations"], 0)


def many():
    capture(target("markers"), "many")
    found = tally()
    check("markers", found["slices"]["marker"], 65536)
    if found["tracks"]["row"] < 65536:
        raise Failed("rows: %d" % found["tracks"]["row"])
    names = set(re.findall(r'marker_set channel=(\d+) name="marker (\d+)" extra=(\d+)', "\n".join(text("marker_set"))))
    check("each with its own name and extra", names, {(str(i), str(i), str(i)) for i in range(65536)})


def processes():
    capture(target("channels"))
    found = tally()
    check("markers, arrows", (found["slices"]["marker"], found["flows"]["ends"], found["flows"]["open"]), (131072, 1, 0))
    with_arrow = run(TRACER, "export", "-f", "chrome", "-o", "-", "x.trc").splitlines()
    check("markers of the Chrome trace", len([e for e in with_arrow if '"ph":"B","cat":"marker"' in e]), 131072)
    check("its arrow", [len([e for e in with_arrow if '"ph":"%s"' % ph in e]) for ph in "sf"], [1, 1])


def flows():
    capture(target("markers"), "flows")
    found = tally()
    # across channels and threads, across processes, between zones; the four that are ended all end
    check("arrows", (found["flows"]["ends"], found["flows"]["open"]), (4, 0))
    check("processes", found["tracks"]["process"], 2)
    events, _ = chrome()
    starts = [e for e in events if e["ph"] == "s"]
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    check("arrows of the Chrome trace", len([s for s in starts if s["id"] in ends]), 4)
    check("of which between processes", len([s for s in starts if ends[s["id"]]["pid"] != s["pid"]]), 2)


def off_and_on():
    capture(target("markers"), "off")
    events, rows = chrome()
    check("markers", [(name, extra) for _, name, extra, _ in markers_of(events, rows)],
          [("seen", 0), ("seen", 1), ("seen", 2)])


def tracr():
    """what the program says it did is what the trace says"""
    out = capture(target("compat_tracr"))
    said = []
    for line in out.splitlines():
        verb, channel, *rest = line.split()
        if verb == "set":
            extra = "none" if rest[1] == "4294967295" else rest[1]
            said.append('marker_set channel=%s name="%s" extra=%s' % (channel, rest[0], extra))
        elif verb == "reset":
            said.append("marker_reset channel=%s" % channel)
        else:
            said.append("marker_flow_%s channel=%s id=%#x" % (verb, channel, int(rest[0])))
    check("calls in the trace", text("marker_set", "marker_reset", "marker_flow_start", "marker_flow_end"), said)
    check("names of channels", text("channel_name"),
          ['channel_name channel=0 name="main"', 'channel_name channel=1 name="a"', 'channel_name channel=2 name="b"',
           'channel_name channel=3 name="with \\"quotes\\""'])
    check("colours", text("marker_color"),
          ['marker_color name="compute" rgb=32896', 'marker_color name="store" rgb=16766900'])
    found = tally()
    check("arrows", (found["flows"]["ends"], found["flows"]["open"]), (3, 0))
    check("markers", found["slices"]["marker"], 8)
    run(target("compat_tracr-off"))
    for name in ("compat_tracr-off", "compat_instprof-off"):
        with open(target(name), "rb") as file:
            if b"stapsdt" in file.read():
                raise Failed(name + " has points")


def instprof():
    capture(target("compat_instprof"))
    zones = {zone["name"]: zone for zone in json.loads(run(TRACER, "report", "--json", "x.trc"))["zones"]}
    check("zones", {name: (zone["count"], zone["max_depth"]) for name, zone in zones.items()},
          {"main": (1, 1), "rounds": (3, 2), "round": (12, 3), "item": (120, 4), "recurse": (8, 9)})
    check("function", (zones["item"]["function"], zones["round"]["function"]), ("item", "rounds"))


TESTS = {
    "a marker ends with the next of its channel; extras, colours, fixed colours for those without": plain,
    "65,536 channels and as many names": many,
    "every channel of two processes has a row": processes,
    "arrows across channels, threads and processes": flows,
    "nothing is shown from CAPTURE_OFF to CAPTURE_ON": off_and_on,
    "a program for TraCR, all of its macros: the trace has every call": tracr,
    "a program for InstProf: counts and depths": instprof,
}


def main():
    if os.geteuid():
        print("skip markers: needs root")
        return
    for name, test in TESTS.items():
        os.chdir(tempfile.mkdtemp(dir=os.environ["TMP"]))
        try:
            test()
            print("ok " + name)
        except Failed as failure:
            print("not ok %s: %s" % (name, failure))
        except (KeyError, IndexError, ValueError) as failure:
            print("not ok %s: %r" % (name, failure))


if __name__ == "__main__":
    main()
