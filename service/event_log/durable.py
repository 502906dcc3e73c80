"""The durable position: how far a fail-over can't undo the log.

Where PostgreSQL replicates synchronously, a commit becomes visible when the standbys
have it, with exceptions: a wait for them that is cancelled leaves the commit, and a
server that crashed shows after its restart also what it hadn't replicated yet.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from uuid import UUID

from prometheus_client import Gauge
from psycopg import Error
from psycopg.errors import Diagnostic

from service.database import ANSWER_TIMEOUT_S, Db, connect, deadline, message_of
from service.errors import RETRY_LATER, UnavailableError
from service.event_log.commit_notifier import wait_for_commit
from service.event_log.history import History, Mark
from service.outages import Outage, cause_of

POLL_S = 0.5
INTERVAL_S = 0.02
RECONNECT_S = 0.5
CANCEL_S = 2.0

NEWEST = """
    SELECT h.epoch, events.server(), h.position, e.command_id,
           current_setting('synchronous_standby_names') <> ''
      FROM events.head h
      LEFT JOIN events.stored_event e ON e.notification_id = h.position
"""
# A commit waits for the standbys by its place in the WAL: when this one returns, they
# have everything that was committed before it.
WAIT = """
    BEGIN;
    SET LOCAL synchronous_commit = on;
    SELECT pg_logical_emit_message(true, 'agent_runtime', '');
    COMMIT
"""

HEAD = Gauge("agent_runtime_log_position", "Position of the log's last event.")
POSITION = Gauge(
    "agent_runtime_durable_position",
    "Last position that no fail-over can undo: followers and relay of this process "
    "stop there.",
)

logger = logging.getLogger(__name__)


class NotReplicatedError(Exception):
    """A wait for the synchronous standbys was cancelled."""


@contextlib.contextmanager
def without_warnings(connection: Db) -> Iterator[None]:
    """Refuse a warning of the server within the block.

    A commit whose wait for the standbys was cancelled succeeds, with a warning.

    :raises NotReplicatedError: the server has sent one
    """
    severities: list[str | None] = []

    def note(diagnostic: Diagnostic) -> None:
        severities.append(diagnostic.severity_nonlocalized)

    connection.add_notice_handler(note)
    try:
        yield
    finally:
        connection.remove_notice_handler(note)
    if "WARNING" in severities:
        raise NotReplicatedError("a commit may not be on the standbys")


async def wait_for_standbys(connection: Db) -> None:
    """Return once the synchronous standbys have all that is committed now.

    Takes as long as they are away; without such standbys, it only flushes the WAL.

    :raises NotReplicatedError: the wait was cancelled
    """
    with without_warnings(connection):
        await connection.execute(WAIT)


async def wait_at_most_for_standbys(connection: Db, timeout_s: float) -> None:
    """Wait for the synchronous standbys, also of a server that may hang.

    :raises NotReplicatedError: they don't have it in time
    """
    try:
        # Cancels the wait in the server, too: a connection that is only closed would
        # stay there, waiting, for as long as the standbys are away.
        with deadline(connection, timeout_s + CANCEL_S):
            async with asyncio.timeout(timeout_s):
                await wait_for_standbys(connection)
    except TimeoutError:
        raise NotReplicatedError("the standbys don't have it in time") from None


class DurablePosition:
    """Tracks the durable position, and calls ``advanced`` whenever it has advanced.

    The process's own commits are durable when they return. For those of others, it
    waits for the standbys, on a connection of its own. ``has_standbys`` is False when
    there are no synchronous standbys to wait for. ``history`` is the one that this
    process knows: by what another server has, nothing of it is proved.
    """

    def __init__(
        self,
        conninfo: str,
        advanced: Callable[[], None],
        *,
        history: Callable[[], History],
        wait_s: float,
    ) -> None:
        self.others_committed = asyncio.Event()
        self.mark: Mark | None = None
        self.has_standbys = True
        self._conninfo = conninfo
        self._advanced = advanced
        self._history = history
        self._wait_s = wait_s
        self._has_advanced = asyncio.Event()
        self._outage = Outage()

    def position(self, epoch: UUID) -> int:
        """Return the durable position in an epoch; 0 while it isn't known."""
        mark = self.mark
        return mark.position if mark is not None and mark.epoch == epoch else 0

    def advance(self, mark: Mark) -> None:
        if mark.position <= self.position(mark.epoch):
            return
        self.mark = mark
        POSITION.set(mark.position)
        self._has_advanced.set()
        self._advanced()

    def forget(self) -> None:
        """Start over: the log has another history."""
        self.mark = None
        self.others_committed.set()

    async def reach(self, epoch: UUID, position: int) -> None:
        """Wait until a position is durable.

        :raises UnavailableError: it isn't in time
        """
        try:
            async with asyncio.timeout(self._wait_s):
                while self.position(epoch) < position:
                    self.others_committed.set()
                    self._has_advanced.clear()
                    await self._has_advanced.wait()
        except TimeoutError:
            raise UnavailableError(
                "the answer rests on a commit that the standbys haven't got within "
                f"{self._wait_s:g} s; please retry",
                code="not_replicated",
                headers=RETRY_LATER,
            ) from None

    async def run(self) -> None:
        """Track until cancelled."""
        while True:
            try:
                async with await connect(self._conninfo) as connection:
                    while True:
                        await self._look(connection)
                        self._outage.has_ended()
                        await wait_for_commit(self.others_committed, POLL_S)
                        await asyncio.sleep(INTERVAL_S)
            except NotReplicatedError as error:
                level = self._outage.level(cause_of(error))
                logger.log(level, "the standbys don't have the end of the log yet")
            except (Error, OSError) as error:
                level = self._outage.level(cause_of(error))
                logger.log(
                    level,
                    "can't tell how far the log is durable: %s",
                    message_of(error),
                )
            await asyncio.sleep(RECONNECT_S)

    async def _look(self, connection: Db) -> None:
        with deadline(connection, ANSWER_TIMEOUT_S):
            row = await (await connection.execute(NEWEST, prepare=True)).fetchone()
        assert row is not None
        epoch, server, position, command_id, self.has_standbys = row
        HEAD.set(position)
        if (epoch, server) != self._history() or position <= self.position(epoch):
            return
        if self.has_standbys:
            await wait_at_most_for_standbys(connection, ANSWER_TIMEOUT_S)
        self.advance(Mark(epoch, position, command_id))
