"""Who may do what with an agent."""

from service.agents.aggregate import Agent
from service.auth.principal import Principal


def fully_manages(principal: Principal, agent: Agent) -> bool:
    """Full agent management: a superuser, or a manager of that agent."""
    return principal.is_superuser or agent.is_managed_by(principal.user_id)
