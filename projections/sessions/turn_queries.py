"""Questions about one session and its turns."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import args_row, class_row
from psycopg.sql import SQL

from projections.sessions.page_statements import COLUMNS, TEXTS
from projections.sessions.queries import SessionRow
from service.database import Db

SESSION = SQL("""
    SELECT {columns}
      FROM read.session s
      {texts}
     WHERE s.id = %(id)s
       AND (%(everything)s OR s.user_id = %(caller)s OR EXISTS (
            SELECT FROM read.agent_manager m
             WHERE m.agent_id = s.agent_id AND m.user_id = %(caller)s))
""").format(columns=COLUMNS, texts=TEXTS)
TURNS = """
    SELECT version, turn_id, trace_id, started_at, ended_at, latency_us,
           provider, model, prompt_tokens, completion_tokens, cache_read_tokens,
           cache_creation_tokens, cost, currency, price_id, is_error,
           input_truncated, output_truncated,
           sealed_error, sealed_input, sealed_output
      FROM read.session_turn
     WHERE session = %(session)s
     ORDER BY started_at, turn_id
    OFFSET %(offset)s LIMIT %(limit)s
"""


@dataclass(slots=True, kw_only=True)
class TurnRow:
    """A turn; its texts are sealed."""

    version: int
    turn_id: str
    trace_id: str | None
    started_at: datetime
    ended_at: datetime
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    sealed_error: str | None
    sealed_input: str | None
    sealed_output: str | None


async def visible_session(
    db: Db, session: UUID, *, caller: UUID, everything: bool
) -> SessionRow | None:
    """Return a session, if there is one and the caller can see it."""
    async with db.cursor(row_factory=args_row(SessionRow)) as cursor:
        await cursor.execute(
            SESSION, {"id": session, "caller": caller, "everything": everything}
        )
        return await cursor.fetchone()


async def session_turns(
    db: Db, session: UUID, *, offset: int, limit: int
) -> list[TurnRow]:
    """Return turns from the earliest start on."""
    async with db.cursor(row_factory=class_row(TurnRow)) as cursor:
        await cursor.execute(
            TURNS, {"session": session, "offset": offset, "limit": limit}
        )
        return await cursor.fetchall()
