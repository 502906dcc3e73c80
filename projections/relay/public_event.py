"""What the world is told of one type of event."""

from dataclasses import dataclass
from typing import Any, Final

from eventsourcing.utils import get_topic

from projections.relay.type_names import TYPE_PREFIX

# What the library keeps in every event beside the event's own fields.
_LIBRARY: Final = frozenset(
    {"originator_id", "originator_version", "originator_topic", "timestamp"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicEvent:
    """The fields of an event that are published, by name, and those that never are.

    Every field is in one of the two, so that a new one is a decision. ``later``
    names published fields that the first messages of this version didn't have yet.
    """

    event: type[Any]
    meaning: str
    fields: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

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

    def undecided(self) -> set[str]:
        """Return what the event and this entry don't agree on."""
        return set(own_fields(self.event)) ^ {*self.fields, *self.withheld}


def own_fields(event: type[Any]) -> list[str]:
    return [name for name in event.__dataclass_fields__ if name not in _LIBRARY]
