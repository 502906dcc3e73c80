"""Read the events of a log, whichever it is."""

from collections.abc import Sequence

from service.event_log import reader
from service.event_log.mapper import RecordedEvent
from tests.support.event_log.in_memory import AnyLog, InMemoryLog


async def read_events(
    log: AnyLog,
    *,
    after: int = 0,
    upto: int = 2**62,
    limit: int = 10_000,
    topics: Sequence[str] | None = None,
) -> list[RecordedEvent]:
    """Return events in the order of their positions, ``after < p <= upto``."""
    if isinstance(log, InMemoryLog):
        assert topics is None
        return await log.read(after=after, upto=upto, limit=limit)
    async with log._pool.connection() as db:  # noqa: SLF001 # what a log reads from
        return await reader.events(
            db, log.mapper, after=after, upto=upto, limit=limit, topics=topics
        )
