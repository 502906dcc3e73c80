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
FAREWELL_READS_MAX = 4
NOT_YET = frozenset({Ping.REJECT, Ping.NO_RESPONSE})
SERVER_START_S = 30.0
SERVER_PING_S = 0.2
# A peer that is gone without a word is noticed within about ten seconds.
KEEPALIVE = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}

logger = logging.getLogger(__name__)


def service_conninfo(url: str, *, role: str = SERVICE_ROLE, **settings: str) -> str:
    """Return connection words that act as a role with few rights.

    ``settings`` replace the service's own run-time settings.
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


def connection_pool(conninfo: str) -> AsyncConnectionPool[AsyncConnection[Any]]:
    """Return a pool, not yet open, whose waits are bounded."""
    purges: set[asyncio.Task[None]] = set()

    async def check(connection: AsyncConnection[Any]) -> None:
        if is_alive(connection):
            return
        # The other idle ones are as dead as this one. Met one by one, each would
        # cost a request a longer wait than the one before.
        if not purges:
            purge = asyncio.create_task(pool.check())
            purges.add(purge)
            purge.add_done_callback(purges.discard)
        raise psycopg.OperationalError("the connection was closed by the server")

    pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
        conninfo,
        kwargs={"autocommit": True},
        min_size=2,
        max_size=POOL_SIZE_MAX,
        timeout=POOL_TIMEOUT_S,
        # Retries of a connection back off further and further; giving up early
        # instead lets the next request try at once when the server is back.
        reconnect_timeout=POOL_TIMEOUT_S,
        check=check,
        open=False,
    )
    return pool


def is_alive(connection: AsyncConnection[Any]) -> bool:
    """Say whether an idle connection has not been closed by its peer, without asking.

    What is never sent on a dead connection has a certain outcome.
    """
    if connection.closed:
        return False
    ready = select.poll()
    ready.register(connection.fileno(), select.POLLIN)
    # A server says why it goes before it goes.
    for _ in range(FAREWELL_READS_MAX):
        if not ready.poll(0):
            return True
        try:
            connection.pgconn.consume_input()
        except psycopg.OperationalError:
            return False
    return not connection.closed


def wait_for_server(url: str, *, timeout_s: float = SERVER_START_S) -> None:
    """Wait while a server starts, recovers, or isn't there yet; not longer than that.

    Whoever connects then is told what is wrong, if anything is.
    """
    give_up = time.monotonic() + timeout_s
    told = False
    while PGconn.ping(url.encode()) in NOT_YET and time.monotonic() < give_up:
        if not told:
            logger.warning("waiting for the database", extra={"seconds": timeout_s})
            told = True
        time.sleep(SERVER_PING_S)


@contextlib.contextmanager
def deadline(connection: AsyncConnection[Any], seconds: float) -> Iterator[None]:
    """Break the connection unless the block ends in time.

    What waits on it then fails with OperationalError, at once. A cancellation would
    wait for the server to confirm, which a peer that is gone never does.
    """
    loop = asyncio.get_running_loop()
    timer = loop.call_later(seconds, _sever, connection)
    try:
        yield
    finally:
        timer.cancel()


def _sever(connection: AsyncConnection[Any]) -> None:
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as twin,
    ):
        twin.shutdown(socket.SHUT_RDWR)
