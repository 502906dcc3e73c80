"""One stored example of every event version that is read, and aggregates' attributes.

``make generated`` adds those that are missing; it never changes one that is there.
"""

import json
import types
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import typing_extensions
from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate, event_types
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper
from tests.support.project import ROOT

FOLDER = ROOT / "tests/golden/events"
# What a snapshot of each aggregate holds.
AGGREGATES_FOLDER = ROOT / "tests/golden/aggregates"
HOW = "run: make generated"
ID = UUID("6f1c2a34-5b7d-4e8f-9a0b-1c2d3e4f5a6b")
AT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
# The library's own fields; the first two are columns, not state.
OWN = ("originator_id", "originator_version", "timestamp", "originator_topic")
JSON_TYPES = (str, int, bool, types.NoneType)


class EventType(typing.NamedTuple):
    aggregate: type[LoggedAggregate]
    topic: str
    event: type[Any]

    @property
    def version(self) -> int:
        version: int = getattr(self.event, "class_version", 1)
        return version

    @property
    def oldest_version(self) -> int:
        """The first version from which upcasts lead to the current one."""
        oldest = self.version
        while hasattr(self.event, f"upcast_v{oldest - 1}_v{oldest}"):
            oldest -= 1
        return oldest

    @property
    def fields(self) -> dict[str, Any]:
        hints = typing.get_type_hints(self.event)
        return {
            name: hint
            for name, hint in hints.items()
            if name not in OWN and not _is_class_variable(hint) and name != "TOPIC"
        }

    @property
    def shapes(self) -> dict[str, Any]:
        """Spell the types of its fields out.

        :raises ValueError: one holds what comes back from JSON as something else
        """
        found = {}
        for name, hint in self.fields.items():
            try:
                found[name] = shape(hint)
            except TypeError as error:
                raise ValueError(f"{self.topic}: {name}: {error}") from None
        return found

    def path(self, version: int) -> Path:
        return FOLDER / f"{self.topic}.v{version}.json"

    def example(self) -> Any:
        own = {"originator_id": ID, "originator_version": 1, "timestamp": AT}
        if issubclass(self.event, LoggedAggregate.Created):
            own["originator_topic"] = get_topic(self.aggregate)
        values = {name: example_of(hint, name) for name, hint in self.fields.items()}
        return self.event(**own, **values)


def every_event_type() -> Iterator[EventType]:
    for aggregate in AGGREGATES:
        for topic, event in event_types(aggregate):
            yield EventType(aggregate, topic, event)


def shape(hint: Any) -> Any:  # noqa: PLR0911 # one for each kind of type
    """Spell an annotation out, down to JSON's own types.

    :raises TypeError: it holds what comes back from JSON as something else
    """
    if hint is Any:
        return "any"
    if hint in JSON_TYPES:
        return "null" if hint is types.NoneType else hint.__name__
    if typing_extensions.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        return {
            name + ("" if name in hint.__required_keys__ else "?"): shape(each)
            for name, each in sorted(hints.items())
        }
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return "|".join(sorted(map(repr, arguments)))
    if origin in (typing.Union, types.UnionType):
        return [shape(each) for each in arguments]
    if origin is list:
        return {"list of": shape(arguments[0])}
    if origin is dict and arguments[0] is str:
        return {"object of": shape(arguments[1])}
    raise TypeError(f"{hint} is not made of JSON's own types")


def example_of(hint: Any, name: str) -> Any:  # noqa: PLR0911 # as shape
    if hint is str:
        return _example_text(name)
    if hint in (int, bool):
        return hint(3)
    if hint is Any:
        return {"any": ["välue", 1, None]}
    if typing_extensions.is_typeddict(hint):
        hints = typing.get_type_hints(hint)
        return {key: example_of(each, key) for key, each in hints.items()}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list:
        return [example_of(arguments[0], name)]
    if origin is dict:
        return {"key": example_of(arguments[1], name)}
    # A Literal's first word, or a union's first type.
    return arguments[0] if origin is Literal else example_of(arguments[0], name)


def _example_text(name: str) -> str:
    if name.endswith(("_id", "_ids")):
        return str(ID)
    if name.endswith("_at") or name in ("since", "effective_from", "effective_until"):
        return AT.isoformat()
    return f"{name} “é”"


def _is_class_variable(hint: Any) -> bool:
    return typing.get_origin(hint) is typing.ClassVar


def golden(kind: EventType) -> dict[str, Any]:
    """Return what the file of an event's current version says."""
    # Before there is an example: only of these types there can be one.
    fields = kind.shapes
    stored = EventMapper(AGGREGATES).to_stored_event(kind.example())
    return {
        "topic": kind.topic,
        "class_version": kind.version,
        "fields": fields,
        "state": stored.state.decode(),
    }


def new_aggregate(aggregate: type[LoggedAggregate]) -> LoggedAggregate:
    """Return an aggregate after the example of its first event."""
    birth = next(
        kind.example()
        for kind in every_event_type()
        if kind.aggregate is aggregate
        and issubclass(kind.event, LoggedAggregate.Created)
    )
    born: LoggedAggregate = birth.mutate(None)
    return born


def attributes(aggregate: type[LoggedAggregate]) -> list[str]:
    """Return the names of what a snapshot of an aggregate holds of its own."""
    names = vars(new_aggregate(aggregate))
    return sorted(name for name in names if not name.startswith("_"))


def attributes_path(aggregate: type[LoggedAggregate]) -> Path:
    name = f"{get_topic(aggregate)}.v{aggregate.class_version}.json"
    return AGGREGATES_FOLDER / name


def missing_files() -> dict[Path, bytes]:
    """Return the golden files of event versions and aggregates that have none yet."""
    made: dict[Path, Any] = {
        kind.path(kind.version): golden(kind) for kind in every_event_type()
    }
    made |= {attributes_path(each): attributes(each) for each in AGGREGATES}
    return {
        path.relative_to(ROOT): _readable(content)
        for path, content in made.items()
        if not path.exists()
    }


def _readable(content: Any) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()
