"""The lists of ``docs/events.md``: every type of event, as its class declares it."""

from pathlib import Path
from typing import Any, Final

from eventsourcing.utils import get_topic

from docs.generator.markdown import between
from service.aggregate import LoggedAggregate, event_types
from service.aggregates import AGGREGATES
from service.events import details_of, fields_of, meaning_of, published_fields

EVENTS: Final = Path("docs/events.md")


def events_page() -> str:
    return between(EVENTS, "\n\n".join(map(_section, AGGREGATES)))


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
