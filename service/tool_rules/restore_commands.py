"""Restore an agent's rules of an earlier time: command and handler."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.tool_rules.aggregate import Rules, ToolRules
from service.tool_rules.commands import ReplacedToolRules
from service.tool_rules.policy import may_clear_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreToolRules:
    """The complete earlier rules; rules added since are removed."""

    agent_id: UUID
    rules: Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredToolRules(ReplacedToolRules):
    """All rules before and after; ``left_out`` are retired connectors."""

    left_out: Sequence[UUID]


async def restore_tool_rules(
    command: RestoreToolRules, work: UnitOfWork
) -> RestoredToolRules:
    """Replace the rules by the given ones, where they differ.

    :raises NotFoundError: there is no such agent; only a superuser is told
    :raises ForbiddenError: the caller has no full management of the agent
    :raises ConflictError: the agent is retired
    """
    agent = await work.find(Agent, command.agent_id)
    if agent is None and work.principal.is_superuser:
        raise NotFoundError("no such agent")
    if not may_clear_rules(work.principal, agent):
        raise ForbiddenError("restoring rules needs full management of the agent")
    if agent is not None:
        agent.refuse_if_retired()
    found = await work.find(ToolRules, ToolRules.create_id(str(command.agent_id)))
    work.match(found)
    connectors = {
        connector: await work.find(Connector, UUID(connector))
        for connector, stances in command.rules.items()
        if stances
    }
    there = {
        name: each for name, each in connectors.items() if each and not each.is_retired
    }
    before = found.rules if found else {}
    if found is not None:
        gone: Rules = {connector: {} for connector in before}
        found.replace({**gone, **{name: command.rules[name] for name in there}})
        work.save(found)
    after = found.rules if found else {}
    return RestoredToolRules(
        agent_id=command.agent_id,
        version=found.version if found else 0,
        before=before,
        after=after,
        visible=after,
        connectors_before=before,
        connectors_after=after,
        left_out=[UUID(name) for name in connectors if name not in there],
        not_granted=[
            UUID(name)
            for name, each in there.items()
            if not each.is_granted_to(command.agent_id)
        ],
    )
