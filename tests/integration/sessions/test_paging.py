"""Pages of the list: by offset and by cursor, each session once."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection

from projections.sessions.cursor import Cursor
from projections.sessions.projector import SessionsProjector
from projections.sessions.queries import PageRequest, PageRow, session_page
from tests.integration.sessions.projected import read_tables, recorded, session_events
from tests.support.callers import Callers
from tests.support.sessions.recording import LIST, LONG_AGO, Recorder

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POSITION_MAX = 2**60
NOBODY = UUID(int=0)
OF_DATABASE = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
# Few different starts, so that many sessions share one; some last long.
sessions = st.lists(
    st.tuples(st.integers(-5, 5), st.sampled_from([0, 1, 100])), max_size=25
)


async def fill(db: AsyncConnection[Any], sessions: Sequence[tuple[int, int]]) -> None:
    """Fill in sessions that start so many hours from noon and last so many."""
    for number, (start, hours) in enumerate(sessions):
        started_at = NOON + timedelta(hours=start)
        events = session_events(started_at, [], session_id=f"chat-{number}")
        await SessionsProjector().project(db, recorded(events, after=number))
        if hours:
            await db.execute(
                "UPDATE session SET last_active_at = started_at + %s WHERE id = %s",
                [timedelta(hours=hours), events[0].originator_id],
            )
    await db.execute(
        "INSERT INTO agent_manager SELECT agent_id, %s FROM session LIMIT 1", [NOBODY]
    )


def cursor_behind(row: PageRow) -> Cursor:
    return Cursor(
        started_at=row.started_at, id=row.id, position=POSITION_MAX, window_start=NOON
    )


@OF_DATABASE
@given(sessions=sessions, size=st.integers(1, 7), everything=st.booleans())
def test_both_ways_of_paging_show_each_session_of_the_window_once(
    database_url: str,
    *,
    sessions: list[tuple[int, int]],
    size: int,
    everything: bool,
) -> None:
    async def run() -> None:
        async with read_tables(database_url) as db:
            await fill(db, sessions)

            async def page(**words: Any) -> list[PageRow]:
                asked = PageRequest(
                    caller=NOBODY,
                    everything=everything,
                    window_start=NOON,
                    **{"limit": size, **words},
                )
                return (await session_page(db, asked))[0]

            whole = await page(limit=100)
            by_offset, by_cursor = [], []
            after = None
            for number in range(len(whole) // size + 1):
                by_offset += await page(offset=number * size)
                rows = await page(after=after)
                by_cursor += rows
                if rows:
                    after = cursor_behind(rows[-1])

            expected = [
                (NOON + timedelta(hours=start), f"chat-{number}")
                for number, (start, hours) in enumerate(sessions)
                if start + hours >= 0
            ]
            assert sorted((row.started_at, row.session_id) for row in whole) == sorted(
                expected
            )
            order = [(row.started_at, row.id) for row in whole]
            assert order == sorted(order, reverse=True)
            assert [row.id for row in by_offset] == [row.id for row in whole]
            assert [row.id for row in by_cursor] == [row.id for row in whole]

    asyncio.run(run())


async def test_newer_sessions_do_not_shift_the_pages_of_a_cursor(
    recorder: Recorder,
) -> None:
    for number in range(5):
        await recorder.start(f"chat-{number}", number)
    first = await recorder.list("limit=2")
    cursor = first.data["pagination"]["end_cursor"]

    # One is newer than all, one would stand on the next page.
    await recorder.start("newer", 10)
    await recorder.start("reported late", 1.5)
    second = await recorder.list(f"limit=2&after={cursor}")
    third = await recorder.list(
        f"limit=2&after={second.data['pagination']['end_cursor']}"
    )

    pages = [first, second, third]
    assert [[row["session_id"] for row in page.data["sessions"]] for page in pages] == [
        ["chat-4", "chat-3"],
        ["chat-2", "chat-1"],
        ["chat-0"],
    ]
    assert [page.data["pagination"]["has_next_page"] for page in pages] == [
        True,
        True,
        False,
    ]


async def test_later_pages_are_whole_while_another_follower_has_stopped(
    recorder: Recorder, callers: Callers, database_url: str
) -> None:
    auditor = await callers.user("olga", "auditor")
    for number in range(5):
        await recorder.start(f"chat-{number}", number)
    await recorder.list()
    async with await AsyncConnection.connect(database_url, autocommit=True) as owner:
        await owner.execute(
            "UPDATE read.position SET position = 1, definition = 'of a newer version'"
            " WHERE follower = 'gateway'"
        )

    first = await auditor.get(f"{LIST}?start_time={LONG_AGO}&limit=2")
    cursor = first.data["pagination"]["end_cursor"]
    second = await auditor.get(f"{LIST}?limit=2&after={cursor}")

    assert first.position == 1
    assert [
        [row["session_id"] for row in page.data["sessions"]] for page in (first, second)
    ] == [["chat-4", "chat-3"], ["chat-2", "chat-1"]]


async def test_a_cursor_keeps_the_window_of_its_first_page(recorder: Recorder) -> None:
    for number in range(3):
        await recorder.start(f"chat-{number}", number)
    first = await recorder.list("start_time=2026-03-01T12:00:01Z&limit=1")

    cursor = first.data["pagination"]["end_cursor"]
    second = await recorder.caller.get(
        f"/api/observability/session/list?after={cursor}"
    )

    assert [row["session_id"] for row in second.data["sessions"]] == ["chat-1"]
