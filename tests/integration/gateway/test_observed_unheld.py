"""Connectors that no agent holds are observed, too: once at each URL."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from projections.connectors.queries import connectors_to_observe
from service.gateway.health.table import Failed, HealthTable
from service.resources import Resources
from tests.support.callers import Callers, Reply
from tests.support.waiting import until

LOOPBACK_URL = "https://127.0.0.1:1/mcp"


async def test_connectors_that_nobody_holds_are_observed_once_at_each_url(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    table = HealthTable(resources.pool)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    body = {"name": "Local", "url": LOOPBACK_URL, "description": ""}
    made = await ada.post("/api/mcp/connectors", body)
    connector, path = UUID(made.data["id"]), f"/api/mcp/connectors/{made.data['id']}"

    async def to_observe(changed: Reply) -> list[UUID]:
        seen = {"X_Min_Position": str(changed.position)}
        await ada.get("/api/mcp/connectors", **seen)
        return await connectors_to_observe(resources.pool)

    async def fail(url: str) -> None:
        await table.note(
            Failed(
                connector_id=connector,
                url=url,
                at=at,
                cause="timeout",
                error="no answer",
                next_at=None,
            )
        )

    assert await to_observe(made) == [connector]
    # Asked for, and not observed yet, as after a crash.
    await table.ask(connector, LOOPBACK_URL, at=at, interval_s=10)
    assert await to_observe(made) == [connector]
    await fail(LOOPBACK_URL)
    assert await to_observe(made) == []
    other = "https://127.0.0.1:2/mcp"
    assert await to_observe(await ada.put(path, body | {"url": other})) == [connector]
    await fail(other)
    renamed = body | {"url": other, "name": "Renamed"}
    assert await to_observe(await ada.put(path, renamed)) == []


async def test_a_flood_of_connectors_is_observed_one_by_one_of_each_owner(
    callers: Callers, resources: Resources
) -> None:
    body = {"name": "Local", "url": LOOPBACK_URL, "description": ""}
    first = []
    for name in ("ada", "bob", "cid", "dan", "eve"):
        user = await callers.user(name)
        made = [await user.post("/api/mcp/connectors", body) for _ in range(3)]
        first.append(UUID(made[0].data["id"]))
    seen = {"X_Min_Position": str(made[-1].position)}
    await user.get("/api/mcp/connectors", **seen)

    assert await connectors_to_observe(resources.pool) == first[:4]


@pytest.mark.usefixtures("observed_by_itself")
async def test_a_connector_is_observed_when_it_is_registered(callers: Callers) -> None:
    ada = await callers.user("ada")
    body = {"name": "Local", "url": LOOPBACK_URL, "description": ""}
    connector = (await ada.post("/api/mcp/connectors", body)).data["id"]
    path = f"/api/mcp/connectors/{connector}"

    async def cause() -> str | None:
        health = (await ada.get(f"{path}/health")).data
        return health["cause"]  # type: ignore[no-any-return]

    async def has_failed() -> bool:
        return await cause() == "private_address"

    async def is_at_other_url() -> bool:
        return await cause() == "metadata_address"

    await until(has_failed)
    await ada.put(path, body | {"url": "https://169.254.169.254/mcp"})
    await until(is_at_other_url)
