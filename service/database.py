"""How this service connects to PostgreSQL."""

import asyncio
import contextlib
import logging
import os
import select
import socket
import time
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PGconn, Ping
from psycopg_pool import AsyncConnectionPool

Db = AsyncConnection[Any]
Pool = AsyncConnectionPool[Db]

SERVICE_ROLE = "agent_runtime_service"
READER_ROLE = "agent_runtime_reader"
POOL_SIZE_MAX = 10
POOL_TIMEOUT_S = 2.0
SETTINGS = {
    "statement_timeout": "5s",
    "lock_timeout": "2s",
    "idle_in_transaction_session_timeout": "10s",
    "TimeZone": "UTC",
}
MESSAGE_READS_MAX = 4
NOT_READY = frozenset({Ping.REJECT, Ping.NO_RESPONSE})
SERVER_START_S = 30.0
SERVER_PING_S = 0.2
# A lock on a name, held until the connection ends.
ADVISORY_LOCK = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
TRY_ADVISORY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
# SQLSTATE classes of failures that pass: connection, transaction state (a standby),
# rollback, resources, lock, operator.
TRANSIENT = frozenset({"08", "25", "40", "53", "55", "57"})
# A peer that vanishes without closing is noticed within about ten seconds.
KEEPALIVE = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}

logger = logging.getLogger(__name__)


def service_conninfo(url: str, *, role: str = SERVICE_ROLE, **settings: str) -> str:
    """Return a connection string that acts as a role with few rights.

    ``settings`` override the service's own run-time settings.
    """
    chosen = {"role": role, **SETTINGS, **settings}
    given = conninfo_to_dict(url).get("options") or ""
    options = " ".join(f"-c {name}={value}" for name, value in chosen.items())
    return make_conninfo(
        url,
        options=f"{given} {options}".strip(),
        application_name="agent-runtime",
        **KEEPALIVE,
    )


def connection_pool(conninfo: str) -> Pool:
    """Return a connection pool, not yet open, that gives up after a bounded wait."""
    purges: set[asyncio.Task[None]] = set()

    async def check(connection: Db) -> None:
        if is_alive(connection):
            return
        # The other idle connections are closed, too. Found one by one, each would
        # cost a request a longer wait than the one before.
        if not purges:
            purge = asyncio.create_task(pool.check())
            purges.add(purge)
            purge.add_done_callback(purges.discard)
        raise psycopg.OperationalError("the connection was closed by the server")

    pool: Pool = AsyncConnectionPool(
        conninfo,
        kwargs={"autocommit": True},
        min_size=2,
        max_size=POOL_SIZE_MAX,
        timeout=POOL_TIMEOUT_S,
        # The pool's retries back off exponentially. Giving up early lets the next
        # request try at once when the server is back.
        reconnect_timeout=POOL_TIMEOUT_S,
        check=check,
        open=False,
    )
    return pool


def is_alive(connection: Db) -> bool:
    """Tell whether an idle connection is open, without a round trip to the server.

    A statement that was never sent on a closed connection surely had no effect.
    """
    if connection.closed:
        return False
    ready = select.poll()
    ready.register(connection.fileno(), select.POLLIN)
    # Before a server closes, it sends the reason: read that first, then the close.
    for _ in range(MESSAGE_READS_MAX):
        if not ready.poll(0):
            return True
        try:
            connection.pgconn.consume_input()
        except psycopg.OperationalError:
            return False
    return not connection.closed


def wait_for_server(url: str, *, timeout_s: float = SERVER_START_S) -> None:
    """Wait while a server starts, recovers or can't be reached, up to the timeout.

    Raises nothing: the connection that follows reports what is wrong.
    """
    give_up = time.monotonic() + timeout_s
    logged = False
    while PGconn.ping(url.encode()) in NOT_READY and time.monotonic() < give_up:
        if not logged:
            logger.warning("waiting for the database", extra={"seconds": timeout_s})
            logged = True
        time.sleep(SERVER_PING_S)


@contextlib.contextmanager
def deadline(connection: Db, seconds: float) -> Iterator[None]:
    """Close the connection's socket unless the block ends in time.

    A statement in progress then fails with OperationalError at once. Cancelling it
    would wait for the server's answer, which a vanished peer never sends.
    """
    loop = asyncio.get_running_loop()
    timer = loop.call_later(seconds, _shut_down_socket, connection)
    try:
        yield
    finally:
        timer.cancel()


def _shut_down_socket(connection: Db) -> None:
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as duplicate,
    ):
        duplicate.shutdown(socket.SHUT_RDWR)
