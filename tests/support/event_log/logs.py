"""Event logs of the tests, and commands to run on them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID, uuid4

from psycopg import AsyncConnection

from service.aggregates import AGGREGATES
from service.cache_bounds import DEFAULT_CACHES
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.event_log.append import Append, Appended, Receipt
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.event_log.writer import Timeouts
from tests.support.event_log.in_memory import AnyLog
from tests.support.event_log.ledger import Ledger
from tests.support.reading import read_events
from tests.support.waiting import until

Result = TypeVar("Result")
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
METADATA = {"actor": "test"}
GENEROUS = Timeouts(queue_s=120, commit_s=120, settle_s=60)


@asynccontextmanager
async def open_log(
    database_url: str,
    *,
    timeouts: Timeouts | None = None,
    cache_bytes_max: int = DEFAULT_CACHES.aggregates,
    **settings: str,
) -> AsyncIterator[EventLog]:
    """Open an event log as a process of its own would.

    ``settings`` override those that the server has for the service.
    """
    conninfo = service_conninfo(database_url, **settings)
    async with connection_pool(conninfo) as pool:
        await pool.wait(60)
        log = EventLog(
            conninfo,
            [*AGGREGATES, Ledger],
            pool,
            timeouts=timeouts,
            cache_bytes_max=cache_bytes_max,
        )
        await log.start()
        try:
            yield log
        finally:
            await log.stop()


def open_unhurried_log(
    database_url: str, timeouts: Timeouts = GENEROUS
) -> AbstractAsyncContextManager[EventLog]:
    """Open a log whose commands wait for as long as a test makes them."""
    return open_log(
        database_url, timeouts=timeouts, lock_timeout="2min", statement_timeout="2min"
    )


async def run(
    log: CommandLog,
    decide: Callable[[UnitOfWork], Awaitable[Result]],
    *,
    receipt: Callable[[Result], Receipt] | None = None,
) -> tuple[Result, Appended | None]:
    return await execute(log, decide, metadata=METADATA, at=AT, receipt=receipt)


def answered(key: bytes) -> Callable[[Any], Receipt]:
    """Return what keeps a command's result as the answer for a key."""
    return lambda result: Receipt(key=key, request=b"r", answer=str(result).encode())


async def nothing(_work: UnitOfWork) -> str:
    return "nothing"


async def open_ledger(log: AnyLog, name: str) -> UUID:
    async def decide(work: UnitOfWork) -> UUID:
        ledger = Ledger(name=name)
        work.save(ledger)
        return ledger.id

    return (await run(log, decide))[0]


def entering(ledger_id: UUID, *notes: str) -> Callable[[UnitOfWork], Awaitable[int]]:
    """Return a command that enters notes and returns the ledger's new version."""

    async def decide(work: UnitOfWork) -> int:
        ledger = await work.load(Ledger, ledger_id)
        for note in notes:
            ledger.enter(note=note)
        work.save(ledger)
        return ledger.version

    return decide


async def enter(log: AnyLog, ledger_id: UUID, *notes: str) -> int:
    return (await run(log, entering(ledger_id, *notes)))[0]


async def decided(
    log: AnyLog, decide: Callable[[UnitOfWork], Awaitable[Any]]
) -> Append:
    """Decide now and leave the append to the test."""
    work = UnitOfWork(log, metadata=METADATA, at=AT)
    await decide(work)
    return work.to_append(None)


def new_ledger(log: AnyLog, name: str | None = None) -> Append:
    """Return a command, decided on nothing, that opens a ledger."""
    work = UnitOfWork(log, metadata=METADATA, at=AT)
    work.save(Ledger(name=name or uuid4().hex))
    return work.to_append(None)


async def loaded(log: AnyLog, ledger_id: UUID) -> Ledger:
    """Return a ledger as commands see it, by way of the cache."""
    found = await log.load(ledger_id)
    assert isinstance(found, Ledger)
    return found


async def entries(log: AnyLog, ledger_id: UUID) -> list[str]:
    """Return a ledger's entries as the log has them, past any cache."""
    return [
        each.event.note
        for each in await read_events(log, after=0, upto=2**62, limit=1_000_000)
        if each.aggregate_id == ledger_id and isinstance(each.event, Ledger.Entered)
    ]


async def until_somebody_waits(owner: AsyncConnection[Any]) -> None:
    """Wait until a lock is waited for."""

    async def is_waited_for() -> bool:
        cursor = await owner.execute("SELECT FROM pg_locks WHERE NOT granted")
        return cursor.rowcount > 0

    await until(is_waited_for)


async def expect_sound(db: AsyncConnection[Any]) -> int:
    """Expect what must hold of every log, and return its last position."""
    row = await (
        await db.execute("""
        SELECT count(*), coalesce(max(notification_id), 0),
               (SELECT position FROM events.head),
               (SELECT count(*) FROM (
                   SELECT recorded_at < lag(recorded_at) OVER place
                       OR (command_id <> lag(command_id) OVER place
                           AND recorded_at <= lag(recorded_at) OVER place) AS wrong
                     FROM events.stored_event
                   WINDOW place AS (ORDER BY notification_id)) AS times
                WHERE wrong),
               (SELECT count(*) FROM (
                   SELECT originator_version
                          <> row_number() OVER (PARTITION BY originator_id
                                                    ORDER BY notification_id) AS wrong
                     FROM events.stored_event) AS versions
                WHERE wrong),
               (SELECT count(*) FROM (
                   SELECT 1 FROM events.stored_event
                    GROUP BY command_id
                   HAVING max(notification_id) - min(notification_id) + 1 <> count(*)
                       OR count(DISTINCT recorded_at) <> 1) AS scattered)
          FROM events.stored_event""")
    ).fetchone()
    assert row is not None
    events, last, head, times, versions, scattered = row
    assert events == last == head, "positions are dense"
    assert times == 0, "recorded_at ascends from command to command"
    assert versions == 0, "versions are 1, 2, 3, ... in the order of the positions"
    assert scattered == 0, "a command's events stand together"
    return int(head)
