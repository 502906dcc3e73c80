"""Handing a connector over, over HTTP and in the read tables."""

from uuid import UUID, uuid4

from aiohttp.test_utils import TestClient

from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.connectors.making import (
    NOT_OBSERVED,
    OWNER,
    TRACKER,
    connector_of,
)
from tests.support.rebuilding import expect_rebuild_equals_live
from tests.support.scenario import Scenario


async def test_over_http_and_in_lists(callers: Callers, ada: Caller) -> None:
    bob = await callers.user("bob")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}"

    offered = await ada.put(f"{path}/owner/{bob.user_id}")

    assert (offered.status, offered.data["offered_owner_id"]) == (
        202,
        str(bob.user_id),
    )
    seen = {"X_Min_Position": str(offered.position)}
    for query in ("", "?scope=offered"):
        listed = await bob.get(f"/api/mcp/connectors{query}", **seen)
        assert listed.data["connectors"] == [offered.data | NOT_OBSERVED]
    assert (await bob.get(path, **seen)).status == 200
    accepted = await bob.put(f"{path}/owner/{bob.user_id}")
    assert (accepted.status, accepted.message) == (200, "connector handed over")
    seen = {"X_Min_Position": str(accepted.position)}
    owned = await bob.get("/api/mcp/connectors?scope=owned", **seen)
    row = accepted.data | NOT_OBSERVED
    assert owned.data["connectors"] == [row]
    assert (await ada.get(path, **seen)).status == 404
    edited = await bob.put(path, {**TRACKER, "name": "Mine", "description": ""})
    seen = {"X_Min_Position": str(edited.position)}
    got = (await bob.get(path, **seen)).data
    assert (got["name"], got["owner_id"]) == ("Mine", str(bob.user_id))


async def test_exposure_names_the_owner_of_then(callers: Callers, root: Caller) -> None:
    bob = await callers.user("bob")
    made = await root.post("/api/mcp/connectors", TRACKER)
    over = await root.put(f"/api/mcp/connectors/{made.data['id']}/owner/{bob.user_id}")

    owners = [
        (
            await root.get(
                f"/api/audit/connectors/{made.data['id']}/exposure"
                f"?since={made.position}&until={until}"
            )
        ).data["owner_id"]
        for until in (made.position, over.position)
    ]

    assert owners == [str(root.user_id), str(bob.user_id)]


async def test_rebuilt_owners_equal_live_ones(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    for number in range(12):
        connector = connector_of(OWNER)
        connector.consent_to_grant(uuid4(), by_connector=True, by_agent=True)
        await scenario.given(connector)
        connector.offer_ownership(UUID(int=number))
        if number % 2:
            connector.hand_over(UUID(int=number))
        if number % 3:
            connector.offer_ownership(uuid4())
        connector.edit(name=str(number), url=connector.url, description="")
        if number % 5 == 0:
            connector.retire()
        await scenario.given(connector)

    await expect_rebuild_equals_live(resources, "connectors")
