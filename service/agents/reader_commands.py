"""Appoint and dismiss an agent's readers: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.commands import managed_agent
from service.errors import NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.users.aggregate import User


@dataclass(frozen=True, slots=True, kw_only=True)
class AppointReader:
    agent_id: UUID
    user_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissReader:
    agent_id: UUID
    user_id: UUID


async def appoint_reader(
    command: AppointReader, work: UnitOfWork
) -> tuple[Agent, bool]:
    """Appoint a reader; return the agent, and whether the user wasn't one before.

    :raises NotFoundError: there is no such agent, or none that the caller can see;
        or no such user
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent has as many readers as it can have
    """
    agent = await managed_agent(work, command.agent_id)
    if await work.find(User, command.user_id) is None:
        raise NotFoundError("no such user")
    work.match(agent)
    changed = agent.appoint_reader(command.user_id)
    work.save(agent)
    return agent, changed


async def dismiss_reader(
    command: DismissReader, work: UnitOfWork
) -> tuple[Agent, bool]:
    """Dismiss a reader; return the agent, and whether the user was one.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    """
    agent = await managed_agent(work, command.agent_id)
    work.match(agent)
    changed = agent.dismiss_reader(command.user_id)
    work.save(agent)
    return agent, changed
