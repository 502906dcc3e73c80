"""Removing an agent's tool rules for one connector over HTTP."""

from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.tool_rules.removal_commands import (
    RemoveConnectorRules,
    RemovedToolRules,
    remove_connector_rules,
)
from service.tool_rules.resource import ToolRuleResource, rule_resources

routes = Routes("mcp")


class RemovedRules(TypedDict):
    """The removed rules; ``version`` is that of all of the agent's rules."""

    agent_id: UUID
    connector_id: UUID
    version: int
    removed: list[ToolRuleResource]


@routes.delete(
    "/api/mcp/agents/{agent_id}/tools/connectors/{connector_id}",
    answers={
        200: "tool rules removed, or agent had no tool rules for this connector",
        403: "the caller can't manage this connector on this agent, or one of the "
        "two doesn't exist",
        404: "no such agent; other callers than superusers get 403",
        409: "the agent is retired (`agent_retired`)",
    },
    if_match=True,
)
async def delete_connector_rules(
    request: web.Request, agent_id: UUID, connector_id: UUID
) -> Answer[RemovedRules]:
    """Remove an agent's tool rules for one connector.

    Also for a connector that is retired or no longer granted. The caller needs full
    management of the agent, or has to own the connector while the agent holds it or
    has rules for it.
    """

    def present(result: RemovedToolRules) -> Answer[RemovedRules]:
        data: RemovedRules = {
            "agent_id": result.agent_id,
            "connector_id": result.connector_id,
            "version": result.version,
            "removed": rule_resources(result.removed),
        }
        return Answer(
            message=(
                "tool rules removed"
                if result.removed
                else "agent had no tool rules for this connector"
            ),
            data=data,
            etag=result.version,
        )

    return await dispatch(
        request,
        remove_connector_rules,
        RemoveConnectorRules(agent_id=agent_id, connector_id=connector_id),
        present,
    )
