"""User and token events in the read tables."""

from uuid import uuid4

from aiohttp.test_utils import TestClient

from service.principal import Role
from service.resources import Resources
from service.users.aggregate import Token, User
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.scenario import Scenario, principal


async def test_roles_and_tokens_follow_their_events(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    ada = User(name="ada")
    ada.grant_role(Role.RUNTIME)
    ada.grant_role(Role.AUDITOR)
    token = Token(
        id=uuid4(), user_id=str(principal("ada").user_id), label='a "quoted", label'
    )
    bob = User(name="bob")
    bob.disable()
    bob.rename("sealed")
    await scenario.given(ada, bob, token)
    await tables(resources, "users")
    ada.revoke_role(Role.RUNTIME)
    token.revoke()
    await scenario.given(ada, token)

    rows = await tables(resources, "users")

    at = "2026-03-01 12:00:00+00"
    assert sorted(rows["user_account"]) == sorted(
        [
            f'({ada.id},ada,,1,{{auditor}},f,f,1,4,"{at}","{at}")',
            f'({User.create_id("bob")},,sealed,3,{{}},t,f,4,3,"{at}","{at}")',
        ]
    )
    label = '"a ""quoted"", label"'
    assert rows["user_token"] == [f'({token.id},{ada.id},{label},7,"{at}",,"{at}")']


async def test_rebuilt_users_equal_live_ones(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    for number in range(20):
        user = User(name=f"user{number}")
        user.grant_role(Role.RUNTIME)
        await scenario.given(user)
        token = Token(
            id=uuid4(),
            user_id=str(user.id),
            label=str(number),
            expires_at="2030-01-01T00:00:00+00:00" if number % 2 else None,
        )
        user.add_token(token.id)
        if number % 3 == 0:
            token.revoke()
            user.revoke_role(Role.RUNTIME)
            user.destroy_key()
            user.erase()
        await scenario.given(user, token)

    await expect_rebuild_equals_live(resources, "users")
