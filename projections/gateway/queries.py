"""Queries of tool calls and approvals."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.database import Db, Pool
from service.gateway.approvals.resource import ApprovalResource
from service.tool_rules.call_history import RecordedCalls
from service.tool_rules.decision import STANCES

# A call that was admitted and isn't finished after so long was cut off.
CUT_OFF_AFTER = "interval '10 minutes'"

SEEN = """
       (%(everything)s
            OR c.user_id = %(caller)s
            OR c.agent_id IN (SELECT agent_id FROM read.agent_manager
                               WHERE user_id = %(caller)s)
            OR c.connector_id IN (SELECT id FROM read.connector
                                   WHERE owner_id = %(caller)s))
"""
OUTCOME = f"""
           CASE WHEN c.decision = 'admitted' THEN
                coalesce(c.outcome, CASE WHEN c.at < now() - {CUT_OFF_AFTER}
                                         THEN 'unknown' ELSE 'running' END)
           END"""
CALL_COLUMNS = f"""
    SELECT c.id, c.sort_key, c.position, c.at, c.agent_id, c.token_id, c.user_id,
           c.connector_id, c.tool, c.asked_for, c.decision, c.reason, c.times,
           c.record_mode, c.stance, c.rule, c.definition, c.approval_id, c.session_id,
           c.trace_id, {OUTCOME} AS outcome,
           c.duration_ms, c.upstream_ms, c.request_bytes, c.answer_bytes
      FROM read.tool_call c
"""  # noqa: S608 # constants
CALLS = f"""
    {CALL_COLUMNS}
     WHERE {SEEN}
       AND (%(after)s::bigint IS NULL OR c.sort_key < %(after)s)
       AND (%(agent_id)s::uuid IS NULL OR c.agent_id = %(agent_id)s)
       AND (%(connector_id)s::uuid IS NULL OR c.connector_id = %(connector_id)s)
       AND (%(user_id)s::uuid IS NULL OR c.user_id = %(user_id)s)
       AND (%(tool)s::text IS NULL OR c.tool = %(tool)s)
       AND (%(decision)s::text IS NULL OR c.decision = %(decision)s)
       AND (%(outcome)s::text IS NULL OR {OUTCOME} = %(outcome)s)
       AND (%(session_id)s::text IS NULL OR c.session_id = %(session_id)s)
       AND (%(trace_id)s::text IS NULL OR c.trace_id = %(trace_id)s)
       AND (%(start_time)s::timestamptz IS NULL OR c.at >= %(start_time)s)
       AND (%(end_time)s::timestamptz IS NULL OR c.at < %(end_time)s)
     ORDER BY c.sort_key DESC
     LIMIT %(limit)s
"""  # constants
CALL = f"{CALL_COLUMNS} WHERE {SEEN} AND c.id = %(id)s"  # constants
APPROVALS = f"""
    SELECT c.id, c.sort_key, c.agent_id, c.token_id, c.user_id, c.connector_id, c.tool,
           c.definition,
           CASE WHEN c.state IN ('pending', 'approved') AND c.expires_at <= %(at)s
                THEN 'expired' ELSE c.state END AS state,
           c.requested_at, c.expires_at, c.decided_by, c.decided_at, c.reason,
           c.call_id, c.version
      FROM read.approval c
     WHERE {SEEN}
       AND (%(after)s::bigint IS NULL OR c.sort_key < %(after)s)
       AND (%(agent_id)s::uuid IS NULL OR c.agent_id = %(agent_id)s)
       AND (%(connector_id)s::uuid IS NULL OR c.connector_id = %(connector_id)s)
       AND (%(state)s::text IS NULL
            OR CASE WHEN c.state IN ('pending', 'approved') AND c.expires_at <= %(at)s
                    THEN 'expired' ELSE c.state END = %(state)s)
     ORDER BY c.sort_key DESC
     LIMIT %(limit)s
