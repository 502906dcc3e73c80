"""Who may do what with a connector."""

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.principal import Principal


def owns(principal: Principal, connector: Connector) -> bool:
    return str(principal.user_id) == connector.owner_id


def may_share(principal: Principal, connector: Connector) -> bool:
    """Who may publish, retire and grant it: its owner and superusers."""
    return principal.is_superuser or owns(principal, connector)


def may_see(
    principal: Principal, connector: Connector, *, manages_holder: bool
) -> bool:
    """Whether a connector exists for the caller.

    ``manages_holder``: the caller manages an agent that holds it or is offered it.
    """
    return (
        principal.sees_everything
        or owns(principal, connector)
        or connector.is_public
        or manages_holder
    )


def speaks_for_agent(principal: Principal, agent: Agent | None) -> bool:
    """Who may consent to grants on the agent's behalf."""
    return agent is not None and fully_manages(principal, agent)
