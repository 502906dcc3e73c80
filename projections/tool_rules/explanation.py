"""Explain why an agent may or may not call a tool."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.origins import Origin, origins_at
from projections.engine.time_travel import AsOf
from projections.tool_rules import history
from projections.tool_rules.look_back import Past, last_change
from projections.tool_rules.spans import Found, RuleSpan
from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.database import Db
from service.pacing import in_thread
from service.tool_definitions.aggregate import Standing, ToolDefinitions
from service.tool_definitions.aliases import tools_by_alias
from service.tool_definitions.pinning import PinReason, decide_pinned
from service.tool_rules.aggregate import ToolRules
from service.tool_rules.decision import Stance, decide, matching_rules

Reason = Literal[
    "rule",
    "no_rule_matches",
    "connector_not_granted",
    "no_connector",
    "agent_retired",
    "new_definition",
    "definition_changed",
    "no_such_tool",
]
# The followers that a snapshot to read facts from has to reflect.
EXPLAINED_BY: Final = ("tool_rules", "connectors", "agents")
Lend = Callable[[], AbstractAsyncContextManager[Db]]


class ExplainedRule(TypedDict):
    """A rule of the connector; a decisive one matches and has the rules' stance.

    ``since`` is the event that added it.
    """

    tool_pattern: str
    stance: Stance
    matched: bool
    decisive: bool
    since: Origin


class Explanation(TypedDict):
    """A decision with the rules and grants that it is based on.

    ``version`` is that of the agent's rules, 0 if it never had any. ``position`` is the
    log position of this answer. A retired connector doesn't exist, and a retired agent
    holds none. ``stance_since`` is
    the event that last changed the decision for this tool, ``granted_since`` the event
    that last granted or revoked the connector; null if there was none.
    ``looked_back_to`` is 0, or for a history of thousands of changes that concern the
    tool the position from which on these were looked at: a null then says that the
    decision has been the same since there. ``definition``
    compares the tool's definition with the accepted one, null if the connector lists no
    such tool, and if the agent doesn't hold the connector and the caller can't see it;
    before its tools were first observed, the rules alone decide. ``explained_tool`` is
    the tool that all this is about: ``tool``, or what that is an alias of in the lists
    of agents.
    """

    agent_id: UUID
    connector_id: UUID
    tool: str
    explained_tool: str
    stance: Stance
    stance_since: Origin | None
    looked_back_to: int
    reason: Reason
    connector_exists: bool
    granted: bool
    granted_since: Origin | None
    definition: Standing | None
    rules: list[ExplainedRule]
    version: int
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a decision depended on at a position, and how it came about."""

    agent_id: UUID
    connector_id: UUID
    asked: str
    position: int
    is_retired: bool
    connector_exists: bool
    is_granted: bool
    sees_definition: bool
    standing: Standing | None
    version: int
    # Of the connector, those that stood.
    rules: Sequence[RuleSpan]
    past: Past

    @property
    def stances(self) -> dict[str, str]:
        return {each.pattern: each.stance for each in self.rules}


