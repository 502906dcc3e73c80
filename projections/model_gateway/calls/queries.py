"""Queries of model calls."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, LiteralString
from uuid import UUID

import orjson
from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.call_recording.modes import RecordMode
from service.database import Db
from service.model_gateway.calls.call_record import AttemptOutcome, ChosenBy
from service.model_gateway.dialects import Dialect
from service.sessions.cost import UnpricedReason

# A call that was admitted and isn't finished after so long was cut off: no preset waits
# longer, and the outcome is appended soon after.
CUT_OFF_AFTER = "interval '130 minutes'"

SEEN = """
       (%(everything)s
            OR c.user_id = %(caller)s
            OR c.agent_id IN (SELECT agent_id FROM read.agent_manager
                               WHERE user_id = %(caller)s)
            OR c.connection_id IN (SELECT id FROM read.model_connection
                                    WHERE owner_id = %(caller)s))
"""
OUTCOME = f"""
           CASE WHEN c.decision = 'admitted' THEN
                coalesce(c.outcome, CASE WHEN c.at < now() - {CUT_OFF_AFTER}
                                         THEN 'unknown' ELSE 'running' END)
           END"""
COLUMNS = f"""
    SELECT c.sort_key, c.id, c.position, c.at, c.agent_id, c.token_id, c.user_id,
           c.dialect, c.counts_only, c.asked_for, c.decision, c.reason, c.times,
           c.record_mode, c.route, c.tier, c.preset_id, c.preset_version,
           c.connection_id, c.model, c.chosen_by, c.session_id, c.trace_id,
           {OUTCOME} AS outcome, c.status, c.duration_ms, c.first_byte_ms,
           c.request_bytes, c.answer_bytes, c.attempts, c.response_id, c.usage
      FROM read.model_call c
"""  # noqa: S608 # constants
CALLS = f"""
    {COLUMNS}
     WHERE {SEEN}
       AND (%(after)s::bigint IS NULL OR c.sort_key < %(after)s)
       AND (%(agent_id)s::uuid IS NULL OR c.agent_id = %(agent_id)s)
       AND (%(connection_id)s::uuid IS NULL OR c.connection_id = %(connection_id)s)
       AND (%(preset_id)s::uuid IS NULL OR c.preset_id = %(preset_id)s)
       AND (%(user_id)s::uuid IS NULL OR c.user_id = %(user_id)s)
       AND (%(model)s::text IS NULL OR c.model = %(model)s OR c.asked_for = %(model)s)
       AND (%(decision)s::text IS NULL OR c.decision = %(decision)s)
       AND (%(outcome)s::text IS NULL OR {OUTCOME} = %(outcome)s)
       AND (%(session_id)s::text IS NULL OR c.session_id = %(session_id)s)
       AND (%(trace_id)s::text IS NULL OR c.trace_id = %(trace_id)s)
       AND (%(response_id)s::text IS NULL OR c.response_id = %(response_id)s)
       AND (%(start_time)s::timestamptz IS NULL OR c.at >= %(start_time)s)
       AND (%(end_time)s::timestamptz IS NULL OR c.at < %(end_time)s)
     ORDER BY c.sort_key DESC
     LIMIT %(limit)s
"""  # constants
CALL = f"{COLUMNS} WHERE {SEEN} AND c.id = %(id)s"  # constants

Outcome = Literal[
    "ok",
    "provider_error",
    "no_answer",
    "cut",
    "timeout",
    "cancelled",
    "stopped",
    "refused",
    "running",
    "unknown",
]
AMOUNTS = ("cost", "list_cost", "reported_cost")


class CallAttemptResource(TypedDict):
    """A target that was asked, or `suspended`: left alone.

    `status` is that of its answer, null without one.
    """

    connection_id: UUID
    model: str
    outcome: AttemptOutcome
    status: int | None
    duration_ms: int


class CallUsageResource(TypedDict):
    """What a call used, and its cost by the prices of its start; null is unknown.

    `model` is the one that the provider names, otherwise what it was asked for.
    `unpriced` says why there is no cost. `counts` are the provider's by unit, and
    `conditions` what else the price depends on. `estimated` names what the cost lacks,
    or what isn't told for certain: `attempts`, where an earlier target may have charged
    something, too.
    """

    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: UnpricedReason | None
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    reported_cost: Decimal | None
    estimated: list[str]
    counts: dict[str, int]
    conditions: dict[str, str]


class ModelCallResource(TypedDict):
    """A call, or refused calls of the same kind (`times`).

    `outcome` is `running` until the end is recorded, and `unknown` if it isn't after
    two hours; null for a refusal, whose `reason` is the error's code. `asked_for` is
    the name that the client sent, null for one that no model could have. `route` is the
    pattern of the routing that decided, `model` what the connection was asked for last,
    and `chosen_by` why the first target was the first. `usage` is null while a call
    runs, and for what costs nothing, such as a provider's error, or a count of tokens
    (`counts_only`).
    """

    id: UUID
    position: int
    at: datetime
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    dialect: Dialect
    counts_only: bool | None
    asked_for: str | None
    decision: Literal["admitted", "refused"]
    reason: str | None
    times: int
    record_mode: RecordMode
    route: str | None
    tier: str | None
    preset_id: UUID | None
    preset_version: int | None
    connection_id: UUID | None
    model: str | None
    chosen_by: ChosenBy | None
    session_id: str | None
    trace_id: str | None
    outcome: Outcome | None
    status: int | None
    duration_ms: int | None
    first_byte_ms: int | None
    request_bytes: int | None
    answer_bytes: int | None
    attempts: list[CallAttemptResource]
    response_id: str | None
    usage: CallUsageResource | None


class PlacedModelCall(ModelCallResource):
    sort_key: int


async def model_calls_seen(
    db: Db, *, caller: UUID, everything: bool, limit: int, **filters: Any
) -> list[PlacedModelCall]:
    """Return calls that a user may see, latest first; null filters don't count."""
    given = {"caller": caller, "everything": everything, "limit": limit, **filters}
    return await _rows(db, CALLS, given)


async def model_call_seen(
    db: Db, call_id: UUID, *, caller: UUID, everything: bool
) -> PlacedModelCall | None:
    """Return a call that a user may see; None for another, and for none."""
    given = {"caller": caller, "everything": everything, "id": call_id}
    found = await _rows(db, CALL, given)
    return found[0] if found else None


async def _rows(
    db: Db, statement: LiteralString, given: Mapping[str, Any]
) -> list[PlacedModelCall]:
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(statement, given)
        return [_call(row) for row in await cursor.fetchall()]


def _call(row: dict[str, Any]) -> PlacedModelCall:
    row["attempts"] = orjson.loads(row["attempts"] or "[]")
    usage = orjson.loads(row["usage"] or "null")
    if usage is not None:
        for name in AMOUNTS:
            usage[name] = None if usage[name] is None else Decimal(usage[name])
    row["usage"] = usage
    return row  # type: ignore[return-value] # its columns
