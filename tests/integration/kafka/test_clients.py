"""The producer's event loop: what ends it, and what ends with it."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.cluster import ClusterMetadata

from projections.relay.kafka.clients import TransactionalProducer
from projections.relay.kafka.errors import BrokerUnavailableError
from projections.relay.kafka.settings import KafkaSettings
from tests.integration.kafka.mock_cluster import mock_cluster

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
async def producer() -> AsyncIterator[TransactionalProducer]:
    with mock_cluster() as cluster:
        settings = KafkaSettings(bootstrap=cluster.bootstrap, topic="events")
        cluster.create_topic("events", 1)
        producer = TransactionalProducer(settings, "relay")
        try:
            await producer.start()
            yield producer
        finally:
            await producer.close()


async def lose_connections(producer: AIOKafkaProducer) -> None:
    await producer.client.close()


async def send(producer: AIOKafkaProducer) -> int:
    await producer.begin_transaction()
    sent = await producer.send_and_wait("events", b"value", b"key")
    await producer.commit_transaction()
    return int(sent.offset)


async def test_work_over_a_lost_connection_fails_even_if_it_seems_to_succeed(
    producer: TransactionalProducer,
) -> None:
    assert await producer.run("send", send) == 0
    with pytest.raises(BrokerUnavailableError, match="connection was lost"):
        await producer.run("lose connections", lose_connections)


async def test_work_on_a_lost_connection_doesnt_wait_for_the_deadline(
    producer: TransactionalProducer,
) -> None:
    async def lose_and_wait(client: AIOKafkaProducer) -> None:
        await send(client)
        await lose_connections(client)
        await asyncio.Event().wait()

    with pytest.raises(BrokerUnavailableError, match="connection was lost"):
        await producer.run("wait", lose_and_wait)


async def test_closing_ends_work_that_never_ends(
    producer: TransactionalProducer,
) -> None:
    async def wait(_: AIOKafkaProducer) -> None:
        await asyncio.Event().wait()

    endless = asyncio.create_task(producer.run("wait", wait))
    await producer.run("send", send)
    await producer.close()
    with pytest.raises(asyncio.CancelledError):
        await endless


async def test_a_cluster_that_names_no_broker_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a frozen broker does for a while when it goes on."""
    monkeypatch.setattr(ClusterMetadata, "brokers", lambda _: set())
    with mock_cluster() as cluster:
        settings = KafkaSettings(bootstrap=cluster.bootstrap, topic="events")
        producer = TransactionalProducer(settings, "relay")
        try:
            with pytest.raises(BrokerUnavailableError, match="names no broker"):
                await producer.start()
        finally:
            await producer.close()
