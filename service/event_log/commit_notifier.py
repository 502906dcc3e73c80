"""Notify followers of new commits: asyncio.Event, and LISTEN/NOTIFY."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

from psycopg import Error, OperationalError
from psycopg.pq import ExecStatus

from service.database import Db, connect, message_of
from service.outages import Outage, cause_of
from service.tasks import background_task, end_tasks

CHANNEL = "agent_runtime_log"
RECONNECT_S = 1.0
# NOTIFY takes a lock of the whole server at commit, and a listener reads everything
# that is new: more than a hundred a second would only cost.
NOTIFY_INTERVAL_S = 0.01

logger = logging.getLogger(__name__)


class CommitNotifier:
    """Tells subscribers of this process, and other processes through LISTEN/NOTIFY.

    A notification can be late or lost, so each subscriber polls as well.
    ``others_committed`` is called when another process has committed.
    """

    def __init__(self, conninfo: str, others_committed: Callable[[], None]) -> None:
        self._conninfo = conninfo
        self._others_committed = others_committed
        self._subscribers: set[asyncio.Event] = set()
        self._channel: _Channel | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._outage = Outage()

    async def start(self) -> None:
        self._tasks = [background_task(self._run, name="commit notifier")]

    async def stop(self) -> None:
        await end_tasks(*self._tasks)

    @contextlib.contextmanager
    def subscribe(self) -> Iterator[asyncio.Event]:
        """Lend an event that is set after each durable commit; its user clears it."""
        event = asyncio.Event()
        self._subscribers.add(event)
        try:
            yield event
        finally:
            self._subscribers.discard(event)

    def notify_others(self) -> None:
        """Announce a commit of this process to the other ones."""
        if self._channel is not None:
            self._channel.notify()

    def notify_subscribers(self) -> None:
        for event in self._subscribers:
            event.set()

    async def _run(self) -> None:
        while True:
            try:
                connection = await connect(self._conninfo)
                try:
                    await self._use(connection)
                finally:
                    await connection.close()
            except (Error, OSError) as error:
                level = self._outage.level(cause_of(error))
                logger.log(
                    level,
                    "connection for LISTEN and NOTIFY lost: %s",
                    message_of(error),
                )
            await asyncio.sleep(RECONNECT_S)

    async def _use(self, connection: Db) -> None:
        await connection.execute(f"LISTEN {CHANNEL}")
        self._outage.has_ended()
        # Commits before LISTEN were not notified.
        self._others_committed()
        self._channel = channel = _Channel(connection, self._others_committed)
        try:
            # Nor were our own, without a connection.
            channel.notify()
            await channel.lost
        finally:
            self._channel = None
            channel.close()


async def wait_for_commit(committed: asyncio.Event, timeout_s: float) -> None:
    """Wait for a subscriber's event, at most for the given time, and clear it."""
    # Not asyncio.wait_for: on Python 3.11 it loses a cancellation that arrives
    # together with the event, and the waiting task would never end.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await committed.wait()
    committed.clear()


class _Channel:
    """A connection that listens and notifies, read by a callback of the event loop.

    NOTIFY is sent without a task that waits for its answer, and a notification of this
    connection comes together with it: a commit costs one write and one read.
    ``lost`` fails when the connection does.
    """

    def __init__(self, connection: Db, notified: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self._pgconn = connection.pgconn
        self._notified = notified
        self._own_pid = connection.info.backend_pid
        self._is_wanted = self._is_under_way = False
        self._not_before = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._socket: int | None = self._pgconn.socket
        self._loop.add_reader(self._socket, self._read)

    def close(self) -> None:
        """Use the connection no more, which isn't closed by this."""
        # Another connection may get the same number once this one is closed.
        if self._socket is not None:
            self._loop.remove_reader(self._socket)
            self._socket = None
        if self._timer is not None:
            self._timer.cancel()

    def notify(self) -> None:
        """Send a notification, or soon: at most one in ``NOTIFY_INTERVAL_S``."""
        self._is_wanted = True
        if self._is_under_way or self._timer is not None or self._socket is None:
            return
        wait_s = self._not_before - self._loop.time()
        if wait_s > 0:
            self._timer = self._loop.call_later(wait_s, self._send)
        else:
            self._send()

    def _send(self) -> None:
        self._timer = None
        self._is_wanted = False
        self._not_before = self._loop.time() + NOTIFY_INTERVAL_S
        try:
            self._pgconn.send_query(f"NOTIFY {CHANNEL}".encode())
        except OperationalError as error:
            self._fail(error)
        else:
            self._is_under_way = True

    def _read(self) -> None:
        try:
            self._pgconn.consume_input()
            self._take_results()
        except OperationalError as error:
            self._fail(error)
            return
        while note := self._pgconn.notifies():
            if note.be_pid != self._own_pid:
                self._notified()
        if self._is_wanted:
            self.notify()

    def _take_results(self) -> None:
        while self._is_under_way and not self._pgconn.is_busy():
            result = self._pgconn.get_result()
            if result is None:
                self._is_under_way = False
            elif result.status != ExecStatus.COMMAND_OK:
                raise OperationalError(result.get_error_message())

    def _fail(self, error: OperationalError) -> None:
        self.close()
        if not self.lost.done():
            self.lost.set_exception(error)
