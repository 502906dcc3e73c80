"""Operation 2 and the other connector commands over HTTP."""

from tests.callers import Callers

TRACKER = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}


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

    assert listed.data == {"connectors": [made.data], "end_cursor": None}
    assert listed.position >= made.position
