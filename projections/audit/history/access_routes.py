"""Who could use a connector, and what an agent was allowed to call, in the past."""

from collections.abc import Iterable
from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field, WithJsonSchema

from projections.audit.history.decisions import (
    DecisionsDifference,
    FactsThen,
    differences,
    not_observed,
)
from projections.audit.history.exposure import Exposure, end_with_agent, exposure
from projections.audit.history.past_log import REFUSED, BetweenQuery, open_past_log
from projections.engine.time_travel import AsOf
from projections.tool_rules.definitions_then import DefinitionsThen, definitions_then
from projections.tool_rules.origins import (
    HoldingThen,
    RulesThen,
    holding_then,
    retirement_of,
    rules_then,
)
from service.agents.aggregate import Agent
from service.errors import NotFoundError
from service.gateway.definitions.aggregate import ToolDefinitions
from service.http.envelope import Answer
from service.http.operation import Routes
from service.pacing import in_thread
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.resource import changes_between

routes = Routes("audit")

TOOLS_CHARACTERS_MAX: Final = 2000


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
    answers={200: "exposure of the connector", 404: "no such connector", **REFUSED},
)
async def get_connector_exposure(
    request: web.Request,
    id: UUID,  # noqa: A002
    query: BetweenQuery,
) -> Answer[Exposure]:
    """List who could use a connector between two positions or times, and why.

    The read is recorded.
    """
    async with open_past_log(request) as history:
        since, until = await history.between(query)
        found = await exposure(
            until.events(id), since=since.position, until=until.position
        )
        if found is None:
            raise NotFoundError("no such connector at that position or time")
        for agent_id in {each["agent_id"] for each in found["grants"]}:
            retirement = await retirement_of(until.events(agent_id))
            if retirement is not None:
                end_with_agent(found, agent_id, retirement.origin)
    return Answer(message="exposure of the connector", data=found)


@routes.get(
    "/api/audit/agents/{agent_id}/decisions/difference",
    answers={
        200: "decisions compared",
        404: "no such agent",
        422: "the rules are too many and too complicated to compare "
        "(`comparison_too_large`)",
        **REFUSED,
    },
)
async def get_decisions_difference(
    request: web.Request, agent_id: UUID, query: DecisionsQuery
) -> Answer[DecisionsDifference]:
    """Compare which tools an agent may call at two positions or times.

    A tool whose definition has changed, and isn't accepted yet, differs as well. Of
    connectors whose tools weren't observed yet, only the rules are compared. The read
    is recorded.
    """
    async with open_past_log(request) as history:
        since, until = await history.between(query)
        if await until.find(Agent, agent_id) is None:
            raise NotFoundError("no such agent at that position or time")
        rules = [await _rules(then, agent_id) for then in (since, until)]
        # A connector can be held before its first rule, and after its last.
        connectors = {each for then in rules for each in then.rules}
        before, after = [
            FactsThen(
                then_rules,
                await _held(then, agent_id, connectors),
                await _definitions(then, connectors),
            )
            for then, then_rules in zip((since, until), rules, strict=True)
        ]
    tools = [name for name in (query.tools or "").split(",") if name]
    data: DecisionsDifference = {
        "agent_id": agent_id,
        "since_position": since.position,
        "until_position": until.position,
        "connectors": await in_thread(differences, before, after, tools),
        "not_observed": not_observed(before, after),
        **changes_between(before.patterns, after.patterns),
    }
    return Answer(message="decisions compared", data=data)


async def _rules(then: AsOf, agent_id: UUID) -> RulesThen:
    return await rules_then(then.events(ToolRules.create_id(str(agent_id))))


async def _held(
    then: AsOf, agent_id: UUID, connectors: Iterable[str]
) -> dict[str, HoldingThen]:
    retirement = await retirement_of(then.events(agent_id))
    return {
        connector: await holding_then(
            then.events(UUID(connector)), agent_id, retirement
        )
        for connector in connectors
    }


async def _definitions(
    then: AsOf, connectors: Iterable[str]
) -> dict[str, DefinitionsThen]:
    return {
        connector: await definitions_then(
            then.events(ToolDefinitions.id_for(UUID(connector)))
        )
        for connector in connectors
    }
