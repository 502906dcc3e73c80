"""Operation 2 and the other connector commands over HTTP."""

from typing import Any

import pytest

from tests.support.callers import Callers
from tests.support.connectors.making import TRACKER


async def test_owner_makes_a_private_connector_public(callers: Callers) -> None:
    ada = await callers.user("ada")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    assert connector["visibility"] == "private"

    reply = await ada.post(f"/api/mcp/connectors/{connector['id']}/grants/public")

    assert (reply.status, reply.message) == (201, "connector made public")
    assert reply.data["visibility"] == "public"
    assert reply.data["made_public_by"] == str(ada.user_id)
    assert reply.headers["ETag"] == '"2"'


async def test_making_public_twice_says_so_and_appends_nothing(
    callers: Callers,
) -> None:
    ada = await callers.user("ada")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}/grants/public"
    first = await ada.post(path)

    again = await ada.post(path)

    assert (again.status, again.message) == (200, "connector was already public")
    assert again.data == first.data
    assert "X-Event-Position" not in again.headers


async def test_list_waits_for_the_position_it_is_asked_for(callers: Callers) -> None:
    ada = await callers.user("ada")
    made = await ada.post("/api/mcp/connectors", TRACKER)

    listed = await ada.get(
        "/api/mcp/connectors", X_Min_Position=made.headers["X-Event-Position"]
    )

    row = made.data | {"health": "unobserved"}
    assert listed.data == {"connectors": [row], "end_cursor": None}
    assert listed.position >= made.position


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"url": TRACKER["url"]}, "name"),
        ({**TRACKER, "name": ""}, "name"),
        ({**TRACKER, "name": "x" * 129}, "name"),
        ({**TRACKER, "name": "Tracker\x07"}, "name"),
        ({**TRACKER, "name": "Tracker "}, "name"),
        ({**TRACKER, "url": "tracker.example"}, "url"),
        ({**TRACKER, "url": "ftp://tracker.example"}, "url"),
        ({**TRACKER, "url": "https:///mcp"}, "url"),
        ({**TRACKER, "url": "https://ada:secret@tracker.example/mcp"}, "url"),
        ({**TRACKER, "url": "https://token@tracker.example"}, "url"),
        ({**TRACKER, "url": "https://tracker.example/mcp?token=abc"}, "url"),
        ({**TRACKER, "url": "https://tracker.example\\@elsewhere.example"}, "url"),
        ({**TRACKER, "url": "https://tracker.example/a b"}, "url"),
        ({**TRACKER, "url": "https://x/" + "y" * 2048}, "url"),
        ({**TRACKER, "description": "x" * 2001}, "description"),
        ({**TRACKER, "owner_id": "x"}, "owner_id"),
    ],
)
async def test_a_connector_that_breaks_a_rule_is_not_registered(
    callers: Callers, body: Any, path: str
) -> None:
    ada = await callers.user("ada")

    reply = await ada.post("/api/mcp/connectors", body)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["path"] for each in reply.data["errors"]] == [path]


async def test_who_sees_a_public_connector_may_not_decide_over_it(
    callers: Callers,
) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    root = await callers.user("root", "superuser")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}"
    await root.post(f"{path}/grants/public")

    for reply in (
        await bob.post(f"{path}/grants/public"),
        await bob.delete(f"{path}/grants/public"),
        await bob.delete(path),
    ):
        assert (reply.status, reply.code) == (403, "forbidden")


async def test_a_stale_if_match_is_refused_and_a_malformed_one_too(
    callers: Callers,
) -> None:
    ada = await callers.user("ada")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}/grants/public"

    stale = await ada.post(path, If_Match='"7"')
    malformed = await ada.post(path, If_Match="*")

    assert (stale.status, stale.code) == (412, "precondition_failed")
    assert stale.headers["ETag"] == '"1"'
    assert malformed.status == 400
    assert (await ada.post(path, If_Match='"1"')).status == 201
