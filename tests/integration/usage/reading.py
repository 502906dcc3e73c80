"""Read usage once it reflects what was recorded."""

from typing import Any

from tests.support.callers import Caller


async def usage(after: Any, by: Caller, query: str) -> Any:
    """Return the usage after something with a position in the log."""
    reply = await by.get(f"/api/usage?{query}", X_Min_Position=str(after.position))
    assert reply.status == 200, reply.data
    return reply.data
