"""How PostgreSQL finds a page: along an index, touching little more than the page."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from projections.sessions.cursor import Cursor
from projections.sessions.queries import (
    PageRequest,
    PageRow,
    SessionRow,
    full_page_statement,
    page_parameters,
    page_statement,
    session_page,
)
from projections.sessions.turn_queries import session_statement
from tests.integration.sessions.projected import read_tables

pytestmark = pytest.mark.thorough

# Enough that reading all of them would be the dearer plan.
SESSIONS = 20_000
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMIT = 26
MANAGER, USER, STRANGER = UUID(int=1), UUID(int=1000 + 7), UUID(int=2)
AGENT = UUID(int=5)
MANAGED = 10
# One a minute, each as long as 20; 100 agents, 500 users, an error in each 50th.
FILL = """
    INSERT INTO session (
           id, session_id, agent_id, user_id, opened_at, opened_position,
           started_at, last_active_at, has_error, rendered)
    SELECT md5(n::text)::uuid, 'chat-' || n,
           lpad(to_hex(n %% 100), 32, '0')::uuid,
           lpad(to_hex(1000 + n %% 500), 32, '0')::uuid,
           at, n, at, at + interval '20 minutes', n %% 50 = 0, '{}'
      FROM generate_series(1, %(sessions)s) AS n
     CROSS JOIN LATERAL (
           SELECT %(noon)s::timestamptz - n * interval '1 minute' AS at) AS moment
"""
MANAGE = """
    INSERT INTO agent_manager (agent_id, user_id)
    SELECT lpad(to_hex(n), 32, '0')::uuid, %s FROM generate_series(0, %s) AS n
