"""Who may do what with a connector: the table."""

import pytest

from service.connectors.policy import may_see, may_share, owns, speaks_for_agent
from service.principal import Principal, Role
from tests.support.connectors.making import (
    AUDITOR,
    BOTH,
    MANAGER,
    OWNER,
    ROOT,
    STRANGER,
    agent_of,
    connector_of,
)
from tests.support.scenario import principal

RUNTIME = principal("runtime", Role.RUNTIME)


@pytest.mark.parametrize(
    ("caller", "is_owner", "shares"),
    [
        (OWNER, True, True),
        (STRANGER, False, False),
        (ROOT, False, True),
        (AUDITOR, False, False),
        (RUNTIME, False, False),
    ],
)
def test_sharing(caller: Principal, *, is_owner: bool, shares: bool) -> None:
    for public in (False, True):
        connector = connector_of(OWNER, public=public)
        assert owns(caller, connector) is is_owner
        assert may_share(caller, connector) is shares


@pytest.mark.parametrize(
    ("caller", "public", "manages_holder", "sees"),
    [
        (OWNER, False, False, True),
        (ROOT, False, False, True),
        (AUDITOR, False, False, True),
        (STRANGER, False, False, False),
        (STRANGER, True, False, True),
        (STRANGER, False, True, True),
        (RUNTIME, False, False, False),
    ],
)
def test_seeing(
    caller: Principal, *, public: bool, manages_holder: bool, sees: bool
) -> None:
    connector = connector_of(OWNER, public=public)
    assert may_see(caller, connector, manages_holder=manages_holder) is sees


@pytest.mark.parametrize(
    ("caller", "speaks"),
    [(MANAGER, True), (BOTH, True), (OWNER, False), (ROOT, True), (AUDITOR, False)],
)
def test_speaking_for_an_agent(caller: Principal, *, speaks: bool) -> None:
    assert speaks_for_agent(caller, agent_of(MANAGER, BOTH)) is speaks


@pytest.mark.parametrize("caller", [MANAGER, ROOT])
def test_no_caller_speaks_for_an_unknown_agent(caller: Principal) -> None:
    assert speaks_for_agent(caller, None) is False
