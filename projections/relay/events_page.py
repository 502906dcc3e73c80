"""The lists of ``docs/events.md``: every type of event, as its class declares it."""

import re
from collections.abc import Sequence
from typing import Any, Final

from eventsourcing.utils import get_topic

from service.aggregate import LoggedAggregate, event_types
from service.events import details_of, fields_of, meaning_of, published_fields

BEGIN: Final = "<!-- made by make contract: begin -->"
END: Final = "<!-- made by make contract: end -->"
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
    events = [_line(topic, event) for topic, event in event_types(aggregate)]
    heading = f"## `{get_topic(aggregate)}`"
    return "\n".join([heading, "", details_of(aggregate), "", *events])


def _line(topic: str, event: type[Any]) -> str:
    version = getattr(event, "class_version", 1)
    schema = f"[`{topic}`](events/schemas/{topic}.v{version}.json)"
    published = published_fields(event)
    private = [f"`{name}`" for name in fields_of(event) if name not in published]
    ending = f" Private: {', '.join(private)}." if private else ""
    numbered = f" (version {version})" if version > 1 else ""
    meaning = meaning_of(event).replace("``", "`")
    return f"- {schema}{numbered}: {meaning}{ending}"
