"""Snapshots of long aggregates, taken every hundred events."""

import asyncio
import logging

import psycopg
from eventsourcing.domain import Snapshot
from eventsourcing.persistence import StoredEvent

from service.aggregate import LoggedAggregate
from service.database import Pool
from service.event_log import aggregate_reader
from service.event_log.mapper import EventMapper

SNAPSHOT_INTERVAL = 100
SNAPSHOTS_AT_ONCE_MAX = 4

logger = logging.getLogger(__name__)


class Snapshots:
    """Stores snapshots beside the commands that make them due."""

    def __init__(self, pool: Pool, mapper: EventMapper) -> None:
        self._pool = pool
        self._mapper = mapper
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Wait for those that are being stored."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def take(self, aggregate: LoggedAggregate) -> None:
        """Store a snapshot in the background, unless many are being stored."""
        if len(self._tasks) >= SNAPSHOTS_AT_ONCE_MAX:
            return
        snapshot = Snapshot.take(aggregate)
        stored = self._mapper.to_stored_event(snapshot)
        task = asyncio.create_task(self._store(stored, type(aggregate)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _store(
        self, stored: StoredEvent, aggregate: type[LoggedAggregate]
    ) -> None:
        # Without the snapshot, the next load replays more events.
        try:
            async with self._pool.connection() as connection:
                await aggregate_reader.store_snapshot(connection, stored, aggregate)
        except (psycopg.Error, OSError):
            logger.warning("can't store a snapshot")


def is_snapshot_due(version_before: int, version: int) -> bool:
    """Say whether a command's events of one aggregate complete a hundred."""
    return version // SNAPSHOT_INTERVAL > version_before // SNAPSHOT_INTERVAL
