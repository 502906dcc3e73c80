"""What processes tell each other through PostgreSQL's LISTEN and NOTIFY.

A notification takes milliseconds, and is lost where a process has no connection.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from psycopg import Error, sql

from service.database import Pool, connect, message_of
from service.outages import Outage, cause_of
from service.tasks import background_task, end_tasks

# Each is listened to by every process.
DESTROYED_KEYS_CHANNEL: Final = "agent_runtime_destroyed_keys"
CANCELLED_CALLS_CHANNEL: Final = "agent_runtime_cancelled_calls"
CLIENTS_ANSWERS_CHANNEL: Final = "agent_runtime_clients_answers"
CHANNELS: Final = (
    DESTROYED_KEYS_CHANNEL,
    CANCELLED_CALLS_CHANNEL,
    CLIENTS_ANSWERS_CHANNEL,
)
# Notifications of one transaction arrive together, in their order.
NOTIFY: Final = "SELECT pg_notify(%s, payload) FROM unnest(%s::text[]) AS payload"
RECONNECT_S = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Subscriber:
    channel: str
    notified: Callable[[str], object]
    connected: Callable[[], None] | None


@dataclass(slots=True)
class Notifications:
    """The notifications that this process sends and gets."""

    pool: Pool
    _subscribers: list[_Subscriber] = field(default_factory=list)
    _outage: Outage = field(default_factory=Outage)

    async def notify(self, channel: str, payloads: Sequence[str]) -> None:
        """Tell every process, this one too, in this order; without a promise."""
        try:
            async with self.pool.connection() as db:
                await db.execute(NOTIFY, [channel, list(payloads)])
        except (Error, OSError) as error:
            logger.warning(
                "other processes could not be told by %s: %s",
                channel,
                type(error).__name__,
            )

    @contextmanager
    def subscribed(
        self,
        channel: str,
        notified: Callable[[str], object],
        *,
        connected: Callable[[], None] | None = None,
    ) -> Iterator[None]:
        """Pass a channel's payloads on during the block.

        ``connected`` is called when listening has begun, also anew: what was sent
        before is lost.
        """
        subscriber = _Subscriber(channel, notified, connected)
        self._subscribers.append(subscriber)
        try:
            yield
        finally:
            self._subscribers.remove(subscriber)

    async def listen(self, conninfo: str) -> None:
        """Pass on what other processes say, until cancelled."""
        while True:
            try:
                async with await connect(conninfo) as connection:
                    for channel in CHANNELS:
                        name = sql.Identifier(channel)
                        await connection.execute(sql.SQL("LISTEN {}").format(name))
                    self._outage.has_ended()
                    for each in self._subscribers:
                        if each.connected is not None:
                            each.connected()
                    async for notification in connection.notifies():
                        for each in self._subscribers:
                            if each.channel == notification.channel:
                                each.notified(notification.payload)
            except (Error, OSError) as error:
                logger.log(
                    self._outage.level(cause_of(error)),
                    "lost the connection for notifications of other processes; "
                    "reconnecting: %s",
                    message_of(error),
                )
            await asyncio.sleep(RECONNECT_S)


@asynccontextmanager
async def listening(
    notifications: Notifications, conninfo: str
) -> AsyncIterator[Notifications]:
    """Listen until the block ends."""
    task = background_task(lambda: notifications.listen(conninfo), name="notifications")
    try:
        yield notifications
    finally:
        await end_tasks(task)
