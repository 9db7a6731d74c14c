#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The Python module (probes/python): what programs do with it is what their traces say."""
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

TRACER, BUILD, SRC = os.environ["TRACER"], os.environ["BUILD"], os.environ["SRC"]
FOLDER = os.path.join(BUILD, "python")
PYTHON = os.environ.get("PYTHON") or shutil.which("python3")


class Failed(Exception):
    pass


def check(what, got, expected):
    if got != expected:
        raise Failed("%s: %r, expected %r" % (what, got, expected))


def run(*command, status=0, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, PYTHONPATH=FOLDER), **options)
    if done.returncode != status:
        raise Failed("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr.strip()[-600:]))
    return done.stdout


def program(source, name="program.py"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(textwrap.dedent(source))
    return [PYTHON, name]


def capture(source, *options):
    """a capture of a program, x.trc, and its report"""
    out = run(TRACER, "record", "-q", "--force", "-o", "x.trc", *options, "--", *program(source))
    report = json.loads(run(TRACER, "report", "--json", "x.trc"))
    check("records lost", report["capture"]["lost"], 0)
    check("anomalies", report["anomalies"], [])
    return report, out


def text(*words):
    lines = run(TRACER, "export", "-f", "text", "-o", "-", "x.trc").splitlines()
    return [line.split(" ", 2)[2] for line in lines if line.split(" ", 3)[2] in words]


def zones_of(report):
    return {zone["name"]: zone for zone in report["zones"]}


def steps():
    """zones of coroutines and generators stand where these do, and change nothing about them"""
    report, out = capture("""
        import asyncio, tracer
        @tracer.traced
        async def wait(n):
            await asyncio.sleep(0)
            return n
        @tracer.traced
        def plain():
            try:
                got = yield 1
                yield got
            finally:
                print("plain left")
        @tracer.traced("named")
        async def several():
            try:
                try:
                    got = yield 1
                    await asyncio.sleep(0)
                    got = yield got
                except KeyError:
                    got = "caught"
                yield got
            finally:
                print("several left")
        async def main():
            print(await wait(7))
            a = plain()
            print(next(a), a.send(2))
            a.close()
            b = several()
            print(await b.__anext__(), await b.asend(5), await b.athrow(KeyError()))
            await b.aclose()
            c = several()
            print([value async for value in c])
        asyncio.run(main())
        """)
    check("what the program sees", out.splitlines(),
          ["7", "1 2", "plain left", "1 5 caught", "several left", "several left", "[1, None, None]"])
    check("zones", {name: (zone["function"], os.path.basename(zone["file"]), zone["line"], zone["count"])
                    for name, zone in zones_of(report).items()},
          {"wait": ("wait", "program.py", 3, 1), "plain": ("plain", "program.py", 7, 1),
           "named": ("several", "program.py", 14, 2)})


def closed():
    """nobody attached: everything can be called, and does nothing"""
    out = run(*program("""
        import tracer, tracr
        with tracer.zone("a", text="t", value=1, color=2) as z, z:
            pass
        @tracer.traced
        def f(a, *, b=2):
            "doc"
            return a + b
        assert f(1, b=3) == 4 and f.__name__ == "f" and f.__doc__ == "doc"
        for name in tracer.__all__:
            function = getattr(tracer, name)
            if callable(function) and name not in ("zone", "traced", "marker", "task", "enabled"):
                try:
                    function()
                except TypeError:
                    function("a", 1)if name in ("counter", "marker_set") else function("a")
        assert not tracer.enabled("zone")
        try:
            tracer.enabled("nothing")
        except ValueError as error:
            print(error)
        """))
    check("a wrong category names the right ones", "task, worker" in out, True)


def points():
    report, _ = capture("""
        import tracer
        class Solver:
            @tracer.traced
            def step(self, n):
                return self.step(n - 1) if n else 0
        @tracer.traced("generate")
        def generate():
            yield from range(3)
        def main():
            with tracer.zone("outer", text="words", value=2.5, color=0x102030):
                Solver().step(4)
                list(generate())
                try:
                    with tracer.zone("raises"):
                        raise KeyError
                except KeyError:
                    pass
                for i in range(10):
                    with tracer.zone(f"made {i % 2}"):
                        tracer.zone_value("i", i)
            tracer.zone_begin("by hand")
            tracer.zone_end()
            tracer.counter("queue", 3)
            tracer.counter("load", 0.5)
            for i, value in enumerate((2**63 - 1, -2**63, 2**63, -2**80)):
                tracer.counter(f"wide {i}", value)
            tracer.counter("beyond", 10**400)
            tracer.message("hello \\u00e4\\u4e2d \\"quoted\\"")
            tracer.frame("frame")
            tracer.sent(17, 2, 64)
            tracer.received(17, 1, 64)
            with tracer.marker(5, "busy", 9):
                tracer.marker_flow_start(5, 33)
                tracer.flow_start(44)
                tracer.flow_end(44)
                tracer.marker_flow_end(5, 33)
            with tracer.task("whole"):
                pass
        main()
        """)
    check("zones", {name: (zone["count"], zone["max_depth"]) for name, zone in zones_of(report).items()},
          {"outer": (1, 1), "Solver.step": (5, 6), "generate": (1, 2), "raises": (1, 2), "made 0": (5, 2), "made 1": (5, 2),
           "by hand": (1, 1)})
    zone = zones_of(report)["raises"]
    check("call site", (zone["function"], os.path.basename(zone["file"])), ("main", "program.py"))
    with open("program.py", encoding="utf-8") as file:
        check("line", 'zone("raises")' in file.read().splitlines()[zone["line"] - 1], True)
    check("counters", {one["name"]: one["last"] for one in report["counters"]},
          {"queue": 3, "load": 0.5, "wide 0": 2**63 - 1, "wide 1": -2**63, "wide 2": 2.0**63, "wide 3": -2.0**80,
           "beyond": None})
    check("messages", report["messages"], {"sent": 1, "received": 1, "matched": 1})
    check("tasks", (report["tasks"]["created"], report["tasks"]["completed"], report["tasks"]["destroyed"]), (1, 1, 1))
    check("message", text("message"), ['message text="hello ä中 \\"quoted\\""'])
    check("markers", text("marker_set", "marker_reset"), ['marker_set channel=5 name="busy" extra=9', "marker_reset channel=5"])
    check("arrows", len(text("flow_start", "flow_end", "marker_flow_start", "marker_flow_end")), 4)


def threads():
    """each of them nests by itself; a million strings that are made do not stay"""
    report, out = capture("""
        import threading, tracer
        def anon():
            return int(next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1])
        def run(number):
            for i in range(500):
                with tracer.zone("outer"):
                    with tracer.zone("inner"):
                        tracer.counter("count %d" % number, i)
        threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        before = anon()
        for i in range(30000):
            with tracer.zone("a string of its own for every zone %d" % i):
                pass
        print(anon() - before)
        """)
    zones = zones_of(report)
    check("zones", (zones["outer"]["count"], zones["inner"]["count"], zones["inner"]["max_depth"]), (4000, 4000, 2))
    check("samples", sorted((one["name"], one["count"]) for one in report["counters"]),
          [("count %d" % n, 500) for n in range(8)])
    check("KiB more than before", int(out) < 1024, True)


def names():
    """the name of a zone takes the slot of its function's, so that both are written: the room is enough for both"""
    report, _ = capture("""
        import tracer
        def work():
            for i in range(100000):
                with tracer.zone("name %d" % (i % 3000)):
                    pass
        work()
        """)
    counts = [zone["count"] for zone in report["zones"]]
    check("zones", (len(counts), sum(counts)), (3000, 100000))
    check("functions", {zone["function"] for zone in report["zones"]}, {"work"})


def processes():
    report, _ = capture("""
        import multiprocessing, os, tracer
        def work(n):
            with tracer.zone("in a child"):
                return n
        if __name__ == "__main__":
            with tracer.zone("before"):
                pass
            for method in "fork", "spawn":
                with multiprocessing.get_context(method).Pool(2) as pool:
                    assert pool.map(work, range(20), chunksize=1) == list(range(20))
                    pool.close()
                    pool.join()
            if not os.fork():
                with tracer.zone("forked"):
                    os._exit(0)
            os.wait()
            with tracer.zone("after"):
                pass
        """)
    check("zones", {name: zone["count"] for name, zone in zones_of(report).items()},
          {"before": 1, "in a child": 40, "forked": 1, "after": 1})
    check("processes", len(report["processes"]) >= 6, True)


def repeated():
    """captures of a running process one after the other: each has its own, none is left behind"""
    target = subprocess.Popen(program("""
        import sys, tracer
        @tracer.traced
        def round(): pass
        print("ready", flush=True)
        for line in sys.stdin:
            for i in range(100000):
                round()
            anon = next(l for l in open("/proc/self/status") if l.startswith("RssAnon")).split()[1]
            print(anon, flush=True)
        """), env=dict(os.environ, PYTHONPATH=FOLDER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        target.stdout.readline()
        anon = []
        for _ in range(4):
            ready, told = os.pipe()
            tracer = subprocess.Popen([TRACER, "record", "-q", "--stats-only", "--report=json", "--ready-fd", str(told),
                                       "-p", str(target.pid)], pass_fds=[told], stdout=subprocess.PIPE, text=True)
            os.close(told)
            check("attached", len(os.read(ready, 1)), 1)
            os.close(ready)
            target.stdin.write("\n")
            target.stdin.flush()
            anon.append(int(target.stdout.readline()))
            tracer.send_signal(2)
            report = json.loads(tracer.communicate()[0])
            check("zones and losses", (zones_of(report)["round"]["count"], report["capture"]["lost"]), (100000, 0))
        check("KiB more than after the first", anon[-1] - anon[0] < 256, True)
    finally:
        target.stdin.close()
        target.wait()


def asyncio():
    report, _ = capture("""
        import asyncio, tracer, tracer.asyncio
        async def leaf(n):
            with tracer.zone("leaf"):
                await asyncio.sleep(0.002)
            return n
        async def waits(event):
            await event.wait()
        async def main():
            event = asyncio.Event()
            waiter = asyncio.create_task(waits(event))
            assert await asyncio.gather(*(leaf(n) for n in range(10))) == list(range(10))
            event.set()
            await waiter
            sleeper = asyncio.create_task(asyncio.sleep(100))
            await asyncio.sleep(0)
            sleeper.cancel()
            try:
                await sleeper
            except asyncio.CancelledError:
                return "done"
        assert tracer.asyncio.run(main()) == "done"
        """)
    tasks = {task["name"]: task for task in report["tasks"]["by_name"]}
    check("tasks", {name: tasks[name]["count"] for name in ("main", "leaf", "waits", "sleep")},
          {"main": 1, "leaf": 10, "waits": 1, "sleep": 1})
    check("all end", report["tasks"]["created"], report["tasks"]["completed"])
    check("all are gone", report["tasks"]["created"], report["tasks"]["destroyed"])
    check("nothing unfinished", report["unfinished"], [])
    check("each leaf sleeps 2 ms", tasks["leaf"]["suspended_ns"] >= 10 * 2000000, True)
    check("without the gap", zones_of(report)["leaf"]["total_ns"] < tasks["leaf"]["run_ns"], True)
    check("reasons", {"await sleep", "await Event.wait", "await gatheringfuture", "await task"} <=
          {one["reason"] for one in report["suspensions"]}, True)
    check("worker", [worker["name"] for process in report["processes"] for worker in process["workers"]], ["event loop"])
    # whoever sets the event wakes: main
    main = next(line.split()[1] for line in text("task_created") if '"main"' in line)
    lines = run(TRACER, "export", "-f", "text", "-o", "-", "x.trc").splitlines()
    waits = next(line.split()[3] for line in lines if 'name="waits"' in line)
    running, woken_by = None, None
    for line in lines:
        word = line.split()
        if word[2] == "task_begin":
            running = word[3]
        elif word[2] in ("task_suspended", "task_completed", "task_yielded"):
            running = None
        elif word[2] == "task_resumed" and word[3] == waits:
            woken_by = running
    check("the waker", woken_by, main)


def tracr():
    """a program for TraCR's module"""
    _, out = capture("""
        import threading
        from tracr import *
        def work(channel, kind):
            INSTRUMENTATION_THREAD_INIT()
            INSTRUMENTATION_MARK_SET(channel, kind, channel)
            INSTRUMENTATION_FLOW_END(channel, 5)
            INSTRUMENTATION_MARK_RESET(channel)
            INSTRUMENTATION_THREAD_FINALIZE()
        INSTRUMENTATION_TRACE_PATH("./out/")
        INSTRUMENTATION_START()
        assert INSTRUMENTATION_ACTIVE() and INSTRUMENTATION_IS_PROC_READY() and INSTRUMENTATION_PROC_EXISTS()
        teal = INSTRUMENTATION_MARK_W_COLOR_ADD("teal", mark_color.MARK_COLOR_TEAL)
        plain = INSTRUMENTATION_MARK_ADD(label="plain")
        assert (teal, plain, MARK_COLOR_TEAL) == (0, 1, 12)
        INSTRUMENTATION_MARK_SET(0, teal)
        INSTRUMENTATION_FLOW_START(0, 5)
        thread = threading.Thread(target=work, args=(1, plain))
        thread.start()
        thread.join()
        INSTRUMENTATION_OFF()
        INSTRUMENTATION_MARK_SET(0, plain)
        INSTRUMENTATION_ON()
        INSTRUMENTATION_MARK_SET(0, 77, extraId=3)
        INSTRUMENTATION_MARK_RESET(0)
        INSTRUMENTATION_ADD_CHANNEL_NAMES(["main", "other"])
        INSTRUMENTATION_ADD_NUM_CHANNELS(2)
        assert INSTRUMENTATION_NUM_TRACR_THREADS() == 1 and INSTRUMENTATION_THREAD_EXISTS()
        print(INSTRUMENTATION_GET_JSON_STR())
        INSTRUMENTATION_END()
        """)
    check("labels", json.loads(out)["markerLabels"], ["teal", "plain"])
    check("calls", text("marker_set", "marker_reset", "marker_flow_start", "marker_flow_end", "channel_name"),
          ['marker_set channel=0 name="teal" extra=none', "marker_flow_start channel=0 id=0x5",
           'marker_set channel=1 name="plain" extra=1', "marker_flow_end channel=1 id=0x5", "marker_reset channel=1",
           'marker_set channel=0 name="77" extra=3', "marker_reset channel=0", 'channel_name channel=0 name="main"',
           'channel_name channel=1 name="other"'])
    check("colour", text("marker_color"), ['marker_color name="teal" rgb=32896'])


def late_import():
    """a process that is attached to before it imports the module"""
    target = subprocess.Popen(program("""
        import sys
        print("ready", flush=True)
        sys.stdin.readline()
        import tracer
        for i in range(1000):
            with tracer.zone("late"):
                pass
        """), env=dict(os.environ, PYTHONPATH=FOLDER), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    target.stdout.readline()
    ready, told = os.pipe()
    tracer = subprocess.Popen([TRACER, "record", "-q", "--wait-points", "-o", "x.trc", "--ready-fd", str(told), "-p",
                               str(target.pid)], pass_fds=[told])
    os.close(told)
    check("attached", len(os.read(ready, 1)), 1)
    target.stdin.write("\n")
    target.stdin.close()
    target.wait()
    check("status", tracer.wait(), 0)
    check("zones", zones_of(json.loads(run(TRACER, "report", "--json", "x.trc")))["late"]["count"], 1000)


def types():
    """what the module has is what its types say"""
    names = set(json.loads(run(*program("""
        import json, tracer
        print(json.dumps(tracer.__all__))
        """))))
    with open(os.path.join(FOLDER, "tracer", "__init__.pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    typed = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    typed |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_")}
    check("names", sorted(names ^ typed), [])
    check("marked as typed", os.path.exists(os.path.join(FOLDER, "tracer", "py.typed")), True)


TESTS = {
    "nobody attached: every point can be called and does nothing": closed,
    "zones, counters, markers, arrows, messages, tasks": points,
    "zones of coroutines and generators": steps,
    "threads; strings that are made on the way": threads,
    "more names than slots for them": names,
    "multiprocessing, by fork and by spawn; os.fork": processes,
    "captures one after the other: nothing is left behind": repeated,
    "asyncio: tasks, what they wait for, who wakes them": asyncio,
    "a program for TraCR's module": tracr,
    "imported after the tracer attached": late_import,
    "the types name what there is": types,
}


def main():
    if os.geteuid():
        print("skip python: needs root")
        return
    if not os.path.isdir(os.path.join(FOLDER, "tracer")) or not any(
            name.startswith("_tracer.") for name in os.listdir(os.path.join(FOLDER, "tracer"))):
        print("skip python: the module is not built: python3-dev is missing")
        return
    for name, test in TESTS.items():
        os.chdir(tempfile.mkdtemp(dir=os.environ["TMP"]))
        try:
            test()
            print("ok " + name, flush=True)
        except Failed as failure:
            print("not ok %s: %s" % (name, failure), flush=True)
        except (KeyError, IndexError, StopIteration, ValueError) as failure:
            print("not ok %s: %r" % (name, failure), flush=True)


if __name__ == "__main__":
    main()
