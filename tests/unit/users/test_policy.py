"""Who may do what with users: the table."""

from uuid import UUID

import pytest

from service.principal import Principal, Role
from service.users.policy import (
    gives_up_power,
    is_own_account,
    may_act_for,
    may_administer_users,
    may_look_up_users,
    may_see_user,
)
from tests.support.scenario import principal

ADA = principal("ada")
BOB_ID = principal("bob").user_id
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)
RUNTIME = principal("runtime", Role.RUNTIME)


@pytest.mark.parametrize(
    ("caller", "user_id", "sees", "acts"),
    [
        (ADA, ADA.user_id, True, True),
        (ADA, BOB_ID, False, False),
        (ROOT, BOB_ID, True, True),
        (AUDITOR, BOB_ID, True, False),
        (AUDITOR, AUDITOR.user_id, True, True),
        (RUNTIME, BOB_ID, False, False),
    ],
)
def test_seeing_and_acting_for(
    caller: Principal, user_id: UUID, *, sees: bool, acts: bool
) -> None:
    assert may_see_user(caller, user_id) is sees
    assert may_act_for(caller, user_id) is acts


@pytest.mark.parametrize(
    ("caller", "allowed"),
    [(ADA, False), (AUDITOR, False), (RUNTIME, False), (ROOT, True)],
)
def test_administering(caller: Principal, *, allowed: bool) -> None:
    assert may_administer_users(caller) is allowed


@pytest.mark.parametrize(
    ("user_id", "role", "gives_up"),
    [
        (ROOT.user_id, Role.SUPERUSER, True),
        (ROOT.user_id, Role.AUDITOR, False),
        (BOB_ID, Role.SUPERUSER, False),
    ],
)
def test_giving_up_power(user_id: UUID, role: Role, *, gives_up: bool) -> None:
    assert gives_up_power(ROOT, user_id, role) is gives_up


@pytest.mark.parametrize(("user_id", "own"), [(ROOT.user_id, True), (BOB_ID, False)])
def test_own_account(user_id: UUID, *, own: bool) -> None:
    assert is_own_account(ROOT, user_id) is own


@pytest.mark.parametrize(
    ("caller", "manages_an_agent", "allowed"),
    [
        (ADA, False, False),
        (ADA, True, True),
        (RUNTIME, False, False),
        (AUDITOR, False, True),
        (ROOT, False, True),
    ],
)
def test_looking_up_users(
    caller: Principal, *, manages_an_agent: bool, allowed: bool
) -> None:
    assert may_look_up_users(caller, manages_an_agent=manages_an_agent) is allowed
