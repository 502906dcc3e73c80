"""Writes to the usage read table."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from projections.engine.arrays import columns
from projections.usage.sums import COSTS, COUNTS, SUMS, Sums
from service.database import Db


@dataclass(slots=True, kw_only=True)
class UsageRow(Sums):
    """The usage of a quarter of an hour."""

    quarter: datetime
    agent_id: UUID
    user_id: UUID
    provider: str | None
    model: str | None
    currency: str | None
    priced_as: str | None = None
    pricing_rule: str | None = None
    unpriced: str | None = None
    cost: Decimal | None = None
    estimated_cost: Decimal | None = None


@dataclass(slots=True, kw_only=True)
class AmendableRow:
    """The parts added for a turn made from spans; more spans replace them."""

    session: UUID
    turn_id: str
    recorded_at: datetime
    parts: str


TurnKey = tuple[UUID, str]

_NAMES = [each.name for each in fields(UsageRow)]
_SUMS = (*SUMS, *COSTS)
_KEY = [name for name in _NAMES if name not in COUNTS and name not in _SUMS]
_TYPES = {
    **dict.fromkeys(_KEY, "text"),
    "quarter": "timestamptz",
    "agent_id": "uuid",
    "user_id": "uuid",
    **dict.fromkeys(COUNTS, "bigint"),
    **dict.fromkeys(_SUMS, "numeric"),
}
_ADDED = (
    *(f"{name} = known.{name} + excluded.{name}" for name in COUNTS),
    *(
        f"{name} = coalesce(known.{name} + excluded.{name}, known.{name}, "
        f"excluded.{name})"
        for name in _SUMS
    ),
)
ADD = f"""
    INSERT INTO usage_of_quarter AS known ({", ".join(_NAMES)})
    SELECT *
      FROM unnest({", ".join(f"%({name})b::{_TYPES[name]}[]" for name in _NAMES)})
    ON CONFLICT ({", ".join(_KEY)}) DO UPDATE
       SET {", ".join(_ADDED)}
"""  # noqa: S608 # of constants


AMENDABLE = """
    SELECT t.session, t.turn_id, t.parts
      FROM unnest(%(sessions)b::uuid[], %(turn_ids)b::text[])
           AS given (session, turn_id)
      JOIN usage_of_amendable_turn t USING (session, turn_id)
"""
KEEP_AMENDABLE = """
    INSERT INTO usage_of_amendable_turn (session, turn_id, recorded_at, parts)
    SELECT * FROM unnest(%(session)b::uuid[], %(turn_id)b::text[],
                         %(recorded_at)b::timestamptz[], %(parts)b::text[])
    ON CONFLICT (session, turn_id) DO UPDATE
       SET recorded_at = excluded.recorded_at, parts = excluded.parts
"""
REPRICE_AMENDABLE = """
    UPDATE usage_of_amendable_turn t
       SET parts = given.parts
      FROM unnest(%(sessions)b::uuid[], %(turn_ids)b::text[], %(parts)b::text[])
           AS given (session, turn_id, parts)
     WHERE t.session = given.session AND t.turn_id = given.turn_id
"""
# The oldest, by their index.
DELETE_AMENDABLE = """
    DELETE FROM usage_of_amendable_turn
     WHERE ctid = ANY (ARRAY(SELECT ctid
                               FROM usage_of_amendable_turn
                              WHERE recorded_at < %(before)s
                              ORDER BY recorded_at
                              LIMIT %(limit)s))
"""
# More than a batch adds; a busy hour before an idle one takes several batches.
DELETED_MAX = 10_000


async def amendable_turns(db: Db, turns: Collection[TurnKey]) -> dict[TurnKey, str]:
    """Return the parts of some turns, as passed to :func:`keep_amendable`."""
    sessions, turn_ids = zip(*turns, strict=True)
    cursor = await db.execute(
        AMENDABLE, {"sessions": list(sessions), "turn_ids": list(turn_ids)}
    )
    return {
        (session, turn_id): parts for session, turn_id, parts in await cursor.fetchall()
    }


async def keep_amendable(db: Db, rows: Iterable[AmendableRow]) -> None:
    await db.execute(KEEP_AMENDABLE, columns(rows))


async def reprice_amendable(db: Db, parts: Mapping[TurnKey, str]) -> None:
    """Replace the parts of those turns that are kept."""
    sessions, turn_ids = zip(*parts, strict=True)
    await db.execute(
        REPRICE_AMENDABLE,
        {
            "sessions": list(sessions),
            "turn_ids": list(turn_ids),
            "parts": list(parts.values()),
        },
    )


async def delete_amendable(db: Db, *, before: datetime) -> None:
    """Delete up to ``DELETED_MAX`` turns that were recorded before a time."""
    await db.execute(DELETE_AMENDABLE, {"before": before, "limit": DELETED_MAX})


DELETE_EMPTY = """
    DELETE FROM usage_of_quarter
     WHERE quarter = ANY (%(quarters)s) AND agent_id = ANY (%(agents)s)
       AND turns = 0 AND model_uses = 0
"""


async def delete_empty(db: Db, rows: Collection[UsageRow]) -> None:
    """Delete rows that nothing is left in, in the quarters of some rows."""
    await db.execute(
        DELETE_EMPTY,
        {
            "quarters": list({row.quarter for row in rows}),
            "agents": list({row.agent_id for row in rows}),
        },
    )


async def add_usage(db: Db, rows: Iterable[UsageRow]) -> None:
    await db.execute(ADD, columns(rows))
