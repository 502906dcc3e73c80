"""Authorization of what callers do with the approval of a call."""

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.connectors.policy import owns
from service.principal import Principal


def may_decide(
    principal: Principal, agent: Agent | None, connector: Connector | None
) -> bool:
    """Who may see and decide on a call: the agent's managers, and superusers.

    And the connector's owner. Never the agent itself: its token is refused wherever
    this is asked.
    """
    return (agent is not None and fully_manages(principal, agent)) or (
        connector is not None and owns(principal, connector)
    )
