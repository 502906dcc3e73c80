"""How many requests a page costs, and what becomes of what they leave open."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from aiohttp import web

from projections.sessions.phoenix import memory
from projections.sessions.phoenix.memory import Memory
from projections.sessions.phoenix.store import PhoenixStore, open_phoenix
from projections.sessions.trace_store import Enrichments, SessionKey
from service import outages
from service.circuit_breaker import FAILURES_MAX, REST_S
from tests.support.log_records import said_by
from tests.support.sessions.phoenix.fake import (
    OTHER,
    Answer,
    FakePhoenix,
    key,
    node,
    serving,
)
from tests.support.waiting import TIMEOUT_S

PHOENIX = "projections.sessions.phoenix"


@asynccontextmanager
async def store(fake: FakePhoenix, **words: str) -> AsyncIterator[PhoenixStore]:
    async with serving(fake.answer) as url, open_phoenix(url, **words) as opened:
        yield opened


async def fetched(fake: FakePhoenix, *keys: SessionKey, **words: str) -> Enrichments:
    async with store(fake, **words) as phoenix:
        return await phoenix.fetch(keys, deadline_s=60)


async def test_a_page_of_one_agent_is_one_request() -> None:
    ids = [f"s{number}" for number in range(100)]
    fake = FakePhoenix([node(each) for each in ids[:60]])

    found = await fetched(fake, *map(key, ids))

    assert fake.asked == ["filters 1"]
    assert sorted(found) == sorted(ids)
    assert {each for each in ids if found[each] is not None} == set(ids[:60])


async def test_an_outage_is_told_once_and_so_is_its_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, PHOENIX)
    is_failing = True
    fake = FakePhoenix([node("a")])

    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=503) if is_failing else await fake.answer(request)

    async with serving(answer) as url, open_phoenix(url) as phoenix:
        for _ in range(FAILURES_MAX):
            await phoenix.fetch([key("a")], deadline_s=60)
        is_failing = False
        monkeypatch.setattr(outages, "CALM_S", 0.0)
        phoenix.breaker.succeeded()
        for each in ("a", "b"):
            await phoenix.fetch([key(each)], deadline_s=60)

    assert [(each.levelname, each.message) for each in said_by(caplog, PHOENIX)] == [
        ("WARNING", "the trace store failed: answered 503"),
        ("INFO", "the trace store answers again"),
    ]


async def test_sixteen_agents_are_one_request() -> None:
    agents = [UUID(int=number) for number in range(100)]
    fake = FakePhoenix([node(f"s{each.int}", each) for each in agents])

    found = await fetched(fake, *(key(f"s{each.int}", each) for each in agents))

    assert sorted(fake.asked) == ["filters 16"] * 6 + ["filters 4"]
    assert all(each is not None for each in found.values())
    assert len(found) == 100


async def test_one_project_for_all_agents() -> None:
    fake = FakePhoenix([node("a", "ours"), node("b", "ours")])

    found = await fetched(fake, key("a"), key("b", OTHER), project="ours")

    assert fake.asked == ["filters 1"]
    assert None not in found.values()


async def test_the_token_is_sent() -> None:
    fake = FakePhoenix([node("a")])

    await fetched(fake, key("a"), token="secret")

    assert fake.headers[0]["Authorization"] == "Bearer secret"


async def test_a_session_of_another_agent_s_project_is_unknown() -> None:
    fake = FakePhoenix([node("a", OTHER)], takes_filters=False)

    found = await fetched(fake, key("a"), key("b"))

    assert found == {"a": None, "b": None}


async def test_an_older_phoenix_is_asked_by_ids_from_then_on() -> None:
    ids = [f"s{number}" for number in range(20)]
    fake = FakePhoenix([node(each) for each in ids], takes_filters=False)

    async with store(fake) as phoenix:
        first, again = [
            await phoenix.fetch([*map(key, ids)], deadline_s=60) for _ in range(2)
        ]

    assert fake.asked[0] == "filters 1"
    assert sorted(fake.asked[1:]) == ["ids 16", "ids 16", "ids 4", "ids 4"]
    assert first == again
    assert len(first) == 20


async def test_a_session_that_fails_harms_only_itself() -> None:
    ids = ["good", "bad", "fine"]
    fake = FakePhoenix([node(each) for each in ids], broken=frozenset({"bad"}))

    async with store(fake) as phoenix:
        found = await phoenix.fetch([key(each) for each in ids], deadline_s=60)

    assert fake.asked == ["filters 1", "ids 3"]
    assert sorted(found) == ["fine", "good"]
    assert phoenix.breaker.state == "closed"


async def test_a_damaged_session_harms_only_itself() -> None:
    nodes = [node("good"), node("bad", numTraces="many"), node("fine")]
    fake = FakePhoenix(nodes)

    found = await fetched(fake, *(key(each["sessionId"]) for each in nodes))

    assert fake.asked == ["filters 1"]
    assert sorted(found) == ["fine", "good"]


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"p0": 7},
        {"p0": {}},
        {"p0": {"sessions": {"edges": [{"node": None}]}}},
        {"p0": {"sessions": {"edges": [{"node": {"id": "s"}}]}}},
    ],
)
async def test_an_answer_of_another_form_is_a_failure_after_one_request(
    data: Any,
) -> None:
    asked = 0

    async def answer(_request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.json_response({"data": data})

    async with serving(answer) as url, open_phoenix(url) as phoenix:
        for page in range(1, FAILURES_MAX + 1):
            assert await phoenix.fetch([key("a"), key("b")], deadline_s=60) == {}
            assert asked == page
        assert phoenix.breaker.state == "open"
        await phoenix.fetch([key("a")], deadline_s=60)

    assert asked == FAILURES_MAX


async def test_an_answer_of_another_form_by_ids_is_a_failure() -> None:
    asked = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(await request.json())
        is_filter = "c0" in asked[-1]["variables"]
        if is_filter:
            return web.json_response({"data": None, "errors": [{"message": "no"}]})
        return web.json_response({"data": {"s0": {"id": 1}, "s1": {"id": 2}}})

    async with serving(answer) as url, open_phoenix(url) as phoenix:
        for _ in range(FAILURES_MAX):
            await phoenix.fetch([key("a"), key("b")], deadline_s=60)
        assert phoenix.breaker.state == "open"

    assert len(asked) == 2 * FAILURES_MAX


async def test_a_trial_that_is_cancelled_leaves_the_next_page_one() -> None:
    fake = FakePhoenix([node("a")])
    asked, answers = asyncio.Event(), fake.answer

    async def broken(_request: web.Request) -> web.Response:
        return web.json_response({"data": {}})

    async def silent(_request: web.Request) -> web.Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    answer: Answer = broken

    async def current(request: web.Request) -> web.StreamResponse:
        return await answer(request)

    async with serving(current) as url, open_phoenix(url) as phoenix:
        for _ in range(FAILURES_MAX):
            await phoenix.fetch([key("a")], deadline_s=60)
        rested = phoenix.breaker.clock() + REST_S
        phoenix.breaker.clock = lambda: rested
        answer = silent
        page = asyncio.create_task(phoenix.fetch([key("a")], deadline_s=60))
        await asyncio.wait_for(asked.wait(), TIMEOUT_S)
        page.cancel()
        await asyncio.gather(page, return_exceptions=True)
        answer = answers

        found = await phoenix.fetch([key("a")], deadline_s=60)

    assert list(found) == ["a"]


async def test_a_session_too_large_for_a_document_harms_only_itself() -> None:
    huge = node("huge", sessionAnnotations=["x" * (5 * 1024 * 1024)])
    fake = FakePhoenix([node("good"), huge, node("fine")])

    async with store(fake) as phoenix:
        found = await phoenix.fetch(
            [key("good"), key("huge"), key("fine")], deadline_s=60
        )

    assert fake.asked == ["filters 1", "ids 3", "ids 1", "ids 1", "ids 1"]
    assert sorted(found) == ["fine", "good"]
    assert phoenix.breaker.state == "closed"


async def test_single_look_ups_come_last_and_once() -> None:
    ids = [f"s{number}" for number in range(5)]
    fake = FakePhoenix(
        [node(each) for each in ids],
        takes_filters=False,
        refuses=lambda several: several > 1,
    )

    found = await fetched(fake, *map(key, ids))

    assert fake.asked == ["filters 1", "ids 5", *["ids 1"] * 5]
    assert sorted(found) == ids


async def test_ended_sessions_are_remembered_for_a_while() -> None:
    fake = FakePhoenix([node("over"), node("running")])
    keys = [key("over", has_ended=True), key("running")]

    async with store(fake) as phoenix:
        now = [100.0]
        phoenix.memory = Memory(clock=lambda: now[0])
        first = await phoenix.fetch(keys, deadline_s=60)
        again = await phoenix.fetch(keys, deadline_s=60)
        assert len(phoenix.memory) == 1
        await phoenix.fetch(keys[:1], deadline_s=60)
        assert fake.asked == ["filters 1"] * 2
        now[0] += memory.REMEMBERED_FOR_S
        await phoenix.fetch(keys[:1], deadline_s=60)

    assert first == again
    assert fake.asked == ["filters 1"] * 3


async def test_what_is_remembered_is_bounded() -> None:
    async with store(FakePhoenix([node("s")])) as phoenix:
        enrichment = (await phoenix.fetch([key("s")], deadline_s=60))["s"]
        assert enrichment is not None
        for number in range(memory.SESSIONS_MAX + 10):
            phoenix.memory.remember(key(f"s{number}", has_ended=True), enrichment)
        assert len(phoenix.memory) == memory.SESSIONS_MAX


async def test_a_session_that_just_ended_is_not_remembered() -> None:
    fresh = replace(key("s", has_ended=True), last_active_at=datetime.now(UTC))

    async with store(FakePhoenix([node("s")])) as phoenix:
        await phoenix.fetch([fresh], deadline_s=60)
        assert phoenix.memory.recall(fresh) is None
