"""Connections to PostgreSQL: role, settings, time limits."""

import asyncio
import contextlib
import logging
import os
import re
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

from service.errors import ConfigError
from service.waits import Waits

Db = AsyncConnection[Any]
Pool = AsyncConnectionPool[Db]

SERVICE_ROLE = "agent_runtime_service"
READER_ROLE = "agent_runtime_reader"
SETTINGS = {
    "idle_in_transaction_session_timeout": "10s",
    "TimeZone": "UTC",
}
UNITS = (("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
MESSAGE_READS_MAX = 4
NOT_READY = frozenset({Ping.REJECT, Ping.NO_RESPONSE})
SERVER_START_S = 30.0
SERVER_PING_S = 0.2
# A lock on a name, held until the connection ends.
ADVISORY_LOCK = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
TRY_ADVISORY_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"
SESSION = """
    SELECT current_user,
           array(SELECT current_setting(name) FROM unnest(%s::text[]) AS name)
"""
OPTION = re.compile(r"-c (\w+)=(\S+)")
NOT_DURABLE = frozenset({"off", "local"})
CONNECT_TIMEOUT_S = 5
# Of what is no request's, such as followers.
ANSWER_TIMEOUT_S = 10.0
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


class WrongSessionError(ConfigError, psycopg.OperationalError):
    """The server gave a connection another role or other settings than asked for."""


def service_conninfo(
    url: str,
    *,
    role: str = SERVICE_ROLE,
    application_name: str = "agent-runtime",
    **settings: str,
) -> str:
    """Return a connection string that acts as a role with few rights.

    ``settings`` override the service's own run-time settings.
    """
    chosen = {"role": role, **SETTINGS, **time_limits(Waits()), **settings}
    given = conninfo_to_dict(url).get("options") or ""
    options = " ".join(f"-c {name}={value}" for name, value in chosen.items())
    return make_conninfo(
        url,
        options=f"{given} {options}".strip(),
        application_name=application_name,
        **KEEPALIVE,
    )


def time_limits(waits: Waits) -> dict[str, str]:
    """Return the server's time limits for the statements of requests."""
    return {
        "statement_timeout": as_server_writes(waits.statement_s),
        "lock_timeout": as_server_writes(waits.lock_s),
    }


def as_server_writes(seconds: float) -> str:
    """Return a duration as PostgreSQL does, so that the two can be compared.

    >>> as_server_writes(0.25), as_server_writes(5.0), as_server_writes(60)
    ('250ms', '5s', '1min')
    """
    milliseconds = round(seconds * 1000)
    return next(
        f"{milliseconds // size}{unit}"
        for unit, size in UNITS
        if milliseconds % size == 0
    )


async def connect(conninfo: str, *, timeout_s: int = CONNECT_TIMEOUT_S) -> Db:
    """Return a connection in autocommit mode, with the role and settings asked for.

    :raises WrongSessionError: it has others
    """
    try:
        connection: Db = await AsyncConnection.connect(
            conninfo, autocommit=True, connect_timeout=timeout_s
        )
    except psycopg.OperationalError as error:
        if "unsupported startup parameter" in str(error):
            raise WrongSessionError(_pooled(str(error).strip())) from None
        raise
    try:
        with deadline(connection, timeout_s):
            await verify_session(connection)
    except BaseException:
        await connection.close()
        raise
    return connection


def message_of(error: Exception) -> str:
    """Return what the server says alone, for a log line.

    ``str(error)`` may go on with statements and with values of rows.
    """
    said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return said or str(error) or type(error).__name__


def passes_by_itself(error: psycopg.Error) -> bool:
    """Tell a lost connection, a busy server or a standby from a fault.

    The code counts, not the class: that of a standby's refusal is InternalError.
    """
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate[:2] in TRANSIENT


async def require_right_session(conninfo: str) -> None:
    """Try a first connection; one that can't be made at all is left to the caller.

    :raises WrongSessionError: it has another role or other settings
    """
    try:
        await (await connect(conninfo)).close()
    except WrongSessionError:
        raise
    except psycopg.OperationalError as error:
        logger.warning("can't connect to the database yet: %s", error)


async def verify_session(connection: Db) -> None:
    """Compare a connection's role and settings with those that were asked for.

    A connection pooler may drop them, and a commit that doesn't wait for the disk may
    be the setting of a role or database.

    :raises WrongSessionError: they differ
    """
    given = connection.info.get_parameters().get("options", "")
    asked = dict(OPTION.findall(given))
    role = asked.pop("role", None)
    names = [name for name in (*SETTINGS, *time_limits(Waits())) if name in asked]
    cursor = await connection.execute(SESSION, [["synchronous_commit", *names]])
    row = await cursor.fetchone()
    assert row is not None
    user, (synchronous_commit, *values) = row
    wrong = [
        f"{name} {value} instead of {asked[name]}"
        for name, value in zip(names, values, strict=True)
        if value != asked[name]
    ]
    if role is not None and user != role:
        wrong.insert(0, f"role {user} instead of {role}")
    if wrong:
        raise WrongSessionError(_pooled(f"the session has {', '.join(wrong)}"))
    if "synchronous_commit" not in asked and synchronous_commit in NOT_DURABLE:
        raise WrongSessionError(
            f"the session has synchronous_commit {synchronous_commit}, so a crash would"
            " lose acknowledged commands: reset it for the server, the database and the"
            " login role"
        )


def _pooled(found: str) -> str:
    return (
        f"{found}: a connection pooler between the service and PostgreSQL drops the"
        " startup parameter 'options'; connect to PostgreSQL itself"
    )


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
    timer = loop.call_later(seconds, shut_down_socket, connection)
    try:
        yield
    finally:
        timer.cancel()


def shut_down_socket(connection: Db) -> None:
    """Make what is done on a connection fail at once, and what follows, too."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as duplicate,
    ):
        duplicate.shutdown(socket.SHUT_RDWR)
