"""A pool of connections to PostgreSQL that gives up after bounded waits."""

import asyncio
import math
import time
from typing import Any

import psycopg
from prometheus_client import Histogram
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from service.database import (
    CONNECT_TIMEOUT_S,
    Db,
    WrongSessionError,
    deadline,
    is_alive,
    verify_session,
)
from service.waits import Waits

POOL_SIZE_MAX = 10
POOL_RECONNECT_S = 2.0

POOL_WAIT = Histogram(
    "agent_runtime_pool_wait_seconds",
    "Wait for a connection of the pool, also where it ended in a timeout.",
    buckets=(0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2, 5),
)


class PoolBusyError(PoolTimeout):
    """All connections of a pool are in use, and none became free in time."""


class SilentServerError(psycopg.OperationalError):
    """The server has sent nothing for so long that its connection was closed."""


class BoundedConnection(AsyncConnection[Any]):
    """A connection that is closed when the server doesn't answer in time.

    A frozen server would keep it, and the request that uses it, for as long as it is
    frozen, though another server is the primary by then.
    """

    silence_s = Waits().silence_s

    async def wait(self, *args: Any, **options: Any) -> Any:
        began = time.monotonic()
        try:
            with deadline(self, self.silence_s):
                return await super().wait(*args, **options)
        except psycopg.OperationalError as error:
            if time.monotonic() - began < self.silence_s:
                raise
            raise SilentServerError(
                f"the database has not answered for {self.silence_s:g} s"
            ) from error


class CheckedPool(AsyncConnectionPool[Db]):
    """A connection pool; ``wrong_session`` is why it has refused a connection.

    Raises :class:`PoolBusyError` where the database could be reached, if only one of
    the connections became free: all are lent, or others got theirs meanwhile.
    """

    wrong_session: WrongSessionError | None = None
    _in_use = 0
    # When a connection was last made, or came back in working order.
    _worked_at = -math.inf

    async def getconn(self, timeout: float | None = None) -> Db:  # noqa: ASYNC109
        began = time.monotonic()
        try:
            connection = await super().getconn(timeout)
        except PoolTimeout as error:
            # A connection on its way to another waiter isn't counted as lent, nor is
            # one that is being made.
            if self._in_use < self.max_size and self._worked_at < began:
                raise
            raise PoolBusyError(str(error)) from None
        finally:
            POOL_WAIT.observe(time.monotonic() - began)
        self._in_use += 1
        return connection

    async def putconn(self, conn: Db) -> None:
        match conn.pgconn.transaction_status:
            case TransactionStatus.IDLE:
                self.note_working()
            case TransactionStatus.UNKNOWN:
                self.note_lost()
        try:
            await super().putconn(conn)
        finally:
            self._in_use -= 1

    def note_working(self) -> None:
        """Note that the database can be reached."""
        self._worked_at = time.monotonic()

    def note_lost(self) -> None:
        """Note that it perhaps can't be reached any more."""
        self._worked_at = -math.inf


def connection_pool(conninfo: str, waits: Waits | None = None) -> CheckedPool:
    """Return a connection pool, not yet open, that gives up after a bounded wait."""
    waits = waits or Waits()
    purges: set[asyncio.Task[None]] = set()

    async def check(connection: Db) -> None:
        if is_alive(connection):
            return
        pool.note_lost()
        # The other idle connections are closed, too. Found one by one, each would
        # cost a request a longer wait than the one before.
        if not purges:
            purge = asyncio.create_task(pool.check())
            purges.add(purge)
            purge.add_done_callback(purges.discard)
        raise psycopg.OperationalError("the connection was closed by the server")

    async def configure(connection: Db) -> None:
        assert isinstance(connection, BoundedConnection)
        connection.silence_s = waits.silence_s
        try:
            await verify_session(connection)
        except WrongSessionError as error:
            pool.wrong_session = error
            raise
        pool.note_working()

    pool = CheckedPool(
        conninfo,
        connection_class=BoundedConnection,
        # For each of several hosts: the first one may be frozen.
        kwargs={"autocommit": True, "connect_timeout": CONNECT_TIMEOUT_S},
        configure=configure,
        min_size=2,
        max_size=POOL_SIZE_MAX,
        timeout=waits.connection_s,
        # The pool's retries back off exponentially. Giving up early lets the next
        # request try at once when the server is back.
        reconnect_timeout=POOL_RECONNECT_S,
        check=check,
        open=False,
    )
    return pool
