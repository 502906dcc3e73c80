"""The recorded turns of a period, to reprice them."""

from typing import Any, Final
from uuid import UUID

import orjson
from aiohttp import web
from psycopg.rows import dict_row

from projections.engine.snapshot import reading
from service.pacing import Pace
from service.sessions.recorded_calls import RecordedTurn
from service.sessions.repricing_page import (
    PAGE_CALLS,
    PAGE_TURNS,
    SessionTurns,
    TurnFilter,
    TurnPage,
    TurnPosition,
)

ROWS_AT_ONCE: Final = 20
USED: Final = (
    "provider",
    "model",
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
    "currency",
    "price_id",
    "priced_as",
    "pricing_rule",
    "unpriced",
    "contract_id",
    "list_currency",
)
TURNS: Final = """
    SELECT t.session, s.version AS session_version, s.agent_id, t.version, t.turn_id,
           t.started_at, t.ended_at, t.is_error, t.spans, t.shares, t.calls,
           t.provider, t.model, t.prompt_tokens, t.completion_tokens,
           t.cache_read_tokens, t.cache_creation_tokens, t.cost, t.currency,
           t.price_id, t.priced_as, t.pricing_rule, t.unpriced, t.contract_id,
           t.list_cost, t.list_currency, t.reported_cost,
           t.estimated
      FROM read.session_turn t
      JOIN read.session s ON s.id = t.session
     WHERE t.started_at >= %(from_time)s AND t.started_at < %(until_time)s
       AND (%(agent_id)s::uuid IS NULL OR s.agent_id = %(agent_id)s)
       AND (%(provider)s::text IS NULL OR t.provider = %(provider)s
            OR t.shares::jsonb @> %(share_of_provider)s::jsonb)
       AND (%(model)s::text IS NULL OR t.model = %(model)s
            OR t.shares::jsonb @> %(share_of_model)s::jsonb)
       AND (%(after_start)s::timestamptz IS NULL
            OR (t.started_at, t.session, t.version)
             > (%(after_start)s, %(after_session)s::uuid, %(after_version)s::bigint))
     ORDER BY t.started_at, t.session, t.version
     LIMIT %(limit)s
"""


async def recorded_turns(request: web.Request, wanted: TurnFilter) -> TurnPage:
    """Return the first turns of a period, with the versions of their sessions.

    :raises UnavailableError: the read tables haven't been built yet
    """
    after = wanted.after
    sessions: dict[UUID, SessionTurns] = {}
    turns = calls = 0
    last: TurnPosition | None = None
    pace = Pace()
    async with (
        reading(request, "sessions") as snapshot,
        # On the server: the model calls of a whole page could be large.
        snapshot.db.cursor("recorded_turns", row_factory=dict_row) as cursor,
    ):
        cursor.itersize = ROWS_AT_ONCE
        await cursor.execute(
            TURNS,
            {
                "from_time": wanted.from_time,
                "until_time": wanted.until_time,
                "agent_id": wanted.agent_id,
                "provider": wanted.provider,
                "model": wanted.model,
                "share_of_provider": _share(provider=wanted.provider),
                "share_of_model": _share(model=wanted.model),
                "after_start": after and after.started_at,
                "after_session": after and after.session,
                "after_version": after and after.version,
                "limit": PAGE_TURNS + 1,
            },
        )
        async for row in cursor:
            if turns == PAGE_TURNS or calls >= PAGE_CALLS:
                return TurnPage(list(sessions.values()), last)
            turn = await _recorded(row, pace)
            turns += 1
            calls += len(turn.calls or ())
            last = TurnPosition(
                started_at=row["started_at"],
                session=row["session"],
                version=row["version"],
            )
            sessions.setdefault(
                row["session"],
                SessionTurns(
                    row["session"], row["session_version"], row["agent_id"], []
                ),
            ).turns.append(turn)
    return TurnPage(list(sessions.values()), None)


async def _recorded(row: dict[str, Any], pace: Pace) -> RecordedTurn:
    used: Any = {
        **{name: row[name] for name in USED},
        "cost": _text(row["cost"]),
        "list_cost": _text(row["list_cost"]),
        "reported_cost": _text(row["reported_cost"]),
        "estimated": row["estimated"].split(",") if row["estimated"] else [],
    }
    return RecordedTurn(
        turn_id=row["turn_id"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        is_error=row["is_error"],
        spans=row["spans"],
        used=used,
        shares=await _loaded(row["shares"], pace),
        calls=await _loaded(row["calls"], pace),
    )


async def _loaded(document: str | None, pace: Pace) -> Any:
    if not document:
        return None
    await pace.pause(len(document))
    return orjson.loads(document)


def _share(**names: str | None) -> str:
    return orjson.dumps([names]).decode()


def _text(amount: Any) -> str | None:
    return None if amount is None else format(amount, "f")
