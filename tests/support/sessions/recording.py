"""Sessions of the tests, recorded over HTTP."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.callers import Caller, Reply

LIST = "/api/observability/session/list"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG_AGO = "2000-01-01T00:00:00Z"


def at(seconds: float) -> str:
    """Return a moment so many seconds after the tests' noon."""
    return (NOON + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def turn(turn_id: str, start: float = 0, took: float = 1, **fields: Any) -> Any:
    """Return the body of a turn that took so many seconds."""
    return {
        "turn_id": turn_id,
        "started_at": at(start),
        "ended_at": at(start + took),
        **fields,
    }


async def register_agent(caller: Caller, name: str = "helper") -> str:
    reply = await caller.post("/api/catalog/agents", {"name": name})
    assert reply.status == 201, reply.data
    return str(reply.data["id"])


@dataclass(slots=True)
class Recorder:
    """Someone who records sessions of one agent."""

    caller: Caller
    agent_id: str
    last: Reply | None = field(default=None)

    @property
    def position(self) -> str:
        """Where in the log the last that was recorded is."""
        assert self.last is not None
        return str(self.last.position)

    async def start(self, session_id: str, start: float = 0, **fields: Any) -> Reply:
        return await self._post(
            "",
            {
                "agent_id": self.agent_id,
                "session_id": session_id,
                "started_at": at(start),
                **fields,
            },
        )

    async def record(self, session_id: str, *turns: Any, **fields: Any) -> None:
        """Start a session, and record its turns."""
        await self.start(session_id, **fields)
        for each in turns:
            await self.turn(session_id, each)

    async def turn(self, session_id: str, body: Any) -> Reply:
        return await self._post(f"/{session_id}/turns", body)

    async def end(self, session_id: str, end: float) -> Reply:
        return await self._post(f"/{session_id}/end", {"ended_at": at(end)})

    async def list(self, query: str = "", by: Caller | None = None) -> Reply:
        """List what has been recorded so far; the window is open by default."""
        words = query if "start_time" in query else f"start_time={LONG_AGO}&{query}"
        return await (by or self.caller).get(
            f"{LIST}?{words.rstrip('&')}", X_Min_Position=self.position
        )

    async def _post(self, path: str, body: Any) -> Reply:
        reply = await self.caller.post(f"/api/observability/session{path}", body)
        if "X-Event-Position" in reply.headers:
            self.last = reply
        return reply
