"""Questions about usage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal, LiteralString
from uuid import UUID

from psycopg.rows import class_row
from psycopg.sql import SQL, Composed
from typing_extensions import TypedDict

from service.database import Db

# Whose tables these questions read.
FOLLOWERS = ("usage", "agents")

Group = Literal["day", "agent", "user", "provider", "model"]
COLUMNS: Final[dict[Group, LiteralString]] = {
    "day": "day",
    "agent": "agent_id",
    "user": "user_id",
    "provider": "provider",
    "model": "model",
}
# Costs in one currency add up; a group in several has no single cost.
USAGE = SQL("""
    WITH visible AS (
         SELECT u.*
           FROM read.usage_of_day u
          WHERE u.day BETWEEN %(from_day)s AND %(until_day)s
            -- What a turn had added and was taken back leaves zeros.
            AND (u.turns, coalesce(u.prompt_tokens, 0),
                 coalesce(u.completion_tokens, 0)) <> (0, 0, 0)
            AND (%(agent_id)s::uuid IS NULL OR u.agent_id = %(agent_id)s)
            AND (%(user_id)s::uuid IS NULL OR u.user_id = %(user_id)s)
            AND (%(provider)s::text IS NULL OR u.provider = %(provider)s)
            AND (%(model)s::text IS NULL OR u.model = %(model)s)
            AND (%(everything)s OR u.user_id = %(caller)s OR u.agent_id IN (
                 SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s))
    ), of_currency AS (
         SELECT {columns}, currency,
                sum(turns)::bigint AS turns,
                sum(turns_with_error)::bigint AS turns_with_error,
                sum(turns_without_price)::bigint AS turns_without_price,
                sum(prompt_tokens)::bigint AS prompt_tokens,
                sum(completion_tokens)::bigint AS completion_tokens,
                sum(cache_read_tokens)::bigint AS cache_read_tokens,
                sum(cache_creation_tokens)::bigint AS cache_creation_tokens,
                trim_scale(sum(cost)) AS cost
           FROM visible
          GROUP BY {columns}, currency
    )
    SELECT {named},
           sum(turns)::bigint AS turns,
           sum(turns_with_error)::bigint AS turns_with_error,
           sum(turns_without_price)::bigint AS turns_without_price,
           sum(prompt_tokens)::bigint AS prompt_tokens,
           sum(completion_tokens)::bigint AS completion_tokens,
           sum(cache_read_tokens)::bigint AS cache_read_tokens,
           sum(cache_creation_tokens)::bigint AS cache_creation_tokens,
           coalesce(array_agg(currency ORDER BY currency)
               FILTER (WHERE currency IS NOT NULL), '{{}}') AS currencies,
           coalesce(array_agg(cost ORDER BY currency)
               FILTER (WHERE currency IS NOT NULL), '{{}}') AS costs
      FROM of_currency
     GROUP BY {columns}
     ORDER BY {columns}
    OFFSET %(offset)s LIMIT %(limit)s
""")


class Wanted(TypedDict):
    """Whose usage, of which days (both included), and which page of the groups."""

    caller: UUID
    everything: bool
    from_day: date
    until_day: date
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    offset: int
    limit: int


@dataclass(slots=True, kw_only=True)
class UsageOfGroup:
    """Sums of a group; what it isn't grouped by is None."""

    day: date | None
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    turns: int
    turns_with_error: int
    turns_without_price: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    currencies: list[str]
    costs: list[Decimal]


async def usage_by(
    db: Db, groups: Sequence[Group], wanted: Wanted
) -> list[UsageOfGroup]:
    """Sum up usage by some columns, ordered by them."""
    async with db.cursor(row_factory=class_row(UsageOfGroup)) as cursor:
        await cursor.execute(_statement(groups), wanted)
        return await cursor.fetchall()


def _statement(groups: Sequence[Group]) -> Composed:
    grouped = [SQL(COLUMNS[group]) for group in groups]
    named = [
        SQL(column) if group in groups else SQL("NULL AS ") + SQL(column)
        for group, column in COLUMNS.items()
    ]
    return USAGE.format(columns=SQL(", ").join(grouped), named=SQL(", ").join(named))
