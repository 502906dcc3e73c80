"""Messages to publish, told apart by their positions."""

from projections.relay.kafka.publisher import KafkaMessage

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
