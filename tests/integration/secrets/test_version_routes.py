"""Revealing, restoring and deleting over HTTP."""

from service.resources import Resources
from service.secrets.aggregate import VERSIONS_KEPT, Secret
from tests.integration.secrets.asking import FIELDS, PATH, TOKEN, value_of
from tests.support.callers import Caller
from tests.support.reading import read_events


async def test_revealing_is_on_record_and_not_to_be_stored(
    ada: Caller, resources: Resources
) -> None:
    reply = await ada.get(f"{PATH}/value")
    assert reply.data == {"name": "TRACKER_TOKEN", "version": 1, "value": "swordfish"}
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["ETag"] == '"1"'
    position = reply.position
    (event,) = await read_events(
        resources.log, after=position - 1, upto=position, limit=9
    )
    assert isinstance(event.event, Secret.Revealed)
    assert event.event.version == 1
    assert event.metadata["actor"] == str(ada.user_id)


async def test_an_earlier_version_is_revealed_by_its_number(ada: Caller) -> None:
    await ada.put(PATH, {"value": "tarpon"})
    assert await value_of(ada, query="?version=1") == "swordfish"
    assert await value_of(ada, query="?version=2") == "tarpon"
    assert await value_of(ada, query="?version=3") == 404
    for bad in ("0", "-1", "x", "1&version=2", "1e0"):
        assert await value_of(ada, query=f"?version={bad}") == 400


async def test_revealing_too_often_is_put_off(ada: Caller) -> None:
    for _ in range(200):
        reply = await ada.get(f"{PATH}/value")
        if reply.status != 200:
            break
    assert (reply.status, reply.code) == (429, "rate_limited")
    assert int(reply.headers["Retry-After"]) >= 1
    assert "X-Event-Position" not in reply.headers
    assert (await ada.put(PATH, {"value": "tarpon"})).status == 200


async def test_restoring_makes_a_new_version_of_the_old_value(ada: Caller) -> None:
    first = await ada.put(PATH, {"value": "swordfish"})
    await ada.put(PATH, {"value": "tarpon"})
    reply = await ada.post(f"{PATH}/versions/1/restore")
    assert (reply.status, reply.message) == (200, "secret restored")
    assert reply.data.keys() == FIELDS
    assert reply.data["version"] == 4
    assert reply.data["fingerprint"] == first.data["fingerprint"]
    assert await value_of(ada) == "swordfish"
    assert await value_of(ada, query="?version=3") == "tarpon"


async def test_restoring_honours_if_match_and_needs_a_version(ada: Caller) -> None:
    await ada.put(PATH, {"value": "tarpon"})
    stale = await ada.post(f"{PATH}/versions/1/restore", If_Match='"1"')
    assert (stale.status, stale.headers["ETag"]) == (412, '"2"')
    missing = await ada.post(f"{PATH}/versions/9/restore")
    assert (missing.status, missing.code) == (404, "no_such_version")
    assert (await ada.post(f"{PATH}/versions/0/restore")).status == 400
    assert await value_of(ada) == "tarpon"


async def test_only_the_last_versions_can_be_opened(ada: Caller) -> None:
    for number in range(VERSIONS_KEPT):
        await ada.put(PATH, {"value": f"tarpon {number}"})
    gone = await ada.get(f"{PATH}/value?version=1")
    assert (gone.status, gone.code) == (409, "value_destroyed")
    assert (await ada.post(f"{PATH}/versions/1/restore")).code == "value_destroyed"
    assert await value_of(ada, query="?version=2") == "tarpon 0"


async def test_a_deleted_secret_is_gone_and_its_name_counts_on(ada: Caller) -> None:
    assert (await ada.delete(PATH, If_Match='"2"')).status == 412
    deleted = await ada.delete(PATH, If_Match='"1"')
    assert (deleted.status, deleted.message) == (200, "secret deleted")
    assert deleted.data is None
    assert (await ada.delete(PATH)).status == 404
    assert (await ada.put(PATH, {"value": "tarpon"})).status == 404
    assert await value_of(ada) == 404
    again = await ada.post("/api/secrets", {**TOKEN, "value": "tarpon"})
    assert (again.status, again.data["version"]) == (201, 2)
    assert await value_of(ada) == "tarpon"
    assert (await ada.get(f"{PATH}/value?version=1")).code == "value_destroyed"
