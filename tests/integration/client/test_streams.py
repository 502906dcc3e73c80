"""Streams and exports go on after a lost connection, without a gap or a repetition."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime, AsyncAgentRuntime
from agent_runtime_client.errors import (
    ForbiddenError,
)
from tests.integration.client.conftest import ENTRIES, url_of
from tests.support.callers import Caller, Callers
from tests.support.cutting_proxy import cutting_proxy
from tests.support.waiting import until


async def test_a_stream_goes_on_behind_the_last_event(
    filled: AsyncAgentRuntime, client: TestClient, ada: Caller
) -> None:
    async with (
        cutting_proxy(url_of(client), [3000, 9000]) as url,
        AsyncAgentRuntime(url, ada.token) as cut,
        cut.audit.stream(after=0) as stream,
    ):
        positions = []
        async for entry in stream:
            positions.append(entry.position)
            if entry.position >= ENTRIES:
                break

    assert positions == list(range(1, ENTRIES + 1))


async def test_a_stream_begins_with_what_comes_next(
    filled: AsyncAgentRuntime,
) -> None:
    async with filled.audit.stream() as stream:
        following = asyncio.ensure_future(anext(stream))
        await until(lambda: stream.position is not None)
        made = await filled.agents.create("next")

        assert (await following).position == made.response.position


async def test_a_stream_that_may_not_be_read_is_an_error(
    client: TestClient, callers: Callers
) -> None:
    nobody = await callers.user("nobody")
    async with AsyncAgentRuntime(url_of(client), nobody.token) as runtime:
        with pytest.raises(ForbiddenError):
            await anext(runtime.audit.stream())


async def test_the_synchronous_stream(
    filled: AsyncAgentRuntime, blocking: Callable[[Any], "asyncio.Future[Any]"]
) -> None:
    def work(runtime: AgentRuntime) -> list[int]:
        with runtime.audit.stream(after=ENTRIES - 3) as stream:
            return [next(stream).position for _ in range(3)]

    assert await blocking(work) == [ENTRIES - 2, ENTRIES - 1, ENTRIES]


async def test_an_id_with_a_line_separator_does_not_end_a_stream(
    runtime: AsyncAgentRuntime,
) -> None:
    agent = await runtime.agents.create("a")
    position = runtime.position
    started = await runtime.sessions.start(agent.id, session_id="s\u2028t\u2029u")
    last = await runtime.agents.create("b")

    async with runtime.audit.stream(after=position) as stream:
        first, second = await anext(stream), await anext(stream)

    assert first.resource.name == started.session_id
    assert second.position == last.response.position
