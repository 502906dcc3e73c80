"""Measure what a request costs: the longest hold of the event loop, CPU, memory."""

import asyncio
import contextlib
import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from service.serve import GC_THRESHOLDS

STATUS: Final = Path("/proc/self/status")
CLEAR: Final = Path("/proc/self/clear_refs")
# Resets the peak of the resident memory.
PEAK_RESET: Final = "5"
CALIBRATION_STEPS: Final = 300_000
# What calibrating takes of a machine on which the bounds hold with ease.
CALIBRATION_S: Final = 0.015


@dataclass(slots=True)
class Cost:
    """The cost of a request in this process, the test's client included.

    ``held_s`` is the longest CPU time of one callback of the event loop's thread, and
    ``holder`` that callback: nothing else ran meanwhile, however busy the machine is.
    ``peak_bytes`` is the additional memory at its peak; 0 where that can't be measured.
    """

    held_s: float = 0.0
    holder: str = ""
    cpu_s: float = 0.0
    peak_bytes: int = 0


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Measure everything that runs in this process until the block ends."""
    cost = Cost()
    run = asyncio.Handle._run  # noqa: SLF001
    clock = time.thread_time

    def timed(handle: Any) -> None:
        started = clock()
        run(handle)
        held_s = clock() - started
        if held_s > cost.held_s:
            cost.held_s, cost.holder = held_s, _name(handle)

    before = _reset_peak()
    started = time.process_time()
    with patch.object(asyncio.Handle, "_run", timed):
        yield cost
    cost.cpu_s = time.process_time() - started
    cost.peak_bytes = _memory("VmHWM") - before


@contextlib.contextmanager
def collecting_as_served() -> Iterator[None]:
    """Collect garbage as a serving process does, not all that tests have loaded."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


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


def _name(handle: Any) -> str:
    callback = handle._callback  # noqa: SLF001
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
