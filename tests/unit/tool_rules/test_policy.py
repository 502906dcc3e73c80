"""The authorization table of operation 1, row by row, without HTTP."""

from uuid import uuid4

import pytest

from service.principal import Principal, Role
from service.tool_rules.policy import may_clear_rules, may_replace_rules
from tests.support.connectors.making import agent_of
from tests.support.scenario import principal
from tests.support.tool_rules.grid import CALLERS, CELLS, EMPTY, connector_in


def caller_named(name: str) -> Principal:
    return principal(name, *map(Role, CALLERS[name]))


@pytest.mark.parametrize(("name", "owns", "state", "status"), CELLS)
def test_who_may_replace_rules(
    name: str, *, owns: bool, state: str, status: int
) -> None:
    caller = caller_named(name)
    agent = agent_of(caller if name == "manager" else principal("someone"))
    connector = connector_in(state, caller.user_id if owns else uuid4(), agent.id)

    # Whether the connector exists is asked after this.
    assert may_replace_rules(caller, agent, connector) is (status != 403)


@pytest.mark.parametrize(("name", "status"), EMPTY.items())
def test_who_may_clear_rules(name: str, status: int) -> None:
    caller = caller_named(name)
    agent = agent_of(caller if name == "manager" else principal("someone"))

    assert may_clear_rules(caller, agent) is (status == 200)


@pytest.mark.parametrize("name", CALLERS)
def test_an_unknown_agent_permits_nothing(name: str) -> None:
    caller = caller_named(name)
    connector = connector_in("granted", caller.user_id, uuid4())

    assert not may_replace_rules(caller, None, connector)
    assert not may_clear_rules(caller, None)


def test_a_grant_to_another_agent_is_no_grant() -> None:
    owner = principal("owner")
    agent = agent_of(principal("someone"))

    connector = connector_in("granted", owner.user_id, uuid4())

    assert not may_replace_rules(owner, agent, connector)


def test_being_both_auditor_and_manager_takes_nothing_away() -> None:
    both = principal("both", Role.AUDITOR, Role.RUNTIME)

    assert may_clear_rules(both, agent_of(both))
