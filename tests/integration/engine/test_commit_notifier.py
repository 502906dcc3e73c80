"""News of a commit may be lost; what was committed may not."""

import asyncio

from psycopg import AsyncConnection

from service.database import service_conninfo
from service.event_log.commit_notifier import CommitNotifier
from service.event_log.log import EventLog
from tests.integration.engine.tables import Engine
from tests.support.event_log.logs import open_ledger
from tests.support.waiting import until

# The last statement of a connection that listens and notifies.
LISTENING = (
    "FROM pg_stat_activity WHERE datname = current_database()"
    " AND (query LIKE 'LISTEN%' OR query LIKE 'NOTIFY%')"
)


async def test_without_listen_it_still_looks_now_and_then(
    engine: Engine, other_log: EventLog
) -> None:
    async with engine.following():
        await engine.caught_up()
        await engine.log.notifier.stop()

        await open_ledger(other_log, "unheard")

        await asyncio.wait_for(engine.caught_up(), 60)


async def test_a_lost_listen_is_taken_up_again(
    log: EventLog, other_log: EventLog, owner: AsyncConnection
) -> None:
    await owner.execute(f"SELECT pg_terminate_backend(pid) {LISTENING}")
    listening = f"SELECT count(*) {LISTENING}"  # constants

    async def all_listen() -> bool:
        return await (await owner.execute(listening)).fetchone() == (2,)

    await until(all_listen)

    with log.notifier.subscribe() as committed:
        committed.clear()
        await open_ledger(other_log, "heard")
        await asyncio.wait_for(committed.wait(), 60)


async def test_others_are_told_and_the_process_itself_is_not(database_url: str) -> None:
    heard = {"one": 0, "two": 0}

    def hear(name: str) -> None:
        heard[name] += 1

    conninfo = service_conninfo(database_url)
    one = CommitNotifier(conninfo, lambda: hear("one"))
    two = CommitNotifier(conninfo, lambda: hear("two"))
    await one.start()
    # LISTEN itself counts as one: commits before it weren't notified.
    await until(lambda: heard["one"] >= 1)
    await two.start()
    # Each may hear of the other's start, too.
    await until(lambda: heard["one"] >= 2 and heard["two"] >= 1)

    for _ in range(500):
        one.notify_others()
    await until(lambda: heard["two"] >= 3)
    one.notify_others()
    await until(lambda: heard["two"] >= 4)

    # Five hundred at once are the first of them, and one for all others.
    assert heard["one"] == 2
    assert heard["two"] in (4, 5)
    await one.stop()
    await two.stop()
