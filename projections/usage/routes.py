"""Usage over HTTP."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Self, get_args
from uuid import UUID

from aiohttp import web
from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import TypedDict

from projections.engine.snapshot import reading
from projections.usage.queries import FOLLOWERS, Group, UsageOfGroup, usage_by
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel
from service.sessions.cost import UnpricedReason
from service.sessions.ids import ClientId

routes = Routes("usage")

PAGE_SIZE_DEFAULT = 100
PAGE_SIZE_MAX = 1000
OFFSET_MAX = 10**9
DAYS_DEFAULT = 30
GROUPS: tuple[Group, ...] = get_args(Group)


def _groups(text: str) -> list[Group]:
    names = set(text.split(","))
    if not names.issubset(GROUPS):
        raise ValueError(f"takes some of {', '.join(GROUPS)}, separated by commas")
    return [group for group in GROUPS if group in names]


def _written_as_iso(text: str) -> str:
    # pydantic would also read a bare number, as seconds since 1970.
    if text.isdigit():
        raise ValueError("not an ISO 8601 date")
    return text


Groups = Annotated[
    list[Group],
    PlainValidator(_groups),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^({'|'.join(GROUPS)})(,({'|'.join(GROUPS)}))*$",
        }
    ),
]
Day = Annotated[date, BeforeValidator(_written_as_iso)]


class UsageQuery(QueryModel):
    """Filters of usage, and the fields that it is grouped by.

    Days are in UTC, both included; by default the last 30. `group_by` is `day`,
    `agent`, `user`, `provider`, `model`, `priced_as` (the entry of the catalog) or
    `pricing_rule` (how it matched), or several with commas; by default `day`.
    """

    from_day: Day | None = None
    until_day: Day | None = None
    group_by: Groups | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    provider: ClientId | None = None
    model: ClientId | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE_DEFAULT
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0

    @model_validator(mode="after")
    def _days_are_in_order(self) -> Self:
        if self.from_day and self.until_day and self.until_day < self.from_day:
            raise ValueError("until_day must not be before from_day")
        return self

    def days(self, today: date) -> tuple[date, date]:
        """Return the first and the last day."""
        until_day = self.until_day or max(today, self.from_day or today)
        if self.from_day is not None:
            return self.from_day, until_day
        days_back = min(DAYS_DEFAULT - 1, until_day.toordinal() - 1)
        return until_day - timedelta(days=days_back), until_day


class TokenSums(TypedDict):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class CurrencyCost(TypedDict):
    currency: str
    cost: Decimal


class UnpricedUses(TypedDict):
    """Why calls have no cost, and in how many turns; a turn counts for each model."""

    reason: UnpricedReason
    turns: int


class Usage(TypedDict):
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
    unpriced: list[UnpricedUses]
    turns_without_usage: int
    token_usage: TokenSums
    known_token_usage: TokenSums
    cost: Decimal | None
    currency: str | None
    known_costs: list[CurrencyCost]
    reported_cost: float | None
    reported_cost_difference: float | None


class UsagePage(TypedDict):
    usage: list[Usage]
    from_day: date
    until_day: date
    has_next_page: bool


@routes.get("/api/usage", answers={200: "usage"}, min_position=True)
async def get_usage(request: web.Request, query: UsageQuery) -> Answer[UsagePage]:
    """Sum up tokens and cost by day, agent, user, provider or model.

    Of the caller's own sessions and of agents that the caller manages; of all sessions
    for superusers and auditors. `cost` is null when it isn't completely known: a call
    has no price, or there are several currencies; `known_costs` holds the known part,
    `unpriced` the reasons. Likewise the tokens are null when a call didn't report them
    all; `known_token_usage` sums up the others. Both are of the group's own models,
    while a turn is counted once, for the one with the most tokens: also in
    `turns_without_price` and `turns_without_usage`, whichever of its models lacks them.
    `reported_cost` is what instrumentations report, in US dollars;
    `reported_cost_difference` is that minus ours, of the calls that have both.
    """
    principal = request[PRINCIPAL]
    from_day, until_day = query.days(datetime.now(UTC).date())
    async with reading(request, *FOLLOWERS) as snapshot:
        found = await usage_by(
            snapshot.db,
            query.group_by or ["day"],
            {
                "caller": principal.user_id,
                "everything": principal.sees_everything,
                "from_day": from_day,
                "until_day": until_day,
                "agent_id": query.agent_id,
                "user_id": query.user_id,
                "provider": query.provider,
                "model": query.model,
                "offset": query.offset,
                "limit": query.limit + 1,
            },
        )
    return Answer(
        message="usage",
        data={
            "usage": list(map(_shown, found[: query.limit])),
            "from_day": from_day,
            "until_day": until_day,
            "has_next_page": len(found) > query.limit,
        },
        headers=snapshot.headers,
    )


def _shown(group: UsageOfGroup) -> Usage:
    known: list[CurrencyCost] = [
        {"currency": currency, "cost": cost}
        for currency, cost in zip(group.currencies, group.costs, strict=True)
    ]
    is_complete = len(known) == 1 and not group.unpriced
    prompt: Any = group.prompt_tokens
    completion: Any = group.completion_tokens
    cache_read: Any = group.cache_read_tokens
    cache_creation: Any = group.cache_creation_tokens
    reported: Any = group.reported_cost
    difference: Any = group.difference
    tokens: TokenSums = {
        "total": _sum(prompt, completion),
        "prompt": prompt,
        "completion": completion,
        "cache_read": cache_read,
        "cache_creation": cache_creation,
    }
    return {
        "day": group.day,
        "agent_id": group.agent_id,
        "user_id": group.user_id,
        "provider": group.provider,
        "model": group.model,
        "priced_as": group.priced_as,
        "pricing_rule": group.pricing_rule,
        "turns": group.turns,
        "turns_with_error": group.turns_with_error,
        "turns_without_price": group.turns_without_price,
        "unpriced": [
            {"reason": reason, "turns": turns}
            for reason, turns in group.unpriced.items()
        ],
        "turns_without_usage": group.turns_without_usage,
        "token_usage": (
            {**tokens, "total": None, "prompt": None, "completion": None}
            if group.uses_without_usage
            else tokens
        ),
        "known_token_usage": tokens,
        "cost": known[0]["cost"] if is_complete else None,
        "currency": known[0]["currency"] if is_complete else None,
        "known_costs": known,
        "reported_cost": reported,
        "reported_cost_difference": difference,
    }


def _sum(prompt: int | None, completion: int | None) -> int | None:
    if prompt is None and completion is None:
        return None
    return (prompt or 0) + (completion or 0)
