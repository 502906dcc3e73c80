"""Authorization of what callers do with a connector."""

from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.principal import Principal


def owns(principal: Principal, connector: Connector) -> bool:
    return str(principal.user_id) == connector.owner_id


def may_share(principal: Principal, connector: Connector) -> bool:
    """Who may edit, publish, retire, grant and offer it: its owner and superusers."""
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
        or is_offered_ownership(principal, connector)
        or manages_holder
    )


def is_offered_ownership(principal: Principal, connector: Connector) -> bool:
    return str(principal.user_id) == connector.offered_owner_id


def may_accept_ownership(
    principal: Principal, connector: Connector, user_id: UUID
) -> bool:
    """Who may make a user the owner: that user once it is offered, and superusers.

    Ownership is seen by others, who trust a connector for it; so nobody becomes the
    owner of a connector without accepting it.
    """
    return principal.is_superuser or (
        principal.user_id == user_id and is_offered_ownership(principal, connector)
    )


def speaks_for_agent(principal: Principal, agent: Agent | None) -> bool:
    """Who may consent to grants on the agent's behalf."""
    return agent is not None and fully_manages(principal, agent)
