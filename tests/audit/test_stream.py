"""The trail as it happens."""

import asyncio
from typing import Any

import pytest

from service.http.streaming import STREAMS, Streams
from service.resources import Resources
from tests.audit.reading import live, opened
from tests.callers import Caller, Callers


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
    assert {**entry, "recorded": shown.data["recorded"]} == shown.data


async def test_a_stream_goes_on_behind_the_last_event(
    callers: Callers, resources: Resources
) -> None:
    auditor = await callers.user("olga", "auditor")
    head = (await resources.log.head()).position

    async with live(auditor, Last_Event_ID="1") as stream:
        resumed = [(await stream.next())[0] for _ in range(head)]
    async with live(auditor, "?after=0") as stream:
        from_the_start = [(await stream.next())[0] for _ in range(head)]

    # Opening it is on record too, once.
    assert resumed == [*range(2, head + 2)]
    assert from_the_start == [*range(1, head + 1)]


async def test_the_last_event_comes_before_the_query(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")

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


@pytest.mark.parametrize("narrow", ["kind=agent", "kind=agent.registered", "actor={}"])
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


async def test_it_ends_when_the_service_stops(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")
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


async def test_streams_are_bounded(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")
    streams = streams_of(auditor)
    streams.free = 1

    async with live(auditor):
        refused = await auditor.get("/api/audit/stream")
        export = await auditor.get("/api/audit/export.csv")
    for each in (refused, export):
        assert (each.status, each.code) == (503, "too_many_streams")
        assert each.headers["Retry-After"] == "10"


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "9" * 30])
async def test_a_last_event_that_is_none(callers: Callers, given: str) -> None:
    auditor = await callers.user("olga", "auditor")

    assert (await auditor.get("/api/audit/stream", Last_Event_ID=given)).status == 400


async def test_a_position_that_the_log_has_not_reached(callers: Callers) -> None:
    auditor = await callers.user("olga", "auditor")

    reply = await auditor.get("/api/audit/stream?after=1000")

    assert (reply.status, reply.code) == (412, "position_beyond_log")
