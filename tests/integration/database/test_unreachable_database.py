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
from projections.catalog import run_followers
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
from tests.support.projectors import PROJECTORS
from tests.support.waiting import until

FOLLOWER = "follower interrupted"
REPEATED = (
    FOLLOWER,
    "can't tell how far the log is durable",
    "connection for LISTEN and NOTIFY lost",
    "lost the connection for notifications of other processes; reconnecting",
    "can't read the commits of other processes",
)
TRIES = 4
NOBODY = {"user": "nobody", "dbname": "none"}


def lines(caplog: pytest.LogCaptureFixture, level: int) -> Counter[tuple[str, str]]:
    """Count what is repeated, with its cause; a follower's lines are its own."""
    return Counter(
        (line + vars(record).get("follower", ""), cause_told(record))
        for record in caplog.records
        for line in REPEATED
        if record.message.startswith(line) and record.levelno >= level
    )


def cause_told(record: logging.LogRecord) -> str:
    return str(record.exc_info[1] if record.exc_info else record.message)


def of_lines(counted: Counter[tuple[str, str]]) -> Counter[str]:
    """Sum up over causes."""
    return sum((Counter({line: n}) for (line, _), n in counted.items()), Counter())


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
    told = {FOLLOWER + name for name in names} | (set(REPEATED) - {FOLLOWER})
    url = proxy.url(database_url)
    async with (
        open_resources(url, tmp_path, waits=Waits(connection_s=0.1)) as resources,
        run_followers(resources.log, resources.database_url),
    ):
        await wait_for_position(resources.pool, names, 0, timeout_s=60)

        proxy.go_away()

        def tried() -> Counter[str]:
            return of_lines(lines(caplog, logging.DEBUG))

        await until(lambda: min(tried()[each] for each in told) >= TRIES)
        warnings = lines(caplog, logging.WARNING)
        assert set(of_lines(warnings)) == told
        assert set(warnings.values()) == {1}

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


@pytest.mark.parametrize("line", loops(""))
async def test_what_keeps_it_away_next_is_told_too(
    line: str,
    proxy: Proxy,
    database_url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_check, "RETRY_S", 0.0)
    for logger in ("service", "projections"):
        caplog.set_level(logging.DEBUG, logger)

    def told(level: int) -> list[str]:
        return [
            cause_told(each)
            for each in caplog.records
            if each.message.startswith(line) and each.levelno >= level
        ]

    ask = loops(make_conninfo(proxy.url(database_url), **NOBODY))[line]

    async def keep_asking() -> None:
        while True:
            await ask()
            await asyncio.sleep(0)

    proxy.go_away()
    task = asyncio.create_task(keep_asking())
    await until(lambda: len(told(logging.DEBUG)) >= TRIES)
    proxy.come_back()
    await until(lambda: len([e for e in told(logging.DEBUG) if "nobody" in e]) >= TRIES)
    await end_tasks(task)

    warnings = told(logging.WARNING)
    assert len(warnings) == len(set(warnings)) > 1
    assert "nobody" in warnings[-1]
