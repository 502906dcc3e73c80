"""Creating topics, and recognising ones that aren't what they were."""

import time
from dataclasses import replace

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    LogEpochChangedError,
    TopicCutError,
    TopicMissingError,
    TopicRefusedError,
)
from projections.relay.kafka.errors import TopicSettingsError
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topic_admin import check_topics, create_topics
from tests.support.kafka.messages import messages, publishing
from tests.support.kafka.reading import positions

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("nothing_left")]


async def test_creating_topics_twice_creates_them_once(bootstrap: str) -> None:
    settings = KafkaSettings(
        bootstrap=bootstrap,
        topic=f"twice-{time.time_ns()}",
        replication=1,
    )
    assert set(await create_topics(settings)) == {
        settings.topic,
        settings.position_topic,
        settings.checkpoint_topic,
    }
    assert await create_topics(settings) == []
    assert (await check_topics(settings)).problems == []


@pytest.mark.thorough
async def test_a_topic_that_can_not_be_created_is_an_error(bootstrap: str) -> None:
    settings = KafkaSettings(bootstrap=bootstrap, topic="not a name", replication=1)
    with pytest.raises(TopicSettingsError, match="not a name"):
        await create_topics(settings)


@pytest.mark.thorough
async def test_a_check_tells_how_far_the_topic_is_published(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish(settings, log, last=20)
    contents = (await check_topics(settings)).contents
    assert contents is not None
    assert contents.record is not None
    assert contents.record.position == 20
    assert contents.record.relay_id == "relay-1"
    assert max(each.tail or 0 for each in contents.partitions) == 20


async def test_a_check_names_every_setting_that_differs(
    settings: KafkaSettings,
) -> None:
    other = replace(settings, retention_ms=1000, replication=3)
    assert sorted((await check_topics(other)).problems) == [
        f"topic {other.topic} has min.insync.replicas=1 instead of 2",
        f"topic {other.topic} has retention.ms=-1 instead of 1000",
        f"topic {other.checkpoint_topic} has min.insync.replicas=1 instead of 2",
        f"topic {other.position_topic} has min.insync.replicas=1 instead of 2",
    ]


@pytest.mark.thorough
async def test_missing_topics_are_named(settings: KafkaSettings) -> None:
    check = await check_topics(replace(settings, topic="nowhere"))
    assert check.problems == [
        "there is no topic nowhere",
        "there is no topic nowhere.relay-position",
        "there is no topic nowhere.audit-checkpoints",
    ]
    assert check.contents is None


@pytest.mark.thorough
async def test_a_resized_topic_is_refused(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    resize = [NewPartitions(settings.topic, settings.partitions + 1)]
    admin = AdminClient({"bootstrap.servers": settings.bootstrap})
    admin.create_partitions(resize)[settings.topic].result(60)
    while len(admin.list_topics(timeout=60).topics[settings.topic].partitions) == 6:
        pass
    await expect_refusal(TopicSettingsError, settings, log)
    assert (await check_topics(settings)).problems == [
        f"topic {settings.topic} has 7 partitions instead of 6"
    ]


@pytest.mark.parametrize(
    ("recreated", "remembered"),
    [(["topic"], 0), (["position_topic"], 0), (["topic", "position_topic"], 20)],
)
@pytest.mark.thorough
async def test_a_recreated_topic_is_refused(
    settings: KafkaSettings, log: LogIdentity, recreated: list[str], remembered: int
) -> None:
    await publish(settings, log, last=20)
    delete_topics(settings, [getattr(settings, name) for name in recreated])
    await expect_refusal(TopicMissingError, settings, log)
    await create_topics(settings)
    await expect_refusal(TopicCutError, settings, log, remembered=remembered)


@pytest.mark.thorough
async def test_a_topic_emptied_by_retention_is_accepted(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish(settings, log, last=20)
    everything = [
        TopicPartition(settings.topic, each, -1) for each in range(settings.partitions)
    ]
    admin = AdminClient({"bootstrap.servers": settings.bootstrap})
    for deleted in admin.delete_records(everything).values():
        deleted.result(60)
    await publish(settings, log, last=30)
    assert positions(settings.bootstrap, settings.topic) == list(range(21, 31))


@pytest.mark.thorough
async def test_a_topic_that_others_write_to_is_refused(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish(settings, log, last=5)
    producer = Producer({"bootstrap.servers": settings.bootstrap})
    producer.produce(settings.topic, key="somebody", value="something")
    assert producer.flush(60) == 0
    await expect_refusal(ForeignTopicError, settings, log)


async def publish(settings: KafkaSettings, log: LogIdentity, *, last: int) -> None:
    publisher = TransactionalPublisher(settings, log)
    published = await publisher.start()
    await publisher.publish(messages(published.position + 1, last), position=last)
    await publisher.close()


async def expect_refusal(
    refusal: type[TopicRefusedError],
    settings: KafkaSettings,
    log: LogIdentity,
    *,
    remembered: int = 0,
) -> None:
    with pytest.raises(refusal):
        async with publishing(settings, log, remembered=remembered):
            pass


def delete_topics(settings: KafkaSettings, topics: list[str]) -> None:
    admin = AdminClient({"bootstrap.servers": settings.bootstrap})
    for deleted in admin.delete_topics(topics).values():
        deleted.result(60)


async def test_the_topic_of_another_log_is_refused(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish(settings, log, last=5)
    await expect_refusal(ForeignTopicError, settings, replace(log, log_id="other"))


async def test_a_log_in_another_epoch_is_refused(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish(settings, log, last=5)
    restored = replace(log, log_epoch="epoch-2")
    await expect_refusal(LogEpochChangedError, settings, restored)