"""


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[AsyncConnection[Any]]:
    async with read_tables(database_url) as db:
        await db.execute(FILL, {"sessions": SESSIONS, "noon": NOON})
        await db.execute(MANAGE, [MANAGER, MANAGED - 1])
        await db.execute("ANALYZE session")
        yield db


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


async def explained(
    db: AsyncConnection[Any], asked: PageRequest, statement: bytes | None = None
) -> list[dict[str, Any]]:
    cursor = await db.execute(
        b"EXPLAIN (ANALYZE, FORMAT JSON) " + (statement or page_statement(asked)),
        page_parameters(asked),
        prepare=False,
    )
    row = await cursor.fetchone()
    assert row is not None
    return list(nodes(row[0][0]["Plan"]))


def expect_along(index: str, plan: list[dict[str, Any]], reach: int) -> None:
    """Expect that an index is used, no session read beside it, and few rows touched."""
    used = {node.get("Index Name") for node in plan if node["Actual Loops"]}
    assert index in used
    read_whole = [node for node in plan if node["Node Type"] == "Seq Scan"]
    assert "session" not in {node["Relation Name"] for node in read_whole}
    for node in plan:
        dropped = node.get("Rows Removed by Filter", 0)
        assert (node["Actual Rows"] + dropped) * node["Actual Loops"] <= reach


def asked(**words: Any) -> PageRequest:
    return PageRequest(
        **{
            "caller": MANAGER,
            "everything": True,
            "window_start": NOON - timedelta(days=7),
            "limit": LIMIT,
            **words,
        }
    )


def behind(ago: timedelta) -> Cursor:
    return Cursor(
        started_at=NOON - ago,
        id=UUID(int=0),
        position=SESSIONS,
        window_start=NOON - timedelta(days=7),
    )


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (asked(), "session_newest"),
        (asked(after=behind(timedelta(days=3))), "session_newest"),
        (asked(end_time=NOON - timedelta(days=3)), "session_newest"),
        (asked(has_error=False), "session_newest"),
        (asked(has_error=True), "session_with_error"),
        (asked(agent_id=AGENT), "session_of_agent"),
        (
            asked(agent_id=UUID(int=50), has_error=True),
            "session_of_agent_with_error",
        ),
        (asked(user_id=USER), "session_of_user"),
        (asked(session_id_prefix="chat-1234"), "session_id_prefix"),
        (asked(session_id_prefix="chat-"), "session_newest"),
        (asked(everything=False), "session_of_agent"),
        (asked(everything=False, caller=USER), "session_of_user"),
        (asked(everything=False, caller=STRANGER), "session_of_user"),
        # Nothing started since, but some were still under way.
        (asked(window_start=NOON + timedelta(minutes=5)), "session_activity"),
        (asked(window_start=NOON - timedelta(minutes=2)), "session_activity"),
        (
            asked(everything=False, window_start=NOON + timedelta(minutes=5)),
            "session_activity",
        ),
        # The last page of a cursor.
        (asked(after=behind(timedelta(days=7))), "session_activity"),
    ],
)
async def test_a_page_is_found_along_an_index(
    db: AsyncConnection[Any], question: PageRequest, index: str
) -> None:
    plan = await explained(db, question)

    # Each managed agent may have a page of its own; nothing else is read or sorted.
    reach = LIMIT * MANAGED if not question.everything else 5 * LIMIT
    expect_along(index, plan, reach)


async def test_the_rest_is_not_looked_for_when_the_page_is_full(
    db: AsyncConnection[Any],
) -> None:
    plan = await explained(db, asked())

    [rest] = [node for node in plan if node.get("Index Name") == "session_activity"]
    assert rest["Actual Loops"] == 0


@pytest.mark.parametrize(
    ("question", "index"),
    [
        (asked(), "session_newest"),
        (asked(limit=101), "session_newest"),
        (asked(after=behind(timedelta(days=3))), "session_newest"),
        (asked(end_time=NOON - timedelta(days=3)), "session_newest"),
        (asked(everything=False), "session_of_agent"),
        (asked(everything=False, caller=USER), "session_of_user"),
        (asked(everything=False, caller=STRANGER), "session_of_user"),
        (asked(window_start=NOON - timedelta(days=14)), "session_newest"),
        (asked(window_start=NOON + timedelta(minutes=5)), "session_newest"),
    ],
)
async def test_one_plan_for_all_finds_a_full_page_along_an_index(
    db: AsyncConnection[Any], question: PageRequest, index: str
) -> None:
    """As PostgreSQL plans it for values that it doesn't know."""
    await db.execute("SET plan_cache_mode = force_generic_plan")

    plan = await explained(db, question, full_page_statement(question))

    expect_along(index, plan, question.limit * (1 if question.everything else MANAGED))


@pytest.mark.parametrize("everything", [True, False])
async def test_a_full_page_needs_no_new_plan(
    db: AsyncConnection[Any], *, everything: bool
) -> None:
    question = asked(everything=everything)

    for _ in range(20):
        rows, _ = await session_page(db, question)
        assert len(rows) == LIMIT

    cursor = await db.execute(
        "SELECT generic_plans FROM pg_prepared_statements"
        " WHERE statement LIKE '%session_turn%'"
    )
    ((generic,),) = await cursor.fetchall()
    assert generic >= 10


async def test_a_page_has_the_columns_of_its_rows(db: AsyncConnection[Any]) -> None:
    asked = PageRequest(caller=MANAGER, everything=True, window_start=NOON, limit=1)
    for statement in (full_page_statement(asked), page_statement(asked)):
        cursor = await db.execute(statement, page_parameters(asked))
        assert [each.name for each in cursor.description or ()] == [
            each.name for each in fields(PageRow)
        ]


@pytest.mark.parametrize("tool_calls", [False, True])
async def test_a_session_has_the_columns_of_its_row(
    db: AsyncConnection[Any], *, tool_calls: bool
) -> None:
    asked = {"id": MANAGER, "caller": MANAGER, "everything": True}
    cursor = await db.execute(session_statement(tool_calls=tool_calls), asked)
    assert [each.name for each in cursor.description or ()] == [
        each.name for each in fields(SessionRow)
    ]
