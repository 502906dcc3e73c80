"""Aggregates as of an earlier position of the log: the parameter ``at``."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from aiohttp import web
from eventsourcing.utils import get_topic

from projections.engine.snapshot import Snapshot, reading, wait_for_followers
from service.aggregate import LoggedAggregate
from service.database import Db
from service.errors import MalformedRequestError, Problem
from service.event_log import aggregate_reader, reader
from service.event_log.mapper import EventMapper
from service.event_log.snapshots import Snapshots
from service.http.app_keys import EVENT_LOG

# Followers that are further behind are waited for, whatever they have to apply.
SCANNED_MAX: Final = 10_000
IS_ANY_BETWEEN = """
    SELECT 1
      FROM events.stored_event
     WHERE notification_id > %s AND notification_id <= %s AND topic = ANY (%s)
     LIMIT 1
"""

A = TypeVar("A", bound=LoggedAggregate)


@dataclass(frozen=True, slots=True)
class AsOf:
    """Aggregates as of a position of the log."""

    position: int
    _db: Db
    _mapper: EventMapper
    _snapshots: Snapshots | None = None
    _is_now: bool = False

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None:
        """Replay an aggregate; None when it didn't exist yet.

        What it returns is the caller's own, and never saved.
        """
        version: int | None = aggregate_reader.VERSION_MAX
        if not self._is_now:
            version = await aggregate_reader.version_at(
                self._db, aggregate_id, self.position
            )
        if version is None:
            return None
        loaded = await aggregate_reader.load(
            self._db, self._mapper, aggregate_id, upto=version
        )
        if self._snapshots is not None:
            self._snapshots.leave(loaded, is_newest=self._is_now)
        return loaded.aggregate if isinstance(loaded.aggregate, kind) else None


async def as_of(
    db: Db,
    mapper: EventMapper,
    at: int | datetime | None,
    snapshots: Snapshots | None = None,
) -> AsOf:
    """Find the position that ``at`` names; None is the end of the log.

    ``snapshots`` gets those of aggregates that are replayed from far.
    A time means everything recorded up to and at it; one in the future is now.
    Without ``at``, expects a snapshot of the database, which doesn't move.

    :raises MalformedRequestError: the log has not reached that position
    """
    if isinstance(at, datetime):
        return AsOf(await reader.position_at(db, at), db, mapper, snapshots)
    head, _ = await reader.head(db)
    if at is None:
        return AsOf(head, db, mapper, snapshots, _is_now=True)
    if at > head:
        raise beyond_the_log(head)
    return AsOf(at, db, mapper, snapshots)


def beyond_the_log(head: int) -> MalformedRequestError:
    return MalformedRequestError(
        f"the log ends at position {head}",
        problems=[Problem("at", "beyond the end of the log")],
    )


@asynccontextmanager
async def reading_as_of(
    request: web.Request,
    at: int | datetime | None,
    *followers: str,
    of: Sequence[type[Any]],
) -> AsyncIterator[tuple[Snapshot, AsOf]]:
    """Open a snapshot that reflects a position or time, and the log as of it.

    None is the end of the log. ``of`` are the event types that matter of those that
    the followers apply: without one of them in between, none is waited for.

    :raises MalformedRequestError: the log has not reached that position
    :raises UnavailableError: the followers don't reach it in time
    """
    log = request.config_dict[EVENT_LOG]
    async with AsyncExitStack() as stack:
        snapshot = await stack.enter_async_context(reading(request, *followers))
        then = await as_of(snapshot.db, log.mapper, at, log.snapshots)
        if not await _reflects(snapshot, then.position, of):
            await stack.aclose()
            await wait_for_followers(request, followers, then.position)
            snapshot = await stack.enter_async_context(reading(request, *followers))
            at = then.position
            then = await as_of(snapshot.db, log.mapper, at, log.snapshots)
        yield snapshot, then


async def _reflects(snapshot: Snapshot, position: int, of: Sequence[type[Any]]) -> bool:
    if position <= snapshot.position:
        return True
    # At 0, the tables may be of another log.
    if not snapshot.position or position - snapshot.position > SCANNED_MAX:
        return False
    asked = [snapshot.position, position, [*map(get_topic, of)]]
    cursor = await snapshot.db.execute(IS_ANY_BETWEEN, asked, prepare=True)
    return not await cursor.fetchall()
