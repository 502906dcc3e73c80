"""Read usage once it reflects what was recorded."""

from typing import Any

from tests.support.callers import Caller
from tests.support.sessions.recording import Recorder


async def usage(recorder: Recorder, by: Caller, query: str) -> Any:
    assert recorder.last is not None
    reply = await by.get(
        f"/api/usage?{query}", X_Min_Position=str(recorder.last.position)
    )
    assert reply.status == 200, reply.data
    return reply.data
