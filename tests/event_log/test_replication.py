"""The primary is lost: what was acknowledged is on the standby."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from service.errors import UnavailableError
from service.event_log.append import OutcomeUnknownError, Receipt
from service.event_log.log import EventLog
from service.event_log.writer import Timeouts
from service.migrate import migrate
from tests.event_log.logs import enter, entering, entries, open_ledger, open_log, run
from tests.harness.replicated_postgres import Replication, replicating
from tests.waiting import until

pytestmark = pytest.mark.slow

TIMEOUTS = Timeouts(queue_s=30.0, commit_s=1.0, settle_s=2.0)
COMMITTING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND query LIKE '%events.append(%'
"""
CANCEL = """
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND query LIKE '%events.append(%'
"""


@pytest.fixture
def servers() -> Iterator[Replication]:
    with replicating() as servers:
        migrate(servers.primary.url)
        yield servers


@asynccontextmanager
async def log_on(servers: Replication) -> AsyncIterator[EventLog]:
    async with open_log(servers.url, timeouts=TIMEOUTS) as log:
        yield log


@pytest.fixture
async def log(servers: Replication) -> AsyncIterator[EventLog]:
    async with log_on(servers) as log:
        yield log


async def until_waiting_for_the_standby(servers: Replication) -> None:
    await until(lambda: servers.primary.execute(COMMITTING) == [(1,)])


async def test_a_commit_that_only_the_primary_has_is_not_acknowledged(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "acknowledged")
    servers.standby.kill()

    with pytest.raises(OutcomeUnknownError):
        await enter(log, ledger_id, "lost")

    assert servers.primary.execute(COMMITTING) == [(0,)], "no server process is left"
    servers.fail_over()
    assert await entries(log, ledger_id) == []


async def test_a_commit_whose_wait_was_cancelled_is_not_acknowledged(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "acknowledged")
    servers.standby.kill()
    entering_ = asyncio.create_task(enter(log, ledger_id, "lost"))
    await until_waiting_for_the_standby(servers)

    servers.primary.execute(CANCEL)

    with pytest.raises(OutcomeUnknownError):
        await entering_


async def test_a_standby_that_returns_in_time_makes_it_acknowledged(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "acknowledged")
    servers.standby.kill()
    entering_ = asyncio.create_task(enter(log, ledger_id, "kept"))
    await until_waiting_for_the_standby(servers)
    servers.primary.execute(CANCEL)

    servers.standby.start()

    assert await entering_ == 2
    servers.fail_over()
    assert await entries(log, ledger_id) == ["kept"]


async def test_an_answer_kept_for_a_key_is_not_given_before_it_is_replicated(
    servers: Replication, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.event_log.durable.WAIT_TIMEOUT_S", 1.0)
    ledger_id = await open_ledger(log, "keyed")
    servers.standby.kill()

    def receipt(version: int) -> Receipt:
        return Receipt(key=b"k", request=b"r", answer=str(version).encode())

    with pytest.raises(OutcomeUnknownError):
        await run(log, entering(ledger_id, "x"), receipt=receipt)
    with pytest.raises(UnavailableError):
        await log.receipt(b"k")

    servers.standby.start()

    kept = await log.receipt(b"k")
    assert kept is not None
    assert kept.answer == b"2"


async def test_nothing_to_do_is_not_said_before_it_is_replicated(
    servers: Replication, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.event_log.durable.WAIT_TIMEOUT_S", 1.0)
    ledger_id = await open_ledger(log, "done")
    servers.standby.kill()
    with pytest.raises(OutcomeUnknownError):
        await enter(log, ledger_id, "x")

    async def nothing(work: object) -> str:
        return "done already"

    with pytest.raises(UnavailableError):
        await run(log, nothing)

    servers.standby.start()

    assert await run(log, nothing) == ("done already", None)


async def test_the_durable_position_waits_for_the_standby(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "durable")
    async with log_on(servers) as other:
        await until(lambda: other.durable.position(other.epoch) == 1)
        servers.standby.kill()
        with pytest.raises(OutcomeUnknownError):
            await enter(log, ledger_id, "x")
        assert (await other.head()).position == 2
        assert other.durable.position(other.epoch) == 1

        servers.standby.start()

        await until(lambda: other.durable.position(other.epoch) == 2)


async def test_a_server_that_was_restarted_shows_nothing_before_it_is_replicated(
    servers: Replication, log: EventLog
) -> None:
    """After a crash, it shows also what waited for the standby."""
    ledger_id = await open_ledger(log, "durable")
    servers.standby.kill()
    entering_ = asyncio.create_task(enter(log, ledger_id, "x"))
    await until_waiting_for_the_standby(servers)
    servers.primary.kill()
    servers.primary.start()

    with pytest.raises(UnavailableError):
        await entering_

    async with log_on(servers) as other:
        assert (await other.head()).position == 2
        assert other.durable.position(other.epoch) == 0
        servers.standby.start()
        await until(lambda: other.durable.position(other.epoch) == 2)
