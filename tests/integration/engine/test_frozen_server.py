"""A server hangs while its kernel acknowledges, and another one takes over."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from service.database import ADVISORY_LOCK
from service.event_log.log import EventLog
from service.tasks import end_tasks
from tests.integration.engine.conftest import RunFollower
from tests.integration.engine.line_counts import LineCounts
from tests.integration.engine.tables import caught_up
from tests.support.event_log.logs import enter, open_ledger, open_log
from tests.support.postgres_proxy import Proxy, running_proxy
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

ANSWER_S = 3.0


@pytest.fixture
async def proxy() -> AsyncIterator[Proxy]:
    with TemporaryDirectory() as folder:
        async with running_proxy(Path(folder)) as proxy:
            yield proxy


async def test_followers_go_on_where_the_durable_position_was_asked_of_it(
    log: EventLog,
    pool: AsyncConnectionPool,
    proxy: Proxy,
    database_url: str,
    run_follower: RunFollower,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.event_log.durable.ANSWER_TIMEOUT_S", ANSWER_S)
    ledger_id = await open_ledger(log, "before")
    async with (
        open_log(proxy.url(database_url)) as reading,
        run_follower(LineCounts(), reading),
    ):
        await caught_up(log, pool)
        with proxy.frozen_sessions():
            # It may be idle now, so that its next question gets no answer.
            await enter(log, ledger_id, "after")

            await caught_up(log, pool)


async def test_a_standby_takes_over_though_its_own_connection_hangs(
    log: EventLog,
    owner: AsyncConnection,
    proxy: Proxy,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("projections.engine.follower.ANSWER_TIMEOUT_S", ANSWER_S)
    projector = LineCounts()
    lock = [f"agent-runtime follower {projector.name}"]
    await owner.execute(ADVISORY_LOCK, lock)
    conninfo = follower_conninfo(proxy.url(database_url))
    follower = Follower(projector, log, conninfo, stopped_retry_s=0.1)
    task = asyncio.create_task(follower.run())
    try:
        await until(lambda: follower.status.state == "standby")
        with proxy.frozen_sessions():
            await owner.execute("SELECT pg_advisory_unlock_all()")

            await until(lambda: follower.status.state == "following")
    finally:
        await end_tasks(task)
