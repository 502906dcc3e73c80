"""Writes to the read tables of tool calls and approvals."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class CallRow:
    sort_key: int
    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    decision: str
    asked_for: str | None = None
    reason: str | None = None
    times: int = 1
    record_mode: str = "strict"
    stance: str | None = None
    rule: str | None = None
    definition: str | None = None
    approval_id: UUID | None = None
    session_id: str | None = None
    trace_id: str | None = None


@dataclass(slots=True, kw_only=True)
class EndRow:
    id: UUID
    outcome: str
    duration_ms: int
    upstream_ms: int | None
    request_bytes: int
    answer_bytes: int


@dataclass(slots=True, kw_only=True)
class CountRow:
    agent_id: UUID
    session_id: str
    trace_id: str
    calls: int = 0
    errors: int = 0


@dataclass(slots=True, kw_only=True)
class ApprovalRow:
    sort_key: int
    id: UUID
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID
    tool: str
    definition: str
    state: str
    requested_at: datetime
    expires_at: datetime
    decided_by: UUID | None = None
    decided_at: datetime | None = None
    reason: str | None = None
    call_id: UUID | None = None
    version: int


INSERT_CALLS = """
    INSERT INTO tool_call (
           sort_key, id, position, at, agent_id, token_id, user_id, connector_id, tool,
           asked_for, decision, reason, times, record_mode, stance, rule, definition,
           approval_id, session_id, trace_id)
    SELECT *
      FROM unnest(
           %(sort_key)b::bigint[], %(id)b::uuid[], %(position)b::bigint[],
           %(at)b::timestamptz[], %(agent_id)b::uuid[], %(token_id)b::uuid[],
           %(user_id)b::uuid[], %(connector_id)b::uuid[], %(tool)b::text[],
           %(asked_for)b::text[], %(decision)b::text[], %(reason)b::text[],
           %(times)b::bigint[], %(record_mode)b::text[], %(stance)b::text[],
           %(rule)b::text[], %(definition)b::text[], %(approval_id)b::uuid[],
           %(session_id)b::text[], %(trace_id)b::text[])
"""
END_CALLS = """
    UPDATE tool_call c
       SET outcome = e.outcome,
           duration_ms = e.duration_ms,
           upstream_ms = e.upstream_ms,
           request_bytes = e.request_bytes,
           answer_bytes = e.answer_bytes
      FROM unnest(
           %(id)b::uuid[], %(outcome)b::text[], %(duration_ms)b::bigint[],
           %(upstream_ms)b::bigint[], %(request_bytes)b::bigint[],
           %(answer_bytes)b::bigint[])
           AS e (id, outcome, duration_ms, upstream_ms, request_bytes, answer_bytes)
     WHERE c.id = e.id
 RETURNING c.agent_id, c.session_id, c.trace_id, c.outcome
"""
COUNT_CALLS = """
    INSERT INTO tool_call_count AS c (agent_id, session_id, trace_id, calls, errors)
    SELECT agent_id, session_id, trace_id, sum(calls), sum(errors)
      FROM unnest(
           %(agent_id)b::uuid[], %(session_id)b::text[], %(trace_id)b::text[],
           %(calls)b::bigint[], %(errors)b::bigint[])
           AS n (agent_id, session_id, trace_id, calls, errors)
     GROUP BY agent_id, session_id, trace_id
    ON CONFLICT (agent_id, session_id, trace_id) DO UPDATE
       SET calls = c.calls + excluded.calls,
           errors = c.errors + excluded.errors
"""
NOT_AN_ERROR = frozenset({"ok", "cancelled"})
LATEST_APPROVALS = """
    SELECT DISTINCT ON (agent_id, id)
           sort_key, id, agent_id, token_id, user_id, connector_id, tool, definition,
           state, requested_at, expires_at, decided_by, decided_at, reason, call_id,
           version
      FROM approval
     WHERE id = ANY (%s)
     ORDER BY agent_id, id, sort_key DESC
"""
UPSERT_APPROVALS = """
    INSERT INTO approval (
           sort_key, id, agent_id, token_id, user_id, connector_id, tool, definition,
           state, requested_at, expires_at, decided_by, decided_at, reason, call_id,
           version)
    SELECT *
      FROM unnest(
           %(sort_key)b::bigint[], %(id)b::uuid[], %(agent_id)b::uuid[],
           %(token_id)b::uuid[], %(user_id)b::uuid[], %(connector_id)b::uuid[],
           %(tool)b::text[], %(definition)b::text[], %(state)b::text[],
           %(requested_at)b::timestamptz[], %(expires_at)b::timestamptz[],
           %(decided_by)b::uuid[], %(decided_at)b::timestamptz[], %(reason)b::text[],
           %(call_id)b::uuid[], %(version)b::bigint[])
    ON CONFLICT (sort_key) DO UPDATE
       SET state = excluded.state,
           expires_at = excluded.expires_at,
           decided_by = excluded.decided_by,
           decided_at = excluded.decided_at,
           reason = excluded.reason,
           call_id = excluded.call_id,
           version = excluded.version
"""


async def insert_calls(db: Db, rows: Sequence[CallRow]) -> None:
    if rows:
        await db.execute(INSERT_CALLS, columns(rows))
    await _count(
        db,
        [
            count
            for row in rows
            if row.session_id is not None
            for count in _counts(
                row.agent_id,
                row.session_id,
                row.trace_id,
                calls=row.times,
                errors=row.times if row.decision == "refused" else 0,
            )
        ],
    )


async def end_calls(db: Db, rows: Sequence[EndRow]) -> None:
    if not rows:
        return
    cursor = await db.execute(END_CALLS, columns(rows))
    await _count(
        db,
        [
            count
            for agent_id, session_id, trace_id, outcome in await cursor.fetchall()
            if session_id is not None and outcome not in NOT_AN_ERROR
            for count in _counts(agent_id, session_id, trace_id, errors=1)
        ],
    )


def _counts(
    agent_id: UUID, session_id: str, trace_id: str | None, **figures: int
) -> Iterator[CountRow]:
    for each in ("", trace_id) if trace_id else ("",):
        yield CountRow(
            agent_id=agent_id, session_id=session_id, trace_id=each, **figures
        )


async def _count(db: Db, rows: Sequence[CountRow]) -> None:
    if rows:
        await db.execute(COUNT_CALLS, columns(rows))


async def latest_approvals(
    db: Db, ids: Collection[UUID]
) -> dict[tuple[UUID, UUID], ApprovalRow]:
    """Return the last time that each was asked for, by agent and id."""
    async with db.cursor(row_factory=class_row(ApprovalRow)) as cursor:
        await cursor.execute(LATEST_APPROVALS, [list(ids)])
        return {(row.agent_id, row.id): row for row in await cursor.fetchall()}


async def upsert_approvals(db: Db, rows: Collection[ApprovalRow]) -> None:
    if rows:
        await db.execute(UPSERT_APPROVALS, columns(rows))
