"""The protocol, on any machine; what only a real broker shows is in the other files."""

from collections.abc import Iterator, Mapping
from functools import partial
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from projections.relay.kafka import topic_reader
from projections.relay.kafka.errors import PublishError, RecordTooLargeError
from projections.relay.kafka.publisher import TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from tests.integration.kafka.mock_cluster import MockCluster, mock_cluster
from tests.support.kafka.messages import messages

pytestmark = pytest.mark.usefixtures("nothing_left")

MESSAGE_TOO_LARGE = 10


class WithoutBarrier(TransactionalPublisher):
    """The mock cluster shows aborted records, so there must be none."""

    async def _write_barrier(self) -> Mapping[TopicPartition, int]:
        return {}


@pytest.fixture
def mock(monkeypatch: pytest.MonkeyPatch) -> Iterator[MockCluster]:
    # Its markers have no check sums.
    lenient = partial(AIOKafkaConsumer, check_crcs=False)
    monkeypatch.setattr(topic_reader, "AIOKafkaConsumer", lenient)
    with mock_cluster() as cluster:
        yield cluster


@pytest.fixture
def mock_settings(mock: MockCluster) -> KafkaSettings:
    settings = KafkaSettings(bootstrap=mock.bootstrap, topic=f"events-{uuid4()}")
    mock.create_topic(settings.topic, settings.partitions)
    mock.create_topic(settings.position_topic, 1)
    return settings


async def test_a_publisher_speaks_the_protocol_and_goes_on_where_it_ended(
    mock_settings: KafkaSettings, log: LogIdentity
) -> None:
    for first in (1, 11):
        publisher = WithoutBarrier(mock_settings, log)
        published = await publisher.start(remembered=first - 1)
        assert published.position == first - 1
        await publisher.publish(messages(first, first + 9), position=first + 9)
        await publisher.close()


async def test_a_refused_record_ends_the_publisher(
    mock: MockCluster, mock_settings: KafkaSettings, log: LogIdentity
) -> None:
    publisher = WithoutBarrier(mock_settings, log)
    await publisher.start()
    mock.fail_produce(MESSAGE_TOO_LARGE)
    with pytest.raises(RecordTooLargeError):
        await publisher.publish(messages(1, 10), position=10)
    with pytest.raises(PublishError):
        await publisher.publish(messages(1, 10), position=10)
    await publisher.close()
