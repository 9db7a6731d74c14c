# SPDX-License-Identifier: BSD-2-Clause
"""For programs written for TraCR's Python module, traced by tracer: the same names, nothing to build in.

    PYTHONPATH=build/python sudo -E build/tracer -o run.pftrace -- python3 program.py

A marker type's label is a marker's name here, a channel a channel, a flow an arrow between the markers
that are open on two channels. No file is written and nothing is kept: INSTRUMENTATION_TRACE_PATH() is
answered by the tracer's -o. No call ends the program, and threads need no INSTRUMENTATION_THREAD_INIT().
"""
import enum as _enum
import json as _json
import os as _os
import threading as _threading
import time as _time

from tracer import _tracer
from tracer._tracer import UNKNOWN as _UNKNOWN

_NONE = 0xffffffff
# Paraver's first colours
_PALETTE = (
    0x000000, 0x0082c8, 0xd9d9d9, 0xe6194b, 0x3cb44b, 0xffe119, 0xf58230, 0x911eb4,
    0x46f0f0, 0xf032e6, 0xd2f53c, 0xfabed4, 0x008080, 0x808080, 0xdcbeff, 0xaa6e28,
    0xfffac8, 0x800000, 0xaaffc3, 0x808000, 0xffd7b4, 0x000080, 0x0000ff,
)


class mark_color(_enum.IntEnum):
    """The colours that INSTRUMENTATION_MARK_W_COLOR_ADD() takes."""

    MARK_COLOR_NONE = 0
    MARK_COLOR_BLUE = 1
    MARK_COLOR_LIGHT_GRAY = 2
    MARK_COLOR_RED = 3
    MARK_COLOR_GREEN = 4
    MARK_COLOR_YELLOW = 5
    MARK_COLOR_ORANGE = 6
    MARK_COLOR_PURPLE = 7
    MARK_COLOR_CYAN = 8
    MARK_COLOR_MAGENTA = 9
    MARK_COLOR_LIGHT_GREEN = 10
    MARK_COLOR_PINK = 11
    MARK_COLOR_TEAL = 12
    MARK_COLOR_GRAY = 13
    MARK_COLOR_LAVENDER = 14
    MARK_COLOR_BROWN = 15
    MARK_COLOR_LIGHT_YELLOW = 16
    MARK_COLOR_MAROON = 17
    MARK_COLOR_MINT = 18
    MARK_COLOR_OLIVE = 19
    MARK_COLOR_PEACH = 20
    MARK_COLOR_NAVY = 21
    MARK_COLOR_BRIGHT_BLUE = 22


globals().update(mark_color.__members__)


class _State:
    """What a process has declared: told to each capture anew, since it may begin later."""

    def __init__(self):
        self.lock = _threading.Lock()
        self.labels, self.colors = [], []
        self.colors_used = {}
        self.channel_names = None
        self.num_channels = None
        self.exists = False
        self.on = True
        self.threads = 0
        self.started = 0
        self.path = ""
        self.open = False

    def tell(self):
        """a capture has begun: what it cannot know yet"""
        with self.lock:
            if self.open:
                return
            self.open = True
            for label, color in zip(self.labels, self.colors):
                if color is not None:
                    _tracer.marker_color(label, color)
            self.tell_channels()

    def tell_channels(self):
        for channel, name in enumerate(self.channel_names or ()):
            _tracer.channel_name(channel, name)


_state = _State()
_thread = _threading.local()
_set, _reset, _enabled = _tracer.marker_set, _tracer.marker_reset, _tracer.enabled


def INSTRUMENTATION_ACTIVE():
    """True: the points are there, whether somebody traces or not"""
    return True


def INSTRUMENTATION_START():
    """Begin, in the main thread"""
    _state.started = _time.clock_gettime_ns(_time.CLOCK_MONOTONIC_RAW)
    _state.exists = True
    INSTRUMENTATION_THREAD_INIT()


def INSTRUMENTATION_END():
    """The end; what is recorded is the tracer's already"""
    INSTRUMENTATION_THREAD_FINALIZE()
    _state.exists = False


def INSTRUMENTATION_THREAD_INIT():
    """Not needed, counted"""
    if not getattr(_thread, "exists", False):
        _thread.exists = True
        with _state.lock:
            _state.threads += 1


