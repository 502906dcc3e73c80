"""A log that lacks an event is never published past the gap."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from projections.event_contract import PUBLIC_EVENTS
from projections.relay import relay_position
from projections.relay.batch_reader import BatchReader
from projections.relay.kafka.errors import LogIncompleteError
from projections.relay.messages import MessageBuilder
from projections.relay.relay import reason_of
from service.event_log import reader
from service.event_log.mapper import RecordedEvent
from service.resources import Resources
from tests.support.audit.tampering import as_owner
from tests.support.relay.writing import register

EVENTS = 6
# Each event to half of what a transaction may hold.
ENLARGE = """
    UPDATE events.stored_event
       SET state = state || convert_to(repeat(' ', 450000), 'UTF8')
"""


@pytest.fixture
async def batches(resources: Resources) -> AsyncIterator[BatchReader]:
    await register(resources.log, EVENTS)
    async with resources.pool.connection() as db:
        log_id, epoch, _ = await relay_position.log_head(db)
        yield BatchReader(
            db, resources.log.mapper, MessageBuilder(log_id, epoch, PUBLIC_EVENTS)
        )


async def delete(resources: Resources, position: int) -> None:
    await as_owner(
        resources,
        f"DELETE FROM events.stored_event WHERE notification_id = {position}",  # noqa: S608 # ours
    )


async def positions(batches: BatchReader, *, after: int) -> list[int]:
    batch = await batches.next(after=after, upto=EVENTS)
    return [each.position for each in batch.messages] if batch else []


async def test_a_whole_log_is_one_batch(batches: BatchReader) -> None:
    assert await positions(batches, after=0) == [1, 2, 3, 4, 5, 6]
    assert await positions(batches, after=4) == [5, 6]
    assert await positions(batches, after=6) == []


async def test_only_as_much_is_read_as_a_transaction_may_hold(
    batches: BatchReader, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = 12 + reader.UNSIZED_EVENTS
    await register(resources.log, total - EVENTS)
    await as_owner(resources, ENLARGE)
    events, read = reader.events, []

    async def counted(*given: Any, **named: Any) -> list[RecordedEvent]:
        found = await events(*given, **named)
        read.append(len(found))
        return found

    monkeypatch.setattr(reader, "events", counted)

    batch = await batches.next(after=0, upto=total)

    assert batch is not None
    assert [each.position for each in batch.messages] == [*range(1, total + 1)]
    assert read == [2, 2, 2, 2, 2, 2, reader.UNSIZED_EVENTS]


@pytest.mark.parametrize("missing", [1, 3, EVENTS])
async def test_a_gap_ends_what_is_published(
    batches: BatchReader, resources: Resources, missing: int
) -> None:
    await delete(resources, missing)

    if missing > 1:
        assert await positions(batches, after=0) == [*range(1, missing)]
    with pytest.raises(LogIncompleteError) as refused:
        await batches.next(after=missing - 1, upto=EVENTS)

    assert reason_of(refused.value) == (
        f"LogIncompleteError: the log lacks the event at position {missing}"
    )


async def test_a_gap_before_an_event_that_cant_be_read(
    batches: BatchReader, resources: Resources
) -> None:
    await delete(resources, 3)
    await as_owner(
        resources,
        "UPDATE events.stored_event SET state = 'no json' WHERE notification_id = 4",
    )

    assert await positions(batches, after=0) == [1, 2]
    with pytest.raises(LogIncompleteError, match="position 3"):
        await batches.next(after=2, upto=EVENTS)
