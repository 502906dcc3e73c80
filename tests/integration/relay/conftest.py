"""A log, a topic and the relay between them."""

import pytest

from projections.relay.kafka.settings import KafkaSettings
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic


@pytest.fixture
async def kafka(bootstrap: str) -> KafkaSettings:
    """A topic of this test alone."""
    return await new_topic(bootstrap)


@pytest.fixture
async def frail_kafka(frail_broker: Broker) -> KafkaSettings:
    """A topic on a broker that the test may harm."""
    return await new_topic(frail_broker.bootstrap)
