"""Events to stored bytes and back, for the event types that this service knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from eventsourcing.domain import Snapshot
from eventsourcing.persistence import Mapper, StoredEvent
from eventsourcing.utils import get_topic, register_topic

from service.aggregate import LoggedAggregate, event_types
from service.event_log.transcoder import OrjsonTranscoder


class UnknownTopicError(Exception):
    """The log holds an event of a type that this version doesn't know."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event with its place in the log.

    ``metadata`` says who caused it: ``actor`` (user id or ``system``), and where
    known ``token``, ``request_id``, ``address`` and ``traceparent``.
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
        for aggregate in aggregates:
            register_topic(get_topic(aggregate), aggregate)
            for topic, event_type in event_types(aggregate):
                register_topic(topic, event_type)
                self.event_types[topic] = event_type
        self._readable = {*self.event_types, get_topic(Snapshot)}

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """Decode and upcast one event.

        :raises UnknownTopicError: for a topic outside the allow-list
        """
        if stored_event.topic not in self._readable:
            raise UnknownTopicError(f"unknown event topic {stored_event.topic!r}")
        return super().to_domain_event(stored_event)
