"""Topics to consume, and loops that consume them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Sequence

from agent_runtime_client.kafka import Event, EventConsumer, StoredPosition
from projections.relay.kafka.publisher import KafkaMessage, TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import Relay, run_relay
from service.resources import Resources
from tests.integration.relay.published import until_published
from tests.support.relay.writing import register, toggle


async def publish_some(resources: Resources, kafka: KafkaSettings) -> int:
    for connector_id in await register(resources.log, 5):
        await toggle(resources.log, connector_id, 4)
    async with run_relay(resources.log, resources.conninfo, kafka):
        await until_published(resources, kafka)
    return (await resources.log.head()).position


async def publish_without(
    resources: Resources, kafka: KafkaSettings, position: int
) -> None:
    """Publish what the log holds except for the event at a position."""

    class Leaky(TransactionalPublisher):
        async def publish(
            self, messages: Sequence[KafkaMessage], *, position: int
        ) -> int:
            kept = [each for each in messages if each.position != left_out]
            return await super().publish(kept, position=position)

    left_out = position
    relay = Relay(resources.log, resources.conninfo, kafka, make_publisher=Leaky)
    task = asyncio.create_task(relay.run())
    await until_published(resources, kafka)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def first(events: EventConsumer, count: int) -> list[Event]:
    found: list[Event] = []
    async with asyncio.timeout(60):
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    return found


def last_positions(events: Iterable[Event]) -> list[StoredPosition]:
    return list({each.stored.partition: each.stored for each in events}.values())


@contextlib.asynccontextmanager
async def iterating(events: EventConsumer) -> AsyncIterator[None]:
    async def iterate() -> None:
        async for _ in events:
            pass

    task = asyncio.create_task(iterate())
    try:
        yield
    finally:
        task.cancel()
        # What ended it before is why a test that waits for events waits in vain.
        with contextlib.suppress(asyncio.CancelledError):
            await task
