"""Cancel background tasks and wait until they have ended."""

import asyncio
from typing import Any

CANCEL_AGAIN_S = 0.5


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
