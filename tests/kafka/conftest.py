"""A broker for the tests marked `kafka`, and a topic of its own for each test."""

import asyncio
import gc
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest

from projections.relay.kafka.settings import KafkaSettings, LogIdentity
from projections.relay.kafka.topics import create_topics
from tests.kafka.broker import Broker
from tests.kafka.jars import MissingError, broker_libs, go_without_broker


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
        broker.stop()


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    if given := os.environ.get("KAFKA_BOOTSTRAP"):
        return given
    broker: Broker = request.getfixturevalue("own_broker")
    return broker.bootstrap


@pytest.fixture
async def settings(bootstrap: str) -> KafkaSettings:
    return await new_topic(bootstrap)


@pytest.fixture
def frail_broker(own_broker: Broker) -> Iterator[Broker]:
    """Lend the broker to a test that kills or pauses it, and mend it afterwards."""
    yield own_broker
    own_broker.revive()


@pytest.fixture
async def frail_settings(frail_broker: Broker) -> KafkaSettings:
    return await new_topic(frail_broker.bootstrap)


@pytest.fixture
def log() -> LogIdentity:
    return LogIdentity(log_id=str(uuid4()), log_epoch="epoch-1", relay_id="relay-1")


@pytest.fixture
async def nothing_left() -> AsyncIterator[None]:
    """Fail a test that leaves a task, or an exception that nobody has read."""
    complaints: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: complaints.append(context))
    yield
    gc.collect()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert not complaints


async def new_topic(bootstrap: str) -> KafkaSettings:
    settings = KafkaSettings(
        bootstrap=bootstrap,
        topic=f"events-{uuid4()}",
        replication=1,
        min_insync_replicas=1,
        deadline_s=3.0,
    )
    await create_topics(settings)
    return settings
