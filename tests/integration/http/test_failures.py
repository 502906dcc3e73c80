"""What nobody asked for: a bug, and a database that is away."""

import asyncio
import io
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import orjson
import pytest
from aiohttp.test_utils import TestClient, TestServer

from service.app import create_app
from service.connection_pool import POOL_SIZE_MAX
from service.embedded_postgres.server import EmbeddedPostgres
from service.logs import JsonFormatter
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.http.conftest import SECRET
from tests.integration.http.raw import TIMEOUT_S, head_and_no_more
from tests.support.callers import Caller, Callers
from tests.support.connectors.making import TRACKER


@contextmanager
def log_lines() -> Iterator[io.StringIO]:
    """Everything that is logged meanwhile, as the service writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    # The service runs without aiohttp's own; its test server doesn't.
    handler.addFilter(lambda record: record.name != "aiohttp.access")
    root = logging.getLogger()
    root.addHandler(handler)
    before = root.level
    root.setLevel(logging.INFO)
    try:
        yield stream
    finally:
        root.removeHandler(handler)
        root.setLevel(before)


async def test_a_bug_is_hidden_from_the_caller_and_logged_without_values(
    ada: Caller,
) -> None:
    with log_lines() as written:
        reply = await ada.get("/test/broken", X_Request_Id="of-the-bug")

    assert (reply.status, reply.message) == (500, "internal error")
    assert reply.data == {
        "code": "internal_error",
        "errors": [],
        "request_id": "of-the-bug",
    }
    lines = [orjson.loads(line) for line in written.getvalue().splitlines()]
    [fault] = [line for line in lines if line["level"] == "error"]
    assert (fault["error"], fault["message"]) == ("RuntimeError", "unexpected error")
    assert fault["request_id"] == "of-the-bug"
    assert any(place.endswith("get_broken") for place in fault["at"])
    assert SECRET not in written.getvalue()
    assert str(ada.token) not in written.getvalue()


async def test_a_request_line_names_the_template_and_never_what_was_sent(
    ada: Caller,
) -> None:
    with log_lines() as written:
        await ada.post("/api/mcp/connectors/private-name/grants/public?token=private")

    lines = [orjson.loads(line) for line in written.getvalue().splitlines()]
    [line] = [line for line in lines if line["logger"] == "agent_runtime.request"]
    assert line["route"] == "/api/mcp/connectors/{id}/grants/public"
    assert (line["method"], line["status"]) == ("POST", 400)
    # No random id, such as the request's, can hold this word.
    assert "private" not in written.getvalue()


async def test_a_client_that_leaves_in_its_body_counts_as_no_error(ada: Caller) -> None:
    with log_lines() as written, next_request() as logged:
        await head_and_no_more(ada.client, "POST /api/mcp/connectors", body_of(ada))
        async with asyncio.timeout(TIMEOUT_S):
            await logged.wait()

    lines = [orjson.loads(line) for line in written.getvalue().splitlines()]
    assert "error" not in {line["level"] for line in lines}
    [line] = [line for line in lines if line["logger"] == "agent_runtime.request"]
    assert line["status"] == 400


def body_of(caller: Caller) -> dict[str, str]:
    """The headers of a body of ten bytes."""
    return {
        "Authorization": f"Bearer {caller.token}",
        "Content-Type": "application/json",
        "Content-Length": "10",
    }


@contextmanager
def next_request() -> Iterator[asyncio.Event]:
    """An event that is set when a request's line is logged."""
    logged = asyncio.Event()
    requests = logging.getLogger("agent_runtime.request")

    def note(_record: logging.LogRecord) -> bool:
        logged.set()
        return True

    requests.addFilter(note)
    try:
        yield logged
    finally:
        requests.removeFilter(note)


@pytest.fixture
async def cut_off(tmp_path: Path) -> AsyncIterator[tuple[Callers, EmbeddedPostgres]]:
    """The service on a PostgreSQL of this test alone, which can go away."""
    async with AsyncExitStack() as stack:
        postgres = stack.enter_context(EmbeddedPostgres.start(tmp_path / "postgres"))
        migrate(postgres.url)
        resources = await stack.enter_async_context(
            open_resources(postgres.url, tmp_path)
        )
        client = await stack.enter_async_context(
            TestClient(TestServer(create_app(resources)))
        )
        yield Callers(resources, client), postgres


@pytest.mark.usefixtures("own_time_limits")
async def test_without_the_database_callers_are_told_to_come_back(
    cut_off: tuple[Callers, EmbeddedPostgres],
) -> None:
    callers, postgres = cut_off
    ada = await callers.user("ada")
    postgres.stop()

    with log_lines() as written:
        replies = [
            await ada.get("/api/mcp/connectors"),
            await ada.post("/api/mcp/connectors", TRACKER),
            await ada.post("/api/mcp/connectors", TRACKER, Idempotency_Key="a"),
        ]

    assert {reply.status for reply in replies} == {503}
    assert all(int(reply.headers["Retry-After"]) >= 1 for reply in replies)
    assert all(b"psycopg" not in reply.body.lower() for reply in replies)
    assert "SELECT" not in written.getvalue()


@pytest.mark.usefixtures("own_time_limits")
@pytest.mark.thorough
async def test_a_busy_pool_is_not_told_as_a_lost_database(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    async with AsyncExitStack() as stack:
        for _ in range(POOL_SIZE_MAX):
            await stack.enter_async_context(resources.pool.connection(timeout=60))

        reply = await ada.get("/api/mcp/connectors")
        ready = await callers.anonymous().get("/readyz")

    assert (reply.status, reply.code) == (503, "database_busy")
    assert reply.headers["Retry-After"] == "1"
    assert (ready.status, ready.data["status"]) == (200, "degraded")
    assert (await ada.get("/api/mcp/connectors")).status == 200
