"""Batches of the log for a projector, each read while the one before is applied."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from projections.engine.projector import Positioned, Projector
from service.database import Db, connect
from service.event_log import reader
from service.event_log.mapper import EventMapper

BATCH_EVENTS_MAX = 5000
# Two batches are in memory, and each event decoded beside its bytes.
BATCH_BYTES_MAX = 16 * 1024 * 1024
SCAN_POSITIONS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Batch:
    """The events that a projector reads up to a position; often none."""

    events: Sequence[Positioned]
    upto: int


async def read_batch(
    db: Db,
    mapper: EventMapper,
    projector: Projector,
    *,
    after: int,
    target: int,
) -> Batch:
    upto = min(target, after + SCAN_POSITIONS_MAX)
    topics = projector.topics or None
    size = await reader.bytes_of(
        db, after=after, upto=upto, limit=BATCH_EVENTS_MAX, topics=topics
    )
    if size > BATCH_BYTES_MAX:
        upto = await reader.last_of_chunk(
            db,
            after=after,
            upto=upto,
            topics=topics,
            events_max=BATCH_EVENTS_MAX,
            bytes_max=BATCH_BYTES_MAX,
        )
    events = await projector.read(
        db, mapper, after=after, upto=upto, limit=BATCH_EVENTS_MAX
    )
    if len(events) == BATCH_EVENTS_MAX:
        upto = events[-1].position
    return Batch(events, upto)


async def batches_ahead(
    conninfo: str,
    mapper: EventMapper,
    projector: Projector,
    *,
    after: int,
    target: int,
) -> AsyncGenerator[Batch]:
    """Yield all batches of ``after < p <= target``, on a connection of its own.

    PostgreSQL writes one batch while Python decodes the next, and at most two are in
    memory.
    """
    async with await connect(conninfo) as db:

        def read(after: int) -> asyncio.Task[Batch]:
            return asyncio.create_task(
                read_batch(db, mapper, projector, after=after, target=target)
            )

        coming = read(after)
        try:
            while after < target:
                batch = await coming
                after = batch.upto
                if after < target:
                    coming = read(after)
                yield batch
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
