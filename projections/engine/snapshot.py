"""Answer a read from one snapshot, and say which position it reflects."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from psycopg.errors import UndefinedColumn, UndefinedTable

from projections.engine.progress import applied_position, wait_for_position
from service.database import Db, Pool
from service.errors import RETRY_LATER, PreconditionFailedError, UnavailableError
from service.event_log.read_replica import ReadServer, ReplicaLostError
from service.http.app_keys import WAITS
from service.http.log_epoch import POSITION_HEADER
from service.http.own_writes import OwnWrite, own_write
from service.http.read_server import (
    read_from_primary,
    read_server,
    reads_from_replica,
)
from service.http.replays import out_of_turn
from service.http.requests import min_position as asked_position

OWN_WRITE_TIMEOUT_S = 1.0
# A read replica is mostly some milliseconds behind. One that is further behind costs a
# read this much, before the primary is asked.
REPLICA_WAIT_S = 0.5
WAITED_FOR = web.RequestKey("waited_for", int)
# Of a version before, until the rebuild has ended.
OTHER_TABLES: Final = (UndefinedColumn, UndefinedTable)
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
    asked = asked_position(request)
    async with AsyncExitStack() as stack:

        async def open_snapshot() -> Snapshot:
            server = read_server(request)
            return await stack.enter_async_context(snapshot_of(server, *followers))

        snapshot = None
        if asked is not None:
            # Mostly it has been reached, which a snapshot tells without another query.
            with suppress(_NotBuiltYetError):
                snapshot = await open_snapshot()
        if snapshot is None or snapshot.position < (asked or 0):
            await stack.aclose()
            await wait_for_followers(request, followers, asked)
            snapshot = await open_snapshot()
            refuse_older(request, snapshot.position)
        yield snapshot


async def wait_for_followers(
    request: web.Request, followers: Sequence[str], asked: int | None
) -> int | None:
    """Wait until followers have applied the position asked for, and return it.

    Without one, wait shortly for what the caller's token wrote a moment ago; None if
    there is nothing, or it takes too long.

    :raises UnavailableError: they don't reach the position asked for in time
    """
    if asked is None and own_write(request) is None:
        return None
    async with out_of_turn(request):
        return await _wait_for_followers(request, followers, asked)


async def _wait_for_followers(
    request: web.Request, followers: Sequence[str], asked: int | None
) -> int | None:
    if asked is not None:
        server = await _reached(request, followers, asked)
        if server is None:
            await wait_for_position(
                read_server(request),
                followers,
                asked,
                timeout_s=request.app[WAITS].position_s,
            )
        return asked
    own = own_write(request)
    if own is None:
        return None
    if not _has_applied(own, read_server(request), followers):
        server = await _reached(request, followers, own.position)
        if server is None:
            server = read_server(request)
            try:
                await wait_for_position(
                    server, followers, own.position, timeout_s=OWN_WRITE_TIMEOUT_S
                )
            except (UnavailableError, PreconditionFailedError):
                return None
        own.applied_by.update((server.name, follower) for follower in followers)
    return own.position


def _has_applied(own: OwnWrite, server: ReadServer, followers: Sequence[str]) -> bool:
    return own.applied_by.issuperset((server.name, each) for each in followers)


async def _reached(
    request: web.Request, followers: Sequence[str], position: int
) -> ReadServer | None:
    """Return the replica once it has a position; None is to ask the primary.

    Only the primary can tell that there is no such position.
    """
    server = read_server(request)
    if not reads_from_replica(request):
        return None
    try:
        await wait_for_position(server, followers, position, timeout_s=REPLICA_WAIT_S)
    except (UnavailableError, ReplicaLostError):
        read_from_primary(request, "behind")
        return None
    request[WAITED_FOR] = position
    return server


def refuse_older(request: web.Request, position: int) -> None:
    """Let the primary answer if a replica's answer doesn't reflect what was waited for.

    One address may lead to several replicas.

    :raises UnavailableError: it doesn't
    """
    asked = request.get(WAITED_FOR, 0)
    if position < asked and reads_from_replica(request):
        raise UnavailableError(
            f"position {asked} is not reflected here yet", code="position_not_reached"
        )


@asynccontextmanager
async def snapshot_of(
    server: Pool | ReadServer, *followers: str
) -> AsyncIterator[Snapshot]:
    """Open a snapshot of what some followers have built, as it is now.

    :raises UnavailableError: they have never run on this database
    """
    async with server.connection() as db:
        await db.execute(BEGIN)
        try:
            cursor = await db.execute(REFLECTED, [list(followers)], prepare=True)
            row = await cursor.fetchone()
            assert row is not None
            if row[1] < len(followers):
                raise _NotBuiltYetError
            yield Snapshot(db, row[0])
        except OTHER_TABLES:
            raise _NotBuiltYetError from None
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
    asked = max(asked_position(request) or 0, min_position or 0)
    await wait_for_followers(request, followers, asked or None)
    async with read_server(request).connection() as db:
        try:
            yield db
        except OTHER_TABLES:
            raise _NotBuiltYetError from None


@asynccontextmanager
async def reading_log(
    request: web.Request, position: int, *followers: str
) -> AsyncIterator[Db]:
    """Lend a connection to a server that has the log up to a position.

    And what followers have built up to there.

    :raises UnavailableError: the tables that followers have built are of a version
        before
    """
    replica = await _reached(request, followers, position)
    try:
        if replica is not None:
            async with replica.connection() as db:
                # One address may lead to several replicas.
                applied, _ = await applied_position(db, followers)
                if applied is not None and applied >= position:
                    yield db
                    return
            read_from_primary(request, "behind")
        async with read_server(request).connection() as db:
            yield db
    except OTHER_TABLES:
        raise _NotBuiltYetError from None


def lender(
    request: web.Request, position: int, *followers: str
) -> Callable[[], AbstractAsyncContextManager[Db]]:
    """Return a function that does the same for each part of a long answer.

    It lends from the primary after it has raised :class:`ReplicaLostError`.
    """

    @asynccontextmanager
    async def lend() -> AsyncIterator[Db]:
        try:
            async with reading_log(request, position, *followers) as db:
                yield db
        except ReplicaLostError:
            read_from_primary(request, "lost")
            raise

    return lend


class _NotBuiltYetError(UnavailableError):
    """Followers have never run on this database."""

    def __init__(self) -> None:
        super().__init__(
            "the read tables have not been built yet",
            code="not_built_yet",
            headers=RETRY_LATER,
        )
