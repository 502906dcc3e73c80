"""Destroying a user's key over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from psycopg import OperationalError

from service.connection_pool import PoolBusyError
from service.keys.cipher import TextBinding
from service.keys.user_keys import KeyDestroyedError
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.secrets.asking import PATH, TOKEN
from tests.support.callers import Caller, Callers
from tests.support.reading import read_events
from tests.support.waiting import until


@pytest.fixture
async def other_process(
    resources: Resources, tmp_path: Path
) -> AsyncIterator[Resources]:
    async with open_resources(resources.database_url, tmp_path) as opened:
        yield opened


def text_of(caller: Caller) -> TextBinding:
    assert caller.user_id is not None
    return TextBinding(
        owner_id=caller.user_id, session_id=uuid4(), turn=1, field="input"
    )


@pytest.mark.parametrize("by", ["themself", "superuser"])
async def test_everything_of_that_user_becomes_unreadable(
    ada: Caller, callers: Callers, by: str
) -> None:
    bob = await callers.user("bob", *([by] if by == "superuser" else []))
    await bob.post("/api/secrets", {**TOKEN, "value": "tarpon"})
    destroyer = bob if by == "superuser" else ada
    reply = await destroyer.delete(f"/api/users/{ada.user_id}/key")
    assert (reply.status, reply.message) == (200, "key destroyed")
    assert reply.data == {"user_id": str(ada.user_id)}
    for refused in (
        await ada.get(f"{PATH}/value"),
        await ada.put(PATH, {"value": "tarpon"}),
        await ada.post(f"{PATH}/versions/1/restore"),
        await ada.post("/api/secrets", {"name": "OTHER", "value": "tarpon"}),
    ):
        assert (refused.status, refused.code) == (409, "key_destroyed")
    assert (await bob.get(f"{PATH}/value")).data["value"] == "tarpon"


async def test_what_was_there_stays_on_record(ada: Caller) -> None:
    destroyed = await ada.delete(f"/api/users/{ada.user_id}/key")
    waited = {"X_Min_Position": destroyed.headers["X-Event-Position"]}
    reply = await ada.get(PATH, **waited)
    (version,) = reply.data["versions"]
    assert version["destroyed_at"] is not None
    listed = await ada.get("/api/secrets", **waited)
    assert [each["name"] for each in listed.data["secrets"]] == [TOKEN["name"]]
    assert (await ada.delete(PATH)).status == 200


async def test_doing_it_twice_says_so_and_appends_nothing(ada: Caller) -> None:
    path = f"/api/users/{ada.user_id}/key"
    await ada.delete(path)
    again = await ada.delete(path)
    assert (again.status, again.message) == (200, "key was already destroyed")
    assert "X-Event-Position" not in again.headers


@pytest.mark.parametrize("error", [OperationalError, PoolBusyError])
@pytest.mark.parametrize(("path", "if_match"), [("/key", None), ("", '"1"')])
async def test_a_key_that_could_not_be_destroyed_yet_is_on_record_and_is_told_so(
    ada: Caller,
    callers: Callers,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    if_match: str | None,
    error: type[Exception],
) -> None:
    async def fail(_user_id: UUID) -> bool:
        raise error("the database went away")

    root = await callers.user("root", "superuser")
    before = await resources.log.head()
    path = f"/api/users/{ada.user_id}{path}"
    given = {"Idempotency_Key": "k", **({"If_Match": if_match} if if_match else {})}

    with monkeypatch.context() as broken:
        broken.setattr(resources.vault, "destroy_user", fail)
        reply = await root.delete(path, **given)

    assert (reply.status, reply.code) == (503, "outcome_unknown")
    assert "is recorded" in reply.message
    assert reply.headers["Retry-After"] == "1"
    recorded = await read_events(resources.log, after=before.position)
    assert "user.key_destroyed" in [each.topic for each in recorded]
    for repeated in (await root.delete(path, **given), await root.delete(path)):
        assert repeated.status == 200
        assert "X-Event-Position" not in repeated.headers or (
            repeated.headers["Idempotent-Replayed"] == "true"
        )
    with pytest.raises(KeyDestroyedError):
        await resources.vault.seal_text("tarpon", text_of(ada))


async def test_others_are_refused_and_learn_nothing(
    ada: Caller, callers: Callers
) -> None:
    bob = await callers.user("bob", "runtime")
    eve = await callers.user("eve", "auditor")
    path = f"/api/users/{ada.user_id}/key"
    hidden, missing = (
        await bob.delete(path),
        await bob.delete(f"/api/users/{uuid4()}/key"),
    )
    assert hidden.status == missing.status == 404
    assert (hidden.message, hidden.code) == (missing.message, missing.code)
    assert (await eve.delete(path)).status == 403
    assert (await ada.get(f"{PATH}/value")).data["value"] == "swordfish"


async def test_another_process_forgets_the_key_too(
    ada: Caller, other_process: Resources
) -> None:
    binding = text_of(ada)
    sealed = await other_process.vault.seal_text("swordfish", binding)
    assert await other_process.vault.open_text(sealed, binding) == "swordfish"
    await ada.delete(f"/api/users/{ada.user_id}/key")

    async def is_forgotten() -> bool:
        try:
            await other_process.vault.open_text(sealed, binding)
        except KeyDestroyedError:
            return True
        return False

    await until(is_forgotten)
    with pytest.raises(KeyDestroyedError):
        await other_process.vault.seal_text("tarpon", binding)
