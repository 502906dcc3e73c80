"""A superuser, and two services over one database with a clock of the test's own."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from projections.price_catalog.routes import CLOCK
from service.app import create_app
from service.open_resources import open_resources
from tests.support.callers import Caller, Callers


@pytest.fixture
async def root(callers: Callers) -> Caller:
    return await callers.user("root", "superuser")


@dataclass
class Clock:
    """Says what the test says."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Pair:
    """One superuser, who calls two API processes; only the first one follows."""

    clock: Clock
    first: Caller
    second: Caller


@pytest.fixture
async def pair(database_url: str, tmp_path: Path) -> AsyncIterator[Pair]:
    clock = Clock()
    async with AsyncExitStack() as stack:
        clients = []
        for number in range(2):
            opened = await stack.enter_async_context(
                open_resources(database_url, tmp_path)
            )
            if number == 0:
                resources = opened
                followers = await stack.enter_async_context(
                    run_followers(opened.log, opened.database_url)
                )
                names = [follower.name for follower in followers]
                await wait_for_position(opened.pool, names, 0, timeout_s=60)
            app = create_app(opened)
            app[CLOCK] = clock.__call__
            clients.append(await stack.enter_async_context(TestClient(TestServer(app))))
        first = await Callers(resources, clients[0]).user("root", "superuser")
        yield Pair(clock, first, Caller(clients[1], first.token, first.user_id))


async def in_pages(reader: Caller, url: str) -> list[Any]:
    """Return the prices of all pages that follow a URL."""
    found: list[Any] = []
    after = ""
    while True:
        page = (await reader.get(url + after)).data
        found += page["prices"]
        if page["end_cursor"] is None:
            return found
        after = f"&after={quote(page['end_cursor'])}"
