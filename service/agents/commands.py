"""Register, edit and retire agents, and appoint and dismiss their managers."""

from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages, may_dismiss, may_see_agent
from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.users.aggregate import User


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterAgent:
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditAgent:
    agent_id: UUID
    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireAgent:
    agent_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class AppointManager:
    agent_id: UUID
    user_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DismissManager:
    agent_id: UUID
    user_id: UUID


async def register_agent(command: RegisterAgent, work: UnitOfWork) -> Agent:
    """Register an agent, managed by the caller."""
    agent = Agent(
        name=command.name,
        description=command.description,
        manager_id=str(work.principal.user_id),
    )
    work.save(agent)
    return agent


async def edit_agent(command: EditAgent, work: UnitOfWork) -> tuple[Agent, bool]:
    """Change an agent's name and description; return it, and whether either differs.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent is retired
    """
    agent = await managed_agent(work, command.agent_id)
    work.match(agent)
    changed = agent.edit(name=command.name, description=command.description)
    work.save(agent)
    return agent, changed


async def retire_agent(command: RetireAgent, work: UnitOfWork) -> tuple[Agent, bool]:
    """Retire an agent permanently; return it, and whether it was active.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    """
    agent = await managed_agent(work, command.agent_id)
    work.match(agent)
    changed = agent.retire()
    work.save(agent)
    return agent, changed


async def appoint_manager(
    command: AppointManager, work: UnitOfWork
) -> tuple[Agent, bool]:
    """Appoint a manager; return the agent, and whether the user wasn't one before.

    :raises NotFoundError: there is no such agent, or none that the caller can see;
        or no such user
    :raises ForbiddenError: the caller doesn't manage the agent
    :raises ConflictError: the agent has as many managers as it can have
    """
    agent = await managed_agent(work, command.agent_id)
    if await work.find(User, command.user_id) is None:
        raise NotFoundError("no such user")
    work.match(agent)
    changed = agent.appoint_manager(command.user_id)
    work.save(agent)
    return agent, changed


async def dismiss_manager(
    command: DismissManager, work: UnitOfWork
) -> tuple[Agent, bool]:
    """Dismiss a manager; return the agent, and whether the user was one.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent, or the last manager
        would go and the caller is not a superuser
    """
    agent = await managed_agent(work, command.agent_id)
    if not may_dismiss(work.principal, agent, command.user_id):
        raise ForbiddenError("only a superuser dismisses the last manager")
    work.match(agent)
    changed = agent.dismiss_manager(command.user_id)
    work.save(agent)
    return agent, changed


async def managed_agent(work: UnitOfWork, agent_id: UUID) -> Agent:
    """Load an agent that the caller manages.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller can only see it
    """
    agent = await visible_agent(work, agent_id)
    if not fully_manages(work.principal, agent):
        raise ForbiddenError("only managers of this agent may do that")
    return agent


async def visible_agent(work: UnitOfWork, agent_id: UUID) -> Agent:
    """Load an agent that the caller can see.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    """
    agent = await work.find(Agent, agent_id)
    if agent is None or not may_see_agent(work.principal, agent):
        raise NotFoundError("no such agent")
    return agent
