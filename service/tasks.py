"""Background tasks: none ends unnoticed, and all end with what they belong to."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

CANCEL_AGAIN_S = 0.5
RESTART_S = 5.0

logger = logging.getLogger(__name__)


def background_task(
    work: Callable[[], Awaitable[None]], *, name: str
) -> asyncio.Task[None]:
    """Start work that goes on until it is cancelled, and again whenever it fails.

    Work retries by itself what may pass; this is for faults that it doesn't expect.
    """

    async def keep_working() -> None:
        while True:
            try:
                await work()
            except Exception:
                logger.exception(
                    "a background task failed: %s; it is started again", name
                )
                await asyncio.sleep(RESTART_S)
            else:
                return

    return asyncio.create_task(keep_working(), name=name)


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, repeatedly if needed, and return when all have ended.

    One cancellation is not enough: psycopg's pool waits for a connection with
    asyncio.wait_for, which in Python 3.11 loses a cancellation that arrives at the
    same time as the connection.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=CANCEL_AGAIN_S)
    # Failures are logged at their source; retrieve them here, so that asyncio doesn't
    # warn "exception was never retrieved".
    await asyncio.gather(*tasks, return_exceptions=True)
