"""A broker for the tests that need one: conftest.py imports these fixtures."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from projections.relay.kafka.settings import KafkaSettings
from projections.relay.kafka.topic_admin import create_topics
from tests.support.kafka.broker import Broker
from tests.support.kafka.jars import (
    MissingError,
    broker_libs,
    go_without_broker,
)


@pytest.fixture(scope="session")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Start a broker that tests may harm; each test worker has one of its own."""
    try:
        libs = broker_libs()
    except MissingError as missing:
        go_without_broker(missing)
    broker = Broker(libs, tmp_path_factory.mktemp("kafka"))
    try:
        broker.format()
        broker.start()
        yield broker
    finally:
        broker.stop(timeout_s=10)


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    if given := os.environ.get("KAFKA_BOOTSTRAP"):
        return given
    broker: Broker = request.getfixturevalue("own_broker")
    return broker.bootstrap


@pytest.fixture
def frail_broker(own_broker: Broker) -> Iterator[Broker]:
    """Lend the broker to a test that kills or pauses it, and mend it afterwards."""
    yield own_broker
    own_broker.revive()


async def new_topic(bootstrap: str) -> KafkaSettings:
    settings = KafkaSettings(
        bootstrap=bootstrap,
        topic=f"events-{uuid4()}",
        replication=1,
        deadline_s=8.0,
    )
    await create_topics(settings)
    return settings
