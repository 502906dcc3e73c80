"""Encode and decode events, of the event types that this service knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.domain import DomainEventProtocol, Snapshot
from eventsourcing.persistence import Mapper, StoredEvent
from eventsourcing.utils import get_topic, register_topic

from service.aggregate import LoggedAggregate, event_types
from service.event_log.transcoder import OrjsonTranscoder


class UnknownTopicError(Exception):
    """An event has a type, or a version of it, that this code doesn't know."""


class UnreadableEventError(Exception):
    """An event of the log can't be decoded."""

    def __init__(self, position: int, topic: str) -> None:
        super().__init__(f"can't read the event {topic!r} at position {position}")
        self.position = position
        self.topic = topic


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event with its position in the log.

    ``metadata`` names its origin: ``actor`` (user id or ``system``), and where
    known ``token``, ``request_id`` and ``traceparent``; ``address`` in events of
    earlier versions of the service.
    """

    position: int
    recorded_at: datetime
    topic: str
    event: Any
    metadata: Mapping[str, str]
    command_id: UUID

    @property
    def aggregate_id(self) -> UUID:
        aggregate_id: UUID = self.event.originator_id
        return aggregate_id

    @property
    def version(self) -> int:
        version: int = self.event.originator_version
        return version


class EventMapper(Mapper[UUID]):
    """The library's mapper behind an allow-list of topics.

    The library would import a module named by a topic it doesn't know; a row of
    the database must never decide what is imported.
    """

    def __init__(self, aggregates: Iterable[type[LoggedAggregate]]) -> None:
        super().__init__(OrjsonTranscoder())
        self.event_types: dict[str, type[Any]] = {}
        self._class_versions: dict[str, int] = {}
        self._known: dict[type[Any], tuple[str, int]] = {}
        for aggregate in aggregates:
            self._class_versions[get_topic(aggregate)] = aggregate.class_version
            register_topic(get_topic(aggregate), aggregate)
            for topic, event_type in event_types(aggregate):
                register_topic(topic, event_type)
                self.event_types[topic] = event_type
        self._readable: dict[str, type[Any]] = {
            **self.event_types,
            get_topic(Snapshot): Snapshot,
        }

    def class_version(self, aggregate_topic: str) -> int | None:
        """Return the version of an aggregate's state; None for an unknown one."""
        return self._class_versions.get(aggregate_topic)

    def to_stored_event(self, domain_event: DomainEventProtocol[UUID]) -> StoredEvent:
        """Encode one event.

        :raises UnknownTopicError: for a type that could not be read back
        """
        topic, class_version = self._written_as(type(domain_event))
        state = dict(vars(domain_event))
        originator_id = state.pop("originator_id")
        originator_version = state.pop("originator_version")
        if class_version > 1:
            state["class_version"] = class_version
        return StoredEvent(
            originator_id=originator_id,
            originator_version=originator_version,
            topic=topic,
            state=self.transcoder.encode(state),
        )

    def _written_as(self, event_type: type[Any]) -> tuple[str, int]:
        known = self._known.get(event_type)
        if known is None:
            topic = get_topic(event_type)
            if topic not in self._readable:
                raise UnknownTopicError(f"{topic!r} belongs to no known aggregate")
            known = topic, getattr(event_type, "class_version", 1)
            self._known[event_type] = known
        return known

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """Decode and upcast one event.

        :raises UnknownTopicError: for a topic outside the allow-list, or a version
            that is newer than this code, or older than it can upcast
        """
        event_type = self._readable.get(stored_event.topic)
        if event_type is None:
            raise UnknownTopicError(f"unknown event topic {stored_event.topic!r}")
        state: dict[str, Any] = self.transcoder.decode(stored_event.state)
        version = state.pop("class_version", 1)
        known_version: int = getattr(event_type, "class_version", 1)
        if version > known_version:
            # The library would decode it as the version that it knows.
            raise UnknownTopicError(
                f"{stored_event.topic!r} has version {version}, not {known_version}"
            )
        state["originator_id"] = stored_event.originator_id
        state["originator_version"] = stored_event.originator_version
        for older in range(version, known_version):
            upcast = getattr(event_type, f"upcast_v{older}_v{older + 1}", None)
            if upcast is None:
                raise UnknownTopicError(
                    f"{stored_event.topic!r} has version {version}, which this version"
                    f" of the service can't upcast to {known_version}"
                )
            upcast(state)
        event = object.__new__(event_type)
        event.__dict__.update(state)
        return event
