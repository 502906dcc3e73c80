"""Users' names: sealed, changed, found, and erased with the user."""

from functools import partial
from uuid import UUID

import orjson
import pytest

from service.errors import ConflictError, ForbiddenError
from service.keys.user_keys import KeyDestroyedError
from service.principal import Principal, Role
from service.resources import Resources
from service.users.aggregate import User
from service.users.commands import CreateUser, create_user
from service.users.erasing_commands import (
    EraseUser,
    RenameUser,
    erase_user,
    rename_user,
)
from service.users.key_commands import DestroyUserKey, destroy_user_key
from service.users.names import find_user, name_of
from tests.support.audit.reading import exported
from tests.support.callers import Callers
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.scenario import Scenario, principal

ADA, BOB = principal("ada"), principal("bob")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)
# A word that is in no other text of the log.
NAME = "rumpelstiltskin"


async def test_superuser_creates_a_user_with_roles(
    scenario: Scenario, resources: Resources
) -> None:
    command = CreateUser(name=NAME, roles=(Role.RUNTIME, Role.AUDITOR, Role.RUNTIME))
    create = partial(create_user, vault=resources.vault)
    await scenario.when(create, command, by=ROOT)
    await scenario.then(
        ("user_name.claimed", ROOT),
        ("user.created", ROOT),
        ("user.role_granted", ROOT),
        ("user.role_granted", ROOT),
    )
    assert scenario.result.id == command.user_id
    assert scenario.result.roles == ["auditor", "runtime"]
    assert await name_of(scenario.result, resources.vault) == NAME


@pytest.mark.parametrize("caller", [ADA, AUDITOR])
async def test_others_create_rename_and_erase_no_users(
    scenario: Scenario, resources: Resources, caller: Principal
) -> None:
    vault = resources.vault
    await scenario.given(User(name="ada"))
    create = partial(create_user, vault=vault)
    await scenario.when(create, CreateUser(name="eve"), by=caller)
    await scenario.then_refused(ForbiddenError)
    rename = partial(rename_user, vault=vault)
    command = RenameUser(user_id=ADA.user_id, name="eve")
    await scenario.when(rename, command, by=caller)
    await scenario.then_refused(ForbiddenError)
    await scenario.when(erase_user, EraseUser(user_id=ADA.user_id), by=caller)
    await scenario.then_refused(ForbiddenError)


@pytest.mark.parametrize("name", ["ada", "eve", "system"])
async def test_a_name_that_somebody_has_or_had_is_refused(
    scenario: Scenario, resources: Resources, name: str
) -> None:
    create = partial(create_user, vault=resources.vault)
    rename = partial(rename_user, vault=resources.vault)
    await scenario.given(User(name="ada"), User(name="bob"))
    await scenario.when(create, CreateUser(name="eve"), by=ROOT)
    eve = scenario.result.id
    await scenario.when(rename, RenameUser(user_id=eve, name="eva"), by=ROOT)
    await scenario.then(("user_name.claimed", ROOT), ("user.renamed", ROOT))

    await scenario.when(create, CreateUser(name=name), by=ROOT)
    await scenario.then_refused(ConflictError)
    await scenario.when(rename, RenameUser(user_id=BOB.user_id, name=name), by=ROOT)
    await scenario.then_refused(ConflictError)
    await scenario.when(rename, RenameUser(user_id=eve, name="eve"), by=ROOT)
    assert (scenario.error is None) is True
    await scenario.when(rename, RenameUser(user_id=eve, name="eve"), by=ROOT)
    await scenario.then()


async def test_users_of_earlier_versions_are_renamed_and_found_by_both_names(
    scenario: Scenario, resources: Resources
) -> None:
    await scenario.given(User(name="ada"))
    rename = partial(rename_user, vault=resources.vault)
    await scenario.when(rename, RenameUser(user_id=ADA.user_id, name="ida"), by=ROOT)

    user, changed = scenario.result
    assert changed
    assert await name_of(user, resources.vault) == "ida"
    for name in ("ada", "ida"):
        found = await find_user(name, resources.log, resources.vault)
        assert found is not None
        assert found.id == ADA.user_id


