"""The library reads our log, and its conformance tests hold for our recorder."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Self
from uuid import uuid4

import psycopg
import pytest
from eventsourcing.application import Repository
from eventsourcing.persistence import EventStore, IntegrityError, StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore
from psycopg.conninfo import conninfo_to_dict

from service.aggregates import AGGREGATES
from service.event_log.append import Append, VersionConflictError
from service.event_log.log import EventLog
from service.event_log.mapper import EventMapper
from tests.support.event_log.conformance import persistence
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import enter, open_ledger, open_log
from tests.support.waiting import TIMEOUT_S


def stock_datastore(database_url: str) -> PostgresDatastore:
    words = conninfo_to_dict(database_url)
    return PostgresDatastore(
        dbname=str(words["dbname"]),
        host=str(words["host"]),
        port=str(words.get("port", 5432)),
        user=str(words["user"]),
        password="",
        schema="events",
        pool_size=1,
        max_overflow=20,
    )


@pytest.fixture
def stock(database_url: str) -> Iterator[PostgresApplicationRecorder]:
    """The library's own recorder, on our tables, as they are."""
    with stock_datastore(database_url) as datastore:
        yield PostgresApplicationRecorder(datastore, events_table_name="stored_event")


async def test_the_librarys_repository_rebuilds_an_aggregate_from_our_log(
    log: EventLog, stock: PostgresApplicationRecorder
) -> None:
    ledger_id = await open_ledger(log, "read by the library")
    await enter(log, ledger_id, "a", "b")
    events = EventStore(EventMapper([*AGGREGATES, Ledger]), stock)

    ledger: Any = await asyncio.to_thread(Repository(events).get, ledger_id)

    ours = await log.load(ledger_id)
    assert isinstance(ledger, Ledger)
    assert ours is not None
    assert vars(ledger) == vars(ours)


async def test_the_librarys_recorder_selects_our_notifications(
    log: EventLog, stock: PostgresApplicationRecorder
) -> None:
    ledger_id = await open_ledger(log, "selected")
    await enter(log, ledger_id, "a", "b")

    assert await asyncio.to_thread(stock.max_notification_id) == 3
    notifications = await asyncio.to_thread(
        stock.select_notifications, 2, 10, topics=["test.ledger_entered"]
    )
    assert [each.id for each in notifications] == [2, 3]
    assert {each.originator_id for each in notifications} == {ledger_id}


class LogRecorder(PostgresApplicationRecorder):
    """The library's recorder, except that it inserts through our event log."""

    def __init__(self, datastore: PostgresDatastore, running: "RunningLog") -> None:
        super().__init__(datastore, events_table_name="stored_event")
        self._running = running

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **_: Any
    ) -> Sequence[int] | None:
        try:
            return self._running.append(stored_events)
        except (VersionConflictError, psycopg.IntegrityError) as error:
            raise IntegrityError(str(error)) from error


class RunningLog:
    """An event log on an event loop of its own, for callers that are threads."""

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._log: EventLog | None = None
        self._thread = threading.Thread(
            target=self._loop.run_until_complete, args=(self._run(),)
        )

    async def _run(self) -> None:
        async with open_log(self._url) as self._log:
            self._ready.set()
            await self._stop.wait()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(TIMEOUT_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    def append(self, events: Sequence[StoredEvent]) -> list[int]:
        assert self._log is not None
        reads: dict[Any, int] = {}
        for event in events:
            # The library also begins at version 0, which is our "there is none".
            if event.originator_version > 0:
                reads.setdefault(event.originator_id, event.originator_version - 1)
        append = Append(
            command_id=uuid4(),
            history=self._log.history,
            metadata="{}",
            reads=reads,
            events=events,
        )
        appended = asyncio.run_coroutine_threadsafe(
            self._log.append(append), self._loop
        ).result()
        last = appended.position
        return [] if last is None else list(range(last - len(events) + 1, last + 1))


class OurRecorder:
    """What the library's test classes need of a recorder."""

    @pytest.fixture(autouse=True)
    def _recorder(self, database_url: str) -> Iterator[None]:
        with (
            stock_datastore(database_url) as datastore,
            RunningLog(database_url) as running,
        ):
            self.recorder = LogRecorder(datastore, running)
            yield

    def create_recorder(self) -> LogRecorder:
        return self.recorder


class TestApplicationRecorder(
    OurRecorder, persistence.ApplicationRecorderTestCase[LogRecorder]
):
    pass


class TestNonInterleaving(
    OurRecorder, persistence.NonInterleavingNotificationIDsBaseCase
):
    pass
