"""A disabled user is refused everywhere, at once."""

import pytest

from service.errors import ConflictError, ForbiddenError, NotFoundError
from service.principal import Principal, Role
from service.users.aggregate import User
from service.users.commands import (
    DisableUser,
    EnableUser,
    IssueToken,
    disable_user,
    enable_user,
    issue_token,
)
from tests.support.scenario import Scenario, principal

ADA, BOB = principal("ada"), principal("bob")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)


def disabled(name: str) -> User:
    user = User(name=name)
    user.disable()
    return user


async def test_a_superuser_disables_and_enables_a_user(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    await scenario.when(disable_user, DisableUser(user_id=ADA.user_id), by=ROOT)
    await scenario.then(("user.disabled", ROOT))
    await scenario.when(enable_user, EnableUser(user_id=ADA.user_id), by=ROOT)
    await scenario.then(("user.enabled", ROOT))


async def test_doing_it_again_changes_nothing(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"), disabled("bob"))
    await scenario.when(disable_user, DisableUser(user_id=BOB.user_id), by=ROOT)
    await scenario.then()
    await scenario.when(enable_user, EnableUser(user_id=ADA.user_id), by=ROOT)
    await scenario.then()


@pytest.mark.parametrize(
    ("caller", "error"),
    [(ADA, ForbiddenError), (BOB, NotFoundError), (AUDITOR, ForbiddenError)],
)
async def test_others_disable_and_enable_nobody(
    scenario: Scenario, caller: Principal, error: type[ForbiddenError]
) -> None:
    await scenario.given(disabled("ada"))
    await scenario.when(disable_user, DisableUser(user_id=ADA.user_id), by=caller)
    await scenario.then_refused(error)
    await scenario.when(enable_user, EnableUser(user_id=ADA.user_id), by=caller)
    await scenario.then_refused(error)


async def test_superusers_do_not_disable_themselves(scenario: Scenario) -> None:
    await scenario.given(User(name="root"))
    await scenario.when(disable_user, DisableUser(user_id=ROOT.user_id), by=ROOT)
    await scenario.then_refused(ConflictError)


async def test_no_token_is_issued_to_a_disabled_user(scenario: Scenario) -> None:
    await scenario.given(disabled("ada"))
    command = IssueToken(user_id=ADA.user_id, token_id=ADA.user_id, label="laptop")
    await scenario.when(issue_token, command, by=ROOT)
    await scenario.then_refused(ConflictError)
