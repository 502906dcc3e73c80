"""A page in time, whatever the trace store does."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from projections.sessions.phoenix.store import LOOKUPS, PhoenixStore, open_phoenix
from projections.sessions.trace_store import TRACES, Traces
from service.app import create_app
from service.capabilities.phoenix import connect
from service.circuit_breaker import FAILURES_MAX
from service.resources import Resources
from tests.support.callers import Caller
from tests.support.harness.process import refusing_port
from tests.support.metrics import counted
from tests.support.sessions.phoenix.fake import FakePhoenix, node, serving
from tests.support.sessions.recording import (
    LIST,
    LONG_AGO,
    Recorder,
    register_agent,
    turn,
)

# What a page waits for a store that doesn't answer.
DEADLINE_S = 1.5
# Beyond what a page takes without a store on a busy machine.
PAGE_S = 30.0
NOT_ASKED = LOOKUPS.labels("not asked")


@dataclass(frozen=True, slots=True)
class Page:
    took_s: float
    data: Any
    ready: Any


Listing = Callable[
    [PhoenixStore, float], AbstractAsyncContextManager[Callable[[], Awaitable[Page]]]
]


async def slow(_request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


async def trickling(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


async def endless(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 1024 * 1024)


async def dropping(request: web.Request) -> web.Response:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


def saying(status: int, body: bytes, **headers: str) -> Any:
    async def say(_request: web.Request) -> web.Response:
        return web.Response(status=status, body=body, headers=headers)

    return say


FAULTS: dict[str, Any] = {
    "slow": slow,
    "trickling": trickling,
    "endless": endless,
    "dropping": dropping,
    "garbage": saying(200, b"\xff\xfe<html>"),
    "no GraphQL": saying(200, b"[1, 2]"),
    "deep": saying(200, b"[" * 100_000),
    "no data": saying(200, b'{"errors": [{"message": "no"}]}'),
    "no parts": saying(200, b'{"data": {}}'),
    "other project": saying(200, b'{"data": {"p0": {"sessions": [1]}}}'),
    "compressed": saying(200, b"\x1f\x8b\x08", **{"Content-Encoding": "gzip"}),
    "unauthorised": saying(401, b"Invalid token"),
    "broken": saying(500, b"Internal Server Error"),
    "elsewhere": saying(307, b"", Location="http://127.0.0.1:1/graphql"),
}


@asynccontextmanager
async def half_open() -> AsyncIterator[str]:
    """A server that takes connections, and then never says a word."""
    writers = []

    async def take(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        for writer in writers:
            writer.close()
        server.close()


@asynccontextmanager
async def nobody() -> AsyncIterator[str]:
    with refusing_port() as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
async def listing(resources: Resources, recorder: Recorder, ada: Caller) -> Listing:
    """List two sessions, with a trace store that a page waits for so long."""
    await recorder.record("chat-1", turn("t1", input="q", prompt_tokens=1))
    await recorder.start("chat-2")

    @asynccontextmanager
    async def serve(
        phoenix: PhoenixStore, deadline_s: float
    ) -> AsyncIterator[Callable[[], Awaitable[Page]]]:
        app = create_app(resources)
        connect(app, phoenix)
        app[TRACES] = Traces(phoenix, deadline_s=deadline_s)
        async with TestClient(TestServer(app)) as client:
            caller = Caller(client, ada.token)

            async def page() -> Page:
                started = time.perf_counter()
                reply = await caller.get(
                    f"{LIST}?start_time={LONG_AGO}", X_Min_Position=recorder.position
                )
                took_s = time.perf_counter() - started
                assert reply.status == 200
                ready = (await caller.get("/readyz")).data
                return Page(took_s, reply.data, ready)

            yield page

    return serve


def expect_own_figures(data: Any) -> None:
    assert (data["total_agents"], data["successful_agents"]) == (1, 0)
    assert [row["trace_store"] for row in data["sessions"]] == ["unavailable"] * 2
    assert {row["first_input"] for row in data["sessions"]} == {None, "q"}
    assert [row["session_annotations"] for row in data["sessions"]] == [[], []]


@pytest.mark.parametrize("fault", [*FAULTS, "half-open", "down"])
@pytest.mark.thorough
async def test_a_page_is_served_in_time(
    listing: Listing, fault: str, record_property: Callable[[str, object], None]
) -> None:
    store = {"half-open": half_open, "down": nobody}.get(fault)
    async with (
        store() if store else serving(FAULTS[fault]) as url,
        open_phoenix(url, token="secret") as phoenix,
    ):
        # Suspended once, it isn't tried again in this test.
        phoenix.breaker.clock = lambda: 0.0
        pages = []
        async with listing(phoenix, DEADLINE_S) as page:
            while phoenix.is_available:
                pages.append(await page())
        assert len(pages) >= FAILURES_MAX
        not_asked = counted(NOT_ASKED)
        async with listing(phoenix, 2 * PAGE_S) as page:
            pages.append(await page())

    record_property("page_s", [round(page.took_s, 3) for page in pages])
    for each in pages:
        expect_own_figures(each.data)
        # Pages don't wait for a suspended store, either.
        assert each.took_s < DEADLINE_S + PAGE_S
    assert counted(NOT_ASKED) == not_asked + 2
    readiness = pages[-1].ready
    assert (readiness["status"], readiness["trace_store"]) == ("degraded", "suspended")


async def test_a_store_that_is_well(listing: Listing, recorder: Recorder) -> None:
    fake = FakePhoenix([node("chat-1", recorder.agent_id)])

    async with (
        serving(fake.answer) as url,
        open_phoenix(url) as phoenix,
        listing(phoenix, PAGE_S) as page,
    ):
        shown = await page()

    data, ready = shown.data, shown.ready
    assert (data["total_agents"], data["successful_agents"]) == (1, 1)
    found = {row["session_id"]: row for row in data["sessions"]}
    assert found["chat-1"]["trace_store"] == "found"
    assert found["chat-2"]["trace_store"] == "unknown_session"
    theirs = found["chat-1"]["trace_store_figures"]
    assert theirs["traces"] == 3
    assert (theirs["cost"], theirs["currency"]) == (0.0014025, "USD")
    assert found["chat-1"]["session_annotations"][0]["annotator_kind"] == "LLM"
    assert (ready["status"], ready["trace_store"]) == ("ready", "available")


async def test_what_was_found_in_time_is_shown(
    recorder: Recorder, ada: Caller, listing: Listing
) -> None:
    other = Recorder(recorder.caller, await register_agent(ada, "other"))
    recorder.last = await other.start("late")
    # A busy machine needs longer for what is found.
    for deadline_s in (DEADLINE_S, 4 * DEADLINE_S, 16 * DEADLINE_S):
        fake = FakePhoenix(
            [node("chat-1", recorder.agent_id), node("late", other.agent_id)],
            broken=frozenset({"late"}),
        )
        async with (
            serving(then_silent(fake)) as url,
            open_phoenix(url) as phoenix,
            listing(phoenix, deadline_s) as page,
        ):
            shown = await page()
        if shown.data["successful_agents"]:
            break

    assert shown.took_s < deadline_s + PAGE_S
    data = shown.data
    assert (data["total_agents"], data["successful_agents"]) == (2, 1)
    assert {row["session_id"]: row["trace_store"] for row in data["sessions"]} == {
        "chat-1": "found",
        "chat-2": "unknown_session",
        "late": "unavailable",
    }


def then_silent(fake: FakePhoenix) -> Any:
    """Let a store answer once."""

    async def answer(request: web.Request) -> web.Response:
        if fake.asked:
            await asyncio.Event().wait()
        return await fake.answer(request)

    return answer


async def test_many_pages_at_once_ask_few_at_once(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    await recorder.start("chat-1")
    fake = FakePhoenix([node("chat-1", recorder.agent_id)])
    running = [0, 0]

    async def count(request: web.Request) -> web.Response:
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0.01)
        running[0] -= 1
        return await fake.answer(request)

    async with serving(count) as url, open_phoenix(url) as phoenix:
        app = create_app(resources)
        connect(app, phoenix)
        async with TestClient(TestServer(app)) as client:
            caller = Caller(client, ada.token)
            replies = await asyncio.gather(
                *(caller.get(f"{LIST}?start_time={LONG_AGO}") for _ in range(40))
            )

    assert {reply.data["successful_agents"] for reply in replies} <= {0, 1}
    assert running[1] <= 4
