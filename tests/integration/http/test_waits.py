"""Each wait of a request has a bound of its own, and its end says which it was."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiohttp.test_utils import TestClient

from service.app import create_app
from service.connection_pool import POOL_SIZE_MAX
from service.errors import UnavailableError
from service.open_resources import open_resources
from service.resources import Resources
from service.sessions.otlp.body import JSON
from service.sessions.otlp.ingest import (
    LARGE_BYTES_MIN,
    LARGE_ITEMS_MIN,
    REQUESTS_MAX,
)
from service.sessions.otlp.routes import INGEST
from service.sessions.repricing_routes import ONE_AT_A_TIME
from service.waits import Waits
from tests.integration.http.raw import answer_to_head
from tests.support.callers import Caller, Callers, Reply
from tests.support.connectors.making import TRACKER
from tests.support.event_log.logs import until_somebody_waits
from tests.support.http_server import Server
from tests.support.waiting import until

CONNECTORS = "/api/mcp/connectors"
READ_TABLES = "LOCK TABLE read.generation IN ACCESS EXCLUSIVE MODE"
END_OF_LOG = "SELECT FROM events.head FOR UPDATE"
# Whatever else a request waits for on a busy machine takes less.
SHORT_S = 1.0

Served = Callable[[Waits], Awaitable[tuple[Caller, Resources]]]


@pytest.fixture
async def served(
    callers: Callers, resources: Resources, tmp_path: Path
) -> AsyncIterator[Served]:
    """A second process of the service, which waits as a test says."""
    ada = await callers.user("ada", "superuser")
    async with AsyncExitStack() as stack:

        async def serve(waits: Waits) -> tuple[Caller, Resources]:
            opened = await stack.enter_async_context(
                open_resources(resources.database_url, tmp_path, waits=waits)
            )
            server = Server(create_app(opened))
            own = await stack.enter_async_context(TestClient(server))
            return replace(ada, client=own), opened

        yield serve


async def succeeds(asked: Awaitable[Reply]) -> bool:
    return (await asked).status < 300


@asynccontextmanager
async def locked(
    resources: Resources, statement: str
) -> AsyncIterator[psycopg.AsyncConnection]:
    """Hold a lock in a session of the database's owner until the block ends."""
    async with await psycopg.AsyncConnection.connect(resources.database_url) as owner:
        await owner.execute(statement)
        yield owner
        await owner.rollback()


@pytest.mark.parametrize(
    ("waits", "code", "message"),
    [
        (Waits(lock_s=SHORT_S, statement_s=60), "database_locked", "held a lock"),
        (Waits(statement_s=SHORT_S, lock_s=60), "database_slow", "took too long"),
    ],
    ids=["lock", "statement"],
)
async def test_a_read_that_the_database_keeps_waiting(
    served: Served, waits: Waits, code: str, message: str
) -> None:
    ada, resources = await served(waits)
    async with locked(resources, READ_TABLES):
        refused = await ada.get(CONNECTORS)

    assert (refused.status, refused.code) == (503, code)
    assert message in refused.message
    assert refused.headers["Retry-After"] == "1"
    assert await until(lambda: succeeds(ada.get(CONNECTORS)))


@pytest.mark.parametrize(
    ("waits", "code"),
    [
        (Waits(lock_s=SHORT_S, statement_s=60), "database_locked"),
        (Waits(statement_s=SHORT_S, lock_s=60), "database_slow"),
    ],
    ids=["lock", "statement"],
)
async def test_a_commit_that_the_database_keeps_waiting(
    served: Served, callers: Callers, waits: Waits, code: str
) -> None:
    ada, resources = await served(waits)
    before = (await resources.log.head()).position
    async with locked(resources, END_OF_LOG):
        refused = await ada.post(CONNECTORS, TRACKER)

    assert (refused.status, refused.code) == (503, code)
    assert (await callers.anonymous().get("/readyz")).data["log_position"] == before
    assert await until(lambda: succeeds(ada.post(CONNECTORS, TRACKER)))


