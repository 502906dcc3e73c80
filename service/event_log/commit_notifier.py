"""Notify followers of new commits: asyncio.Event, and LISTEN/NOTIFY."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

from psycopg import Error

from service.database import connect
from service.tasks import end_tasks

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
        self._own_pid: int | None = None
        self._notify_wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen(), name="commit notifier listen"),
            asyncio.create_task(self._notify(), name="commit notifier notify"),
        ]

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
        self._notify_wanted.set()

    def notify_subscribers(self) -> None:
        for event in self._subscribers:
            event.set()

    async def _listen(self) -> None:
        while True:
            try:
                async with await connect(self._conninfo) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    # Commits before LISTEN were not notified.
                    self._others_committed()
                    async for note in connection.notifies():
                        if note.pid != self._own_pid:
                            self._others_committed()
            except (Error, OSError):
                logger.warning("connection for LISTEN lost")
            await asyncio.sleep(RECONNECT_S)

    async def _notify(self) -> None:
        while True:
            try:
                async with await connect(self._conninfo) as connection:
                    self._own_pid = connection.info.backend_pid
                    while True:
                        await self._notify_wanted.wait()
                        self._notify_wanted.clear()
                        try:
                            await connection.execute(f"NOTIFY {CHANNEL}")
                        except BaseException:
                            self._notify_wanted.set()
                            raise
                        await asyncio.sleep(NOTIFY_INTERVAL_S)
            except (Error, OSError):
                logger.warning("connection for NOTIFY lost")
            await asyncio.sleep(RECONNECT_S)


async def wait_for_commit(committed: asyncio.Event, timeout_s: float) -> None:
    """Wait for a subscriber's event, at most for the given time, and clear it."""
    # Not asyncio.wait_for: on Python 3.11 it loses a cancellation that arrives
    # together with the event, and the waiting task would never end.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await committed.wait()
    committed.clear()
