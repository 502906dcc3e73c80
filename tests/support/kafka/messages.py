"""Messages to publish, told apart by their positions, and who publishes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from projections.relay.kafka.publisher import KafkaMessage, TransactionalPublisher
from projections.relay.kafka.settings import KafkaSettings, LogIdentity

AGGREGATES = 7


def message(position: int, value: bytes | None = b"{}") -> KafkaMessage:
    return KafkaMessage(
        key=f"aggregate-{position % AGGREGATES}".encode(),
        value=value,
        headers=[("ce_id", str(position).encode())],
        position=position,
    )


def messages(first: int, last: int) -> list[KafkaMessage]:
    return [message(position) for position in range(first, last + 1)]


@asynccontextmanager
async def publishing(
    settings: KafkaSettings, log: LogIdentity, *, remembered: int = 0
) -> AsyncIterator[TransactionalPublisher]:
    """Start a publisher, and close it when the block ends."""
    publisher = TransactionalPublisher(settings, log)
    try:
        await publisher.start(remembered=remembered)
        yield publisher
    finally:
        await publisher.close()
