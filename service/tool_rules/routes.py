"""Operation 1, the batch upsert of tool rules, over HTTP."""

from collections.abc import Callable
from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.event_log.unit_of_work import UnitOfWork
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.preferences import APPLIED, prefers_strict
from service.tool_rules.body import BulkToolUpdate
from service.tool_rules.commands import (
    ReplacedToolRules,
    ReplaceToolRules,
    ToolRule,
    replace_tool_rules,
)
from service.tool_rules.known_tools import TOOL_NAMES
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    changes_between,
    rule_resources,
    warnings_of,
)
from service.tool_rules.strictness import refuse_warnings

routes = Routes("mcp")

Replacement = tuple[ReplacedToolRules, list[ToolRuleWarning]]


class ReplacedRules(TypedDict):
    """The agent's current rules, and what the batch added and removed.

    ``rules`` holds all rules for callers with full agent management, otherwise those of
    the connectors in the batch. If nothing was added or removed, nothing was recorded.
    """

    agent_id: UUID
    version: int
    rules: list[ToolRuleResource]
    added: list[ToolRuleResource]
    removed: list[ToolRuleResource]
    unchanged: int
    warnings: list[ToolRuleWarning]


@routes.put(
    "/api/mcp/agents/{agent_id}/tools",
    answers={
        200: "tool rules replaced, or agent already had these tool rules",
        403: "the caller can't manage a referenced connector on this agent, or the "
        "agent or the connector doesn't exist; `errors` names each such rule",
        404: "no such agent; other callers than superusers get 403",
        409: "the agent is retired (`agent_retired`)",
        422: "a rule isn't valid or contradicts another, names no connector "
        "(`unknown_connector`), or is one too many (`too_many_rules`); or the rules "
        "have warnings, which `Prefer: handling=strict` refuses (`rule_warnings`)",
    },
    if_match=True,
    takes_handling=True,
    body_example={
        "rules": [
            {
                "connector_id": "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11",
                "tool_pattern": "issues.read_*",
                "stance": "allow",
            },
            {
                "connector_id": "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11",
                "tool_pattern": "*delete*",
                "stance": "ask",
            },
        ]
    },
)
async def bulk_update_tools(
    request: web.Request, agent_id: UUID, body: BulkToolUpdate
) -> Answer[ReplacedRules]:
    """Replace an agent's tool rules, connector by connector.

    The batch holds the complete rules of every connector that it names. Rules of other
    connectors stay. An empty batch removes all rules of the agent. For each connector
    the caller needs full management of the agent, or has to own the connector while the
    agent holds it; an empty batch requires full management. The batch is applied
    entirely or not at all.

    Deny overrides ask, ask overrides allow; tools that no rule matches are denied.
    Patterns match the tools' own names; a rule that matches none of the known ones has
    a warning, with what was probably meant. Where the agent gets rules for a second
    connector with the same slug, it sees the tools of both under other names, which is
    warned of, too.
    """
    names, is_strict = request.app[TOOL_NAMES], prefers_strict(request)

    async def replace(command: ReplaceToolRules, work: UnitOfWork) -> Replacement:
        replaced = await replace_tool_rules(command, work)
        warnings = await warnings_of(replaced, names)
        if is_strict:
            refuse_warnings(warnings, _places(body))
        return replaced, warnings

    def present(replacement: Replacement) -> Answer[ReplacedRules]:
        replaced, warnings = replacement
        data: ReplacedRules = {
            "agent_id": replaced.agent_id,
            "version": replaced.version,
            "rules": rule_resources(replaced.visible),
            **changes_between(replaced.before, replaced.after),
            "warnings": warnings,
        }
        changed = data["added"] or data["removed"]
        return Answer(
            message=(
                "tool rules replaced"
                if changed
                else "agent already had these tool rules"
            ),
            data=data,
            etag=replaced.version,
            headers=APPLIED if is_strict else {},
        )

    return await dispatch(request, replace, replacement_of(agent_id, body), present)


def replacement_of(agent_id: UUID, body: BulkToolUpdate) -> ReplaceToolRules:
    rules = [
        ToolRule(rule.connector_id, rule.tool_pattern, rule.stance)
        for rule in body.rules
    ]
    return ReplaceToolRules(agent_id=agent_id, rules=rules)


def _places(body: BulkToolUpdate) -> Callable[[ToolRuleWarning], str]:
    """Return what finds the first rule of a batch that a warning is about."""
    numbers: dict[tuple[str, str | None], int] = {}
    for number, rule in enumerate(body.rules):
        connector = str(rule.connector_id)
        numbers.setdefault((connector, None), number)
        numbers.setdefault((connector, rule.tool_pattern), number)

    def place(warning: ToolRuleWarning) -> str:
        pattern = warning["tool_pattern"]
        field = "connector_id" if pattern is None else "tool_pattern"
        number = numbers.get((warning["connector_id"], pattern))
        # Names change also of connectors that the batch doesn't name.
        return "rules" if number is None else f"rules[{number}].{field}"

    return place
