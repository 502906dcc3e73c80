"""Read and change how the gateway lists an agent's tools: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.commands import managed_agent, visible_agent
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadToolSearch:
    agent_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeToolSearch:
    agent_id: UUID
    tools_listed_max: int | None


async def read_tool_search(command: ReadToolSearch, work: UnitOfWork) -> Agent:
    """Return the agent.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    """
    return await visible_agent(work, command.agent_id)


async def change_tool_search(
    command: ChangeToolSearch, work: UnitOfWork
) -> tuple[Agent, bool]:
    """Change when tools are searched; return the agent, and whether that differs.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent is retired
    """
    agent = await managed_agent(work, command.agent_id)
    work.match(agent)
    changed = agent.change_tool_search(command.tools_listed_max)
    work.save(agent)
    return agent, changed
