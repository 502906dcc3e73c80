"""Writes to the usage read table."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from projections.engine.arrays import columns
from service.database import Db


@dataclass(slots=True, kw_only=True)
class UsageRow:
    """The usage of a quarter of an hour; counts and costs are None if unreported."""

    quarter: datetime
    agent_id: UUID
    user_id: UUID
    provider: str | None
    model: str | None
    currency: str | None
    priced_as: str | None = None
    pricing_rule: str | None = None
    unpriced: str | None = None
    turns: int = 0
    turns_with_error: int = 0
    turns_without_price: int = 0
    turns_without_usage: int = 0
    model_uses: int = 0
    uses_without_usage: int = 0
    turns_with_differing_cost: int = 0
    uses_estimated: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cost: Decimal | None = None
    reported_cost: Decimal | None = None
    difference: Decimal | None = None
    estimated_cost: Decimal | None = None
    differing_cost: Decimal | None = None
    differing_reported_cost: Decimal | None = None


@dataclass(slots=True, kw_only=True)
class AmendableRow:
    """The parts added for a turn made from spans; more spans replace them."""

    session: UUID
    turn_id: str
    recorded_at: datetime
    parts: str


TurnKey = tuple[UUID, str]

ADD = """
    INSERT INTO usage_of_quarter AS known (
           quarter, agent_id, user_id, provider, model, currency,
           priced_as, pricing_rule, unpriced,
           turns, turns_with_error, turns_without_price, turns_without_usage,
           model_uses, uses_without_usage, turns_with_differing_cost, uses_estimated,
           prompt_tokens, completion_tokens, cache_read_tokens, cache_creation_tokens,
           cost, reported_cost, difference,
           estimated_cost, differing_cost, differing_reported_cost)
    SELECT *
      FROM unnest(
           %(quarter)b::timestamptz[], %(agent_id)b::uuid[], %(user_id)b::uuid[],
           %(provider)b::text[], %(model)b::text[], %(currency)b::text[],
           %(priced_as)b::text[], %(pricing_rule)b::text[], %(unpriced)b::text[],
           %(turns)b::bigint[], %(turns_with_error)b::bigint[],
           %(turns_without_price)b::bigint[], %(turns_without_usage)b::bigint[],
           %(model_uses)b::bigint[], %(uses_without_usage)b::bigint[],
           %(turns_with_differing_cost)b::bigint[], %(uses_estimated)b::bigint[],
           %(prompt_tokens)b::numeric[],
           %(completion_tokens)b::numeric[], %(cache_read_tokens)b::numeric[],
           %(cache_creation_tokens)b::numeric[], %(cost)b::numeric[],
           %(reported_cost)b::numeric[], %(difference)b::numeric[],
           %(estimated_cost)b::numeric[], %(differing_cost)b::numeric[],
           %(differing_reported_cost)b::numeric[])
    ON CONFLICT (quarter, agent_id, user_id, provider, model, currency,
                 priced_as, pricing_rule, unpriced) DO UPDATE
       SET turns = known.turns + excluded.turns,
           turns_with_error = known.turns_with_error + excluded.turns_with_error,
           turns_without_price =
               known.turns_without_price + excluded.turns_without_price,
           turns_without_usage =
               known.turns_without_usage + excluded.turns_without_usage,
           model_uses = known.model_uses + excluded.model_uses,
           uses_without_usage =
               known.uses_without_usage + excluded.uses_without_usage,
           turns_with_differing_cost =
               known.turns_with_differing_cost + excluded.turns_with_differing_cost,
           uses_estimated = known.uses_estimated + excluded.uses_estimated,
           prompt_tokens = coalesce(
               known.prompt_tokens + excluded.prompt_tokens,
               known.prompt_tokens, excluded.prompt_tokens),
           completion_tokens = coalesce(
               known.completion_tokens + excluded.completion_tokens,
               known.completion_tokens, excluded.completion_tokens),
           cache_read_tokens = coalesce(
               known.cache_read_tokens + excluded.cache_read_tokens,
               known.cache_read_tokens, excluded.cache_read_tokens),
           cache_creation_tokens = coalesce(
               known.cache_creation_tokens + excluded.cache_creation_tokens,
               known.cache_creation_tokens, excluded.cache_creation_tokens),
           cost = coalesce(
               known.cost + excluded.cost,
               known.cost, excluded.cost),
           reported_cost = coalesce(
               known.reported_cost + excluded.reported_cost,
               known.reported_cost, excluded.reported_cost),
           difference = coalesce(
               known.difference + excluded.difference,
               known.difference, excluded.difference),
           estimated_cost = coalesce(
               known.estimated_cost + excluded.estimated_cost,
               known.estimated_cost, excluded.estimated_cost),
           differing_cost = coalesce(
               known.differing_cost + excluded.differing_cost,
               known.differing_cost, excluded.differing_cost),
           differing_reported_cost = coalesce(
               known.differing_reported_cost + excluded.differing_reported_cost,
               known.differing_reported_cost, excluded.differing_reported_cost)
"""


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
