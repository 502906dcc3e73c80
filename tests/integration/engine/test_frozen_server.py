"""A server hangs while its kernel acknowledges, and another one takes over."""

import pytest
from psycopg import AsyncConnection

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from service.database import ADVISORY_LOCK
from service.event_log.log import EventLog
from tests.integration.engine.line_counts import LineCounts
from tests.integration.engine.tables import Engine, running
from tests.support.event_log.logs import enter, open_ledger, open_log
from tests.support.postgres_proxy import Proxy
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

ANSWER_S = 3.0


async def test_followers_go_on_where_the_durable_position_was_asked_of_it(
    engine: Engine,
    log: EventLog,
    proxy: Proxy,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.event_log.durable.ANSWER_TIMEOUT_S", ANSWER_S)
    ledger_id = await open_ledger(log, "before")
    async with (
        open_log(proxy.url(database_url)) as reading,
        engine.following(LineCounts(), reading),
    ):
        await engine.caught_up()
        with proxy.frozen_sessions():
            # It may be idle now, so that its next question gets no answer.
            await enter(log, ledger_id, "after")

            await engine.caught_up()


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
    async with running(follower):
        await until(lambda: follower.status.state == "standby")
        with proxy.frozen_sessions():
            await owner.execute("SELECT pg_advisory_unlock_all()")

            await until(lambda: follower.status.state == "following")
