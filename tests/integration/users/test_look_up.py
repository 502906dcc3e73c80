"""Finding a user's id by their name."""

import pytest

from tests.support.callers import Callers

LOOK_UP = "/api/users/by-name/"


async def test_a_manager_finds_whom_to_appoint(callers: Callers) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})
    seen = {"X_Min_Position": str(made.position)}

    found = await ada.get(LOOK_UP + "bob", **seen)

    assert (found.status, found.data) == (200, {"id": str(bob.user_id), "name": "bob"})
    assert (await ada.get(LOOK_UP + "nobody", **seen)).status == 404


async def test_a_refusal_does_not_say_who_exists(callers: Callers) -> None:
    ada = await callers.user("ada")

    there = await ada.get(LOOK_UP + "ada", X_Request_Id="same")
    nobody = await ada.get(LOOK_UP + "nobody", X_Request_Id="same")

    assert there.body == nobody.body


@pytest.mark.parametrize("name", ["Ada", "a" * 65, "a b", "%00"])
async def test_what_is_no_name_is_malformed(callers: Callers, name: str) -> None:
    root = await callers.user("root", "superuser")

    assert (await root.get(LOOK_UP + name)).status == 400
