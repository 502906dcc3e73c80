"""However large events are, only some megabytes of them are in memory."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from eventsourcing.persistence import StoredEvent
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from projections.audit.replay import replay
from service.connectors.aggregate import Connector
from service.event_log import reader
from service.event_log.cache import AggregateCache
from service.event_log.cache_tail import CacheTail
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork
from tests.support.event_log.logs import open_ledger
from tests.support.projectors import PROJECTORS
from tests.support.relay.writing import WRITER, metadata

TEXT = "x" * 1_000_000
EVENTS = 20
# A chunk of 2 MiB ends with the event that reaches it.
OF_CHUNK = 3


async def test_what_other_processes_wrote(
    log: EventLog, pool: AsyncConnectionPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    between = reader.stored_between

    async def counted(*given: Any) -> list[StoredEvent]:
        found = await between(*given)
        sizes.append(len(found))
        return found

    async def recognize(_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(reader, "stored_between", counted)
    tail = CacheTail(
        pool,
        log.mapper,
        AggregateCache(1_000_000),
        history=lambda: log.history,
        recognize=recognize,
        on_cut=lambda: None,
    )
    await tail.start()
    for number in range(EVENTS):
        await open_ledger(log, f"{number}{TEXT}")
    sizes.clear()

    await tail.refresh(0)

    assert_in_chunks(sizes)


async def test_a_past_state(log: EventLog, owner: AsyncConnection[Any]) -> None:
    await register_large(log)
    reached = [0]

    await replay(
        owner,
        owner,
        log.mapper,
        PROJECTORS,
        position=EVENTS,
        schema="past",
        progress=lambda position, _: reached.append(position),
    )

    batches = pairwise(reached)
    assert_in_chunks([upto - after for after, upto in batches])


def assert_in_chunks(sizes: list[int]) -> None:
    assert sum(sizes) == EVENTS
    # The last ones are so few that nobody looks how large they are.
    unsized = [size for size in sizes if size > OF_CHUNK]
    assert len(unsized) <= 1
    assert max(sizes) <= reader.UNSIZED_EVENTS


async def register_large(log: EventLog) -> None:
    for number in range(EVENTS):

        async def make(work: UnitOfWork, number: int = number) -> None:
            work.save(
                Connector(
                    owner_id=str(WRITER),
                    name=f"connector {number}",
                    url="https://tools.example/mcp",
                    description=TEXT,
                )
            )

        await execute(log, make, metadata=metadata(), at=datetime.now(UTC))