def INSTRUMENTATION_THREAD_FINALIZE():
    """Not needed, counted"""
    if getattr(_thread, "exists", False):
        _thread.exists = False
        with _state.lock:
            _state.threads -= 1


def INSTRUMENTATION_GET_THREAD_TRACE_STR():
    """The records are the tracer's as soon as they are written: there is never one to show"""
    if not getattr(_thread, "exists", False):
        return "[no TraCR thread]"
    return "Thread(%d):[kept by tracer]" % _threading.get_native_id()


def _add(label, color):
    if _enabled("marker"):
        _state.tell()
    with _state.lock:
        if len(_state.labels) >= 65533:
            raise ValueError("more than 65533 marker types")
        _state.labels.append(label)
        _state.colors.append(color)
        if color is not None and _state.open:
            _tracer.marker_color(label, color)
        return len(_state.labels) - 1


def INSTRUMENTATION_MARK_W_COLOR_ADD(label, colorId):
    """A marker type with a colour; its eventId"""
    _state.colors_used[int(colorId)] = label
    return _add(label, _PALETTE[int(colorId) % len(_PALETTE)])


def INSTRUMENTATION_MARK_ADD(label):
    """A marker type; its eventId"""
    return _add(label, None)


def INSTRUMENTATION_MARK_SET(channelId, eventId, extraId=_NONE):
    """Open a marker on a channel, and end the one before"""
    if not _enabled("marker"):
        _state.open = False
        return
    if not _state.on:
        return
    if not _state.open:
        _state.tell()
    labels = _state.labels
    _set(channelId, labels[eventId] if eventId < len(labels) else str(eventId),
         _UNKNOWN if extraId == _NONE else extraId)


def INSTRUMENTATION_MARK_RESET(channelId):
    """End a channel's marker"""
    if _state.on:
        _reset(channelId)


def INSTRUMENTATION_FLOW_START(channelId, flowId):
    """An arrow leaves the channel's open marker"""
    if _state.on:
        _tracer.marker_flow_start(channelId, flowId)


def INSTRUMENTATION_FLOW_END(channelId, flowId):
    """An arrow ends in the channel's open marker"""
    if _state.on:
        _tracer.marker_flow_end(channelId, flowId)


def INSTRUMENTATION_ADD_CHANNEL_NAMES(channel_names):
    """The names of channels 0, 1, ..."""
    with _state.lock:
        _state.channel_names = [str(name) for name in channel_names]
        _state.tell_channels()


def INSTRUMENTATION_ADD_NUM_CHANNELS(num_channels):
    """Kept for INSTRUMENTATION_GET_JSON_STR(): a channel is there once it is used"""
    _state.num_channels = num_channels


def INSTRUMENTATION_ON():
    """Markers and flows again"""
    _state.on = True


def INSTRUMENTATION_OFF():
    """No markers and flows until INSTRUMENTATION_ON()"""
    _state.on = False


def INSTRUMENTATION_TRACE_PATH(path):
    """Kept, and used by nobody: where the trace goes is the tracer's -o"""
    _state.path = str(path)


def INSTRUMENTATION_IS_PROC_READY():
    """Between START and END"""
    return _state.exists


def INSTRUMENTATION_NUM_TRACR_THREADS():
    """Threads between INIT and FINALIZE"""
    return _state.threads


def INSTRUMENTATION_PROC_EXISTS():
    """Between START and END"""
    return _state.exists


def INSTRUMENTATION_THREAD_EXISTS():
    """This thread is between INIT and FINALIZE"""
    return getattr(_thread, "exists", False)


def INSTRUMENTATION_GET_JSON_STR():
    """What was declared, as JSON"""
    json = {"pid": _os.getpid(), "start_time": _state.started, "markerLabels": _state.labels,
            "markerTypes": {str(color): label for color, label in _state.colors_used.items()}}
    if _state.channel_names is not None:
        json["channel_names"] = _state.channel_names
        json["num_channels"] = len(_state.channel_names)
    elif _state.num_channels is not None:
        json["num_channels"] = _state.num_channels
    return _json.dumps(json)


__all__ = [name for name in globals() if name.startswith(("INSTRUMENTATION_", "MARK_COLOR_"))]
__all__.append("mark_color")
