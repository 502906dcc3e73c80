"""The tables of ``docs/events.md``: every type of event, as its class declares it."""

import re
from collections.abc import Sequence
from typing import Any, Final

from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate, event_types
from service.events import details_of, fields_of, published_fields

BEGIN: Final = "<!-- made by make contract: begin -->"
END: Final = "<!-- made by make contract: end -->"
_MADE: Final = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)


def with_tables(page: str, aggregates: Sequence[type[LoggedAggregate]]) -> str:
    """Return the page with its tables made anew.

    :raises ValueError: the page has no place for them
    """
    tables = "\n\n".join(map(_section, aggregates))
    made, count = _MADE.subn(lambda _: f"{BEGIN}\n\n{tables}\n\n{END}", page)
    if count != 1:
        raise ValueError(f"the page needs one {BEGIN} and one {END}")
    return made


def _section(aggregate: type[LoggedAggregate]) -> str:
    return "\n".join(
        [
            f"## `{get_topic(aggregate)}`",
            "",
            details_of(aggregate),
            "",
            "| topic | version | fields | meaning |",
            "|---|---|---|---|",
            *(_row(topic, event) for topic, event in event_types(aggregate)),
        ]
    )


def _row(topic: str, event: type[Any]) -> str:
    version = getattr(event, "class_version", 1)
    published = published_fields(event)
    fields = ", ".join(
        f"`{name}`" if name in published else f"`{name}` (not published)"
        for name in fields_of(event)
    )
    return f"| `{topic}` | {version} | {fields or 'none'} | {details_of(event)} |"
