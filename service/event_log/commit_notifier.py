"""Wake whoever follows the log when something new is in it."""

import asyncio
import contextlib
import logging
from collections.abc import Iterator

from psycopg import AsyncConnection, Error

from service.tasks import end_tasks

CHANNEL = "agent_runtime_log"
RECONNECT_S = 1.0
# NOTIFY takes a lock of the whole server at commit: a hundred times a second is
# plenty for listeners that read whatever is there.
NOTIFY_INTERVAL_S = 0.01

logger = logging.getLogger(__name__)


class Doorbell:
    """Rings in this process at once, and in the others through LISTEN/NOTIFY.

    A ring is only a hint: it can be late or lost, so a waiter also looks by itself
    after a time.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._bells: set[asyncio.Event] = set()
        self._bells_of_others: set[asyncio.Event] = set()
        self._own_pid: int | None = None
        self._notify_wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen(), name="doorbell listen"),
            asyncio.create_task(self._notify(), name="doorbell notify"),
        ]

    async def stop(self) -> None:
        await end_tasks(*self._tasks)

    @contextlib.contextmanager
    def bell(self, *, of_others: bool = False) -> Iterator[asyncio.Event]:
        """Lend an event that is set at every ring; the waiter clears it.

        ``of_others``: only when another process rings.
        """
        event = asyncio.Event()
        bells = self._bells_of_others if of_others else self._bells
        bells.add(event)
        try:
            yield event
        finally:
            bells.discard(event)

    def ring(self) -> None:
        """Announce a commit of this process."""
        for event in self._bells:
            event.set()
        self._notify_wanted.set()

    def _others_rang(self) -> None:
        for event in self._bells | self._bells_of_others:
            event.set()

    async def _listen(self) -> None:
        while True:
            try:
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    # Whatever was committed before LISTEN rang for nobody.
                    self._others_rang()
                    async for note in connection.notifies():
                        if note.pid != self._own_pid:
                            self._others_rang()
            except (Error, OSError):
                logger.warning("doorbell connection lost")
            await asyncio.sleep(RECONNECT_S)

    async def _notify(self) -> None:
        while True:
            try:
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
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
                logger.warning("doorbell connection lost")
            await asyncio.sleep(RECONNECT_S)


async def wait_for(bell: asyncio.Event, timeout_s: float) -> None:
    """Wait for a ring, but not for longer than the given time; clear the bell."""
    # Not asyncio.wait_for: on Python 3.11 it loses a cancellation that arrives
    # together with the ring, and whoever waits would go on for ever.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await bell.wait()
    bell.clear()
