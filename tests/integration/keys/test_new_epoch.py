"""A recovery of the database lost users' keys that a process has in its cache."""

from psycopg import AsyncConnection

from service.resources import Resources
from tests.support.callers import Callers
from tests.support.event_log.cutting import cut
from tests.support.waiting import until

SECRETS = "/api/secrets"


async def test_what_is_sealed_after_it_is_readable_for_other_processes(
    callers: Callers, resources: Resources
) -> None:
    """The connection for notifications, a half open one, still seems to be there."""
    ada = await callers.user("ada")
    kept = (await resources.log.head()).position
    lost = await ada.post(SECRETS, {"name": "lost", "value": "lost"})
    assert lost.status == 201
    before = resources.log.epoch
    url = resources.database_url
    async with await AsyncConnection.connect(url) as owner:
        await cut(owner, kept)
        await owner.execute("DELETE FROM events.user_key")
        await owner.execute("DELETE FROM events.sealed_value")
        await owner.execute("SELECT events.begin_epoch()")
    await until(lambda: resources.log.epoch != before)

    written = await ada.post(SECRETS, {"name": "new", "value": "new"})

    assert written.status == 201
    resources.vault._user_keys.forget_all()  # noqa: SLF001 # as another process
    read = await ada.get(f"{SECRETS}/new/value")
    assert (read.status, read.data.get("value")) == (200, "new")
