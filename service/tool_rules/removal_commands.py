"""Remove an agent's rules for one connector: command and handler."""

from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.tool_rules.aggregate import Rules, ToolRules
from service.tool_rules.policy import may_remove_rules


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveConnectorRules:
    """The connector may be retired, or not granted to the agent any more."""

    agent_id: UUID
    connector_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedToolRules:
    """``removed`` is empty where there were no rules.

    ``before`` and ``after`` are all rules of the agent; ``visible`` are those after it
    that the caller may see.
    """

    agent_id: UUID
    connector_id: UUID
    version: int
    removed: Rules
    before: Rules
    after: Rules
    visible: Rules


async def remove_connector_rules(
    command: RemoveConnectorRules, work: UnitOfWork
) -> RemovedToolRules:
    """Remove an agent's rules for one connector.

    :raises NotFoundError: there is no such agent; only a superuser is told
    :raises ForbiddenError: the caller neither manages the agent nor owns a connector
        that the agent holds or has rules for, whether or not both exist
    :raises ConflictError: the agent is retired
    """
    agent = await work.find(Agent, command.agent_id)
    if agent is None and work.principal.is_superuser:
        raise NotFoundError("no such agent")
    connector = await work.find(Connector, command.connector_id)
    rules = await work.find(ToolRules, ToolRules.create_id(str(command.agent_id)))
    name = str(command.connector_id)
    before = rules.rules if rules else {}
    if not may_remove_rules(work.principal, agent, connector, has_rules=name in before):
        raise ForbiddenError("the caller can't manage this connector on this agent")
    if agent is not None:
        agent.refuse_if_retired()
    work.match(rules)
    if rules is not None:
        rules.replace({name: {}})
        work.save(rules)
    after = rules.rules if rules else {}
    manages = agent is not None and fully_manages(work.principal, agent)
    return RemovedToolRules(
        agent_id=command.agent_id,
        connector_id=command.connector_id,
        version=rules.version if rules else 0,
        removed={name: before[name]} if name in before else {},
        before=before,
        after=after,
        visible=after if manages else {},
    )
