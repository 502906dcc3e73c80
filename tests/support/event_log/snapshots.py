"""Ledgers with many events, and the snapshots that are kept of them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from service.event_log import aggregate_reader
from service.event_log.aggregate_reader import VERSION_MAX
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import open_ledger, run

SNAPSHOTS = """
    SELECT originator_version, octet_length(state)
      FROM events.snapshot WHERE originator_id = %s ORDER BY originator_version
"""
EVENTS = """
    SELECT originator_version, octet_length(state)
      FROM events.stored_event WHERE originator_id = %s ORDER BY originator_version
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """A snapshot, and the bytes of the events since the one before it."""

    version: int
    bytes: int
    bytes_since: int


async def kept(db: AsyncConnection[Any], aggregate_id: UUID) -> list[Kept]:
    events = await (await db.execute(EVENTS, [aggregate_id])).fetchall()
    found, before = [], 0
    for version, size in await (await db.execute(SNAPSHOTS, [aggregate_id])).fetchall():
        since = sum(each for number, each in events if before < number <= version)
        found.append(Kept(version, size, since))
        before = version
    return found


async def versions(db: AsyncConnection[Any], aggregate_id: UUID) -> list[int]:
    return [each.version for each in await kept(db, aggregate_id)]


async def expect_paid(db: AsyncConnection[Any], aggregate_id: UUID) -> None:
    """Expect that each snapshot but the newest has events of four times its bytes."""
    for each in (await kept(db, aggregate_id))[:-1]:
        assert each.bytes_since >= 4 * each.bytes, each


async def annotated(log: EventLog, ledger_id: UUID, note: str) -> None:
    """Replace the notes of a ledger, in a command of its own."""

    async def decide(work: UnitOfWork) -> None:
        ledger = await work.load(Ledger, ledger_id)
        ledger.annotate(notes={"n": note, "version": ledger.version + 1})
        work.save(ledger)

    await run(log, decide)
    # Those of earlier commands may not have been stored yet, when others come.
    await log.snapshots.stop()


async def ledger_of(log: EventLog, length: int, note: str = "x" * 100) -> UUID:
    """Return a ledger with so many events, which replace its notes."""
    ledger_id = await open_ledger(log, f"of {length}")
    for _ in range(length - 1):
        await annotated(log, ledger_id, note)
    return ledger_id


async def past(
    log: EventLog, ledger_id: UUID, upto: int = VERSION_MAX
) -> tuple[Ledger, int]:
    """Load a state past the cache; return it, and how many events it took."""
    async with log._pool.connection() as db:  # noqa: SLF001 # what the log itself uses
        loaded = await aggregate_reader.load(db, log.mapper, ledger_id, upto=upto)
    assert isinstance(loaded.aggregate, Ledger)
    return loaded.aggregate, loaded.replayed


async def look_back(log: EventLog, ledger_id: UUID, upto: int) -> None:
    """Read a past state as a request does, and wait for the snapshot that it leaves."""
    async with log._pool.connection() as db:  # noqa: SLF001 # what the log itself uses
        assert await log.snapshots.load(db, ledger_id, upto=upto)
    await log.snapshots.stop()


async def command_of(db: AsyncConnection[Any], ledger_id: UUID, version: int) -> UUID:
    cursor = await db.execute(
        "SELECT command_id FROM events.stored_event"
        " WHERE originator_id = %s AND originator_version = %s",
        [ledger_id, version],
    )
    row = await cursor.fetchone()
    assert row is not None
    command_id: UUID = row[0]
    return command_id
