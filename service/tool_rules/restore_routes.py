"""Restoring an agent's tool rules over HTTP."""

from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import EVENT_LOG
from service.http.as_of import Moment
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.preferences import APPLIED, prefers_strict
from service.http.replays import BUSY, turn_of
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.known_tools import TOOL_NAMES
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    rule_resources,
    rules_missing,
    warnings_of,
)
from service.tool_rules.restore_commands import (
    RestoredToolRules,
    RestoreToolRules,
    restore_tool_rules,
)
from service.tool_rules.strictness import refuse_warnings

routes = Routes("mcp")

Restoration = tuple[RestoredToolRules, list[ToolRuleWarning]]


class RestoredRules(TypedDict):
    """All of the agent's current rules, and what the restore changed.

    ``position`` is the log position that they are restored from. ``left_out`` lists
    connectors that had rules then and have been retired since.
    """

    agent_id: UUID
    version: int
    position: int
    rules: list[ToolRuleResource]
    added: list[ToolRuleResource]
    removed: list[ToolRuleResource]
    left_out: list[UUID]
    warnings: list[ToolRuleWarning]


@routes.post(
    "/api/mcp/agents/{agent_id}/tools/restore",
    answers={
        200: "tool rules restored, or agent already had these tool rules",
        403: "the caller has no full management of the agent",
        404: "no such agent; other callers than superusers get 403",
        409: "the agent is retired (`agent_retired`)",
        422: "a position beyond the end of the log; or the rules have warnings, which "
        "`Prefer: handling=strict` refuses (`rule_warnings`)",
        **BUSY,
    },
    if_match=True,
    takes_handling=True,
    body_example={"at": 42},
)
async def post_tool_rules_restore(
    request: web.Request, agent_id: UUID, body: Moment
) -> Answer[RestoredRules]:
    """Restore an agent's tool rules of an earlier position or time.

    Replaces all of the agent's rules by those of that position; rules added since are
    removed. The history is kept: the restore is recorded as a new change by the caller.
    Requires full management of the agent.
    """
    log = request.config_dict[EVENT_LOG]
    # What was is the same at each attempt.
    async with turn_of(request):
        rules_id = ToolRules.create_id(str(agent_id))
        then, position = await log.load_past(rules_id, body.at)
    rules = then.rules if isinstance(then, ToolRules) else {}
    names, is_strict = request.app[TOOL_NAMES], prefers_strict(request)

    async def restore(command: RestoreToolRules, work: UnitOfWork) -> Restoration:
        restored = await restore_tool_rules(command, work)
        warnings = await warnings_of(restored, names)
        if is_strict:
            refuse_warnings(warnings, lambda _: "at")
        return restored, warnings

    def present(restoration: Restoration) -> Answer[RestoredRules]:
        restored, warnings = restoration
        data: RestoredRules = {
            "agent_id": restored.agent_id,
            "version": restored.version,
            "position": position,
            "rules": rule_resources(restored.after),
            "added": rules_missing(restored.after, restored.before),
            "removed": rules_missing(restored.before, restored.after),
            "left_out": sorted(restored.left_out),
            "warnings": warnings,
        }
        changed = data["added"] or data["removed"]
        return Answer(
            message=(
                "tool rules restored"
                if changed
                else "agent already had these tool rules"
            ),
            data=data,
            etag=restored.version,
            headers=APPLIED if is_strict else {},
        )

    return await dispatch(
        request,
        restore,
        RestoreToolRules(agent_id=agent_id, rules=rules),
        present,
    )
