"""Builds the Kafka message of an event.

CloudEvents 1.0 in Kafka's binary mode: the attributes are headers, the value is the
data alone.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final
from uuid import UUID, uuid5

import orjson

from projections.relay.kafka.publisher import KafkaMessage
from projections.relay.kafka.topic_state import ID_HEADER
from projections.relay.public_event import PublicEvent
from service.event_log.mapper import RecordedEvent
from service.users.aggregate import Token

# Fits into a record of the topic together with key and headers.
DATA_BYTES_MAX: Final = 900_000
# Where the audit API serves an event that is too large for the topic.
DATAREF: Final = "/api/audit/events/{position}"
# About the size of key and headers; it varies little.
ENVELOPE_BYTES: Final = 700
SUBJECTS_REMEMBERED: Final = 65_536
CONTENT_TYPE: Final = ("content-type", b"application/json")
TRACEPARENT_HEADER: Final = "ce_traceparent"
SPECVERSION: Final = ("ce_specversion", b"1.0")
# A token's id is a keyed hash of the token. The UUID derived from it can't be reversed
# and is the same for all events of one token.
TOKENS: Final = UUID("7f0f4a50-6a3c-4b39-9d6e-5d3c6c1f8a02")

Header = tuple[str, bytes]


class NotPublicError(Exception):
    """The event has no entry in the allow-list, so its public fields are unknown."""

    def __init__(self, recorded: RecordedEvent) -> None:
        super().__init__(
            f"the event {recorded.topic!r} at position {recorded.position} has no"
            " entry in the allow-list of the relay"
        )


class MessageBuilder:
    """Builds the messages of one log in one epoch."""

    def __init__(
        self,
        log_id: UUID,
        log_epoch: UUID,
        public: Mapping[str, PublicEvent],
    ) -> None:
        source = ("ce_source", source_of(log_id).encode())
        epoch = ("ce_logepoch", str(log_epoch).encode())
        # By event topic: the headers that all messages share, and the fields.
        self._types: dict[str, tuple[tuple[Header, ...], tuple[str, ...]]] = {
            topic: (
                (SPECVERSION, ("ce_type", entry.type.encode()), source, epoch),
                entry.fields,
            )
            for topic, entry in public.items()
        }

    def build(self, recorded: RecordedEvent) -> KafkaMessage:
        """Return the message; the publisher adds its position as ``ce_sequence``.

        :raises NotPublicError: the event's type is not in the allow-list
        """
        entry = self._types.get(recorded.topic)
        if entry is None:
            raise NotPublicError(recorded)
        shared, fields = entry
        version = str(recorded.version)
        _, key = subject_of(recorded.topic, recorded.aggregate_id)
        event_id = event_id_of(
            recorded.topic, recorded.aggregate_id, version, recorded.command_id
        )
        value: bytes | None = _data(recorded.event, fields)
        headers: list[Header] = [
            *shared,
            (ID_HEADER, event_id.encode()),
            ("ce_time", rfc3339(recorded.recorded_at)),
            ("ce_subject", key),
            ("ce_partitionkey", key),
            ("ce_aggregateversion", version.encode()),
            ("ce_actor", recorded.metadata.get("actor", "system").encode()),
        ]
        if trace := recorded.metadata.get("traceparent"):
            headers.append((TRACEPARENT_HEADER, trace.encode()))
        if value is not None and len(value) > DATA_BYTES_MAX:
            value = None
            dataref = DATAREF.format(position=recorded.position)
            headers.append(("ce_dataref", dataref.encode()))
        else:
            headers.append(CONTENT_TYPE)
        return KafkaMessage(
            key=key, value=value, headers=headers, position=recorded.position
        )


def event_id_of(
    topic: str, aggregate_id: UUID, version: int | str, command_id: UUID
) -> str:
    """Return the id of an event's message.

    After a restore another event may have the same aggregate and version, but not the
    same command.
    """
    subject, _ = subject_of(topic, aggregate_id)
    return str(uuid5(subject, f"{version} {command_id}"))


def source_of(log_id: UUID) -> str:
    return f"/agent-runtime/{log_id}"


@lru_cache(maxsize=SUBJECTS_REMEMBERED)
def subject_of(topic: str, aggregate_id: UUID) -> tuple[UUID, bytes]:
    """Return the subject of an aggregate's messages: its id, except for tokens."""
    is_token = topic.startswith(f"{Token.TOPIC}.")
    subject = uuid5(TOKENS, aggregate_id.hex) if is_token else aggregate_id
    return subject, str(subject).encode()


def message_bytes(message: KafkaMessage) -> int:
    """Return the approximate size of a message's record."""
    return ENVELOPE_BYTES + len(message.value or b"")


def rfc3339(time: datetime) -> bytes:
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z").encode()


def _data(event: Any, fields: tuple[str, ...]) -> bytes:
    state = event.__dict__
    return orjson.dumps({name: state[name] for name in fields})
