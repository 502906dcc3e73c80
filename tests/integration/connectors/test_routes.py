"""Operation 2 and the other connector commands over HTTP."""

from typing import Any

import pytest

from tests.support.callers import Caller
from tests.support.connectors.making import NOT_OBSERVED, TRACKER


async def test_owner_makes_a_private_connector_public(ada: Caller) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    assert connector["visibility"] == "private"

    reply = await ada.post(f"/api/mcp/connectors/{connector['id']}/grants/public")

    assert (reply.status, reply.message) == (201, "connector made public")
    assert reply.data["visibility"] == "public"
    assert reply.data["made_public_by"] == str(ada.user_id)
    assert reply.headers["ETag"] == '"2"'


async def test_making_public_twice_says_so_and_appends_nothing(ada: Caller) -> None:
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}/grants/public"
    first = await ada.post(path)

    again = await ada.post(path)

    assert (again.status, again.message) == (200, "connector was already public")
    assert again.data == first.data
    assert "X-Event-Position" not in again.headers


async def test_list_waits_for_the_position_it_is_asked_for(ada: Caller) -> None:
    made = await ada.post("/api/mcp/connectors", TRACKER)

    listed = await ada.get(
        "/api/mcp/connectors", X_Min_Position=made.headers["X-Event-Position"]
    )

    row = made.data | NOT_OBSERVED
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
        ({**TRACKER, "url": "https://tracker.example/mcp?token=abc"}, "url"),
        ({**TRACKER, "url": "https://tracker.example\\@elsewhere.example"}, "url"),
        ({**TRACKER, "url": "https://tracker.example/a b"}, "url"),
        ({**TRACKER, "url": "https://x/" + "y" * 2048}, "url"),
        ({**TRACKER, "description": "x" * 2001}, "description"),
        ({**TRACKER, "owner_id": "x"}, "owner_id"),
    ],
)
async def test_a_connector_that_breaks_a_rule_is_not_registered(
    ada: Caller, body: Any, path: str
) -> None:
    reply = await ada.post("/api/mcp/connectors", body)

    assert (reply.status, reply.code) == (422, "invalid_request")
    assert [each["path"] for each in reply.data["errors"]] == [path]
