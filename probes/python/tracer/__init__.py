# SPDX-License-Identifier: BSD-2-Clause
"""Points for tracer, a scheduler tracer: zones, markers, flows, counters, tasks, messages, frames.

    import tracer

    with tracer.zone("load"):
        ...

    @tracer.traced
    def solve(n): ...

    tracer.counter("queue", len(queue))

and then, from outside, while it runs or from its start:

    sudo tracer -p PID
    sudo tracer -- python3 program.py

While nobody traces, a point costs the call. Points may be used in any thread, before and after a fork.

Each point of tracer/tracer.h is a function here, in lower case and without its prefix: TRACER_TASK_BEGIN
is task_begin(). Arguments go by position; those that are left out are "none". What names a thing (a task,
a future, a lock, a flow) is an integer or any object, which stands for itself as long as it lives: its
address is what is recorded. Names may be any strings; what is no string is named by its str().

tracer.asyncio shows the tasks of an event loop. docs/runtimes/python.md is the manual.
"""
import functools as _functools
import inspect as _inspect

try:
    from . import _tracer
except ImportError as error:
    raise ImportError("tracer is not built for this Python: run `make PYTHON=...` in its source, and set PYTHONPATH to "
                      "its build/python (%s)" % error) from None
from ._tracer import NO_WORKER, _traced, zone

# the points, generated from events.def; those that are one runtime's, or for literals, stay where they are
__all__ = [name for name in dir(_tracer)
           if not name.startswith(("_", "asio_")) and name not in ("zone_begin_at", "zone_end_at")]
globals().update({name: getattr(_tracer, name) for name in __all__})
__all__ += ["traced", "marker", "task"]


def traced(function=None, name=None):
    """A zone around every call of a function: @traced, @traced("name"), @traced(name="name").

    Coroutine functions and generators are in their zone from the first step to the last; what else the
    thread does in between falls into it, unless they are tasks (see tracer.asyncio).
    """
    if isinstance(function, str):
        return _functools.partial(traced, name=function)
    if function is None:
        return _functools.partial(traced, name=name)
    name = str(name or getattr(function, "__qualname__", None) or repr(function))
    whole = _traced(function, name)
    if _inspect.iscoroutinefunction(function):
        @_functools.wraps(function)
        async def coroutine(*arguments, **keywords):
            with whole._zone():
                return await function(*arguments, **keywords)
        return coroutine
    if _inspect.isasyncgenfunction(function):
        @_functools.wraps(function)
        async def async_generator(*arguments, **keywords):
            steps = function(*arguments, **keywords)
            step = steps.__anext__()
            with whole._zone():
                while True:
                    try:
                        value = await step
                    except StopAsyncIteration:
                        return
                    try:
                        step = steps.asend((yield value))
                    except GeneratorExit:
                        await steps.aclose()
                        raise
                    except BaseException as error:
                        step = steps.athrow(error)
        return async_generator
    if _inspect.isgeneratorfunction(function):
        @_functools.wraps(function)
        def generator(*arguments, **keywords):
            with whole._zone():
                return (yield from function(*arguments, **keywords))
        return generator
    return _functools.update_wrapper(whole, function)


class marker:
    """A marker on a channel for the length of a block: with marker(0, "compute", 42): ..."""

    __slots__ = ("channel", "name", "extra")

    def __init__(self, channel, name, extra=None):
        self.channel, self.name, self.extra = channel, name, extra

    def __enter__(self):
        _tracer.marker_set(self.channel, self.name, self.extra)
        return self

    def __exit__(self, *_):
        _tracer.marker_reset(self.channel)


class task:
    """A task that runs in a block, from its creation to its end: with task("name"): ...

    For tasks that stop and go on use task_created(), task_begin(), task_suspended(), task_resumed(),
    task_completed() and task_destroyed().
    """

    __slots__ = ("name", "worker", "parent", "_told")

    def __init__(self, name, worker=NO_WORKER, parent=None):
        self.name, self.worker, self.parent = name, worker, parent
        self._told = False

    def __enter__(self):
        self._told = _tracer.enabled("task")
        if self._told:
            _tracer.task_created(self, self.name, self.parent)
            _tracer.task_begin(self, self.worker)
        return self

    def __exit__(self, *_):
        if self._told:
            _tracer.task_completed(self)
            _tracer.task_destroyed(self)
