"""Measure what a request costs: the longest hold of the event loop, CPU, memory."""

import asyncio
import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from service.serve import GC_THRESHOLDS, SWITCH_INTERVAL_S

STATUS: Final = Path("/proc/self/status")
CLEAR: Final = Path("/proc/self/clear_refs")
# Resets the peak of the resident memory.
PEAK_RESET: Final = "5"
CALIBRATION_STEPS: Final = 300_000
# Run and wait times of a thread, in nanoseconds: Linux's.
SCHEDSTAT: Final = "/proc/self/task/{thread}/schedstat"
PROBE_S: Final = 0.005
# What calibrating takes of a machine on which the bounds hold with ease.
CALIBRATION_S: Final = 0.015


# Time, a thread's wait for a processor until then, and the process's CPU time.
Moment = tuple[float, float, float]


@dataclass(slots=True)
class Cost:
    """The cost of a request in this process, the test's client included.

    ``held_s`` is the longest CPU time of one callback of the event loop's thread, and
    ``holder`` that callback: nothing else ran meanwhile, however busy the machine is.
    ``delay_s`` is how late a timer was at most, which also shows what threads keep the
    loop from, by the interpreter's lock. It doesn't have what other processes took of
    the processors: a time counts as far as the loop's thread wasn't waiting for a
    processor, and at most as much as all threads of this process have computed in it.
    ``peak_bytes`` is the additional memory at its peak; 0 where that can't be measured.
    """

    held_s: float = 0.0
    holder: str = ""
    delay_s: float = 0.0
    cpu_s: float = 0.0
    peak_bytes: int = 0


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Measure everything that runs in this process until the block ends."""
    cost = Cost()
    run = asyncio.Handle._run  # noqa: SLF001
    loop = asyncio.get_running_loop()
    probe: asyncio.TimerHandle | None = None

    schedstat = _schedstat(threading.get_native_id())

    def clock() -> Moment:
        waited_s = 0.0
        if schedstat is not None:
            waited_s = int(os.pread(schedstat, 64, 0).split()[1]) / 1e9
        return time.perf_counter(), waited_s, time.process_time()

    has_ended = False

    def timed(handle: Any) -> None:
        callback = handle._callback  # noqa: SLF001
        started = time.thread_time()
        run(handle)
        held_s = time.thread_time() - started
        # Its last callback goes on after the block.
        if held_s > cost.held_s and not has_ended:
            cost.held_s, cost.holder = held_s, _name(callback)

    def look(started: Moment) -> None:
        nonlocal probe
        now = clock()
        cost.delay_s = max(cost.delay_s, _own_s(started, now) - PROBE_S)
        probe = loop.call_later(PROBE_S, look, now)

    before = _reset_peak()
    cpu_s = time.process_time()
    probe = loop.call_later(PROBE_S, look, clock())
    with patch.object(asyncio.Handle, "_run", timed):
        try:
            yield cost
        finally:
            has_ended = True
            probe.cancel()
    cost.cpu_s = time.process_time() - cpu_s
    cost.peak_bytes = _memory("VmHWM") - before


@cache
def _schedstat(thread: int) -> int | None:
    """Return an open file about a thread; None where the system isn't Linux."""
    try:
        return os.open(SCHEDSTAT.format(thread=thread), os.O_RDONLY)
    except OSError:
        return None


def _own_s(started: Moment, ended: Moment) -> float:
    """Return how much of a time is this process's own doing."""
    passed_s, waited_s, computed_s = (
        end - start for start, end in zip(started, ended, strict=True)
    )
    return min(passed_s - waited_s, computed_s)


@contextlib.contextmanager
def tuned_as_served() -> Iterator[None]:
    """Have the interpreter as a serving process has it.

    Garbage is not collected of all that tests have loaded.
    """
    thresholds, interval_s = gc.get_threshold(), sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        sys.setswitchinterval(interval_s)


def slowness() -> float:
    """Return how much slower this machine is than one on which the bounds are easy."""
    times = []
    for _ in range(5):
        started = time.thread_time()
        total = 0
        for number in range(CALIBRATION_STEPS):
            total += number
        times.append(time.thread_time() - started)
    return max(1.0, min(times) / CALIBRATION_S)


def _name(callback: Any) -> str:
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return f"{owner.get_name()}: {getattr(owner.get_coro(), '__qualname__', '')}"
    return getattr(callback, "__qualname__", type(callback).__name__)


def _reset_peak() -> int:
    """Return the resident memory now; 0 where the kernel keeps no peak."""
    try:
        CLEAR.write_text(PEAK_RESET)
    except OSError:
        return 0
    return _memory("VmRSS")


def _memory(name: str) -> int:
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