"""  # noqa: S608 # constants
RECORDED = """
    SELECT connector_id, tool, decided, sum(times)::bigint AS calls,
           max(at) AS last_at
      FROM (SELECT connector_id, tool, times, at,
                   CASE WHEN decision = 'admitted' THEN stance
                        WHEN reason IN ('denied', 'definition_changed') THEN 'deny'
                        WHEN reason LIKE 'approval_%%' THEN 'ask'
                   END AS decided
              FROM read.tool_call
             WHERE agent_id = %(agent_id)s AND at >= %(since)s
               AND connector_id = ANY (%(connector_ids)s)) AS c
     WHERE tool IS NOT NULL AND decided IS NOT NULL
     GROUP BY connector_id, tool, decided
     ORDER BY calls DESC, connector_id, tool, decided
     LIMIT %(limit)s
"""
OVERDUE = """
    SELECT DISTINCT agent_id FROM read.approval
     WHERE state IN ('pending', 'approved') AND expires_at <= %s
     LIMIT 1000
"""

Outcome = Literal[
    "ok",
    "tool_error",
    "upstream_error",
    "timeout",
    "cancelled",
    "too_large",
    "not_sent",
    "running",
    "unknown",
]


class ToolCallResource(TypedDict):
    """A call, or refused calls of the same kind (``times``).

    ``outcome`` is ``running`` until the end is recorded, and ``unknown`` if it isn't
    after ten minutes; null for a refusal, whose ``reason`` says why. ``asked_for`` is
    the name that the agent gave for an unknown ``tool``, if a tool could have it.
    ``rule`` is the pattern that decided.
    """

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID | None
    tool: str | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: Literal["strict", "batched"]
    stance: str | None
    rule: str | None
    definition: str | None
    approval_id: UUID | None
    session_id: str | None
    trace_id: str | None
    outcome: Outcome | None
    duration_ms: int | None
    upstream_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None


class PlacedCall(ToolCallResource):
    sort_key: int


class ListedApproval(ApprovalResource):
    """An approval as of the last time that it was asked for.

    ``decided_at`` is when a person approved, refused or withdrew it last.
    """

    decided_at: datetime | None
    call_id: UUID | None


class PlacedApproval(ListedApproval):
    sort_key: int


async def calls_seen(
    db: Db, *, caller: UUID, everything: bool, limit: int, **filters: Any
) -> list[PlacedCall]:
    """Return calls that a user may see, latest first; null filters don't count."""
    given = {"caller": caller, "everything": everything, "limit": limit, **filters}
    return await _rows(db, CALLS, given)


async def call_seen(
    db: Db, call_id: UUID, *, caller: UUID, everything: bool
) -> PlacedCall | None:
    """Return a call that a user may see; None for another, and for none."""
    given = {"caller": caller, "everything": everything, "id": call_id}
    found: list[PlacedCall] = await _rows(db, CALL, given)
    return found[0] if found else None


async def approvals_seen(
    db: Db, *, caller: UUID, everything: bool, at: datetime, limit: int, **filters: Any
) -> list[PlacedApproval]:
    """Return approvals that a user may see, as they are at a time, latest first.

    The time is by the same clock as decisions on them, which isn't the database's.
    """
    given = {"caller": caller, "everything": everything, "at": at, "limit": limit}
    return await _rows(db, APPROVALS, {**given, **filters})


async def overdue_approvals(pool: Pool, at: datetime) -> list[UUID]:
    """Return agents with approvals whose expiry isn't on record yet."""
    async with pool.connection() as db:
        cursor = await db.execute(OVERDUE, [at])
        return [row[0] for row in await cursor.fetchall()]


async def _rows(
    db: Db, statement: LiteralString, given: Mapping[str, Any]
) -> list[Any]:
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement, given)
        return await cursor.fetchall()


async def recorded_calls(
    db: Db,
    *,
    agent_id: UUID,
    connector_ids: Collection[UUID],
    since: datetime,
    limit: int,
) -> list[RecordedCalls]:
    """Return an agent's calls since a time by tool and decision, most frequent first.

    Without those that no rule decided, such as of unknown tools.
    """
    cursor = await db.execute(
        RECORDED,
        {
            "agent_id": agent_id,
            "connector_ids": list(connector_ids),
            "since": since,
            "limit": limit,
        },
    )
    return [
        RecordedCalls(
            connector_id=connector_id,
            tool=tool,
            decided=STANCES[decided],
            calls=calls,
            last_at=last_at,
        )
        for connector_id, tool, decided, calls, last_at in await cursor.fetchall()
    ]
