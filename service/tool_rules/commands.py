"""Replace an agent's tool rules: command and handler."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.identifiers import id_text
from service.principal import Principal
from service.tool_rules.aggregate import Rules, ToolRules
from service.tool_rules.decision import Stance
from service.tool_rules.policy import may_clear_rules, may_replace_rules

RULES_PER_AGENT_MAX = 10_000


class ToolRule(NamedTuple):
    connector_id: UUID
    tool_pattern: str
    stance: Stance


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaceToolRules:
    """The complete rules of every connector that they name; none clears the agent.

    No connector and pattern come with two stances.
    """

    agent_id: UUID
    rules: Sequence[ToolRule]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedToolRules:
    """The result of a replacement.

    ``before`` and ``after`` are the rules of the connectors that the command named;
    ``visible`` are all rules that the caller may see; ``not_granted`` are the named
    connectors that the agent doesn't hold. ``connectors_before`` and
    ``connectors_after`` are all that the agent has rules for.
    """

    agent_id: UUID
    version: int
    before: Rules
    after: Rules
    visible: Rules
    not_granted: Sequence[UUID]
    connectors_before: Collection[str]
    connectors_after: Collection[str]


async def replace_tool_rules(
    command: ReplaceToolRules, work: UnitOfWork
) -> ReplacedToolRules:
    """Replace the rules of every connector named, or of none.

    :raises ServiceError: as :func:`decide_replacement`
    """
    rules, replaced = await decide_replacement(command, work)
    if rules:
        work.save(rules)
    return replaced


async def decide_replacement(
    command: ReplaceToolRules, work: UnitOfWork
) -> tuple[ToolRules | None, ReplacedToolRules]:
    """Return the agent's rules after a replacement, not saved yet.

    :raises NotFoundError: there is no such agent; only a superuser is told
    :raises ForbiddenError: the caller can't manage a named connector on this agent,
        whether or not both exist
    :raises InvalidRequestError: the caller could, but there is no such connector,
        or the agent would have more rules than it may
    :raises ConflictError: the agent is retired
    """
    agent = await work.find(Agent, command.agent_id)
    stances = _by_connector(command.rules)
    connectors = {each: await work.find(Connector, each) for each in stances}
    manages = agent is not None and fully_manages(work.principal, agent)
    if not manages:
        _authorize(command, work.principal, agent, connectors)
    _refuse_unknown(command, connectors)
    if agent is not None:
        agent.refuse_if_retired()
    found = await work.find(ToolRules, ToolRules.create_id(id_text(command.agent_id)))
    work.match(found)
    before = found.rules if found else {}
    named = {id_text(connector_id): each for connector_id, each in stances.items()}
    rules = found
    if named:
        rules = rules or ToolRules(agent_id=str(command.agent_id))
        rules.replace(named)
    elif rules:
        rules.clear()
    if rules:
        _refuse_too_many(rules)
    everything = rules.rules if rules else {}
    return rules, ReplacedToolRules(
        agent_id=command.agent_id,
        version=rules.version if rules else 0,
        before=_only(before, named) if named else before,
        after=_only(everything, named),
        visible=everything if manages else _only(everything, named),
        not_granted=[
            connector_id
            for connector_id, connector in connectors.items()
            if connector and not connector.is_granted_to(command.agent_id)
        ],
        connectors_before=before,
        connectors_after=everything,
    )


def _authorize(
    command: ReplaceToolRules,
    principal: Principal,
    agent: Agent | None,
    connectors: Mapping[UUID, Connector | None],
) -> None:
    """Refuse a caller without full management, except for connectors of their own."""
    if agent is None and principal.is_superuser:
        raise NotFoundError("no such agent")
    if not command.rules:
        if may_clear_rules(principal, agent):
            return
        raise ForbiddenError(
            "an empty batch needs full management of the agent",
            problems=[Problem("rules", "empty")],
        )
    refused = {
        connector_id
        for connector_id, connector in connectors.items()
        if not may_replace_rules(principal, agent, connector)
    }
    if refused:
        raise ForbiddenError(
            "the caller can't manage a referenced connector on this agent",
            problems=_naming(command, refused, "not manageable by the caller"),
        )


def _refuse_unknown(
    command: ReplaceToolRules, connectors: Mapping[UUID, Connector | None]
) -> None:
    """Call after authorization.

    Callers who may not know whether a connector exists get the same 403 either way.
    """
    unknown = {
        connector_id
        for connector_id, connector in connectors.items()
        if connector is None or connector.is_retired
    }
    if unknown:
        raise InvalidRequestError(
            "a referenced connector doesn't exist",
            code="unknown_connector",
            problems=_naming(command, unknown, "no such connector"),
        )


def _refuse_too_many(rules: ToolRules) -> None:
    if sum(map(len, rules.rules.values())) > RULES_PER_AGENT_MAX:
        raise InvalidRequestError(
            f"an agent has at most {RULES_PER_AGENT_MAX} rules",
            code="too_many_rules",
            problems=[Problem("rules", "too many together with the rules that remain")],
        )


def _naming(
    command: ReplaceToolRules, connector_ids: set[UUID], message: str
) -> list[Problem]:
    return [
        Problem(f"rules[{number}].connector_id", message)
        for number, rule in enumerate(command.rules)
        if rule.connector_id in connector_ids
    ]


def _by_connector(rules: Sequence[ToolRule]) -> dict[UUID, dict[str, str]]:
    by_connector: dict[UUID, dict[str, str]] = {}
    for connector_id, tool_pattern, stance in rules:
        by_connector.setdefault(connector_id, {})[tool_pattern] = stance.value
    return by_connector


def _only(rules: Rules, connectors: Mapping[str, object]) -> Rules:
    return {each: stances for each, stances in rules.items() if each in connectors}
