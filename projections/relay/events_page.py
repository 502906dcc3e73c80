"""The lists of ``docs/events.md``: every type of event, as its class declares it."""

import re
from collections.abc import Sequence
from typing import Any, Final

from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate, event_types
from service.events import details_of, fields_of, meaning_of, published_fields

BEGIN: Final = "<!-- made by make contract: begin -->"
END: Final = "<!-- made by make contract: end -->"
# So many fields are listed again where an event has the same as another.
FIELDS_REPEATED_MAX: Final = 8
# The last sentence of each docstring.
_EMITTED: Final = re.compile(r"Emitted .+$")
_MADE: Final = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)


def with_lists(page: str, aggregates: Sequence[type[LoggedAggregate]]) -> str:
    """Return the page with its lists made anew.

    :raises ValueError: the page has no place for them
    """
    lists = "\n\n".join(map(_section, aggregates))
    made, count = _MADE.subn(lambda _: f"{BEGIN}\n\n{lists}\n\n{END}", page)
    if count != 1:
        raise ValueError(f"the page needs one {BEGIN} and one {END}")
    return made


def _section(aggregate: type[LoggedAggregate]) -> str:
    lines = [f"## `{get_topic(aggregate)}`", "", details_of(aggregate), ""]
    shown: dict[tuple[str, ...], str] = {}
    for topic, event in event_types(aggregate):
        fields = tuple(fields_of(event))
        same = shown.setdefault(fields, topic)
        known = f"Fields: those of `{same}`." if same != topic else ""
        if len(fields) < FIELDS_REPEATED_MAX or not known:
            known = _fields(event)
        version = getattr(event, "class_version", 1)
        named = f"`{topic}`" + (f" (version {version})" if version > 1 else "")
        emitted = _EMITTED.findall(details_of(event))
        lines.append(
            " ".join([f"- {named}:", meaning_of(event), *emitted, known]).rstrip()
        )
    return "\n".join(lines)


def _fields(event: type[Any]) -> str:
    published = published_fields(event)
    groups = {
        "Fields": published,
        "Private": [each for each in fields_of(event) if each not in published],
    }
    return " ".join(
        f"{title}: {', '.join(f'`{name}`' for name in names)}."
        for title, names in groups.items()
        if names
    )
