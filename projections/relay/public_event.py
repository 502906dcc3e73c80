"""The published fields of each type of event, as its class declares them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eventsourcing.utils import get_topic

from projections.relay.type_names import TYPE_PREFIX
from service.events import details_of, fields_of, meaning_of, published_fields


@dataclass(frozen=True, slots=True)
class PublicEvent:
    """One type of event to the consumers of the topic."""

    event: type[Any]

    @property
    def meaning(self) -> str:
        return meaning_of(self.event)

    @property
    def details(self) -> str:
        return details_of(self.event)

    @property
    def fields(self) -> tuple[str, ...]:
        return published_fields(self.event)

    @property
    def field_types(self) -> dict[str, Any]:
        """Return the type of each published field, by name."""
        types = fields_of(self.event)
        return {name: types[name] for name in self.fields}

    @property
    def topic(self) -> str:
        return get_topic(self.event)

    @property
    def version(self) -> int:
        """Return the version of the event's class; the log's older ones are upcast."""
        version: int = getattr(self.event, "class_version", 1)
        return version

    @property
    def name(self) -> str:
        """Return, for example, ``connector.made_public.v1``."""
        return f"{self.topic}.v{self.version}"

    @property
    def type(self) -> str:
        return TYPE_PREFIX + self.name


def public_events(event_types: Mapping[str, type[Any]]) -> Mapping[str, PublicEvent]:
    """Return what is published of each type of event, by topic."""
    return {topic: PublicEvent(event) for topic, event in event_types.items()}
