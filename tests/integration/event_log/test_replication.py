"""The primary is lost: what was acknowledged is on the standby."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import psycopg
import pytest

from service.errors import UnavailableError
from service.event_log.append import OutcomeUnknownError
from service.event_log.durable import HEAD, POSITION
from service.event_log.log import EventLog
from service.event_log.writer import Timeouts
from service.migrate import migrate
from tests.support.event_log.logs import (
    answered,
    enter,
    entering,
    entries,
    loaded,
    nothing,
    open_ledger,
    open_log,
    run,
)
from tests.support.harness.replicated_postgres import DATABASE, Replication, replicating
from tests.support.metrics import value_of
from tests.support.waiting import until, until_done

UNREACHABLE = (UnavailableError, psycopg.OperationalError)

TIMEOUTS = Timeouts(queue_s=30.0, commit_s=1.0, settle_s=2.0)
# For a standby to start meanwhile, on a busy machine.
PATIENT = Timeouts(queue_s=60.0, commit_s=60.0, settle_s=60.0)
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
async def log_on(
    servers: Replication, timeouts: Timeouts = TIMEOUTS
) -> AsyncIterator[EventLog]:
    async with open_log(servers.url, timeouts=timeouts) as log:
        yield log


@pytest.fixture
def timeouts() -> Timeouts:
    return TIMEOUTS


@pytest.fixture
async def log(servers: Replication, timeouts: Timeouts) -> AsyncIterator[EventLog]:
    async with log_on(servers, timeouts) as log:
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


@pytest.mark.thorough
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


@pytest.mark.parametrize("timeouts", [PATIENT], ids=["patient"])
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


@pytest.mark.thorough
async def test_an_answer_kept_for_a_key_is_not_given_before_it_is_replicated(
    servers: Replication, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log.durable, "_wait_s", 1.0)
    ledger_id = await open_ledger(log, "keyed")
    servers.standby.kill()

    with pytest.raises(OutcomeUnknownError):
        await run(log, entering(ledger_id, "x"), receipt=answered(b"k"))
    with pytest.raises(UnavailableError):
        await log.receipt(b"k")

    servers.standby.start()
    monkeypatch.setattr(log.durable, "_wait_s", PATIENT.settle_s)

    kept = await log.receipt(b"k")
    assert kept is not None
    assert kept.answer == b"2"


@pytest.mark.thorough
async def test_a_command_without_effect_is_answered_once_the_log_is_replicated(
    servers: Replication, log: EventLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log.durable, "_wait_s", 1.0)
    ledger_id = await open_ledger(log, "done")
    servers.standby.kill()
    with pytest.raises(OutcomeUnknownError):
        await enter(log, ledger_id, "x")

    with pytest.raises(UnavailableError):
        await run(log, nothing)

    servers.standby.start()
    monkeypatch.setattr(log.durable, "_wait_s", PATIENT.settle_s)

    assert await run(log, nothing) == ("nothing", None)


@pytest.mark.thorough
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
        await until(lambda: value_of(HEAD) == 2)
        assert other.durable.position(other.epoch) == 1
        assert value_of(POSITION) == 1

        servers.standby.start()

        await until(lambda: other.durable.position(other.epoch) == 2)


@pytest.mark.thorough
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


async def test_a_fail_over_that_loses_nothing_keeps_the_epoch(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "kept")
    before = log.history

    servers.fail_over()
    await until_done(lambda: enter(log, ledger_id, "after"), *UNREACHABLE)

    assert log.epoch == before.epoch
    assert log.history.server != before.server
    async with log_on(servers) as started_later:
        assert started_later.history == log.history
        assert await entries(started_later, ledger_id) == ["after"]


@pytest.mark.thorough
async def test_a_fail_over_that_loses_events_makes_a_new_epoch(
    servers: Replication, log: EventLog
) -> None:
    """Without synchronous standbys, which is asking for it."""
    ledger_id = await open_ledger(log, "cut")
    before = log.epoch
    await let_the_standby_miss(servers, lambda: enter(log, ledger_id, "lost"))

    servers.fail_over()

    await until(lambda: log.epoch != before)
    changes = "SELECT epoch, old_epoch, position, reason FROM events.epoch_change"
    assert servers.standby.execute(changes, DATABASE) == [
        (log.epoch, before, 1, "fail_over")
    ]
    entered = await until_done(lambda: enter(log, ledger_id, "new"), *UNREACHABLE)
    assert entered == 2
    assert (await loaded(log, ledger_id)).entries == ["new"]


@pytest.mark.thorough
async def test_of_two_processes_one_makes_the_new_epoch(
    servers: Replication, log: EventLog
) -> None:
    ledger_id = await open_ledger(log, "cut")
    before = log.epoch
    async with log_on(servers) as other:

        async def lose() -> None:
            await enter(log, ledger_id, "lost")
            await until(lambda: other.durable.position(before) == 2)

        await let_the_standby_miss(servers, lose)
        servers.fail_over()
        await until(lambda: before not in (log.epoch, other.epoch))

        assert log.history == other.history
        epochs = servers.standby.execute("SELECT epoch FROM events.head", DATABASE)
        assert epochs == [(log.epoch,)]


@pytest.mark.thorough
async def test_a_process_that_was_not_there_makes_a_new_epoch(
    servers: Replication,
) -> None:
    """It can't know what the old primary had acknowledged."""
    async with log_on(servers) as log:
        await open_ledger(log, "perhaps not the last")
        before = log.epoch

    servers.fail_over()

    async with log_on(servers) as later:
        assert later.epoch != before


async def let_the_standby_miss(
    servers: Replication, write: Callable[[], Awaitable[object]]
) -> None:
    servers.primary.set("synchronous_standby_names", "")
    servers.standby.kill()
    await write()
