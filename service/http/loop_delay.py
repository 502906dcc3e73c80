"""Measure how long requests hold the event loop, which delays all others."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from prometheus_client import Histogram

from service.http.clock_jumps import ClockJumps
from service.http.telemetry import ANSWERED_ROUTES
from service.tasks import end_tasks

INTERVAL_S: Final = 0.1
# A request may hold the loop for 50 ms, and other threads of the process add to it.
LOGGED_DELAY_S: Final = 0.25
LOG_INTERVAL_S: Final = 10.0

DELAY = Histogram(
    "agent_runtime_event_loop_delay_seconds",
    "How late the event loop ran a timer: the longest time that nothing else ran. A "
    "delay over 250 ms, without the time in which other processes had the processor, "
    "is logged with the routes answered then.",
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

# Nanoseconds of this thread: on the processor, and ready but waiting for one (Linux).
SCHEDULED: Final = Path("/proc/thread-self/schedstat")

logger = logging.getLogger(__name__)


def waited_for_processor_s() -> float:
    """Return how long this thread has ever been ready without running; 0 if unknown."""
    try:
        return int(SCHEDULED.read_bytes().split()[1]) / 1e9
    except (OSError, LookupError):
        return 0.0


@asynccontextmanager
async def measuring_loop_delay(
    waited_s: Callable[[], float] = waited_for_processor_s,
) -> AsyncIterator[None]:
    """Measure until the block ends; log long delays with the routes answered then.

    A busy machine, on which others have the processor, delays the loop, too: that is
    measured, and not logged.
    """
    task = asyncio.create_task(_measure(waited_s), name="event loop delay")
    try:
        yield
    finally:
        await end_tasks(task)


async def _measure(waited_s: Callable[[], float]) -> None:
    clock = asyncio.get_running_loop().time
    clock_jumps = ClockJumps()
    warned = -LOG_INTERVAL_S
    while True:
        ANSWERED_ROUTES.clear()
        due, waited_before = clock() + INTERVAL_S, waited_s()
        await asyncio.sleep(INTERVAL_S)
        delay_s = max(clock() - due, 0.0)
        DELAY.observe(delay_s)
        clock_jumps.look()
        # What it waited before the timer was due counts, too: of a hold on a busy
        # machine, up to 100 ms are left out.
        held_s = delay_s - (waited_s() - waited_before)
        if held_s > LOGGED_DELAY_S and due - warned > LOG_INTERVAL_S:
            warned = due
            logger.warning(
                "the event loop was held",
                extra={
                    "delay_ms": round(held_s * 1000),
                    "answered": sorted(set(ANSWERED_ROUTES)),
                },
            )
