"""The connection on which the writer commits, and its server process."""

import logging
from collections.abc import Awaitable, Callable

from psycopg import AsyncConnection

from service.database import Db, connect, deadline, is_alive, message_of
from service.event_log.binary_arrays import BinaryArray, BinaryArrayDumper
from service.event_log.commit_unknown import Backend
from service.outages import Outage, cause_of

# Its name in pg_stat_activity where a process takes commands.
WRITER_NAME = "agent-runtime writer"
# Processes that take commands: each one more makes every commit wait (decision 29).
WRITERS_MAX = 3
CONNECT_TIMEOUT_S = 2
RECOGNIZE_TIMEOUT_S = 10.0

logger = logging.getLogger(__name__)


class WriterConnection:
    """Connects again once the connection is lost.

    ``on_connect`` sees each connection before it is used. ``backend`` is the server
    process of the last one, also after that was lost: it may still commit.
    """

    def __init__(
        self, conninfo: str, on_connect: Callable[[Db], Awaitable[None]]
    ) -> None:
        self.backend: Backend | None = None
        self._conninfo = conninfo
        self._on_connect = on_connect
        self._connection: AsyncConnection | None = None
        self._outage = Outage()

    async def open(self) -> None:
        """Connect.

        :raises psycopg.Error: the server can't be reached
        """
        self._connection = await self._connect()

    async def live(self) -> AsyncConnection | None:
        """Return a live connection, or None when the database can't be reached."""
        if self._connection is not None and not is_alive(self._connection):
            await self._connection.close()
            self._connection = None
        if self._connection is None:
            try:
                self._connection = await self._connect()
                self._outage.has_ended()
            except Exception as error:  # noqa: BLE001 # the queued commands are refused
                level = self._outage.level(cause_of(error))
                logger.log(
                    level, "the event log can't be reached: %s", message_of(error)
                )
        return self._connection

    async def close(self) -> None:
        """Close the connection; :meth:`live` makes a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> AsyncConnection:
        connection = await connect(self._conninfo, timeout_s=CONNECT_TIMEOUT_S)
        try:
            connection.adapters.register_dumper(BinaryArray, BinaryArrayDumper)
            with deadline(connection, RECOGNIZE_TIMEOUT_S):
                self.backend = await Backend.of(connection)
                await self._on_connect(connection)
        except BaseException:
            await connection.close()
            raise
        return connection