async def test_a_command_behind_a_slow_commit(served: Served) -> None:
    ada, resources = await served(Waits(commit_s=SHORT_S, lock_s=60, statement_s=60))
    async with locked(resources, END_OF_LOG) as owner:
        first = asyncio.create_task(ada.post(CONNECTORS, TRACKER))
        await until_somebody_waits(owner)

        refused = await ada.post(CONNECTORS, {**TRACKER, "name": "behind"})

    assert (refused.status, refused.code) == (503, "overloaded")
    assert "took more than 1 s; nothing was changed" in refused.message
    assert (await first).status == 201


async def test_a_connection_that_never_becomes_free(served: Served) -> None:
    ada, resources = await served(Waits(connection_s=SHORT_S))
    async with AsyncExitStack() as stack:
        for _ in range(POOL_SIZE_MAX):
            await stack.enter_async_context(resources.pool.connection(timeout=60))

        refused = await ada.get(CONNECTORS)

    assert (refused.status, refused.code) == (503, "database_busy")
    assert await until(lambda: succeeds(ada.get(CONNECTORS)))


async def test_commits_of_others_that_cannot_be_read_for_want_of_a_connection(
    served: Served,
) -> None:
    _, resources = await served(Waits(connection_s=SHORT_S))
    async with AsyncExitStack() as stack:
        for _ in range(POOL_SIZE_MAX):
            await stack.enter_async_context(resources.pool.connection(timeout=60))

        with pytest.raises(UnavailableError) as refused:
            await resources.log.refresh(0)

    assert refused.value.code == "database_busy"


async def test_a_body_that_never_comes(served: Served) -> None:
    ada, _ = await served(Waits(body_s=SHORT_S))
    for path, content_type in (
        (CONNECTORS, "application/json"),
        ("/v1/traces", "application/x-protobuf"),
    ):
        head = await answer_to_head(
            ada.client,
            f"POST {path}",
            {
                "Authorization": f"Bearer {ada.token}",
                "Content-Type": content_type,
                "Content-Length": "10",
            },
        )

        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nRetry-After: 1\r\n" in head


async def test_an_upload_behind_slow_ones(served: Served) -> None:
    """Their bodies are in memory at once, so that only some are read."""
    ada, _ = await served(Waits(body_s=SHORT_S))
    ingest = ada.client.app[INGEST]
    async with AsyncExitStack() as stack:
        for _ in range(REQUESTS_MAX):
            await stack.enter_async_context(ingest.at_once)

        refused = await ada.post("/v1/traces", b"{}")

    assert refused.status == 503


def with_spans(count: int) -> bytes:
    spans: dict[str, Any] = {"scopeSpans": [{"spans": [{}] * count}]}
    return json.dumps({"resourceSpans": [spans]}).encode()


@pytest.mark.parametrize(
    "large", [b" " * (LARGE_BYTES_MIN + 1), with_spans(LARGE_ITEMS_MIN + 1)]
)
async def test_a_large_upload_behind_another_one(served: Served, large: bytes) -> None:
    """A decoded one takes many times its size, so that there is one of them."""
    ada, _ = await served(Waits(body_s=SHORT_S))
    ingest = ada.client.app[INGEST]
    async with ingest.alone(SHORT_S):
        refused = await uploaded(ada, large)
        small = await uploaded(ada, with_spans(LARGE_ITEMS_MIN))

    assert (refused, small) == (503, 400)
    assert await uploaded(ada, large) == 400


async def test_garbage_is_collected_again_after_a_large_upload(served: Served) -> None:
    ada, _ = await served(Waits(body_s=SHORT_S))
    ingest = ada.client.app[INGEST]
    async with ingest.alone(SHORT_S):
        during = gc.isenabled()

    assert (during, gc.isenabled()) == (False, True)


async def uploaded(caller: Caller, body: bytes) -> int:
    headers = {"Authorization": f"Bearer {caller.token}", "Content-Type": JSON}
    async with caller.client.post(
        "/v1/traces", data=BytesIO(body), headers=headers
    ) as answer:
        return answer.status


async def test_a_repricing_behind_another_one(served: Served) -> None:
    ada, _ = await served(Waits(commit_s=SHORT_S))
    period = {"from_time": "2026-03-01T00:00:00Z", "until_time": "2026-04-01T00:00:00Z"}
    async with ada.client.app[ONE_AT_A_TIME]:
        refused = await ada.post("/api/llm-router/reprice", period)

    assert (refused.status, refused.code) == (503, "overloaded")
    assert (await ada.post("/api/llm-router/reprice", period)).status == 200
