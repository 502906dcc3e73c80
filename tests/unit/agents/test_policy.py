"""Who may do what with an agent: the table."""

from uuid import UUID

import pytest

from service.agents.policy import fully_manages, may_dismiss, may_see_agent
from service.principal import Principal, Role
from tests.support.connectors.making import agent_of
from tests.support.scenario import principal

ADA, BOB, EVE = principal("ada"), principal("bob"), principal("eve")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)
RUNTIME = principal("runtime", Role.RUNTIME)
READER = principal("reader")


@pytest.mark.parametrize(
    ("caller", "manages", "sees"),
    [
        (ADA, True, True),
        (BOB, True, True),
        (EVE, False, False),
        (ROOT, True, True),
        (AUDITOR, False, True),
        (RUNTIME, False, False),
        (READER, False, True),
    ],
)
def test_managing_and_seeing(caller: Principal, *, manages: bool, sees: bool) -> None:
    agent = agent_of(ADA, BOB)
    agent.appoint_reader(READER.user_id)
    assert fully_manages(caller, agent) is manages
    assert may_see_agent(caller, agent) is sees


@pytest.mark.parametrize(
    ("caller", "managers", "user_id", "allowed"),
    [
        (ADA, [ADA, BOB], BOB.user_id, True),
        (ADA, [ADA, BOB], ADA.user_id, True),
        (ADA, [ADA], ADA.user_id, False),
        (ADA, [ADA], BOB.user_id, True),
        (EVE, [ADA, BOB], BOB.user_id, False),
        (AUDITOR, [ADA, BOB], BOB.user_id, False),
        (ROOT, [ADA], ADA.user_id, True),
    ],
)
def test_dismissing(
    caller: Principal, managers: list[Principal], user_id: UUID, *, allowed: bool
) -> None:
    assert may_dismiss(caller, agent_of(*managers), user_id) is allowed
