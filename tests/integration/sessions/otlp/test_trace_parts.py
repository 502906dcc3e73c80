"""Exports after the first one of a trace are rows of their own."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection

from service.database import Pool
from service.resources import Resources
from service.sessions.otlp import pending
from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.old_traces import delete_old_traces
from service.sessions.otlp.pending import KeptTrace, TraceKey, merge_spans
from service.sessions.otlp.span import KeptEntry, KeptSpan, kept_span
from service.sessions.otlp.trace import turn_of
from tests.integration.sessions.otlp.test_kept_traces import forgotten
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import llm, report, session, span
from tests.support.sessions.recording import Recorder
from tests.support.waiting import until


def kept(given: Any) -> KeptSpan:
    found = reported_span(given, "test")
    assert not isinstance(found, SpanError)
    if found.entry is None:
        return kept_span(found, None)
    entry = KeptEntry(
        is_root=True,
        ended_at=found.entry.ended_at.isoformat(),
        user_id=None,
        is_error=False,
        owner=str(uuid4()),
        sealed_input="s" * 1_400,
        sealed_output="s" * 1_400,
        sealed_error=None,
    )
    return kept_span(found, entry)


SPANS = [
    kept(span(1, session__id="s")),
    *(kept(llm(number, 1, number, 1)) for number in range(2, 6)),
    kept(span(6, 1, session__id="other", start=1)),
]
COUNTS = """
    SELECT (SELECT count(*) FROM jsonb_object_keys(t.spans)),
           (SELECT count(*) FROM events.reported_trace_part p
             WHERE p.agent_id = t.agent_id AND p.trace_id = t.trace_id)
      FROM events.reported_trace t
     WHERE t.trace_id = %s
"""

WAITING = """
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def new_key() -> TraceKey:
    return TraceKey(uuid4(), uuid4().hex)


async def stored(pool: Pool, key: TraceKey) -> tuple[int, int]:
    """Return the spans in a trace's row, and its parts."""
    async with pool.connection() as db:
        row = await (await db.execute(COUNTS, [key.trace_id])).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


async def merged(pool: Pool, key: TraceKey, *spans: KeptSpan) -> KeptTrace | None:
    return (await all_merged(pool, {key: KeptTrace(spans)})).get(key)


async def all_merged(
    pool: Pool, given: dict[TraceKey, KeptTrace]
) -> dict[TraceKey, KeptTrace]:
    found: dict[TraceKey, KeptTrace] = {}
    async for some in merge_spans(pool, given):
        found |= some
    return found


def by_id(trace: KeptTrace | None) -> dict[str, KeptSpan]:
    assert trace is not None
    return {each.span_id: each for each in trace.spans}


async def test_only_the_first_export_is_in_the_row_of_its_trace(
    resources: Resources,
) -> None:
    key = new_key()
    for each in SPANS:
        last = await merged(resources.pool, key, each)

    assert await stored(resources.pool, key) == (1, len(SPANS) - 1)
    assert by_id(last) == {each.span_id: each for each in SPANS}


async def test_only_traces_with_a_root_are_read(resources: Resources) -> None:
    key = new_key()
    root, *calls = SPANS
    for each in calls:
        assert by_id(await merged(resources.pool, key, each)) == {each.span_id: each}

    assert len(by_id(await merged(resources.pool, key, root))) == len(SPANS)


