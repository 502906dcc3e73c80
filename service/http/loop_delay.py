"""Measure how long requests hold the event loop, which delays all others."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from prometheus_client import Histogram

from service.http.telemetry import ANSWERED_ROUTES
from service.tasks import end_tasks

INTERVAL_S: Final = 0.1
# A request may hold the loop for 50 ms; on a busy machine other processes add to it.
LOGGED_DELAY_S: Final = 0.25
LOG_INTERVAL_S: Final = 10.0

DELAY = Histogram(
    "agent_runtime_event_loop_delay_seconds",
    "How late the event loop ran a timer: the longest time that nothing else ran. A "
    "delay over 250 ms is logged with the routes answered then.",
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

logger = logging.getLogger(__name__)


@asynccontextmanager
async def measuring_loop_delay() -> AsyncIterator[None]:
    """Measure until the block ends; log long delays with the routes answered then."""
    task = asyncio.create_task(_measure(), name="event loop delay")
    try:
        yield
    finally:
        await end_tasks(task)


async def _measure() -> None:
    clock = asyncio.get_running_loop().time
    warned = -LOG_INTERVAL_S
    while True:
        ANSWERED_ROUTES.clear()
        due = clock() + INTERVAL_S
        await asyncio.sleep(INTERVAL_S)
        delay_s = max(clock() - due, 0.0)
        DELAY.observe(delay_s)
        if delay_s > LOGGED_DELAY_S and due - warned > LOG_INTERVAL_S:
            warned = due
            logger.warning(
                "the event loop was held",
                extra={
                    "delay_ms": round(delay_s * 1000),
                    "answered": sorted(set(ANSWERED_ROUTES)),
                },
            )
