"""Answer a read from one snapshot, and say which position it reflects."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web
from psycopg.errors import UndefinedTable

from projections.engine.progress import wait_for_position
from service.database import Db, Pool
from service.errors import PreconditionFailedError, UnavailableError
from service.http.log_epoch import POSITION_HEADER
from service.http.own_writes import own_write
from service.http.requests import min_position as asked_position

OWN_WRITE_TIMEOUT_S = 1.0
READ_POOL = web.AppKey("read_pool", Pool)
# LOCK TABLE takes no snapshot, so the snapshot comes after the lock: a rebuild can't
# switch tables behind it.
BEGIN = """
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    LOCK TABLE read.generation IN ACCESS SHARE MODE
"""
# Tables that were built from the log of another epoch reflect nothing of this one.
REFLECTED = """
    SELECT min(CASE WHEN p.epoch = h.epoch THEN p.position ELSE 0 END), count(*)
      FROM read.position p, events.head h
     WHERE p.follower = ANY (%s)
"""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A read-only view of the read tables as of one position of the log."""

    db: Db
    position: int

    @property
    def headers(self) -> dict[str, str]:
        return {POSITION_HEADER: str(self.position)}


@asynccontextmanager
async def reading(request: web.Request, *followers: str) -> AsyncIterator[Snapshot]:
    """Open a snapshot of what some followers have built.

    Waits, within a bound, until it reflects the caller's X-Min-Position, or what the
    caller wrote a moment ago.

    :raises UnavailableError: when the followers don't get that far in time, or have
        never run on this database
    """
    pool = request.app[READ_POOL]
    await wait_for_followers(request, followers, asked_position(request))
    async with snapshot_of(pool, *followers) as snapshot:
        yield snapshot


async def wait_for_followers(
    request: web.Request, followers: Sequence[str], asked: int | None
) -> int | None:
    """Wait until followers have applied the position asked for, and return it.

    Without one, wait shortly for what the caller's token wrote a moment ago; None if
    there is nothing, or it takes too long.

    :raises UnavailableError: they don't reach the position asked for in time
    """
    pool = request.app[READ_POOL]
    if asked is not None:
        await wait_for_position(pool, list(followers), asked)
        return asked
    own = own_write(request)
    if own is None:
        return None
    if not own.applied_by.issuperset(followers):
        try:
            await wait_for_position(
                pool, list(followers), own.position, OWN_WRITE_TIMEOUT_S
            )
        except (UnavailableError, PreconditionFailedError):
            return None
        own.applied_by.update(followers)
    return own.position


@asynccontextmanager
async def snapshot_of(pool: Pool, *followers: str) -> AsyncIterator[Snapshot]:
    """Open a snapshot of what some followers have built, as it is now.

    :raises UnavailableError: they have never run on this database
    """
    async with pool.connection() as db:
        await db.execute(BEGIN)
        try:
            cursor = await db.execute(REFLECTED, [list(followers)], prepare=True)
            row = await cursor.fetchone()
            assert row is not None
            if row[1] < len(followers):
                raise _not_built_yet()
            yield Snapshot(db, row[0])
        finally:
            await db.rollback()


@asynccontextmanager
async def read_once(
    request: web.Request, *followers: str, min_position: int | None = None
) -> AsyncIterator[Db]:
    """Lend a connection for one statement, which is a snapshot by itself.

    Saves the round trips of a transaction; the statement has to select the position
    that it reflects. Waits for the later of X-Min-Position and ``min_position``.

    :raises UnavailableError: as :func:`reading`
    """
    pool = request.app[READ_POOL]
    asked = max(asked_position(request) or 0, min_position or 0)
    await wait_for_followers(request, followers, asked or None)
    async with pool.connection() as db:
        try:
            yield db
        except UndefinedTable:
            raise _not_built_yet() from None


def _not_built_yet() -> UnavailableError:
    return UnavailableError(
        "what this reads has not been built yet",
        code="not_built_yet",
        headers={"Retry-After": "1"},
    )
