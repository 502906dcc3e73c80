"""Ending background tasks for good."""

import asyncio
from typing import Any

AGAIN_S = 0.5


async def end_tasks(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, again where needed, and return once they have ended.

    One cancellation is not enough: psycopg's pool waits for a connection by
    asyncio.wait_for, which in Python 3.11 loses a cancellation that arrives together
    with the connection.
    """
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=AGAIN_S)
    # What they failed of has been logged where it happened; here it is only taken
    # note of, so that nobody calls it forgotten.
    await asyncio.gather(*tasks, return_exceptions=True)
