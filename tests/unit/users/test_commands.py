"""What users and their tokens can have done to them."""

from uuid import UUID, uuid4

import pytest

from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal, Role
from service.users.aggregate import Token, User
from service.users.commands import (
    GrantRole,
    IssueToken,
    RevokeRole,
    RevokeToken,
    grant_role,
    issue_token,
    revoke_role,
    revoke_token,
)
from tests.support.scenario import Scenario, principal

ADA = principal("ada")
BOB = principal("bob")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)


def issue(user: Principal) -> IssueToken:
    return IssueToken(user_id=user.user_id, token_id=uuid4(), label="laptop")


def token_of(user: Principal) -> Token:
    return Token(id=uuid4(), user_id=str(user.user_id), label="laptop")


def revoke(token: Token, user_id: UUID | None = None) -> RevokeToken:
    return RevokeToken(user_id=user_id or UUID(token.user_id), token_id=token.id)


async def test_superuser_grants_a_role(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    command = GrantRole(user_id=ADA.user_id, role=Role.AUDITOR)
    await scenario.when(grant_role, command, by=ROOT)
    await scenario.then(("user.role_granted", ROOT))


async def test_granting_a_role_again_does_nothing(scenario: Scenario) -> None:
    ada = User(name="ada")
    ada.grant_role(Role.AUDITOR)
    await scenario.given(ada)
    command = GrantRole(user_id=ADA.user_id, role=Role.AUDITOR)
    await scenario.when(grant_role, command, by=ROOT)
    await scenario.then()
    assert scenario.result[1] is False


async def test_a_user_can_not_grant_a_role_to_themself(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    command = GrantRole(user_id=ADA.user_id, role=Role.SUPERUSER)
    await scenario.when(grant_role, command, by=ADA)
    await scenario.then_refused(ForbiddenError)


async def test_a_role_of_a_user_who_changed_meanwhile_is_not_granted(
    scenario: Scenario,
) -> None:
    await scenario.given(User(name="ada"))
    command = GrantRole(user_id=ADA.user_id, role=Role.AUDITOR)
    await scenario.when(grant_role, command, by=ROOT, if_match=2)
    await scenario.then_refused(PreconditionFailedError)


async def test_superuser_revokes_a_role(scenario: Scenario) -> None:
    bob = User(name="bob")
    bob.grant_role(Role.SUPERUSER)
    await scenario.given(bob)
    command = RevokeRole(user_id=BOB.user_id, role=Role.SUPERUSER)
    await scenario.when(revoke_role, command, by=ROOT)
    await scenario.then(("user.role_revoked", ROOT))


async def test_revoking_a_missing_role_does_nothing(scenario: Scenario) -> None:
    await scenario.given(User(name="bob"))
    command = RevokeRole(user_id=BOB.user_id, role=Role.AUDITOR)
    await scenario.when(revoke_role, command, by=ROOT)
    await scenario.then()


async def test_superusers_do_not_demote_themselves(scenario: Scenario) -> None:
    root = User(name="root")
    root.grant_role(Role.SUPERUSER)
    await scenario.given(root)
    command = RevokeRole(user_id=ROOT.user_id, role=Role.SUPERUSER)
    await scenario.when(revoke_role, command, by=ROOT)
    await scenario.then_refused(ConflictError)


async def test_an_invisible_user_and_none_are_refused_alike(scenario: Scenario) -> None:
    await scenario.given(User(name="eve"))
    refusals = []
    for user_id in (User.create_id("eve"), uuid4()):
        command = RevokeRole(user_id=user_id, role=Role.AUDITOR)
        await scenario.when(revoke_role, command, by=ADA)
        await scenario.then_refused(NotFoundError)
        refusals.append(scenario.error.message if scenario.error else "")
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize("caller", [ADA, ROOT])
async def test_a_token_is_issued_to_oneself_or_by_a_superuser(
    scenario: Scenario, caller: Principal
) -> None:
    await scenario.given(User(name="ada"))
    await scenario.when(issue_token, issue(ADA), by=caller)
    await scenario.then(("user.token_added", caller), ("token.issued", caller))
    assert scenario.result.user_id == str(ADA.user_id)


async def test_an_auditor_issues_no_token_for_others(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    await scenario.when(issue_token, issue(ADA), by=AUDITOR)
    await scenario.then_refused(ForbiddenError)


async def test_a_stranger_issues_no_token(scenario: Scenario) -> None:
    await scenario.given(User(name="ada"))
    await scenario.when(issue_token, issue(ADA), by=BOB)
    await scenario.then_refused(NotFoundError)


async def test_a_token_needs_an_existing_user(scenario: Scenario) -> None:
    await scenario.when(issue_token, issue(ADA), by=ROOT)
    await scenario.then_refused(NotFoundError)


@pytest.mark.parametrize("caller", [ADA, ROOT])
async def test_a_token_is_revoked_by_its_user_or_a_superuser(
    scenario: Scenario, caller: Principal
) -> None:
    token = token_of(ADA)
    await scenario.given(User(name="ada"), token)
    await scenario.when(revoke_token, revoke(token), by=caller)
    await scenario.then(("token.revoked", caller))


async def test_revoking_a_token_again_does_nothing(scenario: Scenario) -> None:
    token = token_of(ADA)
    token.revoke()
    await scenario.given(User(name="ada"), token)
    await scenario.when(revoke_token, revoke(token), by=ADA)
    await scenario.then()
    assert scenario.result[1] is False


async def test_a_token_of_somebody_else_is_not_found(scenario: Scenario) -> None:
    token = token_of(ADA)
    await scenario.given(User(name="ada"), User(name="bob"), token)
    await scenario.when(revoke_token, revoke(token, user_id=BOB.user_id), by=BOB)
    await scenario.then_refused(NotFoundError)


async def test_an_auditor_revokes_no_token(scenario: Scenario) -> None:
    token = token_of(ADA)
    await scenario.given(User(name="ada"), token)
    await scenario.when(revoke_token, revoke(token), by=AUDITOR)
    await scenario.then_refused(ForbiddenError)
