"""Authorization of what callers do with an agent."""

from uuid import UUID

from service.agents.aggregate import Agent
from service.principal import Principal


def fully_manages(principal: Principal, agent: Agent) -> bool:
    """Full agent management: a superuser, or a manager of that agent."""
    return principal.is_superuser or agent.is_managed_by(principal.user_id)


def may_see_agent(principal: Principal, agent: Agent) -> bool:
    """Whether an agent exists for the caller, with its rules and decisions."""
    return (
        principal.sees_everything
        or agent.is_managed_by(principal.user_id)
        or agent.is_read_by(principal.user_id)
    )


def may_dismiss(principal: Principal, agent: Agent, user_id: UUID) -> bool:
    """Who may dismiss a manager: only a superuser the last one.

    An agent without managers is still managed, by superusers; no manager should
    bring that about, least of all by mistake.
    """
    is_last = agent.manager_ids == [str(user_id)]
    return principal.is_superuser or (fully_manages(principal, agent) and not is_last)
