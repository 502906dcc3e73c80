"""Processes of the service are frozen, or killed as often as they start."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import psutil

from tests.instruments.alerts.installation import Installation
from tests.support.harness.clock import TRUE_TIME

FOLLOWER_PROCESS: Final = "service.cli.follower_process"
KILL_STEP_S: Final = 0.2
# The service compares its clocks ten times a second.
SEEN_S: Final = 1.0


@asynccontextmanager
async def api_frozen(service: Installation) -> AsyncIterator[None]:
    service.server.pause()
    try:
        yield
    finally:
        service.server.resume()


@asynccontextmanager
async def clock_set(service: Installation) -> AsyncIterator[None]:
    """Set it an hour ahead; it is set right at once, as time synchronization does."""
    service.clock.set("+3600")
    await asyncio.sleep(SEEN_S)
    service.clock.set(TRUE_TIME)
    yield


@asynccontextmanager
async def follower_process_killed(service: Installation) -> AsyncIterator[None]:
    """It is started again by itself as soon as nothing kills it."""
    killing = asyncio.create_task(_kill_each(service.server.pid))
    try:
        yield
    finally:
        killing.cancel()


async def _kill_each(parent: int) -> None:
    while True:
        for child in psutil.Process(parent).children():
            with suppress(psutil.NoSuchProcess):
                if FOLLOWER_PROCESS in child.cmdline():
                    child.kill()
        await asyncio.sleep(KILL_STEP_S)
