# SPDX-License-Identifier: BSD-2-Clause
"""What a Perfetto trace of an Asio program must show, whatever the program: see check()."""
import collections

from truth_trace import BEGIN, END, INSTANT, Reader


def read(path):
    reader = Reader()
    with open(path, "rb") as file:
        reader.run(file)
    return reader


class Findings:
    """what was found, and what is wrong with it"""

    def __init__(self):
        self.wrong = []
        self.titles = collections.Counter()     # of creations
        self.invoked = collections.Counter()    # titles of invocations
        self.runs = collections.Counter()       # names of runs
        self.errors = collections.Counter()     # of invocations
        self.exceptions = self.syscalls = self.under_run = self.nested = 0
        self.syscalls_on_arrows = self.arrows = 0
        self.paths = []
        self.operations = collections.Counter()
        self.reactor = collections.Counter()
        self.destroyed = 0

    def bad(self, event, message):
        if len(self.wrong) < 10:
            self.wrong.append(f"event {event.index}: {message}")


def check(reader):
    """each invocation inside a run on its thread's row; an arrow from each creation to the invocation, if
    there was one; system calls on that arrow, in between"""
    found = Findings()
    stacks = collections.defaultdict(list)      # track: open slices
    starts, steps, ends = {}, collections.defaultdict(list), {}
    created, invoked = collections.Counter(), collections.Counter()

    for event in reader.events:
        stack = stacks[id(event.track)]
        if event.kind == BEGIN:
            if event.category == "worker.task":
                invoked[event.args["task"]] += 1
                found.invoked[event.name] += 1
                if any(outer.category == "asio.run" for outer in stack):
                    found.under_run += 1
                else:
                    found.bad(event, f"{event.name} is under no run")
                found.nested += any(outer.category == "worker.task" for outer in stack)
            elif event.category == "asio.run":
                found.runs[event.name] += 1
            for flow in event.ends:
                if event.category == "task.run" or flow not in ends:
                    ends[flow] = event
            stack.append(event)
        elif event.kind == END:
            begin = stack.pop()
            if begin.category == "worker.task":
                found.errors[event.args.get("error")] += 1
                found.exceptions += "exception" in event.args
        elif event.kind == INSTANT:
            instant(found, event, starts, steps, created)

    for flow, event in starts.items():
        task = event.args["task"]
        if flow in ends:
            found.arrows += 1
            if ends[flow].args.get("task") != task:
                found.bad(event, f"the arrow of {task} ends in {ends[flow].args.get('task')}")
            if ends[flow].time < event.time:
                found.bad(event, f"the arrow of {task} goes back in time")
        elif invoked[task]:
            found.bad(event, f"{task} was invoked, but no arrow leads there")
        for step in steps[flow]:
            if flow in ends and not event.time <= step.time <= ends[flow].time:
                found.bad(step, "a system call is not between creation and invocation")
            if step.args["task"] != task:
                found.bad(step, f"a system call of {step.args['task']} is on the arrow of {task}")
            found.syscalls_on_arrows += 1
    for task, count in created.items():
        if count > 1:
            found.wrong.append(f"{task} was created {count} times")
    for task, count in invoked.items():
        if count > 1 or task not in created:
            found.wrong.append(f"{task} was created {created[task]} times and invoked {count} times")
    if found.syscalls_on_arrows != found.syscalls:
        found.wrong.append(f"{found.syscalls - found.syscalls_on_arrows} system calls are on no arrow")
    return found


def instant(found, event, starts, steps, created):
    if event.category == "task.spawn":
        created[event.args["task"]] += 1
        found.titles[event.name] += 1
        if "path" in event.args:
            found.paths.append(event.args["path"])
        for flow in event.flows:
            starts[flow] = event
    elif event.category == "asio.syscall":
        found.syscalls += 1
        for flow in event.flows:
            steps[flow].append(event)
    elif event.category == "asio.operation":
        found.operations[event.name.rsplit(".", 1)[1]] += 1
    elif event.category == "asio.reactor":
        found.reactor[event.name] += 1
    elif event.category == "task.destroyed":
        found.destroyed += 1


def kinds(titles):
    """by type and operation: 'socket@0x7f00c0de.async_send completion' is 'socket.async_send'"""
    counts = collections.Counter()
    for title, count in titles.items():
        kind, rest = title.split("@", 1)
        counts[f"{kind}.{rest.split('.', 1)[1].removesuffix(' completion')}"] += count
    return counts
