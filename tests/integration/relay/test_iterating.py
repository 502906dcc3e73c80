"""Iterating over a consumer again, after a break or an error in the loop."""

import pytest

from agent_runtime_client.kafka import Event, EventConsumer, consume
from agent_runtime_client.kafka.errors import MissingEventError
from projections.relay.kafka.settings import KafkaSettings
from service.resources import Resources
from tests.integration.relay.consuming import first, publish_some, publish_without
from tests.support.relay.writing import register, toggle

pytestmark = pytest.mark.kafka


async def test_an_event_whose_processing_failed_comes_again(
    resources: Resources, kafka: KafkaSettings
) -> None:
    head = await publish_some(resources, kafka)
    found: list[Event] = []

    async def process(events: EventConsumer) -> None:
        async for event in events:
            found.append(event)
            if len(found) == 3:
                raise ZeroDivisionError

    async with consume(kafka.bootstrap, kafka.topic) as events:
        with pytest.raises(ZeroDivisionError):
            await process(events)

        again = await first(events, head - 2)

    *processed, failed = found
    assert again[0] == failed
    positions = [each.position for each in (*processed, *again)]
    assert sorted(positions) == list(range(1, head + 1))


@pytest.mark.thorough
async def test_an_event_that_a_break_left_is_not_processed_yet(
    resources: Resources, kafka: KafkaSettings
) -> None:
    head = await publish_some(resources, kafka)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        found = await first(events, head)
        with pytest.raises(TimeoutError):
            await events.wait_for(head, timeout_s=0.1)

        assert await first(events, 1) == found[-1:]


async def test_a_gap_in_an_aggregates_versions_is_noticed_each_time(
    resources: Resources, kafka: KafkaSettings
) -> None:
    await register(resources.log, 1)
    [connector_id] = await register(resources.log, 1)
    await toggle(resources.log, connector_id, 8)
    await publish_without(resources, kafka, 7)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        for _ in range(2):
            with pytest.raises(MissingEventError, match="position 8 follows version 5"):
                await first(events, 10)
