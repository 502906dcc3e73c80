"""Usage over HTTP."""

from datetime import UTC, datetime
from typing import Any

import orjson
from aiohttp import web

from projections.engine.snapshot import reading
from projections.usage import unit_counts
from projections.usage.export import sent_file, written_csv
from projections.usage.form import Form
from projections.usage.parameters import UsageFilter, UsageQuery
from projections.usage.queries import (
    FOLLOWERS,
    UsageOfGroup,
    Wanted,
    total_usage,
    usage_by,
)
from projections.usage.resource import (
    UsagePage,
    others,
    usage_resource,
    usage_sums,
)
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer, to_json
from service.http.operation import Routes
from service.pacing import in_thread

routes = Routes("usage", "Sums of tokens and cost.")

TOO_MANY_GROUPS = (
    "there are more than 200,000 groups (`too_many_groups`), or a parameter or header "
    "is invalid"
)


@routes.get("/api/usage", answers={200: "usage"}, data=UsagePage, min_position=True)
async def get_usage(request: web.Request, query: UsageQuery) -> Answer[Any]:
    """Sum up tokens and cost by time, agent, user, provider or model.

    Of the caller's own sessions and of agents that the caller manages; of all sessions
    for superusers and auditors. `totals` are sums of all groups, `others` of the
    `groups` that the page doesn't show. `cost` is null when it isn't completely known:
    a model call has no price, or there are several currencies; `known_costs` holds the
    known part, `cost_unknown_because` the reasons, and `unpriced` in how many turns.
    `completeness` says what of the cost is exact and what an estimate. Groups in
    several currencies are ordered by the one used most. Likewise the tokens are null
    when a call didn't report them all; `known_token_usage` sums up the others. Both are
    of the group's own models, while a turn is counted once, for the one with the most
    tokens: also in `turns_without_price` and `turns_without_usage`, whichever of its
    models lacks them, and in `differing`.
    `reported_cost` is what instrumentations report, in US dollars;
    `reported_cost_difference` is that minus ours, of the calls that have both;
    `differing` sums up the turns that differ by more than 1 %.
    """
    wanted = _wanted(request, query)
    wanted["top"] = query.top or 0
    wanted["limit"], wanted["offset"] = query.limit, query.offset
    form = query.form
    followers = (*FOLLOWERS, *(unit_counts.FOLLOWERS if query.unit_costs else ()))
    async with reading(request, *followers) as snapshot:
        shown = await usage_by(snapshot.db, form, wanted)
        total = await total_usage(snapshot.db, form, wanted)
        if query.unit_costs:
            await unit_counts.add_unit_counts(snapshot.db, form, wanted, shown)
            await unit_counts.add_unit_counts(snapshot.db, Form(), wanted, [total])
    # A thousand groups take longer than the event loop should wait.
    data = await in_thread(_page, query, wanted, shown, total)
    return Answer(message="usage", data=data, headers=snapshot.headers)


@routes.get(
    "/api/usage/export.csv",
    answers={200: "the groups, one a row", 400: TOO_MANY_GROUPS},
    content_type="text/csv",
    min_position=True,
)
async def get_usage_csv(request: web.Request, query: UsageFilter) -> web.StreamResponse:
    """Export all groups as CSV for spreadsheets, in the order asked for.

    Tokens are those that are known; `cost` is empty when it isn't completely known, and
    the columns `known_cost_` and a currency have the known part, `estimated_cost_` what
    of it is an estimate. A cell that a spreadsheet could take for a formula starts with
    an apostrophe.
    """
    wanted = _wanted(request, query)
    async with reading(request, *FOLLOWERS) as snapshot:
        file = await written_csv(snapshot.db, query.form, query.time_zone, wanted)
    with file:
        return await sent_file(request, file, "usage.csv", snapshot.headers)


def _wanted(request: web.Request, query: UsageFilter) -> Wanted:
    principal = request[PRINCIPAL]
    from_day, until_day = query.days(datetime.now(UTC))
    return {
        "caller": principal.user_id,
        "everything": principal.sees_everything,
        "zone": query.time_zone,
        "from_day": from_day,
        "until_day": until_day,
        "agent_id": query.agent_id,
        "user_id": query.user_id,
        "provider": query.provider,
        "model": query.model,
        "top": 0,
        "offset": 0,
        "limit": 0,
    }


def _page(
    query: UsageQuery, wanted: Wanted, shown: list[UsageOfGroup], total: UsageOfGroup
) -> orjson.Fragment:
    form = query.form
    groups = shown[0].groups if shown else None
    page: UsagePage = {
        "usage": [usage_resource(group, form, query.time_zone) for group in shown],
        "totals": usage_sums(total, form),
        "others": (
            None if groups == len(shown) else usage_sums(others(total, shown), Form())
        ),
        "groups": groups,
        "from_day": wanted["from_day"],
        "until_day": wanted["until_day"],
        "time_zone": query.time_zone,
        "has_next_page": query.offset + len(shown) < (groups or 0),
    }
    return orjson.Fragment(to_json(page))
