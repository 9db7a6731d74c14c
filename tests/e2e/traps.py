# SPDX-License-Identifier: BSD-2-Clause
"""What the traps_*.py have in common: building targets, recording them, reading events back, and taking
the handling of a trap out to see whether its test notices.

A test is a function with @trap("NAME", without=[...]). `without` says whose removal must make it fail: pairs
of a file and replacements of text in it. `traps_x.py --without [PATTERN]` does exactly that, in a copy of the
tree in the temporary folder: each test is run once for each entry and has to fail. Run it after a change
of usdt/ or bpf/; `make check` runs the tests alone.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

SRC = os.environ.get("SRC") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD") or os.path.join(SRC, "build")
TRACER = os.environ.get("TRACER") or os.path.join(BUILD, "tracer")
TARGETS = os.path.join(SRC, "tests", "targets", "traps")
EVENTS_MAX = 2000000
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


class Failed(Exception):
    pass


class Unbuilt(Failed):
    pass


class Skip(Exception):
    pass


class Event:
    """A line of the text export."""

    __slots__ = ("pid", "tid", "name", "args", "text")
    ARGUMENT = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')

    def __init__(self, line):
        _, who, rest = line.split(" ", 2) if line.count(" ") > 1 else (*line.split(" "), "")
        self.pid, self.tid = map(int, who.split("/"))
        self.name, _, self.text = rest.partition(" ")
        # most are read once, many never
        self.args = None

    def __getitem__(self, key):
        """An argument: an int, a float, a string without its quotes, None."""
        if self.args is None:
            self.args = {}
            for name, value in self.ARGUMENT.findall(self.text):
                self.args[name] = self.value(value)
        return self.args[key]

    @staticmethod
    def value(text):
        if text.startswith('"'):
            return text[1:-1]
        if text in ("null", "none"):
            return None
        if text.startswith("0x"):
            return int(text, 16)
        return float(text) if re.search(r"[.en]", text) else int(text)


class Test:
    """What a test function is given: a folder of its own, and the verbs."""

    def __init__(self, tree, tracer):
        self.tree, self.tracer = tree, tracer
        self.folder = tempfile.mkdtemp(prefix="trap-")
        self.started = []

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, good, why, *details):
        if not good:
            raise Failed("\n".join([why, *map(str, details)]))

    def equal(self, what, got, expected):
        self.check(got == expected, "%s: %r instead of %r" % (what, got, expected))

    def run(self, *command, status=0, timeout=60, env=None, stdin=None):
        """Both outputs of a command."""
        command = [str(word) for word in command]
        try:
            done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=timeout, check=False, env=dict(os.environ, **(env or {})),
                                  input=stdin, stdin=None if stdin else subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise Failed("%s: timeout\n%s" % (" ".join(command), error.output)) from None
        except FileNotFoundError:
            raise Skip("needs the command %s" % command[0]) from None
        text = done.stdout.decode(errors="replace")
        if status is not None and done.returncode != status:
            raise Failed("%s: status %d\n%s" % (" ".join(command), done.returncode, text))
        return text

    def cc(self, output, *words, compiler="gcc"):
        """Builds. Words that name a file of targets/traps or of this folder are sources."""
        line = [compiler]
        for word in words:
            found = [os.path.join(place, word) for place in (self.folder, TARGETS)
                     if not word.startswith("-") and os.path.isfile(os.path.join(place, word))]
            line.append(found[0] if found else word)
        if not any(word in ("-c", "-shared", "-fsyntax-only", "-S") for word in words):
            line.append("-pthread")
        if output:
            line += ["-o", self.path(output)]
        try:
            self.run(*line[:1], "-I" + os.path.join(self.tree, "usdt"), *WARNINGS, *line[1:])
        except Failed as error:
            raise Unbuilt(str(error)) from None
        return self.path(output) if output else None

    def start(self, *command):
        """A target in the background; it prints a line when it is ready and goes on at a line of input."""
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.started.append(process)
        self.check(process.stdout.readline(), "%s: ended before it was ready" % command[0])
        return process

    def attach(self, target, *options):
        """Records a started target: returns once attached."""
        reader, writer = os.pipe()
        process = subprocess.Popen([self.tracer, "-q", "-o", self.path("attached.trc"), "--force", "--ready-fd",
                                    str(writer), "-p", str(target.pid), *options], pass_fds=[writer],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        os.close(writer)
        self.started.append(process)
        ready = os.read(reader, 1)
        os.close(reader)
        self.check(ready, "tracer -p did not attach", b"" if ready else process.stdout.read())
        return process

    def finish(self, target, tracer, status=0, timeout=60):
        """Lets the target go on to its end; its output and the capture."""
        try:
            out = target.communicate(b"\n", timeout)[0].decode()
            tracer.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failed("target or tracer did not end") from None
        self.equal("status of the target", target.returncode, status)
        return out, self.read(self.path("attached.trc"))

    def record(self, *command, options=(), status=0, timeout=60):
        """Records a command; its output and the capture."""
        path = self.path("recorded.trc")
        out = self.run(self.tracer, "-q", "--force", "-o", path, *options, "--", *command, status=status,
                       timeout=timeout)
        return out, self.read(path)

    def read(self, path, complete=True):
        events = []
        export = subprocess.Popen([self.tracer, "export", "-q", "-f", "text", "-o", "-", path],
                                  stdout=subprocess.PIPE, text=True, errors="replace")
        self.started.append(export)
        for line in export.stdout:
            # comments: what does not pair
            if line.startswith("#"):
                continue
            events.append(Event(line.rstrip("\n")))
            if len(events) > EVENTS_MAX:
                raise Failed("more than %d events" % EVENTS_MAX)
        self.equal("status of tracer export", export.wait(), 0)
        lost = [event.text for event in events if event.name == "lost"]
        if complete:
            self.check(not lost, "records were lost", *lost[:5])
        return events

    def series(self, events, name, count, tid=None):
        """The counters of that name have the values 0 to count - 1, once each, in this order."""
        values = [event["value"] for event in events if event.name == "counter" and event["name"] == name
                  and (tid is None or event.tid == tid)]
        if values != list(range(count)):
            wrong = next((i for i, value in enumerate(values) if value != i), len(values))
            raise Failed("counter %s: %d instead of %d, the first that is not in its place: number %d: %s" %
                         (name, len(values), count, wrong, values[wrong:wrong + 10]))


TRAPS = []


def trap(name, without=(), alone=False, builds=False):
    """
    Decorator. without: [{file: [(old, new), ...]}, ...]; alone: nothing else runs beside it; builds: that
    something can't be built is a failure that counts, too.
    """
    def add(function):
        TRAPS.append((name, function, without, alone, builds))
        return function
    return add


def attempt(function, tree, tracer, builds=True):
    """None, or what was wrong; raises Skip, and Unbuilt if what is not built shows nothing."""
    test = Test(tree, tracer)
    try:
        function(test)
        return None
    except Unbuilt as error:
        if not builds:
            raise
        return str(error)
    except Failed as error:
        return str(error)
    finally:
        test.close()


SAYING = threading.Lock()


def say(name, wrong=None, skip=None, seconds=0):
    with SAYING:
        if skip:
            print("skip %s: %s" % (name, skip))
        elif wrong:
            first, *rest = wrong.splitlines()
            print("\n".join(line[:400] for line in rest[-40:]))
            print("not ok %s: %s" % (name, first[:600]))
        else:
            print("ok %s%s" % (name, " (%.1f s)" % seconds if seconds >= 0.5 else ""))
        sys.stdout.flush()


def run_one(entry):
    name, function = entry[:2]
    begin = time.monotonic()
    try:
        wrong = attempt(function, SRC, TRACER)
    except Skip as reason:
        say(name, skip=str(reason))
        return True
    say(name, wrong, seconds=time.monotonic() - begin)
    return not wrong


def changed_tree(changes, folder):
    """A copy of the tree with the changes; where its tracer is."""
    tree = os.path.join(folder, "tree")
    shutil.copytree(SRC, tree, ignore=lambda _, names: [n for n in names if n in (".git", "build", "tests")])
    for name, replacements in changes.items():
        path = os.path.join(tree, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in replacements:
            if old not in text:
                raise Failed("%s has no more %r" % (name, old))
            text = text.replace(old, new)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if all(name.startswith("usdt/") for name in changes):
        return tree, TRACER
    build = os.path.join(folder, "build")
    if os.path.isdir(BUILD):
        subprocess.run(["cp", "-a", BUILD, build], check=True)
    if any(name.endswith(".h") for name in changes):
        # the copied dependencies name the other folder
        subprocess.run(["find", os.path.join(tree, "user"), os.path.join(tree, "bpf"), "-name", "*.c", "-exec", "touch",
                        "{}", "+"], check=True)
    made = subprocess.run(["make", "-s", "-j2", "BUILD=" + build], cwd=tree, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if made.returncode:
        raise Unbuilt("the tracer can't be built\n" + made.stdout.decode()[-2000:])
    return tree, os.path.join(build, "tracer")


def run_without(entry):
    """Every change makes the test fail?"""
    name, function, without, _, builds = entry
    good = True
    for number, changes in enumerate(without, 1):
        folder = tempfile.mkdtemp(prefix="trap-without-")
        try:
            tree, tracer = changed_tree(changes, folder)
            wrong = attempt(function, tree, tracer, builds)
            title = "%s, without %s, number %d" % (name, " ".join(changes), number)
            if wrong:
                print("\n".join("\t" + line[:200] for line in wrong.splitlines()[:3]))
            say(title, None if wrong else "passes all the same")
            good &= bool(wrong)
        except Failed as error:
            say(name, str(error))
            good = False
        except Skip as reason:
            say(name, skip=str(reason))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return good


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    chosen = [entry for entry in TRAPS if not words or any(word in entry[0] for word in words)]
    if "--without" in sys.argv:
        return 0 if all([run_without(entry) for entry in chosen]) else 1
    if "--list" in sys.argv:
        print("\n".join(entry[0] for entry in chosen))
        return 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        good = all(list(pool.map(run_one, [entry for entry in chosen if not entry[3]])))
    for entry in chosen:
        if entry[3]:
            good &= run_one(entry)
    return 0 if good else 1
