"""Spans that come after the earlier ones of their trace were deleted."""

import asyncio
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from service.aggregate import LoggedAggregate
from service.resources import Resources
from service.sessions.aggregate import ChatSession
from service.sessions.late_spans import AMENDED_FOR
from service.sessions.otlp.old_traces import delete_old_traces
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import Exported, llm, report, session, span
from tests.support.sessions.recording import Recorder
from tests.support.waiting import until

ROOT = span(1, session__id="chat")
FIRST, SECOND, THIRD, FOURTH = (
    llm(number, 1, tokens, 0) for number, tokens in ((2, 5), (3, 7), (4, 11), (5, 13))
)
WAITING = """
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


async def delete_all(resources: Resources) -> None:
    await delete_old_traces(resources.pool, kept_for=timedelta(0))


async def age(resources: Resources, by: timedelta) -> None:
    """Let the last spans of all traces have come earlier."""
    async with resources.pool.connection() as db:
        await db.execute(
            "UPDATE events.reported_trace SET touched_at = touched_at - %s", [by]
        )


async def used(ada: Caller, at: Exported) -> list[Any]:
    """Return (turns, tokens) of each day."""
    reply = await ada.get("/api/usage?from_day=2026-03-01", X_Min_Position=at.position)
    return [(day["turns"], day["token_usage"]["total"]) for day in reply.data["usage"]]


@pytest.mark.parametrize("is_restarted", [False, True])
@pytest.mark.parametrize(
    "late",
    [
        # All of the trace, and a span that had not come.
        [[ROOT, FIRST, SECOND, THIRD]],
        # More spans than the turn has, but none of those that have its tokens.
        [[ROOT, THIRD, FOURTH, llm(6, 1, 17, 0)]],
        [[THIRD], [FOURTH, llm(6, 1, 17, 0)], [ROOT]],
        [[ROOT], [THIRD], [FOURTH], [llm(6, 1, 17, 0)]],
        [[THIRD]],
    ],
)
async def test_late_spans_don_t_change_a_turn_whose_spans_were_deleted(
    resources: Resources,
    recorder: Recorder,
    ada: Caller,
    late: list[list[Any]],
    *,
    is_restarted: bool,
) -> None:
    first = await report(recorder, ROOT, FIRST, SECOND)
    await delete_all(resources)
    if is_restarted:
        resources.log.cache.clear()

    answers = [await report(recorder, *spans) for spans in late]

    assert {(each.status, each.rejected) for each in answers} == {(200, 0)}
    assert not any("X-Event-Position" in each.headers for each in answers)
    # Whatever comes next: nothing was recorded before it.
    other = await report(recorder, span(1, trace=9, session__id="other"))
    assert int(other.position) == int(first.position) + 2
    assert (await session(ada, "chat", [other]))["token_usage"]["total"] == 12
    assert await used(ada, other) == [(2, 12)]


async def test_a_turn_that_was_amended_stays_so_after_its_spans_were_deleted(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    await report(recorder, ROOT, FIRST)
    amended = await report(recorder, SECOND)
    await delete_all(resources)

    again = await report(recorder, ROOT, FIRST, SECOND, THIRD)

    assert (again.status, "X-Event-Position" in again.headers) == (200, False)
    assert await used(ada, amended) == [(1, 12)]


async def test_each_span_has_the_turn_amendable_for_as_long_again(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    nearly = AMENDED_FOR - timedelta(minutes=1)
    await report(recorder, ROOT, FIRST)
    for spans in ([ROOT], [ROOT, FIRST]):
        await age(resources, nearly)
        await report(recorder, *spans)
        assert await delete_old_traces(resources.pool) == 0
    await age(resources, nearly)

    last = await report(recorder, SECOND)

    assert await delete_old_traces(resources.pool) == 0
    assert await used(ada, last) == [(1, 12)]


async def test_a_trace_that_comes_while_its_spans_are_deleted_changes_nothing(
    resources: Resources,
    recorder: Recorder,
    ada: Caller,
    database_url: str,
) -> None:
    first = await report(recorder, ROOT, FIRST)

    async with (
        await AsyncConnection.connect(database_url) as deleting,
        await AsyncConnection.connect(database_url, autocommit=True) as watcher,
        asyncio.TaskGroup() as tasks,
    ):

        async def is_waiting() -> bool:
            return (await watcher.execute(WAITING)).rowcount == 1

        await deleting.execute("DELETE FROM events.reported_trace")
        coming = tasks.create_task(report(recorder, ROOT, FIRST, SECOND))
        await until(is_waiting)
        await deleting.commit()

    assert coming.result().status == 200
    assert "X-Event-Position" not in coming.result().headers
    assert await used(ada, first) == [(1, 5)]


async def test_a_trace_to_which_spans_are_added_is_not_deleted(
    resources: Resources, recorder: Recorder, ada: Caller, database_url: str
) -> None:
    await report(recorder, ROOT, FIRST)
    await age(resources, AMENDED_FOR)

    async with await AsyncConnection.connect(database_url) as adding:
        # As a request does that adds spans.
        await adding.execute("UPDATE events.reported_trace SET touched_at = now()")
        while_it_adds = await delete_old_traces(resources.pool)
        await adding.commit()

    assert (while_it_adds, await delete_old_traces(resources.pool)) == (0, 0)
    last = await report(recorder, SECOND)
    assert await used(ada, last) == [(1, 12)]


async def test_a_trace_that_an_earlier_version_keeps_amends_its_turn(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    await report(recorder, ROOT, FIRST)
    async with resources.pool.connection() as db:
        await db.execute("UPDATE events.reported_trace SET kept_since = NULL")

    last = await report(recorder, SECOND)

    assert await used(ada, last) == [(1, 12)]


async def test_a_trace_that_names_several_sessions_is_not_recorded_twice(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    root = span(1, session__id="late")
    call = llm(2, 1, 5, 0, session__id="first")
    # The turn of a remote parent begins in the session of its first export.
    begun = span(3, 9, flags=0x300, session__id="first")
    first = await report(recorder, begun, call)
    last = await report(recorder, root)
    await delete_all(resources)

    again = await report(recorder, begun, call, root)

    assert (again.status, "X-Event-Position" in again.headers) == (200, False)
    assert await used(ada, last) == [(1, 5)]
    assert (await session(ada, "first", [first, last]))["num_traces"] == 1


async def test_other_sessions_are_not_read_for_a_turn_that_is_amended(
    resources: Resources,
    recorder: Recorder,
    ada: Caller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = ChatSession.create_id("other")
    await report(recorder, ROOT, llm(2, 1, 5, 0, session__id="other"))
    load = resources.log.load
    read = []

    async def loading(aggregate_id: UUID) -> LoggedAggregate | None:
        read.append(aggregate_id)
        return await load(aggregate_id)

    monkeypatch.setattr(resources.log, "load", loading)
    last = await report(recorder, SECOND)

    assert await used(ada, last) == [(1, 12)]
    assert ChatSession.create_id("chat") in read
    assert other not in read
