# SPDX-License-Identifier: BSD-2-Clause
"""The tasks of an asyncio event loop, each on a row of its own.

    import tracer.asyncio

    tracer.asyncio.run(main())                  in place of asyncio.run(main())

or, in a loop that runs already,

    tracer.asyncio.install()                    the tasks that are created from here on

A task is created by the task that runs then; it runs from step to step on the loop's thread, which is a
worker; between two steps it is suspended, for what it awaits; whoever sets that future's result wakes it.
While nobody traces, a step costs some calls more than without (docs/runtimes/python.md has figures).
"""
import asyncio as _asyncio
import collections.abc as _abc
import itertools as _itertools
import threading as _threading
import types as _types

from . import _tracer

_workers = _itertools.count()
_local = _threading.local()


def _worker():
    """number of the loop's thread, and is told when it has none yet or a capture began since"""
    number = getattr(_local, "worker", None)
    if number is None:
        number = _local.worker = next(_workers)
    if not getattr(_local, "told", False):
        _local.told = True
        _tracer.worker_start(number, "event loop")
    return number


def _kind(future):
    if isinstance(future, _asyncio.Task):
        return "task"
    return type(future).__name__.strip("_").lower()


def _reason(coro, future):
    """the innermost coroutine that waits (sleep, Queue.get, Lock.acquire); else what a task awaits itself"""
    inner, awaited = None, getattr(coro, "cr_await", None)
    while type(awaited) is _types.CoroutineType:
        inner, awaited = awaited, awaited.cr_await
    return "await " + (inner.__qualname__ if inner is not None else _kind(future))


class _Steps(_abc.Coroutine):
    """A coroutine that tells of the steps of another. Its own address names the task in the trace."""

    __slots__ = ("_coro", "name", "_running", "_waits", "__weakref__")

    def __init__(self, coro):
        self._coro = coro
        self.name = getattr(coro, "__qualname__", None) or type(coro).__name__
        self._running = self._waits = False

    def _step(self, step, *arguments):
        if not _tracer.enabled("task"):
            _local.told = False
            self._waits = False
            return step(*arguments)
        _tracer.task_begin(self, _worker())
        try:
            future = step(*arguments)
        except BaseException:
            self._waits = False
            _tracer.task_completed(self)
            raise
        if future is None:
            _tracer.task_yielded(self)
        else:
            self._waits = True
            _tracer.task_suspended(self, _reason(self._coro, future), future)
        return future

    def send(self, value):
        return self._step(self._coro.send, value)

    def throw(self, *arguments):
        return self._step(self._coro.throw, *arguments)

    def close(self):
        return self._coro.close()

    def resumed(self, future):
        """its next step was scheduled, by what runs now"""
        if self._waits:
            self._waits = False
            _tracer.task_resumed(self, "cancelled" if future is None else _kind(future) + " done", future)

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def __getattr__(self, name):
        # cr_frame, cr_await, gi_running, ...: for those who look at a task's stack
        return getattr(self._coro, name)

    def __repr__(self):
        return repr(self._coro)

    def __del__(self):
        _tracer.task_destroyed(self)


def _steps_of(callback):
    """the coroutine whose step a callback is, or None"""
    task = getattr(callback, "__self__", None)
    if isinstance(task, _asyncio.Task):
        coro = task.get_coro()
        if type(coro) is _Steps:
            return coro
    return None


def task_factory(previous=None):
    """A factory for loop.set_task_factory() that traces; previous: another one, which makes the tasks."""
    def factory(loop, coro, **keywords):
        if _asyncio.iscoroutine(coro) and type(coro) is not _Steps:
            coro = _Steps(coro)
            parent = None
            try:
                running = _asyncio.current_task(loop)
                parent = running.get_coro() if running else None
            except RuntimeError:
                pass
            _tracer.task_created(coro, keywords.get("name") or coro.name, parent)
        if previous:
            return previous(loop, coro, **keywords)
        return _asyncio.Task(coro, loop=loop, **keywords)
    return factory


def install(loop=None):
    """Trace the tasks that are created in the loop (default: the running one) from here on."""
    loop = loop or _asyncio.get_running_loop()
    if getattr(loop, "_tracer_installed", False):
        return
    loop.set_task_factory(task_factory(loop.get_task_factory()))
    plain = loop.call_soon

    def call_soon(callback, *arguments, context=None):
        steps = _steps_of(callback)
        if steps is not None:
            steps.resumed(arguments[0] if arguments else None)
        return plain(callback, *arguments, context=context)

    try:
        loop.call_soon = call_soon
        loop._tracer_installed = True
    except AttributeError:
        pass  # a loop in C, such as uvloop's: its wakes are not seen, gaps have no cause


def run(main, *, debug=None):
    """asyncio.run(), traced."""
    async def body():
        install()
        return await _asyncio.ensure_future(main)
    return _asyncio.run(body(), debug=debug)
