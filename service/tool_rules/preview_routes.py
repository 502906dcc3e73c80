"""Previewing a replacement of tool rules over HTTP: nothing is changed."""

import asyncio
from collections.abc import Collection
from typing import Final, NamedTuple
from uuid import UUID

from aiohttp import web
from typing_extensions import TypedDict

from service.connectors.aggregate import Connector
from service.errors import InvalidRequestError
from service.event_log.unit_of_work import UnitOfWork
from service.http.dispatch import execute_for
from service.http.envelope import Answer, UuidText
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import if_match
from service.tool_rules.aggregate import Rules
from service.tool_rules.body import BulkToolUpdate
from service.tool_rules.commands import (
    ReplacedToolRules,
    ReplaceToolRules,
    decide_replacement,
)
from service.tool_rules.comparison import changed_decisions
from service.tool_rules.decision import Stance
from service.tool_rules.glob import TooMuchWorkError, Work
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    changes_between,
    warnings_about,
)
from service.tool_rules.routes import replacement_of

# Less than a second of a thread.
WORK_MAX: Final = 5_000_000_000
PREVIEWS: Final = RateLimit(burst=20, interval_s=1.0)

routes = Routes("mcp")


class ToolDecision(TypedDict):
    tool: str
    before: Stance
    after: Stance


class ConnectorDecisions(TypedDict):
    connector_id: UuidText
    tools: list[ToolDecision]


class PreviewedRules(TypedDict):
    """What replacing the rules would do; ``version`` is the current one, for If-Match.

    ``connectors`` has the decisions that would change. The service knows no list of a
    connector's tools, so it tries one name for each pattern.
    """

    agent_id: UUID
    version: int
    added: list[ToolRuleResource]
    removed: list[ToolRuleResource]
    unchanged: int
    connectors: list[ConnectorDecisions]
    warnings: list[ToolRuleWarning]


class Preview(NamedTuple):
    """A replacement that isn't saved, with the version that it would be based on.

    ``granted`` are the connectors with rules before or after that the agent holds.
    """

    version: int
    replaced: ReplacedToolRules
    granted: Collection[str]


async def preview_replacement(command: ReplaceToolRules, work: UnitOfWork) -> Preview:
    """Decide on a replacement without saving it.

    :raises ServiceError: the replacement would be refused
    """
    rules, replaced = await decide_replacement(command, work)
    pending = len(rules.pending_events) if rules else 0
    granted = set()
    for name in {*replaced.before, *replaced.after}:
        connector = await work.find(Connector, UUID(name))
        if connector and connector.is_granted_to(command.agent_id):
            granted.add(name)
    return Preview(replaced.version - pending, replaced, granted)


@routes.post(
    "/api/mcp/agents/{agent_id}/tools/preview",
    answers={
        200: "preview of the tool rules; nothing was changed",
        403: "the caller can't manage a referenced connector on this agent",
        404: "no such agent; other callers than superusers get 403",
        422: "the batch would be refused, or is too large to compare",
    },
    if_match=True,
    rate_limit=PREVIEWS,
    body_example={
        "rules": [
            {
                "connector_id": "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11",
                "tool_pattern": "issues.*",
                "stance": "allow",
            }
        ]
    },
)
async def post_tool_rules_preview(
    request: web.Request, agent_id: UUID, body: BulkToolUpdate
) -> Answer[PreviewedRules]:
    """Preview a replacement of an agent's tool rules; nothing is changed.

    Takes a batch as the replacement does, and refuses what that would refuse. Shows the
    rules that would be added and removed, and the decisions that would change.
    """
    preview, _ = await execute_for(
        request,
        preview_replacement,
        replacement_of(agent_id, body),
        if_match=if_match(request),
    )
    replaced = preview.replaced
    connectors = await asyncio.to_thread(
        _changes, replaced.before, replaced.after, preview.granted
    )
    data: PreviewedRules = {
        "agent_id": agent_id,
        "version": preview.version,
        "connectors": connectors,
        **changes_between(replaced.before, replaced.after),
        "warnings": await warnings_about(replaced.after, replaced.not_granted),
    }
    return Answer(
        message="preview of the tool rules; nothing was changed",
        data=data,
        etag=preview.version,
    )


def _changes(
    before: Rules, after: Rules, granted: Collection[str]
) -> list[ConnectorDecisions]:
    work = Work(WORK_MAX)
    found: list[ConnectorDecisions] = []
    try:
        for connector in sorted(granted):
            tools: list[ToolDecision] = [
                {"tool": each.tool, "before": each.before, "after": each.after}
                for each in changed_decisions(
                    before.get(connector, {}), after.get(connector, {}), work
                )
            ]
            if tools:
                found.append({"connector_id": connector, "tools": tools})
    except TooMuchWorkError:
        raise InvalidRequestError(
            "the rules are too many and too complicated to compare; preview fewer "
            "connectors at a time",
            code="comparison_too_large",
        ) from None
    return found
