"""Who may remove an agent's rules for a connector."""

from uuid import uuid4

import pytest

from service.tool_rules.aggregate import ToolRules
from service.tool_rules.policy import may_remove_rules
from tests.support.connectors.making import agent_of
from tests.support.scenario import principal
from tests.support.tool_rules.grid import CALLERS, STATES, connector_in
from tests.unit.tool_rules.test_policy import caller_named


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", CALLERS)
@pytest.mark.parametrize("owns", [True, False])
@pytest.mark.parametrize("has_rules", [True, False])
def test_who_may_remove_rules(
    name: str, state: str, *, owns: bool, has_rules: bool
) -> None:
    caller = caller_named(name)
    agent = agent_of(caller if name == "manager" else principal("someone"))
    connector = connector_in(state, caller.user_id if owns else uuid4(), agent.id)

    expected = name in ("superuser", "manager") or (
        owns and state != "unknown" and (has_rules or state == "granted")
    )
    assert may_remove_rules(caller, agent, connector, has_rules=has_rules) is expected
    assert not may_remove_rules(caller, None, connector, has_rules=False)


def test_only_connectors_with_rules_are_kept() -> None:
    rules = ToolRules(agent_id="triage")
    rules.replace({"tracker": {"a": "allow"}, "mail": {"a": "allow"}})

    rules.replace({"tracker": {}})
    rules.replace({"mail": {}})

    assert rules.rules == {}
    assert rules.clear() is False