async def facts_of(
    then: AsOf,
    db: Db,
    *,
    agent_id: UUID,
    connector_id: UUID,
    tool: str,
    sees_connector: bool,
) -> Facts:
    """Read what a decision depended on.

    ``db`` has to reflect the position of ``then``. ``sees_connector``: the connector
    exists for the caller, so its definitions do.
    """
    agent = await then.find(Agent, agent_id)
    connector = await then.find(Connector, connector_id)
    rules = await then.find(ToolRules, ToolRules.create_id(str(agent_id)))
    is_retired = agent is not None and agent.is_retired
    is_granted = (
        connector is not None and connector.is_granted_to(agent_id) and not is_retired
    )
    at, ids = then.position, {"agent_id": agent_id, "connector_id": connector_id}
    asked = tool
    defined = await history.definitions(db, connector_id=connector_id, tool=tool, at=at)
    standing = defined.spans[0].standing if defined.spans else None
    if not (defined.spans and defined.spans[0].is_known):
        tools = await then.find(ToolDefinitions, ToolDefinitions.id_for(connector_id))
        if is_granted or sees_connector:
            tool = _behind_alias(tool, connector, tools)
        standing = tools.standing(tool) if tools else None
    if tool != asked:
        defined = await history.definitions(
            db, connector_id=connector_id, tool=tool, at=at
        )
    observed = await history.first_observed(db, [connector_id], at=at)
    retired = await history.retirements(db, [agent_id], at=at) if is_retired else {}
    standing_rules = await history.standing_rules(
        db,
        **ids,
        stances=rules.rules.get(str(connector_id), {}) if rules else {},
        at=at,
    )
    ended = await history.ended_rules(db, **ids, tool=tool, at=at)
    return Facts(
        **ids,
        asked=asked,
        position=at,
        is_retired=is_retired,
        connector_exists=connector is not None and not connector.is_retired,
        is_granted=is_granted,
        sees_definition=is_granted or sees_connector,
        standing=standing,
        version=rules.version if rules else 0,
        rules=standing_rules,
        past=Past(
            tool=tool,
            rules=Found([*standing_rules, *ended.spans], ended.complete_from),
            holdings=await history.holdings(db, **ids, at=at),
            definitions=defined,
            observed_at=observed.get(connector_id),
            retired_at=retired.get(agent_id),
        ),
    )


async def explain(facts: Facts, lend: Lend) -> Explanation:
    """Decide, and say why.

    Borrows a connection for a moment, behind all that takes long to compute.
    """
    past = facts.past
    matching = await in_thread(matching_rules, facts.stances, past.tool)
    change = await in_thread(last_change, past)
    granted_at = max((each.changed_at for each in past.held), default=None)
    stated = [each.since for each in facts.rules]
    positions = [*stated, change.changed_at, granted_at]
    async with lend() as db:
        origins = await origins_at(db, positions)
    of_rules = decide(matching, granted=facts.is_granted)
    stance, pin = decide_pinned(
        of_rules,
        matching,
        past.tool,
        facts.standing,
        is_observed=past.observed_at is not None,
    )
    return {
        "agent_id": facts.agent_id,
        "connector_id": facts.connector_id,
        "tool": facts.asked,
        "explained_tool": past.tool,
        "stance": stance,
        "stance_since": origins.get(change.changed_at or 0),
        "looked_back_to": change.looked_back_to,
        "reason": _reason(facts, pin=pin, matching=matching),
        "connector_exists": facts.connector_exists,
        "granted": facts.is_granted,
        "granted_since": origins.get(granted_at or 0),
        "definition": facts.standing if facts.sees_definition else None,
        "rules": [
            {
                "tool_pattern": each.pattern,
                "stance": Stance(each.stance),
                "matched": each.pattern in matching,
                "decisive": facts.is_granted
                and each.pattern in matching
                and each.stance == of_rules,
                "since": origins[each.since],
            }
            for each in sorted(facts.rules, key=lambda rule: rule.pattern)
        ],
        "version": facts.version,
        "position": facts.position,
    }


def _behind_alias(
    name: str, connector: Connector | None, definitions: ToolDefinitions | None
) -> str:
    """Return the tool that a name is an alias of, or the name, if it is a tool's."""
    if connector is None or definitions is None or name in definitions.known:
        return name
    aliases = tools_by_alias(connector.id, connector.slug, sorted(definitions.known))
    return aliases.get(name, name)


def _reason(
    facts: Facts, *, pin: PinReason | None, matching: Mapping[str, Stance]
) -> Reason:
    if facts.is_retired:
        return "agent_retired"
    if not facts.connector_exists:
        return "no_connector"
    if not facts.is_granted:
        return "connector_not_granted"
    if pin is not None:
        return pin.value
    return "rule" if matching else "no_rule_matches"
