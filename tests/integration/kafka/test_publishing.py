"""What a stock consumer sees of published transactions."""

from collections import defaultdict
from dataclasses import replace
from itertools import chain

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from projections.relay.kafka.errors import PublishError, RecordTooLargeError
from projections.relay.kafka.publisher import TransactionalPublisher, partition_of
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from tests.support.kafka.messages import message, messages, publishing
from tests.support.kafka.reading import positions, published_position, read_all

pytestmark = [pytest.mark.kafka, pytest.mark.usefixtures("nothing_left")]


async def test_a_stock_consumer_reads_every_message_once_and_in_order(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = TransactionalPublisher(settings, log)
    assert (await publisher.start()).position == 0
    assert await publisher.publish(messages(1, 400), position=400) == 400
    assert await publisher.publish(messages(401, 500), position=500) == 100
    await publisher.close()

    by_key = defaultdict(list)
    for record in read_all(settings.bootstrap, settings.topic):
        by_key[record.key].append(record.position)
    assert sorted(chain(*by_key.values())) == list(range(1, 501))
    assert all(each == sorted(each) for each in by_key.values())


async def test_key_value_headers_and_padded_position_arrive(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    async with publishing(settings, log) as publisher:
        await publisher.publish([message(1, b"\x00\xff"), message(2, None)], position=2)

    first, second = sorted(
        read_all(settings.bootstrap, settings.topic), key=lambda each: each.position
    )
    assert (first.key, first.value) == (b"aggregate-1", b"\x00\xff")
    assert first.headers == {"ce_id": b"1", "ce_sequence": b"00000000000000000001"}
    assert second.value is None


async def test_a_fresh_publisher_goes_on_where_the_last_one_ended(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    for first in (1, 11, 21):
        publisher = TransactionalPublisher(settings, log)
        assert (await publisher.start(remembered=first - 1)).position == first - 1
        await publisher.publish(messages(first, first + 9), position=first + 9)
        await publisher.close()
    assert positions(settings.bootstrap, settings.topic) == list(range(1, 31))


async def test_the_position_moves_over_events_that_are_not_published(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    async with publishing(settings, log) as publisher:
        await publisher.publish([], position=50)
        await publisher.publish([message(60)], position=75)

    assert positions(settings.bootstrap, settings.topic) == [60]
    assert published_position(settings.bootstrap, settings.position_topic) == 75


@pytest.mark.thorough
async def test_compressed_messages_arrive(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    async with publishing(replace(settings, compression="gzip"), log) as publisher:
        await publisher.publish(messages(1, 100), position=100)
    assert positions(settings.bootstrap, settings.topic) == list(range(1, 101))


@pytest.mark.thorough
async def test_keys_go_where_every_murmur2_producer_sends_them(
    settings: KafkaSettings,
) -> None:
    producer = Producer(
        {"bootstrap.servers": settings.bootstrap, "partitioner": "murmur2"}
    )
    for number in range(100):
        producer.produce(settings.topic, key=f"key-{number}")
    assert producer.flush(60) == 0
    for record in read_all(settings.bootstrap, settings.topic):
        assert partition_of(record.key, settings.partitions) == record.partition


async def test_messages_out_of_order_are_refused_before_anything_is_sent(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    async with publishing(settings, log) as publisher:
        await publisher.publish(messages(1, 5), position=5)
        for wrong, position in [
            (messages(5, 6), 6),
            ([message(7), message(6)], 7),
            (messages(6, 8), 7),
            ([], 5),
        ]:
            with pytest.raises(ValueError, match="in order"):
                await publisher.publish(wrong, position=position)
        assert await publisher.publish(messages(6, 7), position=7) == 2


@pytest.mark.thorough
async def test_a_record_over_the_clients_limit_takes_its_transaction_with_it(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    await publish_around_a_large_record(settings, log, size=1_100_000)


@pytest.mark.thorough
async def test_a_record_over_the_brokers_limit_takes_its_transaction_with_it(
    settings: KafkaSettings, log: LogIdentity
) -> None:
    """Left alone, aiokafka would commit without it and without what follows it."""
    limit_record_size(settings, 20_000)
    await publish_around_a_large_record(settings, log, size=50_000)


async def publish_around_a_large_record(
    settings: KafkaSettings, log: LogIdentity, *, size: int
) -> None:
    async with publishing(settings, log) as publisher:
        await publisher.publish(messages(1, 3), position=3)
        mixed = [*messages(4, 6), message(7, b"x" * size), *messages(8, 20)]
        with pytest.raises(RecordTooLargeError):
            await publisher.publish(mixed, position=20)
        with pytest.raises(PublishError):
            await publisher.publish(messages(4, 5), position=5)

    publisher = TransactionalPublisher(settings, log)
    assert (await publisher.start()).position == 3
    assert positions(settings.bootstrap, settings.topic) == [1, 2, 3]
    await publisher.publish(messages(4, 6), position=7)
    await publisher.close()
    assert positions(settings.bootstrap, settings.topic) == list(range(1, 7))


def limit_record_size(settings: KafkaSettings, size: int) -> None:
    entry = ConfigEntry(
        "max.message.bytes",
        str(size),
        incremental_operation=AlterConfigOpType.SET,
    )
    resource = ConfigResource(
        ResourceType.TOPIC, settings.topic, incremental_configs=[entry]
    )
    admin = AdminClient({"bootstrap.servers": settings.bootstrap})
    for done in admin.incremental_alter_configs([resource]).values():
        done.result(60)
