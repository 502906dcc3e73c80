"""Writes to the read table of model calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class CallRow:
    """A call that was admitted, or refused ones."""

    sort_key: int
    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    dialect: str
    asked_for: str | None
    decision: str
    session_id: str | None
    trace_id: str | None
    counts_only: bool | None = None
    reason: str | None = None
    times: int = 1
    record_mode: str = "strict"
    route: str | None = None
    tier: str | None = None
    preset_id: UUID | None = None
    preset_version: int | None = None
    connection_id: UUID | None = None
    model: str | None = None
    chosen_by: str | None = None


@dataclass(slots=True, kw_only=True)
class TargetRow:
    """Where a call was sent last."""

    id: UUID
    preset_id: UUID
    preset_version: int
    connection_id: UUID
    model: str


@dataclass(slots=True, kw_only=True)
class EndRow:
    id: UUID
    outcome: str
    status: int | None
    duration_ms: int
    first_byte_ms: int | None
    request_bytes: int
    answer_bytes: int
    attempts: str
    response_id: str | None
    usage: str | None


INSERT = """
    INSERT INTO model_call (
           sort_key, id, position, at, agent_id, token_id, user_id, dialect,
           asked_for, decision, session_id, trace_id, counts_only, reason, times,
           record_mode, route, tier, preset_id, preset_version, connection_id, model,
           chosen_by)
    SELECT *
      FROM unnest(
           %(sort_key)b::bigint[], %(id)b::uuid[], %(position)b::bigint[],
           %(at)b::timestamptz[], %(agent_id)b::uuid[], %(token_id)b::uuid[],
           %(user_id)b::uuid[], %(dialect)b::text[], %(asked_for)b::text[],
           %(decision)b::text[], %(session_id)b::text[], %(trace_id)b::text[],
           %(counts_only)b::boolean[], %(reason)b::text[], %(times)b::bigint[],
           %(record_mode)b::text[], %(route)b::text[], %(tier)b::text[],
           %(preset_id)b::uuid[], %(preset_version)b::bigint[],
           %(connection_id)b::uuid[], %(model)b::text[], %(chosen_by)b::text[])
"""
RETARGET = """
    UPDATE model_call c
       SET preset_id = t.preset_id, preset_version = t.preset_version,
           connection_id = t.connection_id, model = t.model
      FROM unnest(
           %(id)b::uuid[], %(preset_id)b::uuid[], %(preset_version)b::bigint[],
           %(connection_id)b::uuid[], %(model)b::text[])
           AS t (id, preset_id, preset_version, connection_id, model)
     WHERE c.id = t.id
"""
END = """
    UPDATE model_call c
       SET outcome = e.outcome, status = e.status, duration_ms = e.duration_ms,
           first_byte_ms = e.first_byte_ms, request_bytes = e.request_bytes,
           answer_bytes = e.answer_bytes, attempts = e.attempts,
           response_id = e.response_id, usage = e.usage
      FROM unnest(
           %(id)b::uuid[], %(outcome)b::text[], %(status)b::integer[],
           %(duration_ms)b::bigint[], %(first_byte_ms)b::bigint[],
           %(request_bytes)b::bigint[], %(answer_bytes)b::bigint[],
           %(attempts)b::text[], %(response_id)b::text[], %(usage)b::text[])
           AS e (id, outcome, status, duration_ms, first_byte_ms, request_bytes,
                 answer_bytes, attempts, response_id, usage)
     WHERE c.id = e.id
"""


async def insert_calls(db: Db, rows: Sequence[CallRow]) -> None:
    if rows:
        await db.execute(INSERT, columns(rows))


async def retarget_calls(db: Db, rows: Sequence[TargetRow]) -> None:
    """Say where calls were sent last; each once."""
    if rows:
        await db.execute(RETARGET, columns(rows))


async def end_calls(db: Db, rows: Sequence[EndRow]) -> None:
    if rows:
        await db.execute(END, columns(rows))
