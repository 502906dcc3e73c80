"""Topics that a consumer refuses: cut, restored, or written by others."""

from dataclasses import replace
from uuid import UUID

import pytest

from agent_runtime_client.kafka import StoredPosition, consume
from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    LogEpochChangedError,
    TopicCutError,
)
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from service.resources import Resources
from tests.integration.relay.consuming import (
    first,
    publish_some,
    publish_without,
)
from tests.support.kafka.messages import messages, publishing
from tests.support.relay.writing import register, toggle

pytestmark = pytest.mark.kafka


@pytest.mark.thorough
async def test_a_position_of_another_topic_is_refused(
    resources: Resources, kafka: KafkaSettings
) -> None:
    head = await publish_some(resources, kafka)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        *_, last = await first(events, head)
    for wrong in (
        replace(last.stored, position=last.position + 7),
        replace(last.stored, offset=10_000),
    ):
        with pytest.raises(TopicCutError, match="cut or recreated"):
            async with consume(kafka.bootstrap, kafka.topic, [wrong]):
                pass


@pytest.mark.parametrize("with_offsets", [True, False])
async def test_another_event_at_the_last_position_is_refused(
    resources: Resources, kafka: KafkaSettings, *, with_offsets: bool
) -> None:
    head = await publish_some(resources, kafka)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        *_, last = await first(events, head)
    # As the topic of a log that was restored and went on.
    seen = replace(last.stored, event_id=str(UUID(int=1)))
    if not with_offsets:
        seen = replace(seen, offset=None)
    with pytest.raises(LogEpochChangedError, match="another event at position"):
        async with consume(kafka.bootstrap, kafka.topic, [seen]) as events:
            await first(events, head)


@pytest.mark.parametrize("position", [1, 7])
@pytest.mark.thorough
async def test_a_last_event_that_is_gone_is_noticed(
    resources: Resources, kafka: KafkaSettings, position: int
) -> None:
    [connector_id] = await register(resources.log, 1)
    await toggle(resources.log, connector_id, 8)
    await publish_without(resources, kafka, position)
    # As where the log was restored, and now has this position on another partition.
    seen = [
        StoredPosition(partition=each, position=position, event_id=str(UUID(int=1)))
        for each in range(kafka.partitions)
    ]
    async with consume(kafka.bootstrap, kafka.topic, seen) as events:
        with pytest.raises(LogEpochChangedError, match="no longer has the event"):
            await first(events, 1)


async def test_what_a_relay_did_not_write_is_refused(
    kafka: KafkaSettings, resources: Resources
) -> None:
    log = LogIdentity(log_id="log", log_epoch="epoch", relay_id="relay")
    async with publishing(kafka, log) as publisher:
        await publisher.publish(messages(1, 1), position=1)
    async with consume(kafka.bootstrap, kafka.topic) as events:
        with pytest.raises(ForeignTopicError, match="no relay wrote"):
            await first(events, 1)
