"""Calls through a proxy that harms them: nothing twice, nothing lost."""

import asyncio
from collections import Counter

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import (
    AgentRuntimeError,
    AsyncAgentRuntime,
)
from agent_runtime_client.errors import (
    ConnectionFailedError,
    OutcomeUnknownError,
)
from tests.integration.client.conftest import url_of
from tests.integration.client.harming_proxy import HarmingProxy
from tests.support.callers import Caller

CALLS = 1_000
AT_ONCE = 16


@pytest.mark.thorough
async def test_each_effect_happens_once(
    client: TestClient, ada: Caller, runtime: AsyncAgentRuntime
) -> None:
    proxy = HarmingProxy(url_of(client), share=0.3, seed=20)
    errors: list[AgentRuntimeError] = []
    free = asyncio.Semaphore(AT_ONCE)

    async def create(number: int, harmed: AsyncAgentRuntime) -> None:
        key: str | None = None
        async with free:
            while True:
                try:
                    await harmed.agents.create(f"agent-{number}", idempotency_key=key)
                except AgentRuntimeError as error:
                    errors.append(error)
                    key = error.idempotency_key
                else:
                    return

    async with (
        proxy.running() as url,
        AsyncAgentRuntime(url, ada.token) as harmed,
        asyncio.TaskGroup() as group,
    ):
        for number in range(CALLS):
            group.create_task(create(number, harmed))

    # Every kind of harm was done, and some calls failed for good.
    assert set(proxy.counts) == {"pass", *HarmingProxy.WAYS}
    assert errors
    assert [error for error in errors if error.idempotency_key is None] == []
    reader = runtime.at_least(harmed.position)
    made = Counter([agent.name async for agent in reader.agents.list(limit=100)])
    assert made == Counter(f"agent-{number}" for number in range(CALLS))


@pytest.mark.parametrize("command", [True, False])
async def test_an_unsendable_header_stays_hidden(
    caplog: pytest.LogCaptureFixture, *, command: bool
) -> None:
    caplog.set_level("DEBUG", "agent_runtime_client")
    # With HTTP/2, such an error may also come after the request.
    expected = OutcomeUnknownError if command else ConnectionFailedError
    # HTTP's rules are applied once there is a connection.
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with AsyncAgentRuntime(
            f"http://127.0.0.1:{port}", headers={"Proxy-Authorization": "hidden\n"}
        ) as runtime:
            with pytest.raises(expected, match="LocalProtocolError") as raised:
                await (runtime.agents.create("x") if command else runtime.users.me())

    assert "hidden" not in f"{raised.value!r} {raised.value}"
    (noted,) = caplog.messages
    assert "hidden" not in noted
