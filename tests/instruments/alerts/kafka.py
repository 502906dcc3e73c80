"""The broker is killed or frozen, or another log publishes to the topic."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_runtime_client.proofs.checkpoint import Checkpoint, origin_of
from projections.audit.proofs.sign import sign_checkpoint
from projections.relay.kafka.checkpoint_topic import checkpoint_topic
from tests.instruments.alerts.installation import Installation


@asynccontextmanager
async def broker_killed(service: Installation) -> AsyncIterator[None]:
    assert service.broker is not None
    service.broker.kill()
    try:
        yield
    finally:
        await service.broker.start_aside()


@asynccontextmanager
async def broker_frozen(service: Installation) -> AsyncIterator[None]:
    assert service.broker is not None
    with service.broker.paused():
        yield


@asynccontextmanager
async def foreign_checkpoint(service: Installation) -> AsyncIterator[None]:
    """Mended by another topic, which is this log's alone."""
    assert service.kafka is not None
    note = sign_checkpoint(
        Checkpoint(origin_of(uuid4()), 1, bytes(32)), Ed25519PrivateKey.generate()
    )
    async with checkpoint_topic(service.kafka) as topic:
        await topic.publish(str(uuid4()), note)
    yield
    other = f"{service.kafka.topic}.v2"
    where = ("--kafka", service.kafka.bootstrap, "--kafka-replication", "1")
    await service.command("topic", "republish", other, *where)
    await service.stop()
    service.options = [*service.options, "--kafka-topic", other]
    await service.start()
