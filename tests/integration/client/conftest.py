"""Clients of the service in this process."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import pytest
from aiohttp.test_utils import TestClient

from agent_runtime_client import AgentRuntime, AsyncAgentRuntime
from tests.integration.client.art import Art
from tests.support.callers import Caller, Callers

T = TypeVar("T")

# What the fixture "filled" has made.
ENTRIES = 60


def url_of(client: TestClient) -> str:
    return str(client.make_url("")).rstrip("/")


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    return await callers.user("ada", "superuser")


@pytest.fixture
async def runtime(client: TestClient, ada: Caller) -> AsyncIterator[AsyncAgentRuntime]:
    """A client of a superuser."""
    async with AsyncAgentRuntime(url_of(client), ada.token) as runtime:
        yield runtime


@pytest.fixture
def blocking(
    client: TestClient, ada: Caller
) -> Callable[[Callable[[AgentRuntime], T]], "asyncio.Future[T]"]:
    """Run a function with a synchronous client, in a thread beside the service."""

    def run(function: Callable[[AgentRuntime], T]) -> "asyncio.Future[T]":
        def work() -> T:
            with AgentRuntime(url_of(client), ada.token) as runtime:
                return function(runtime)

        return asyncio.ensure_future(asyncio.to_thread(work))

    return run


@pytest.fixture
def art(client: TestClient, ada: Caller, tmp_path: Path) -> Art:
    return Art(url_of(client), ada.token, tmp_path)


@pytest.fixture
async def filled(runtime: AsyncAgentRuntime) -> AsyncAgentRuntime:
    """A client of a log with some entries."""
    for number in range(ENTRIES):
        await runtime.agents.create(f'agent "{number}"')
    return runtime
