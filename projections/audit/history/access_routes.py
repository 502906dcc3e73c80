"""Who could use a connector, and what an agent was allowed to call, in the past."""

from collections.abc import Collection, Iterable
from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field, WithJsonSchema

from projections.audit.history.decisions import (
    DecisionsDifference,
    Differing,
    FactsThen,
    connector_difference,
    differences,
    not_observed,
)
from projections.audit.history.exposure import Exposure, exposure
from projections.audit.history.past_log import REFUSED, BetweenQuery, open_past_log
from projections.engine.origins import Origin, origins_at
from projections.engine.snapshot import reading_log
from projections.engine.time_travel import AsOf
from projections.tool_rules import history
from projections.tool_rules.spans import HoldingSpan, held
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.database import Db
from service.errors import NotFoundError
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn
from service.pacing import in_thread
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_rules.aggregate import Rules, ToolRules
from service.tool_rules.resource import changes_between

routes = Routes("audit")

TOOLS_CHARACTERS_MAX: Final = 2000
# The follower that keeps since when rules, grants and definitions stand.
DECIDING: Final = "tool_rules"


class DecisionsQuery(BetweenQuery):
    tools: Annotated[
        Annotated[
            str,
            Field(max_length=TOOLS_CHARACTERS_MAX),
            WithJsonSchema({"type": "array", "items": {"type": "string"}}),
        ]
        | None,
        Field(description="Names of tools to decide on as well."),
    ] = None


@routes.get(
    "/api/audit/connectors/{id}/exposure",
    answers={
        200: "exposure of the connector",
        404: "no such connector",
        **REFUSED,
        **BUSY,
    },
)
@in_turn
async def get_connector_exposure(
    request: web.Request,
    id: UUID,  # noqa: A002
    query: BetweenQuery,
) -> Answer[Exposure]:
    """List who could use a connector between two positions or times, and why.

    The read is recorded.
    """
    async with open_past_log(request, DECIDING) as log:
        since, until = await log.between(query)
        connector = await until.find(Connector, id)
        if connector is None:
            raise NotFoundError("no such connector at that position or time")
        found = await exposure(
            log.db, connector, since=since.position, until=until.position
        )
    return Answer(message="exposure of the connector", data=found)


@routes.get(
    "/api/audit/agents/{agent_id}/decisions/difference",
    answers={
        200: "decisions compared",
        404: "no such agent",
        422: "the rules are too many and too complicated to compare "
        "(`comparison_too_large`)",
        **REFUSED,
        **BUSY,
    },
)
@in_turn
async def get_decisions_difference(
    request: web.Request, agent_id: UUID, query: DecisionsQuery
) -> Answer[DecisionsDifference]:
    """Compare which tools an agent may call at two positions or times.

    A tool whose definition has changed, and isn't accepted yet, differs as well. Of
    connectors whose tools weren't observed yet, only the rules are compared. The read
    is recorded.
    """
    async with open_past_log(request, DECIDING) as log:
        since, until = await log.between(query)
        if await until.find(Agent, agent_id) is None:
            raise NotFoundError("no such agent at that position or time")
        rules = [await _rules(then, agent_id) for then in (since, until)]
        # A connector can be held before its first rule, and after its last.
        connectors = {UUID(each) for then in rules for each in then}
        before, after = [
            FactsThen(
                then_rules,
                {
                    str(connector_id)
                    for connector_id, each in (
                        await _holdings(log.db, then, agent_id, connectors)
                    ).items()
                    if each.until is None
                },
                await _definitions(then, connectors),
            )
            for then, then_rules in zip((since, until), rules, strict=True)
        ]
    tools = [name for name in (query.tools or "").split(",") if name]
    differing = await in_thread(differences, before, after, tools)
    async with reading_log(request, until.position, DECIDING) as db:
        changed_by = await _changed_by(db, until, agent_id, differing)
    data: DecisionsDifference = {
        "agent_id": agent_id,
        "since_position": since.position,
        "until_position": until.position,
        "connectors": [
            connector_difference(each, before, after, changed_by) for each in differing
        ],
        "not_observed": not_observed(before, after),
        **changes_between(before.rules, after.rules),
    }
    return Answer(message="decisions compared", data=data)


async def _rules(then: AsOf, agent_id: UUID) -> Rules:
    found = await then.find(ToolRules, ToolRules.create_id(str(agent_id)))
    return found.rules if found else {}


async def _holdings(
    db: Db, then: AsOf, agent_id: UUID, connectors: Collection[UUID]
) -> dict[UUID, HoldingSpan]:
    """Return when the agent last held each connector."""
    at = then.position
    found = await history.last_holdings(
        db, agent_id=agent_id, connector_ids=connectors, at=at
    )
    retired = await history.retirements(db, [agent_id], at=at)
    return {
        each.connector_id: each for each in held(found.values(), retired.get(agent_id))
    }


async def _definitions(
    then: AsOf, connectors: Iterable[UUID]
) -> dict[str, ToolDefinitions]:
    found = {
        str(each): await then.find(ToolDefinitions, ToolDefinitions.id_for(each))
        for each in connectors
    }
    return {connector: each for connector, each in found.items() if each is not None}


async def _changed_by(
    db: Db, then: AsOf, agent_id: UUID, differing: Iterable[Differing]
) -> dict[tuple[str, str], Origin]:
    """Return the last event that affected each tool of each connector."""
    at = then.position
    tools = [
        (UUID(each.connector), changed.tool)
        for each in differing
        for changed in each.tools
    ]
    connectors = {connector_id for connector_id, _ in tools}
    stated = await history.rules_changed(
        db, agent_id=agent_id, connector_ids=connectors, at=at
    )
    holdings = await _holdings(db, then, agent_id, connectors)
    observed = await history.first_observed(db, connectors, at=at)
    defined = await history.definitions_changed(db, tools, at=at)
    last = {
        (connector_id, tool): max(
            stated.get(connector_id, 0),
            holdings[connector_id].changed_at if connector_id in holdings else 0,
            defined.get((connector_id, tool), observed.get(connector_id, 0)),
        )
        for connector_id, tool in tools
    }
    origins = await origins_at(db, last.values())
    return {
        (str(connector_id), tool): origins[position]
        for (connector_id, tool), position in last.items()
    }
