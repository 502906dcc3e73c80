"""Queries for one session and its turns."""

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Final
from uuid import UUID

from psycopg.rows import args_row, class_row
from psycopg.sql import SQL, Composed, Identifier

from projections.engine.rows import fetched_in_turns
from projections.sessions.page_statements import COLUMNS, texts_joined
from projections.sessions.queries import SessionRow
from projections.sessions.resource import ToolCallFigures
from projections.sessions.table import TurnRow
from service.database import Db

SESSION = SQL("""
    SELECT {columns}
      FROM read.session s
      {texts}
     WHERE s.id = %(id)s
       AND (%(everything)s OR s.user_id = %(caller)s OR EXISTS (
            SELECT FROM read.agent_manager m
             WHERE m.agent_id = s.agent_id AND m.user_id = %(caller)s))
""")
# With texts.
TURNS_AT_ONCE: Final = 5
# Only repricing needs them; they are as long as the turn has model calls.
LEFT_OUT: Final = ("shares", "calls")
TURNS = SQL("""
    SELECT {columns}
      FROM read.session_turn
     WHERE session = %(session)s
     ORDER BY started_at, turn_id
    OFFSET %(offset)s LIMIT %(limit)s
""").format(
    columns=SQL(", ").join(
        SQL("NULL AS {}" if field.name in LEFT_OUT else "{}").format(
            Identifier(field.name)
        )
        for field in fields(TurnRow)
    )
)
TOOL_CALLS = """
    SELECT trace_id, calls, errors
      FROM read.tool_call_count
     WHERE agent_id = %s AND session_id = %s AND trace_id = ANY (%s)
"""


@lru_cache(maxsize=2)
def session_statement(*, tool_calls: bool) -> Composed:
    return SESSION.format(columns=COLUMNS, texts=texts_joined(tool_calls=tool_calls))


async def visible_session(
    db: Db, session: UUID, *, caller: UUID, everything: bool, tool_calls: bool
) -> SessionRow | None:
    """Return a session, or None if there is none that the caller can see."""
    statement = session_statement(tool_calls=tool_calls)
    async with db.cursor(row_factory=args_row(SessionRow)) as cursor:
        await cursor.execute(
            statement, {"id": session, "caller": caller, "everything": everything}
        )
        return await cursor.fetchone()


async def session_turns(
    db: Db, session: UUID, *, offset: int, limit: int
) -> list[TurnRow]:
    """Return turns, ordered by their start."""
    async with db.cursor(row_factory=class_row(TurnRow)) as cursor:
        await cursor.execute(
            TURNS, {"session": session, "offset": offset, "limit": limit}
        )
        return await fetched_in_turns(cursor, TURNS_AT_ONCE)


async def turn_tool_calls(
    db: Db, row: SessionRow, turns: Sequence[TurnRow]
) -> dict[str | None, ToolCallFigures]:
    """Return the figures of turns that tools were called in, by trace id."""
    traces = [turn.trace_id for turn in turns if turn.trace_id]
    cursor = await db.execute(TOOL_CALLS, [row.agent_id, row.session_id, traces])
    return {
        trace_id: {"num_tool_calls": calls, "num_tool_calls_with_error": errors}
        for trace_id, calls, errors in await cursor.fetchall()
    }