@pytest.mark.parametrize("name", [NAME, "another"])
async def test_no_name_is_sealed_while_the_key_waits_to_be_destroyed(
    scenario: Scenario, resources: Resources, name: str
) -> None:
    create = partial(create_user, vault=resources.vault)
    rename = partial(rename_user, vault=resources.vault)
    await scenario.when(create, CreateUser(name=NAME), by=ROOT)
    user_id = scenario.result.id
    # That it is given up is on record; the key itself is there still.
    await scenario.when(destroy_user_key, DestroyUserKey(user_id=user_id), by=ROOT)

    await scenario.when(rename, RenameUser(user_id=user_id, name=name), by=ROOT)

    await scenario.then_refused(KeyDestroyedError)


async def test_superusers_do_not_erase_themselves(
    scenario: Scenario, resources: Resources
) -> None:
    await scenario.given(User(name="root"))
    await scenario.when(erase_user, EraseUser(user_id=ROOT.user_id), by=ROOT)
    await scenario.then_refused(ConflictError)


async def test_a_name_is_shown_and_in_no_event(
    callers: Callers, resources: Resources
) -> None:
    root = await callers.user("root", "superuser")

    made = await root.post("/api/users", {"name": NAME})

    user_id = made.data["id"]
    seen = {"X_Min_Position": str(made.position)}
    shown = await root.get(f"/api/users/{user_id}", **seen)
    listed = await root.get("/api/users", **seen)
    assert shown.data == made.data == listed.data["users"][-1]
    assert made.data["name"] == NAME
    assert await expect_no_trace(resources)
    found = await root.get(f"/api/users/by-name/{NAME}")
    assert found.data == {"id": user_id, "name": NAME}
    lines = await exported(root)
    assert f"created the user {NAME} ({user_id})" in [each["what"] for each in lines]


async def expect_no_trace(resources: Resources) -> bool:
    """Expect the name neither in an event nor in a read table."""
    rows = str(await tables(resources, "users"))
    async with resources.pool.connection() as db:
        cursor = await db.execute(
            "SELECT state, metadata::text FROM events.stored_event"
        )
        events = str(await cursor.fetchall())
    return NAME not in rows + events


async def test_an_erased_user_has_no_name_anywhere(
    callers: Callers, resources: Resources
) -> None:
    root = await callers.user("root", "superuser")
    user_id = (await root.post("/api/users", {"name": "first"})).data["id"]
    renamed = await root.put(f"/api/users/{user_id}/name", {"name": NAME})
    assert (renamed.message, renamed.data["name"]) == ("user renamed", NAME)
    issued = await root.post(f"/api/users/{user_id}/tokens", {"label": "laptop"})
    user = callers.with_token(issued.data["token"])
    assert (await user.get("/api/users/me")).data["name"] == NAME

    erased = await root.delete(f"/api/users/{user_id}")
    again = await root.delete(f"/api/users/{user_id}")

    assert (erased.status, erased.message) == (200, "user erased")
    assert again.message == "user was already erased"
    assert (erased.data["name"], erased.data["is_erased"]) == (None, True)
    assert (await user.get("/api/users/me")).status == 401
    assert (await root.get(f"/api/users/by-name/{NAME}")).status == 404
    seen = {"X_Min_Position": str(erased.position)}
    assert (await root.get(f"/api/users/{user_id}", **seen)).data["name"] is None
    assert NAME not in orjson.dumps(await exported(root)).decode()
    enabled = await root.delete(f"/api/users/{user_id}/disabled")
    assert (enabled.status, enabled.code) == (409, "user_erased")
    taken = await root.post("/api/users", {"name": NAME})
    assert (taken.status, taken.code) == (409, "user_name_taken")
    async with resources.pool.connection() as db:
        cursor = await db.execute(
            "SELECT wrapped FROM events.user_key WHERE user_id = %s", [UUID(user_id)]
        )
        assert await cursor.fetchone() == (None,)
    await expect_rebuild_equals_live(resources, "users")