async def test_long_traces_of_a_small_export_are_read_one_at_a_time(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each may have megabytes: many at once would take all memory."""
    keys, pool = [new_key() for _ in range(4)], resources.pool
    first, *others, last = SPANS
    for key in keys:
        await merged(pool, key, first)
        await merged(pool, key, *others)
    monkeypatch.setattr(pending, "BYTES_AT_ONCE", 1)
    given = {key: KeptTrace([last]) for key in keys}

    found = [some async for some in merge_spans(pool, given) if some]

    assert [len(some) for some in found] == [1] * len(keys)
    assert {key for some in found for key in some} == {*keys}
    for some in found:
        for trace in some.values():
            assert by_id(trace) == {each.span_id: each for each in SPANS}


async def test_spans_that_come_again_don_t_bring_a_trace_to_its_bounds(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, pool = new_key(), resources.pool
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 3)
    await merged(pool, key, *SPANS[:2])
    assert await stored(pool, key) == (2, 0)
    await merged(pool, key, SPANS[1])
    assert await stored(pool, key) == (2, 1)

    again = await merged(pool, key, *SPANS[:2])

    assert len(by_id(again)) == 2
    assert await stored(pool, key) == (2, 0)
    assert len(by_id(await merged(pool, key, SPANS[2]))) == 3
    assert await merged(pool, key, SPANS[3]) is None
    assert len(by_id(await merged(pool, key, SPANS[0]))) == 3


async def test_a_turn_stays_in_its_session_when_its_exports_are_put_together(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, pool = new_key(), resources.pool
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 4)
    root, named = kept(span(1)), kept(llm(2, 1, 1, 1, start=2, session__id="first"))
    other = kept(llm(3, 1, 1, 1, start=1, session__id="other"))
    last = kept(llm(4, 1, 1, 1, start=3))
    exports = [[root], [named], [named], [named, other], [named, last], [root, last]]

    traces = [await merged(pool, key, *spans) for spans in exports]

    assert await stored(pool, key) == (4, 0)
    turns = [
        turn_of("1", trace.spans, trace.texts, trace.session_id)
        for trace in traces
        if trace is not None
    ]
    assert [turn and turn.session_id for turn in turns] == [None, *["first"] * 5]


async def test_only_a_turn_is_read_at_the_bounds_of_its_trace(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, pool = new_key(), resources.pool
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 2)
    read: list[str] = []
    session_of = pending._session_of  # noqa: SLF001 # what is counted

    def counted(first_export: str, parts: Sequence[str]) -> str | None:
        read.append(first_export)
        return session_of(first_export, parts)

    monkeypatch.setattr(pending, "_session_of", counted)
    for each in SPANS[1:3]:
        await merged(pool, key, each)

    assert await merged(pool, key, SPANS[3]) is None
    assert await merged(pool, key, SPANS[0]) is None
    assert not read


async def test_an_export_that_waited_for_another_one_sees_it(
    resources: Resources,
) -> None:
    key, pool = new_key(), resources.pool
    root, first, second, third = SPANS[:4]
    await merged(pool, key, first)
    await merged(pool, key, second)

    async with (
        await AsyncConnection.connect(resources.database_url) as holder,
        await AsyncConnection.connect(resources.database_url) as watcher,
        asyncio.TaskGroup() as tasks,
    ):

        async def is_waiting() -> bool:
            return (await watcher.execute(WAITING)).rowcount == 1

        await watcher.set_autocommit(True)
        in_transaction: Any = SimpleNamespace(connection=lambda: nullcontext(holder))
        await merged(in_transaction, key, third)
        waiting = tasks.create_task(merged(pool, key, root))
        await until(is_waiting)
        await holder.commit()

    assert len(by_id(waiting.result())) == 4


async def test_exports_at_once_all_count(recorder: Recorder, ada: Caller) -> None:
    calls = [llm(number, 1, 1, 1) for number in range(2, 32)]
    spans = [*calls[:15], span(1, session__id="chat"), *calls[15:]]

    exported = await asyncio.gather(*(report(recorder, each) for each in spans))

    assert {each.status for each in exported} == {200}
    found = await session(ada, "chat", exported)
    assert found["token_usage"]["total"] == 2 * len(calls)


async def test_parts_are_deleted_with_their_trace(resources: Resources) -> None:
    pool = resources.pool
    turn, incomplete = new_key(), new_key()
    for each in (SPANS[1], SPANS[0]):
        await merged(pool, turn, each)
    for each in (SPANS[1], SPANS[2], SPANS[1]):
        await merged(pool, incomplete, each)
    before = forgotten("a turn"), forgotten("incomplete")

    assert await delete_old_traces(pool, kept_for=timedelta(0)) == 2

    assert (forgotten("a turn"), forgotten("incomplete")) == (
        before[0] + 1,
        before[1] + 1,
    )
    async with pool.connection() as db:
        cursor = await db.execute("SELECT FROM events.reported_trace_part")
        assert cursor.rowcount == 0


async def test_exports_give_the_same_trace_in_any_split_and_order(
    resources: Resources,
) -> None:
    # The same span with other contents: the one that came first stays.
    others = [replace(each, has_texts=True) for each in SPANS]
    drawn: list[Sequence[Sequence[KeptSpan]]] = []

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def draw(data: st.DataObject) -> None:
        again = data.draw(st.lists(st.sampled_from(others), max_size=4))
        told = data.draw(st.permutations(SPANS + again))
        exports = []
        while told:
            size = data.draw(st.integers(1, len(told)))
            unique = {each.span_id: each for each in reversed(told[:size])}
            exports.append(list(unique.values()))
            told = told[size:]
        drawn.append(exports)

    draw()
    for exports in drawn:
        key = new_key()
        expected: dict[str, KeptSpan] = {}
        for spans in exports:
            last = await merged(resources.pool, key, *spans)
            assert last is not None
            expected = {each.span_id: each for each in spans} | expected
            turn = turn_of("1", list(expected.values()))
            assert turn_of("1", last.spans) == turn, exports
        assert turn is not None
        assert by_id(last) == expected
