"""Secret events in the read tables, and what is destroyed after them."""

from uuid import UUID

from aiohttp.test_utils import TestClient

from projections.engine.progress import wait_for_position
from service.resources import Resources
from service.secrets.aggregate import VERSIONS_KEPT
from tests.integration.secrets.asking import PATH, TOKEN
from tests.support.callers import Caller, Callers
from tests.support.rebuilding import expect_rebuild_equals_live


async def sealed_rows(resources: Resources, owner_id: UUID | None) -> int:
    """Count what is sealed of an owner once all that was given up is destroyed."""
    head = await resources.log.head()
    await wait_for_position(
        resources.pool, ["destruction"], head.position, timeout_s=60
    )
    async with resources.pool.connection() as db:
        cursor = await db.execute(
            "SELECT count(*) FROM events.sealed_value WHERE owner_id = %s", [owner_id]
        )
        row = await cursor.fetchone()
        assert row is not None
        return int(row[0])


async def new_secret(callers: Callers, name: str) -> Caller:
    caller = await callers.user(name)
    await caller.post("/api/secrets", TOKEN)
    return caller


async def test_values_beyond_the_bound_are_deleted(
    callers: Callers, resources: Resources
) -> None:
    ada = await new_secret(callers, "ada")
    for number in range(VERSIONS_KEPT + 3):
        await ada.put(PATH, {"value": str(number)})
    assert await sealed_rows(resources, ada.user_id) == VERSIONS_KEPT


async def test_values_of_a_deleted_secret_are_deleted_and_no_others(
    callers: Callers, resources: Resources
) -> None:
    ada, bob = [await new_secret(callers, name) for name in ("ada", "bob")]
    await ada.put(PATH, {"value": "tarpon"})
    await ada.post("/api/secrets", {"name": "OTHER", "value": "swordfish"})
    await ada.delete(PATH)
    assert await sealed_rows(resources, ada.user_id) == 1
    assert await sealed_rows(resources, bob.user_id) == 1


async def test_starting_over_destroys_nothing_that_is_needed(
    callers: Callers, resources: Resources
) -> None:
    ada, bob = [await new_secret(callers, name) for name in ("ada", "bob")]
    await ada.delete(PATH)
    await ada.post("/api/secrets", {**TOKEN, "value": "tarpon"})
    await bob.delete(f"/api/users/{bob.user_id}/key")
    assert await sealed_rows(resources, bob.user_id) == 0
    async with resources.pool.connection() as db:
        await db.execute(
            "UPDATE read.position SET position = 0, command_id = NULL"
            " WHERE follower = 'destruction'"
        )
    await ada.put(PATH, {"value": "marlin"})
    assert await sealed_rows(resources, ada.user_id) == 2
    reply = await ada.get(f"{PATH}/value")
    assert reply.data["value"] == "marlin"


async def test_a_value_is_destroyed_with_its_key_however_events_are_batched(
    client: TestClient, callers: Callers, resources: Resources
) -> None:
    ada = await new_secret(callers, "ada")
    await ada.delete(f"/api/users/{ada.user_id}/key")
    key_destroyed = await resources.log.head()
    await wait_for_position(
        resources.pool, ["secrets"], key_destroyed.position, timeout_s=60
    )
    await ada.delete(PATH)

    await expect_rebuild_equals_live(resources, "secrets")


async def test_rebuilt_secrets_equal_live_ones(
    client: TestClient, callers: Callers, resources: Resources
) -> None:
    for number in range(6):
        caller = await new_secret(callers, f"user{number}")
        for value in range(number * 3):
            await caller.put(PATH, {"value": str(value)})
        if number % 2:
            await caller.post(f"{PATH}/versions/{number * 3}/restore")
            await caller.get(f"{PATH}/value")
        if number in (2, 3, 4):
            await caller.delete(PATH)
        if number in (3, 4):
            await caller.post("/api/secrets", {**TOKEN, "value": "again"})
        if number in (4, 5):
            await caller.delete(f"/api/users/{caller.user_id}/key")
    await expect_rebuild_equals_live(resources, "secrets")
