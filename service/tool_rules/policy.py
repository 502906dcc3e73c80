"""Authorization of changes to an agent's tool rules."""

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.connectors.policy import owns
from service.principal import Principal


def may_replace_rules(
    principal: Principal, agent: Agent | None, connector: Connector | None
) -> bool:
    """Say whether a caller may replace an agent's rules for one connector.

    Either by full agent management, or as the owner of a connector that the agent
    already holds. None is one that doesn't exist.
    """
    if agent is None:
        return False
    if fully_manages(principal, agent):
        return True
    return (
        connector is not None
        and owns(principal, connector)
        and connector.is_granted_to(agent.id)
    )


def may_remove_rules(
    principal: Principal,
    agent: Agent | None,
    connector: Connector | None,
    *,
    has_rules: bool,
) -> bool:
    """Say whether a caller may remove an agent's rules for one connector.

    As for a replacement, and the connector's owner as well once it is no longer
    granted or is retired: its owner sees the rules that are left (``has_rules``).
    """
    return may_replace_rules(principal, agent, connector) or (
        has_rules and connector is not None and owns(principal, connector)
    )


def may_clear_rules(principal: Principal, agent: Agent | None) -> bool:
    """Say whether a caller may drop all of an agent's rules.

    No connector narrows that, so it takes full agent management.
    """
    return agent is not None and fully_manages(principal, agent)
