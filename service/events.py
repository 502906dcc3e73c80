"""The declarations of an event's class, beside its fields.

The class of an event says three more things. Its docstring: what happened, in one
sentence, then details. Its annotations: which fields are published; the others never
leave the service. Its method ``sentence``: what an audit reviewer reads. The relay's
messages, their schemas, the documents of events and the audit trail are made from that.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar, get_args, get_origin

from pydantic import Field

T = TypeVar("T")

_PUBLISHED: Final = "published"
Published = Annotated[T, _PUBLISHED]
"""A field that is published: of all others, nothing leaves the service."""

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
DecimalText = Annotated[
    str,
    Field(
        pattern=r"^[0-9]+(\.[0-9]+)?$",
        description="A decimal as text: exact.",
    ),
]

Named = Callable[[str], str]
"""Writes an id together with the name that it stands for, where that is known."""

LISTED_MAX: Final = 10
# What the library keeps in every event beside the event's own fields.
_LIBRARY: Final = frozenset(
    {"originator_id", "originator_version", "originator_topic", "timestamp"}
)
# Its classes say what holds for every event, and nothing of one.
_OF_ALL_EVENTS: Final = "service.aggregate"


def fields_of(event: type[Any]) -> dict[str, Any]:
    """Return the annotation of each of an event's own fields."""
    return {
        name: field.type
        for name, field in event.__dataclass_fields__.items()
        if name not in _LIBRARY
    }


def published_fields(event: type[Any]) -> tuple[str, ...]:
    return tuple(
        name
        for name, annotation in fields_of(event).items()
        if _is_published(annotation)
    )


def meaning_of(event: type[Any]) -> str:
    """Return what it means that an event of this type was recorded, in one sentence."""
    return _docstring(event).partition("\n")[0]


def details_of(event: type[Any]) -> str:
    """Return all that an event's docstring says, as one line of Markdown."""
    text = " ".join(_docstring(event).split())
    return text.replace("``", "`")


def listed(items: list[str], between: str = ", ") -> str:
    """Return items for a sentence: the first few, and how many more there are."""
    shown = between.join(items[:LISTED_MAX])
    more = len(items) - LISTED_MAX
    return f"{shown}{between}and {more} more" if more > 0 else shown


def differences(*fields: tuple[str, str, str]) -> str:
    """Return which of some (name, before, after) differ, for a sentence."""
    return "; ".join(
        f"{name} {after!r}, was {before!r}"
        for name, before, after in fields
        if before != after
    )


def _docstring(event: type[Any]) -> str:
    """Return the docstring as written: the library derives classes without one.

    :raises ValueError: there is none but that of all events
    """
    for kind in event.__mro__:
        if kind.__module__ == _OF_ALL_EVENTS:
            break
        written = kind.__dict__.get("__doc__") or ""
        if written and not written.startswith(f"{kind.__name__}("):
            return inspect.cleandoc(written)
    raise ValueError(f"{event} has no docstring: say what happened")


def _is_published(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and _PUBLISHED in get_args(annotation)
