"""Agents that call tools through two APIs, and what the log and the upstream say."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import aiohttp
import orjson
import psycopg

from tests.instruments.faults.stage import Cast, Stage, set_up
from tests.integration.gateway.plain_upstream import PlainUpstream, plain_upstream
from tests.support.gateway.served import Agent, Api, Setting, new_session, new_setting

SETTINGS: Final = {
    "AGENT_RUNTIME_GATEWAY_NETWORKS": "127.0.0.0/8",
    "AGENT_RUNTIME_GATEWAY_HOLD_S": "0",
}
ALLOWED, QUESTIONABLE = "list", "create"
CALLS: Final = """
    SELECT notification_id, topic, state FROM events.stored_event
     WHERE topic = ANY (%s) ORDER BY notification_id
"""


@dataclass(slots=True)
class Calls:
    """``setting`` is of the first API; ``apis`` are the manager at each of them."""

    stage: Stage
    upstream: PlainUpstream
    setting: Setting
    apis: Sequence[Api]
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def new_trace(self) -> str:
        """Return an id that the upstream and the event of a call both show."""
        return f"{next(self._numbers):032x}"

    def agent(self, api: int, token: str | None = None) -> Agent:
        agent = self.setting.agent
        url = agent.url.replace(self.apis[0].url, self.apis[api].url)
        return replace(agent, url=url, token=token or agent.token)

    def forwarded(self) -> list[tuple[str, str]]:
        """Return the trace and the tool of each call that the upstream got."""
        return [
            (
                body["params"]["_meta"]["traceparent"].split("-")[1],
                body["params"]["name"],
            )
            for _, body in self.upstream.requests
        ]

    def events(self, *topics: str) -> list[tuple[int, str, dict[str, Any]]]:
        """Return position, topic and fields of events in the log."""
        with psycopg.connect(self.stage.url) as db:
            rows = db.execute(CALLS, [list(topics)]).fetchall()
        return [(at, topic, orjson.loads(state)) for at, topic, state in rows]

    def admitted(self) -> dict[str, tuple[int, dict[str, Any]]]:
        """Return position and fields of each admitted call, by its trace."""
        return {
            each["trace_id"]: (at, each)
            for at, _, each in self.events("tool_call.admitted")
        }


@asynccontextmanager
async def calling() -> AsyncIterator[Calls]:
    """Yield an agent that may call one tool, and has to ask about another."""
    cast = Cast(apis=2, followers=1, settings=SETTINGS)
    async with (
        set_up(cast) as stage,
        plain_upstream(tools=(ALLOWED, QUESTIONABLE)) as upstream,
        new_session() as http,
    ):
        token = stage.world.manager.token
        apis = [Api(http, f"http://127.0.0.1:{port}", token) for port in stage.ports]
        setting = await new_setting(apis[0], upstream.url, ALLOWED, QUESTIONABLE)
        yield Calls(stage, upstream, setting, apis)


async def try_call(
    agent: Agent, tool: str, arguments: Any, trace_id: str
) -> tuple[int, Any]:
    """Call a tool of an API that may have been killed: then the status is 0."""
    try:
        return await agent.call(tool, arguments, trace_id=trace_id)
    except aiohttp.ClientError:
        await asyncio.sleep(0.05)
        return 0, {}
