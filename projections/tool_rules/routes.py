"""Tool rules over HTTP: reading them, and explaining decisions."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import lender, reading
from projections.engine.time_travel import as_of, reading_as_of
from projections.tool_rules.access import scope_of, sees_connector
from projections.tool_rules.explanation import (
    EXPLAINED_BY,
    Explanation,
    explain,
    facts_of,
)
from projections.tool_rules.projector import ToolRulesProjector
from projections.tool_rules.queries import (
    RuleOnConnector,
    connectors_held,
    owns_connector,
    rules_on_connector,
)
from service.errors import NotFoundError
from service.http.app_keys import EVENT_LOG
from service.http.as_of import At, AtQuery
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.replays import BUSY, in_turn, in_turn_if_past
from service.http.requests import QueryModel
from service.http.validation_errors import explained
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.body import PATTERN_CHARACTERS, PATTERN_CHARACTERS_MAX
from service.tool_rules.known_tools import TOOL_NAMES
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    rule_resources,
    warnings_about,
)

routes = Routes("mcp")

TOOL_CHARACTERS_MAX = 256
CURSOR_CHARACTERS_MAX = 37 + PATTERN_CHARACTERS_MAX
CURSOR = explained(
    rf"^[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}/{PATTERN_CHARACTERS}+$",
    "must be the end_cursor of the page before",
)
NOT_SEEN = {404: "no such agent, or nothing of it that the caller can see"}


class ExplainQuery(QueryModel):
    connector_id: Annotated[UUID, Field(description="The connector's id.")]
    tool: Annotated[
        str,
        Field(
            min_length=1,
            max_length=TOOL_CHARACTERS_MAX,
            description="The tool's name at its connector.",
        ),
    ]
    at: At | None = None


class AgentRules(TypedDict):
    """Rules as of a position; warnings are null unless it is the latest."""

    agent_id: UUID
    version: int
    position: int
    rules: list[ToolRuleResource]
    warnings: list[ToolRuleWarning] | None


class RulesOnConnectorQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    after: Annotated[
        str | None,
        Field(pattern=CURSOR, max_length=CURSOR_CHARACTERS_MAX),
    ] = None


class RulesOnConnector(TypedDict):
    rules: list[RuleOnConnector]
    end_cursor: str | None


@routes.get(
    "/api/mcp/agents/{agent_id}/tools",
    answers={200: "tool rules", **NOT_SEEN, **BUSY},
    min_position=True,
)
@in_turn_if_past
async def get_agent_tools(
    request: web.Request, agent_id: UUID, query: AtQuery
) -> Answer[AgentRules]:
    """List an agent's tool rules, now or as of an earlier position or time.

    All rules for managers and readers of the agent, superusers and auditors; for
    others those of connectors that they own and that the agent holds.
    """
    log = request.app[EVENT_LOG]
    async with reading(request, "connectors") as snapshot:
        now = then = await as_of(snapshot.db, log.mapper, None)
        if query.at is not None:
            then = await as_of(snapshot.db, log.mapper, query.at, log.snapshots)
        scope = await scope_of(request[PRINCIPAL], agent_id, now=now, db=snapshot.db)
        found = await then.find(ToolRules, ToolRules.create_id(str(agent_id)))
        rules = scope.narrow(found.rules) if found else {}
        named = {UUID(connector) for connector in rules}
        held = await connectors_held(snapshot.db, agent_id=agent_id, among=[*named])
    data: AgentRules = {
        "agent_id": agent_id,
        "version": found.version if found else 0,
        "position": then.position,
        "rules": rule_resources(rules),
        "warnings": (
            await warnings_about(rules, named - held, request.app[TOOL_NAMES])
            if query.at is None
            else None
        ),
    }
    return Answer(
        message="tool rules", data=data, etag=data["version"], headers=snapshot.headers
    )


@routes.get(
    "/api/mcp/agents/{agent_id}/tools/explain",
    answers={200: "decision explained", **NOT_SEEN, **BUSY},
    min_position=True,
)
@in_turn
async def get_tool_explanation(
    request: web.Request, agent_id: UUID, query: ExplainQuery
) -> Answer[Explanation]:
    """Explain the decision for one tool, now or as of an earlier time.

    Lists every rule of the connector, with whether it matched and whether it decided.
    A name that agents see, an alias, is explained as the tool behind it.
    An owner of a connector that the agent holds can ask about that connector.
    `definition` is null for a connector that the agent doesn't hold and the caller
    can't see.
    """
    principal = request[PRINCIPAL]
    mapper = request.app[EVENT_LOG].mapper
    async with reading_as_of(
        request, query.at, *EXPLAINED_BY, of=ToolRulesProjector.events
    ) as (snapshot, then):
        now = await as_of(snapshot.db, mapper, None)
        scope = await scope_of(principal, agent_id, now=now, db=snapshot.db)
        if not scope.includes(query.connector_id):
            raise NotFoundError("no such connector")
        facts = await facts_of(
            then,
            snapshot.db,
            agent_id=agent_id,
            connector_id=query.connector_id,
            tool=query.tool,
            sees_connector=await sees_connector(
                principal, query.connector_id, db=snapshot.db
            ),
        )
    explanation = await explain(facts, lender(request, then.position))
    return Answer(
        message="decision explained", data=explanation, headers=snapshot.headers
    )


@routes.get(
    "/api/mcp/connectors/{id}/tools",
    answers={
        200: "rules on the connector",
        404: "no such connector, or not one of the caller's",
    },
    min_position=True,
)
async def get_connector_tools(
    request: web.Request,
    id: UUID,  # noqa: A002
    query: RulesOnConnectorQuery,
) -> Answer[RulesOnConnector]:
    """List all agents' rules for a connector, by agent and pattern.

    For its owner, superusers and auditors. A rule for a connector that its agent
    doesn't hold has no effect.
    """
    principal = request[PRINCIPAL]
    async with reading(request, "connectors", "tool_rules") as snapshot:
        owns = await owns_connector(
            snapshot.db, connector_id=id, user_id=principal.user_id
        )
        if owns is None or not (owns or principal.sees_everything):
            raise NotFoundError("no such connector")
        rules = await rules_on_connector(
            snapshot.db,
            connector_id=id,
            after=_parsed(query.after),
            limit=query.limit + 1,
        )
    page = page_of(rules, query.limit, _cursor)
    return Answer(
        message="rules on the connector",
        data=RulesOnConnector(
            rules=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


def _cursor(rule: RuleOnConnector) -> str:
    return f"{rule['agent_id']}/{rule['tool_pattern']}"


def _parsed(cursor: str | None) -> tuple[UUID, str] | None:
    if cursor is None:
        return None
    agent_id, _, pattern = cursor.partition("/")
    return UUID(agent_id), pattern
