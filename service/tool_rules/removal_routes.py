"""Removing an agent's tool rules for one connector over HTTP."""

from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.event_log.unit_of_work import UnitOfWork
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.tool_rules.known_tools import TOOL_NAMES
from service.tool_rules.removal_commands import (
    RemoveConnectorRules,
    RemovedToolRules,
    remove_connector_rules,
)
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    name_changes,
    rule_resources,
)

routes = Routes("mcp")

Removal = tuple[RemovedToolRules, list[ToolRuleWarning]]


class RemovedRules(TypedDict):
    """The removed rules; ``version`` is that of all of the agent's rules.

    ``warnings`` are about names of other connectors' tools that change.
    """

    agent_id: UUID
    connector_id: UUID
    version: int
    removed: list[ToolRuleResource]
    warnings: list[ToolRuleWarning]


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
    names = request.app[TOOL_NAMES]

    async def remove(command: RemoveConnectorRules, work: UnitOfWork) -> Removal:
        removed = await remove_connector_rules(command, work)
        warnings = await name_changes(
            agent_id,
            removed.before,
            removed.after,
            visible=removed.visible,
            names=names,
        )
        return removed, warnings

    def present(removal: Removal) -> Answer[RemovedRules]:
        result, warnings = removal
        data: RemovedRules = {
            "agent_id": result.agent_id,
            "connector_id": result.connector_id,
            "version": result.version,
            "removed": rule_resources(result.removed),
            "warnings": warnings,
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
        remove,
        RemoveConnectorRules(agent_id=agent_id, connector_id=connector_id),
        present,
    )
