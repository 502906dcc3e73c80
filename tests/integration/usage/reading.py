"""Read usage once it reflects what was recorded."""

from typing import Any

from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import Exported
from tests.support.sessions.recording import Recorder


async def usage(after: Recorder | Exported, by: Caller, query: str) -> Any:
    reply = await by.get(f"/api/usage?{query}", X_Min_Position=after.position)
    assert reply.status == 200, reply.data
    return reply.data
