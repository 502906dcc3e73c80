"""Writes to the usage read table."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from projections.rows import columns


@dataclass(slots=True, kw_only=True)
class UsageRow:
    """What was used in a day; counts and costs are None where none were told."""

    day: date
    agent_id: UUID
    user_id: UUID
    provider: str | None
    model: str | None
    currency: str | None
    turns: int = 0
    turns_with_error: int = 0
    turns_without_price: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cost: Decimal | None = None


ADD = """
    INSERT INTO usage_of_day AS known (
           day, agent_id, user_id, provider, model, currency,
           turns, turns_with_error, turns_without_price,
           prompt_tokens, completion_tokens, cache_read_tokens,
           cache_creation_tokens, cost)
    SELECT *
      FROM unnest(
           %(day)s::date[], %(agent_id)s::uuid[], %(user_id)s::uuid[],
           %(provider)s::text[], %(model)s::text[], %(currency)s::text[],
           %(turns)s::bigint[], %(turns_with_error)s::bigint[],
           %(turns_without_price)s::bigint[], %(prompt_tokens)s::bigint[],
           %(completion_tokens)s::bigint[], %(cache_read_tokens)s::bigint[],
           %(cache_creation_tokens)s::bigint[], %(cost)s::numeric[])
    ON CONFLICT (day, agent_id, user_id, provider, model, currency) DO UPDATE
       SET turns = known.turns + excluded.turns,
           turns_with_error = known.turns_with_error + excluded.turns_with_error,
           turns_without_price =
               known.turns_without_price + excluded.turns_without_price,
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
               known.cost + excluded.cost, known.cost, excluded.cost)
"""


async def add_usage(db: AsyncConnection[Any], rows: Iterable[UsageRow]) -> None:
    await db.execute(ADD, columns(rows))
