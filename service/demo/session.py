"""One session of the demo's agent: its tool calls, and a turn with its cost."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from aiohttp import ClientSession

from service.demo.access import Demo
from service.demo.agent import DemoAgent
from service.demo.api import Api
from service.errors import StartError

# Its tools are observed within seconds of a start.
WAIT_S: Final = 60.0
STEP_S: Final = 0.2
PROVIDER, MODEL = "openai", "gpt-5-mini"
PROMPT_TOKENS: Final = 3_200
COMPLETION_TOKENS: Final = 450


class DemoSession:
    """A session that calls tools as the agent, and is recorded by admin."""

    def __init__(self, http: ClientSession, demo: Demo, purpose: str) -> None:
        self.id = f"{purpose}-{uuid4()}"
        self.admin = Api(http, demo.base_url, demo.admin_token)
        self.agent = DemoAgent(http, demo.agent_url, demo.agent_token, self.id)
        self._agent_id = demo.agent_id
        self._started_at = datetime.now(UTC).isoformat()

    async def start(self) -> None:
        await self.admin.post(
            "/api/observability/session",
            {
                "agent_id": self._agent_id,
                "session_id": self.id,
                "started_at": self._started_at,
            },
        )

    async def tools_are_known(self) -> None:
        """Wait until the agent's tools are there.

        :raises StartError: they weren't within a minute
        """
        await until(self._lists_tools)

    async def _lists_tools(self) -> bool:
        return "issue-tracker_list_issues" in await self.agent.tools()

    async def record_turn(self, said: str, answered: str) -> None:
        await self.admin.post(
            f"/api/observability/session/{self.id}/turns",
            {
                "turn_id": "turn-1",
                "started_at": self._started_at,
                "ended_at": datetime.now(UTC).isoformat(),
                "provider": PROVIDER,
                "model": MODEL,
                "prompt_tokens": PROMPT_TOKENS,
                "completion_tokens": COMPLETION_TOKENS,
                "input": said,
                "output": answered,
            },
        )


async def until(found: Callable[[], Awaitable[Any]]) -> Any:
    """Ask until there is something, and return it.

    :raises StartError: there was nothing for a minute
    """
    give_up = time.monotonic() + WAIT_S
    while not (it := await found()):
        if time.monotonic() > give_up:
            raise StartError("the demo's tools don't answer; restart it by make serve")
        await asyncio.sleep(STEP_S)
    return it
