"""Commands over a restart of the service, through each proxy: each exactly once."""

import asyncio
import itertools
import signal
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from agent_runtime_client import AsyncAgentRuntime
from agent_runtime_client.errors import (
    ConnectionFailedError,
    OutcomeUnknownError,
    UnavailableError,
    UnreadableAnswerError,
)
from tests.integration.proxies.programs import running_proxy
from tests.support.harness.process import free_ports
from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

# At least; they go on until the service is back.
COMMANDS = 800
CALLERS = 8
BEFORE = 200
AGAIN = (
    ConnectionFailedError,
    OutcomeUnknownError,
    UnavailableError,
    UnreadableAnswerError,
)


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Server]:
    """A service that can be started again on the same port."""
    [port] = free_ports(1)
    where = ("--data-dir", str(tmp_path / "data"), "--database-url", database_url)
    with running(serving(*where, log=tmp_path / "log", port=port)) as server:
        yield server


async def test_no_command_is_lost_or_done_twice(
    server: Server, name: str, tmp_path: Path
) -> None:
    token = server.admin_token
    numbers = itertools.count()
    done: list[str] = []
    restarted = asyncio.Event()

    async def call(runtime: AsyncAgentRuntime) -> None:
        while (number := next(numbers)) < COMMANDS or not restarted.is_set():
            key = str(uuid4())
            while True:
                try:
                    await runtime.agents.create(f"agent {number}", idempotency_key=key)
                except AGAIN:
                    await asyncio.sleep(0.05)
                else:
                    done.append(f"agent {number}")
                    break

    with running_proxy(name, tmp_path / "proxy", server.url) as proxy:
        async with (
            httpx.AsyncClient(verify=proxy.tls) as http,
            AsyncAgentRuntime(proxy.url, token, http=http, max_retries=0) as runtime,
        ):
            calling = [asyncio.create_task(call(runtime)) for _ in range(CALLERS)]
            await until(lambda: len(done) >= BEFORE)
            server.send(signal.SIGTERM)
            await asyncio.to_thread(server.wait)
            server.start()
            await asyncio.to_thread(server.wait_until_ready)
            restarted.set()
            await asyncio.gather(*calling)
            listed = [agent.name async for agent in runtime.agents.list()]

    assert len(done) >= COMMANDS
    assert sorted(listed) == sorted(done) == sorted({*done})
