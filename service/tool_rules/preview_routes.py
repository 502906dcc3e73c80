"""Previewing a replacement of tool rules over HTTP: nothing is changed."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Annotated, Final, NamedTuple
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.connectors.aggregate import Connector
from service.event_log.unit_of_work import UnitOfWork
from service.http.dispatch import execute_for
from service.http.envelope import Answer, UuidText
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import QueryModel, if_match
from service.pacing import in_thread
from service.tool_rules.body import BulkToolUpdate
from service.tool_rules.call_history import (
    CALL_HISTORY,
    RECORDED_MAX,
    PinnedTools,
    RecordedCalls,
)
from service.tool_rules.commands import (
    ReplacedToolRules,
    ReplaceToolRules,
    decide_replacement,
)
from service.tool_rules.comparison import (
    ConnectorRules,
    Work,
    changed_decisions,
    decisions,
)
from service.tool_rules.decision import WITHOUT_A_MATCH, Stance
from service.tool_rules.known_tools import TOOL_NAMES
from service.tool_rules.resource import (
    ToolRuleResource,
    ToolRuleWarning,
    changes_between,
    warnings_of,
)
from service.tool_rules.routes import replacement_of

EXAMPLES_MAX: Final = 50
PREVIEWS: Final = RateLimit(burst=20, interval_s=1.0)

routes = Routes("mcp")


class ToolDecision(TypedDict):
    tool: str
    before: Stance
    after: Stance


class ChangedCalls(TypedDict):
    """Recorded calls of one tool that would be decided otherwise."""

    connector_id: UuidText
    tool: str
    decided: Stance
    would_be: Stance
    calls: int
    last_at: datetime


class PreviewedCalls(TypedDict):
    """The calls of the connectors named since a time, and those decided otherwise.

    ``is_complete`` is false if there were more different tools than are compared; then
    those called most are. ``examples`` are the changed calls that were most frequent.
    """

    since: datetime
    calls: int
    changed: int
    is_complete: bool
    examples: list[ChangedCalls]


class ConnectorDecisions(TypedDict):
    connector_id: UuidText
    tools: list[ToolDecision]


class PreviewedRules(TypedDict):
    """What replacing the rules would do; ``version`` is the current one, for If-Match.

    ``connectors`` has the decisions that would change, of the tools that the connector
    was observed to have. ``not_observed`` are connectors whose tools aren't known yet.
    ``recorded`` has what would become of the calls of the past days. Decisions are
    those of calls now, definitions included: a hidden tool is denied, whatever rules
    say, and a new one is asked about under a wildcard.
    """

    agent_id: UUID
    version: int
    added: list[ToolRuleResource]
    removed: list[ToolRuleResource]
    unchanged: int
    connectors: list[ConnectorDecisions]
    not_observed: list[UuidText]
    recorded: PreviewedCalls
    warnings: list[ToolRuleWarning]


class PreviewQuery(QueryModel):
    days: Annotated[
        int, Field(ge=1, le=90, description="Days of recorded calls to compare.")
    ] = 7


class Past(NamedTuple):
    """Tools by connector, and calls since a time."""

    since: datetime
    tools: Mapping[str, PinnedTools]
    calls: Sequence[RecordedCalls]


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
        if (
            connector
            and not connector.is_retired
            and connector.is_granted_to(command.agent_id)
        ):
            granted.add(name)
    return Preview(replaced.version - pending, replaced, granted)


@routes.post(
    "/api/mcp/agents/{agent_id}/tools/preview",
    answers={
        200: "preview of the tool rules; nothing was changed",
        403: "the caller can't manage a referenced connector on this agent",
        404: "no such agent; other callers than superusers get 403",
        409: "the agent is retired (`agent_retired`)",
        422: "the batch would be refused, or is too large to compare "
        "(`comparison_too_large`)",
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
    request: web.Request, agent_id: UUID, query: PreviewQuery, body: BulkToolUpdate
) -> Answer[PreviewedRules]:
    """Preview a replacement of an agent's tool rules; nothing is changed.

    Takes a batch as the replacement does, and refuses what that would refuse. Shows the
    rules that would be added and removed, the decisions that would change, and how many
    recorded calls of the past `days` (7) would have been decided otherwise. Decisions
    are those on the tools that were observed; connectors that never were are listed.
    """
    preview, _ = await execute_for(
        request,
        preview_replacement,
        replacement_of(agent_id, body),
        if_match=if_match(request),
    )
    replaced = preview.replaced
    history = request.app[CALL_HISTORY]
    named = [UUID(each) for each in sorted({*replaced.before, *replaced.after})]
    since = datetime.now(UTC) - timedelta(days=query.days)
    past = Past(
        since,
        {str(each): await history.tools(each) for each in named},
        await history.calls(agent_id, named, since),
    )
    connectors, recorded = await in_thread(_compared, preview, past)
    data: PreviewedRules = {
        "agent_id": agent_id,
        "version": preview.version,
        "connectors": connectors,
        "not_observed": [
            each for each in sorted(preview.granted) if past.tools[each].names is None
        ],
        "recorded": recorded,
        **changes_between(replaced.before, replaced.after),
        "warnings": await warnings_of(replaced, request.app[TOOL_NAMES]),
    }
    return Answer(
        message="preview of the tool rules; nothing was changed",
        data=data,
        etag=preview.version,
    )


def _compared(
    preview: Preview, past: Past
) -> tuple[list[ConnectorDecisions], PreviewedCalls]:
    """Compare decisions and recorded calls, within one bound of work.

    :raises InvalidRequestError: it would take more
    """
    work = Work("preview fewer connectors at a time")
    return _changes(preview, past, work), _changed_calls(preview, past, work)


def _changes(preview: Preview, past: Past, work: Work) -> list[ConnectorDecisions]:
    before, after = preview.replaced.before, preview.replaced.after
    found: list[ConnectorDecisions] = []
    for connector in sorted(preview.granted):
        known = past.tools[connector]
        if known.names is None:
            continue
        tools: list[ToolDecision] = [
            {"tool": each.tool, "before": each.before, "after": each.after}
            for each in changed_decisions(
                ConnectorRules(before.get(connector, {}), known.pin),
                ConnectorRules(after.get(connector, {}), known.pin),
                work,
                known.names,
            )
        ]
        if tools:
            found.append({"connector_id": connector, "tools": tools})
    return found


def _changed_calls(preview: Preview, past: Past, work: Work) -> PreviewedCalls:
    compared = past.calls[:RECORDED_MAX]
    changed: list[ChangedCalls] = []
    for connector_id, of_connector in groupby(
        sorted(compared, key=_connector), key=_connector
    ):
        calls = list(of_connector)
        connector = str(connector_id)
        rules = ConnectorRules(
            preview.replaced.after.get(connector, {}), past.tools[connector].pin
        )
        decided = decisions(rules, {each.tool for each in calls}, work)
        for each in calls:
            granted = connector in preview.granted
            would_be = decided[each.tool] if granted else WITHOUT_A_MATCH
            if would_be is not each.decided:
                changed.append(
                    {
                        "connector_id": connector,
                        "tool": each.tool,
                        "decided": each.decided,
                        "would_be": would_be,
                        "calls": each.calls,
                        "last_at": each.last_at,
                    }
                )
    changed.sort(key=lambda each: (-each["calls"], each["connector_id"], each["tool"]))
    return {
        "since": past.since,
        "calls": sum(each.calls for each in compared),
        "changed": sum(each["calls"] for each in changed),
        "is_complete": len(past.calls) <= RECORDED_MAX,
        "examples": changed[:EXAMPLES_MAX],
    }


def _connector(calls: RecordedCalls) -> UUID:
    return calls.connector_id
