"""The trail as it happens."""

import asyncio
import logging
import re
import socket
import struct
from contextlib import AsyncExitStack
from typing import Any

import pytest

from projections.audit.trail.queries import Found, entries_found
from service.http.streaming import (
    STREAMS,
    STREAMS_MAX,
    STREAMS_OF_USER_MAX,
    Streams,
)
from service.logs import FieldsRecord
from service.resources import Resources
from tests.support.audit.reading import live, opened
from tests.support.callers import Caller, Callers
from tests.support.log_records import said_by
from tests.support.waiting import until

# Those that would say of a request that it failed.
OF_REQUESTS = (
    "agent_runtime.request",
    "service.http.errors",
    "service.http.streaming",
    "aiohttp",
    "asyncio",
)


def streams_of(caller: Caller) -> Streams:
    app: Any = caller.client.app
    streams: Streams = app[STREAMS]
    return streams


async def test_what_happens_is_sent_as_it_happens(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")
    ada = await callers.user("ada")

    async with live(auditor) as stream:
        made = await ada.post("/api/catalog/agents", {"name": "Triage"})
        position, entry = await stream.next()
        shown = await auditor.get(f"/api/audit/events/{position}")

    assert position == entry["position"] == made.position
    more = {name: shown.data[name] for name in ("recorded", "changes")}
    assert {**entry, **more} == shown.data


async def test_a_stream_goes_on_behind_the_last_event(
    auditor: Caller, resources: Resources
) -> None:
    head = (await resources.log.head()).position

    async with live(auditor, Last_Event_ID="1") as stream:
        resumed = [(await stream.next())[0] for _ in range(head)]
    async with live(auditor, "?after=0") as stream:
        from_the_start = [(await stream.next())[0] for _ in range(head)]

    # Opening it is on record too, once.
    assert resumed == [*range(2, head + 2)]
    assert from_the_start == [*range(1, head + 1)]


async def test_the_last_event_comes_before_the_query(auditor: Caller) -> None:
    async with live(auditor, "?after=0", Last_Event_ID="2") as stream:
        assert (await stream.next())[0] == 3


async def test_more_than_a_batch_arrives_in_order(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.audit.trail.live.BATCH_ENTRIES", 3)
    auditor = await callers.user("olga", "auditor")
    for number in range(10):
        await callers.user(f"user{number}")

    async with live(auditor, "?after=0") as stream:
        positions = [(await stream.next())[0] for _ in range(24)]

    assert positions == [*range(1, 25)]


@pytest.mark.parametrize("narrow", ["kind=agent", "actor={}"])
async def test_filters(callers: Callers, narrow: str) -> None:
    auditor = await callers.user("olga", "auditor")
    ada = await callers.user("ada")

    async with live(auditor, f"?{narrow.format(ada.user_id)}") as stream:
        await callers.user("bob")
        first = await ada.post("/api/catalog/agents", {"name": "Triage"})
        assert (await stream.next())[0] == first.position
        await callers.user("cyd")
        second = await ada.post("/api/catalog/agents", {"name": "Clerk"})
        assert (await stream.next())[0] == second.position


async def test_heartbeats_keep_it_open(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.audit.trail.live_routes.HEARTBEAT_S", 0.05)
    auditor = await callers.user("olga", "auditor")

    async with opened(auditor, "/api/audit/stream") as response:
        lines = [await response.content.readline() for _ in range(6)]

    assert lines == [b": heartbeat\n", b"\n"] * 3


async def test_it_ends_when_the_service_stops(auditor: Caller) -> None:
    streams = streams_of(auditor)

    async with live(auditor) as stream:
        async with asyncio.timeout(60):
            await asyncio.sleep(0)
            await streams.close()
            async with opened(auditor, "/api/audit/stream") as late:
                assert not (await late.content.read()).strip(b": heartbeat\n")
            await stream.response.content.read()


async def test_it_ends_when_the_token_is_revoked(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    auditor = await callers.user("olga", "auditor")

    async with live(auditor) as stream, asyncio.timeout(60):
        await root.delete(f"/api/users/{auditor.user_id}/roles/auditor")
        await stream.response.content.read()


@pytest.mark.parametrize("ends", ["role revoked", "service stops"])
async def test_it_ends_between_the_batches_of_what_was_recorded_before(
    callers: Callers, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """A stream that catches up from the start may have days to send."""
    monkeypatch.setattr("projections.audit.trail.live.BATCH_ENTRIES", 3)
    root = await callers.user("root", "superuser")
    auditor = await callers.user("olga", "auditor")
    await callers.user("ada")
    queries = 0

    async def end_during_the_first(*given: Any, **options: Any) -> Found:
        nonlocal queries
        queries += 1
        if queries == 1 and ends == "role revoked":
            await root.delete(f"/api/users/{auditor.user_id}/roles/auditor")
        elif queries == 1:
            await streams_of(auditor).close()
        return await entries_found(*given, **options)

    monkeypatch.setattr(
        "projections.audit.trail.live.entries_found", end_during_the_first
    )

    async with opened(auditor, "/api/audit/stream?after=0") as response:
        async with asyncio.timeout(60):
            sent = await response.text()

    assert re.findall("^id: ([0-9]+)$", sent, re.MULTILINE) == ["1", "2", "3"]


async def test_streams_are_bounded(auditor: Caller) -> None:
    streams = streams_of(auditor)
    streams.free = 1

    async with live(auditor):
        refused = await auditor.get("/api/audit/stream")
        export = await auditor.get("/api/audit/export.csv")
    for each in (refused, export):
        assert (each.status, each.code) == (503, "too_many_streams")
        assert each.headers["Retry-After"] == "10"


async def test_one_auditor_cannot_hold_all_streams(callers: Callers) -> None:
    olga = await callers.user("olga", "auditor")
    bob = await callers.user("bob", "auditor")

    async with AsyncExitStack() as stack:
        for _ in range(STREAMS_OF_USER_MAX):
            await stack.enter_async_context(live(olga))
        refused = await olga.get("/api/audit/export.csv")
        await stack.enter_async_context(live(bob))

    assert (refused.status, refused.code) == (429, "too_many_streams_of_user")
    assert refused.headers["Retry-After"] == "10"


@pytest.mark.parametrize("path", ["stream?after=0", "export.jsonl"])
@pytest.mark.parametrize("reads", [0, 100])
async def test_a_client_that_leaves_is_no_error(
    auditor: Caller, caplog: pytest.LogCaptureFixture, path: str, reads: int
) -> None:
    streams = streams_of(auditor)
    server = auditor.client.server
    head = (
        f"GET /api/audit/{path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: leaves\r\n"
        f"Authorization: Bearer {auditor.token}\r\n\r\n"
    )

    with caplog.at_level(logging.INFO):
        with socket.create_connection((server.host, server.port)) as connection:
            connection.sendall(head.encode())
            await asyncio.to_thread(connection.recv, reads)
            # Reset rather than closed, so that the next write fails.
            reset = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        await auditor.post("/api/secrets", {"name": "A", "value": "something happens"})
        answered = await until(
            lambda: [
                record.fields
                for record in caplog.records
                if isinstance(record, FieldsRecord)
                and record.fields["request_id"] == "leaves"
            ]
        )

    assert [each["status"] for each in answered] in ([200], [499])
    said = said_by(caplog, *OF_REQUESTS)
    assert [each for each in said if each.levelno >= logging.WARNING] == []
    assert streams.free == STREAMS_MAX


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 30])
async def test_a_last_event_that_is_none(auditor: Caller, given: str) -> None:
    assert (await auditor.get("/api/audit/stream", Last_Event_ID=given)).status == 400


async def test_a_position_that_the_log_has_not_reached(auditor: Caller) -> None:
    reply = await auditor.get("/api/audit/stream?after=1000")

    assert (reply.status, reply.code) == (412, "position_beyond_log")
