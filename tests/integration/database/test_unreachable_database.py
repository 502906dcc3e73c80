"""What the log says while the database can't be reached, and when it can again."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo

from projections.audit.proofs import log_check
from projections.audit.proofs.log_check import LogCheck
from projections.catalog import PROJECTORS, run_followers
from projections.engine.progress import wait_for_position
from service import outages
from service.database import Db, connect
from service.event_log.writer_connection import WriterConnection
from service.gateway.approvals.expiry import ApprovalExpiry
from service.open_resources import open_resources
from service.tasks import end_tasks
from service.waits import Waits
from tests.support.event_log.in_memory import InMemoryLog
from tests.support.harness.process import refusing_port
from tests.support.postgres_proxy import Proxy
from tests.support.waiting import until

FOLLOWER = "follower interrupted"
REPEATED = {
    FOLLOWER,
    "can't tell how far the log is durable",
    "connection for LISTEN and NOTIFY lost",
    "lost the connection for notifications of other processes; reconnecting",
    "can't read the commits of other processes",
}
# A connection is lost, and then none can be had.
CAUSES_MAX = 2
TRIES = 4


def lines(caplog: pytest.LogCaptureFixture, level: int) -> Counter[str]:
    """Count what is repeated; a follower's lines are its own."""
    return Counter(
        record.message + vars(record).get("follower", "")
        for record in caplog.records
        if record.message in REPEATED and record.levelno >= level
    )


async def test_an_outage_is_told_once_and_so_is_its_end(
    proxy: Proxy,
    database_url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for logger in ("service", "projections"):
        caplog.set_level(logging.DEBUG, logger)
    names = [each.name for each in PROJECTORS]
    told = {FOLLOWER + name for name in names} | (REPEATED - {FOLLOWER})
    url = proxy.url(database_url)
    async with (
        open_resources(url, tmp_path, waits=Waits(connection_s=0.1)) as resources,
        run_followers(resources.log, resources.database_url),
    ):
        await wait_for_position(resources.pool, names, 0, timeout_s=60)

        proxy.go_away()
        await until(
            lambda: min(lines(caplog, logging.DEBUG)[each] for each in told) >= TRIES
        )
        warnings = lines(caplog, logging.WARNING)
        assert set(warnings) == told
        assert max(warnings.values()) <= CAUSES_MAX

        monkeypatch.setattr(outages, "CALM_S", 0.0)
        caplog.clear()
        proxy.come_back()

        def going_on() -> list[str]:
            return [
                vars(each)["follower"]
                for each in caplog.records
                if each.message == "follower goes on"
            ]

        await until(lambda: len(going_on()) == len(names))
        assert set(going_on()) == set(names)


async def never_told(_db: Db) -> None:
    raise AssertionError("there is no database")


def loops(conninfo: str) -> dict[str, Callable[[], Awaitable[object]]]:
    """Return what asks a database, by the line that says that it can't."""
    writer = WriterConnection(conninfo, never_told)

    async def overdue(_at: datetime) -> Sequence[UUID]:
        async with await connect(conninfo):
            return []

    expiry = ApprovalExpiry(InMemoryLog(()), overdue)
    return {
        "comparing the log was interrupted": LogCheck(conninfo, pass_s=1.0).run,
        "the event log can't be reached": writer.live,
        "approvals didn't expire yet": lambda: expiry.run_once(datetime.now(UTC)),
    }


@pytest.mark.parametrize("line", loops(""))
async def test_what_asks_again_tells_once(
    line: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_check, "RETRY_S", 0.0)
    for logger in ("service", "projections"):
        caplog.set_level(logging.DEBUG, logger)

    def levels() -> list[int]:
        found = [each for each in caplog.records if each.message.startswith(line)]
        return [each.levelno for each in found]

    with refusing_port() as port:
        ask = loops(f"host=127.0.0.1 port={port} user=nobody dbname=none")[line]

        async def keep_asking() -> None:
            while True:
                await ask()
                await asyncio.sleep(0)

        task = asyncio.create_task(keep_asking())
        await until(lambda: len(levels()) >= TRIES)
        await end_tasks(task)
    assert levels().count(logging.WARNING) == 1


async def test_what_keeps_the_log_unreachable_next_is_told_too(
    proxy: Proxy, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = proxy.url(database_url)
    writer = WriterConnection(make_conninfo(url, user="nobody"), never_told)
    proxy.go_away()
    for _ in range(TRIES):
        assert await writer.live() is None
    proxy.come_back()
    for _ in range(TRIES):
        assert await writer.live() is None

    told = [each.message for each in caplog.records if "reached" in each.message]
    assert len(told) == CAUSES_MAX
    assert "nobody" in told[-1]
