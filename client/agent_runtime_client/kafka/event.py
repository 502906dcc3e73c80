"""One event of the topic, decoded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from aiokafka import ConsumerRecord

from agent_runtime_client.kafka.errors import ForeignTopicError
from agent_runtime_client.kafka.event_types import EVENT_TYPES
from agent_runtime_client.kafka.topic_end import position_of

# What the types of all messages begin with.
TYPE_PREFIX: Final = "internal.agent-runtime."
FIELDS: Final = {
    name: [field.name for field in fields(kind)] for name, kind in EVENT_TYPES.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPosition:
    """The last position of a partition that was processed, with all before it.

    The position says what was seen, on any topic that is partitioned alike; the id of
    its event tells another event at this position, after the log was restored.
    The offset of the next record saves the search for it; None searches.
    """

    partition: int
    position: int
    offset: int | None = None
    event_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event, with its position.

    ``data`` is an instance of one of ``event_types``, so that it can be matched; a
    mapping where the type or version is newer than this code; None where the data
    was too large and ``dataref`` says where it is.
    """

    id: str
    source: str
    # As in the names of schemas, such as "connector.made_public.v1".
    name: str
    aggregate_id: str
    aggregate_version: int
    position: int
    epoch: str
    recorded_at: datetime
    actor: str
    traceparent: str | None
    data: Any
    dataref: str | None
    # To store when the event has been processed.
    stored: StoredPosition


def event_of(record: ConsumerRecord[bytes, bytes]) -> Event:
    """Decode a record.

    :raises ForeignTopicError: it isn't one of a relay
    """
    position = position_of(record)
    headers = {name: value.decode() for name, value in record.headers}
    try:
        name = headers["ce_type"].removeprefix(TYPE_PREFIX)
        return Event(
            id=headers["ce_id"],
            source=headers["ce_source"],
            name=name,
            aggregate_id=headers["ce_subject"],
            aggregate_version=int(headers["ce_aggregateversion"]),
            position=position,
            epoch=headers["ce_logepoch"],
            recorded_at=datetime.fromisoformat(headers["ce_time"]),
            actor=headers["ce_actor"],
            traceparent=headers.get("ce_traceparent"),
            data=_data(name, record.value),
            dataref=headers.get("ce_dataref"),
            stored=StoredPosition(
                partition=record.partition,
                position=position,
                offset=record.offset + 1,
                event_id=headers["ce_id"],
            ),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise ForeignTopicError(
            f"{record.topic} {record.partition} holds a record that no relay wrote,"
            f" at offset {record.offset}"
        ) from error


def _data(name: str, value: bytes | None) -> Any:
    if value is None:
        return None
    data: Mapping[str, Any] = json.loads(value)
    kind = EVENT_TYPES.get(name)
    if kind is None:
        return data
    # Fields may have been added that this code doesn't know yet.
    return kind(**{field: data[field] for field in FIELDS[name] if field in data})
