"""Queries for usage."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal, LiteralString
from uuid import UUID

from psycopg.rows import class_row
from psycopg.sql import SQL, Composed, Identifier
from typing_extensions import TypedDict

from service.database import Db
from service.sessions.cost import UnpricedReason

# The followers whose tables the query reads.
FOLLOWERS = ("usage", "agents")

Group = Literal[
    "day", "agent", "user", "provider", "model", "priced_as", "pricing_rule"
]
COLUMNS: Final[dict[Group, LiteralString]] = {
    "day": "day",
    "agent": "agent_id",
    "user": "user_id",
    "provider": "provider",
    "model": "model",
    "priced_as": "priced_as",
    "pricing_rule": "pricing_rule",
}
TURN_COUNTS = (
    "turns",
    "turns_with_error",
    "turns_without_price",
    "turns_without_usage",
    "uses_without_usage",
)
TOKENS = (
    "prompt_tokens",
    "completion_tokens",
    "cache_read_tokens",
    "cache_creation_tokens",
)
# Sums of tokens may exceed a bigint.
SUMS = SQL(", ").join(
    SQL("sum({name})::{kind} AS {name}").format(name=Identifier(name), kind=SQL(kind))
    for names, kind in ((TURN_COUNTS, "bigint"), (TOKENS, "numeric"))
    for name in names
)
# Costs are summed by currency; a group with several currencies has no single cost.
USAGE = SQL("""
    WITH visible AS (
         SELECT u.*
           FROM read.usage_of_day u
          WHERE u.day BETWEEN %(from_day)s AND %(until_day)s
            -- Amending a turn may leave rows with zeros.
            AND (u.turns, u.model_uses, coalesce(u.prompt_tokens, 0),
                 coalesce(u.completion_tokens, 0)) <> (0, 0, 0, 0)
            AND (%(agent_id)s::uuid IS NULL OR u.agent_id = %(agent_id)s)
            AND (%(user_id)s::uuid IS NULL OR u.user_id = %(user_id)s)
            AND (%(provider)s::text IS NULL OR u.provider = %(provider)s)
            AND (%(model)s::text IS NULL OR u.model = %(model)s)
            AND (%(everything)s OR u.user_id = %(caller)s OR u.agent_id IN (
                 SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s))
    ), of_currency AS (
         SELECT {columns}, currency, unpriced,
                {sums},
                sum(model_uses)::bigint AS model_uses,
                sum(reported_cost) AS reported_cost, sum(difference) AS difference,
                trim_scale(sum(cost)) AS cost
           FROM visible
          GROUP BY {columns}, currency, unpriced
    )
    SELECT {named},
           {sums},
           trim_scale(sum(reported_cost)) AS reported_cost,
           trim_scale(sum(difference)) AS difference,
           coalesce(json_object_agg(unpriced, model_uses ORDER BY unpriced)
               FILTER (WHERE unpriced IS NOT NULL), '{{}}') AS unpriced,
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
    """Sums of a group; columns that it isn't grouped by are None."""

    day: date | None
    agent_id: UUID | None
    user_id: UUID | None
    provider: str | None
    model: str | None
    priced_as: str | None
    pricing_rule: str | None
    turns: int
    turns_with_error: int
    turns_without_price: int
    turns_without_usage: int
    uses_without_usage: int
    prompt_tokens: Decimal | None
    completion_tokens: Decimal | None
    cache_read_tokens: Decimal | None
    cache_creation_tokens: Decimal | None
    reported_cost: Decimal | None
    difference: Decimal | None
    unpriced: dict[UnpricedReason, int]
    currencies: list[str]
    costs: list[Decimal]


async def usage_by(
    db: Db, groups: Sequence[Group], wanted: Wanted
) -> list[UsageOfGroup]:
    """Return sums of usage, grouped and ordered by some columns."""
    async with db.cursor(row_factory=class_row(UsageOfGroup)) as cursor:
        await cursor.execute(_statement(groups), wanted)
        return await cursor.fetchall()


def _statement(groups: Sequence[Group]) -> Composed:
    grouped = [SQL(COLUMNS[group]) for group in groups]
    named = [
        SQL(column) if group in groups else SQL("NULL AS ") + SQL(column)
        for group, column in COLUMNS.items()
    ]
    return USAGE.format(
        columns=SQL(", ").join(grouped), named=SQL(", ").join(named), sums=SUMS
    )
