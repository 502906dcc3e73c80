"""The documents about the event topic, generated and guarded: ``make generated``."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from projections.relay.asyncapi import asyncapi_document
from projections.relay.public_event import PublicEvent, public_events
from projections.relay.python_types import event_types_module
from projections.relay.schema_compatibility import breaking_changes
from projections.relay.schemas import event_schemas, readable
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper

FOLDER: Final = Path("docs/events")
ASYNCAPI: Final = "asyncapi.json"
EVENT_TYPES: Final = Path("client/agent_runtime_client/kafka/event_types.py")
PUBLIC_EVENTS: Final[Mapping[str, PublicEvent]] = public_events(
    EventMapper(AGGREGATES).event_types
)


class BrokenContractError(Exception):
    """A published schema would change incompatibly."""


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return the schema of each event type in its current version, by name."""
    return event_schemas(PUBLIC_EVENTS)


def documents(project: Path) -> dict[Path, bytes]:
    """Return the content of every generated file, by path in the project."""
    made = {
        FOLDER / "schemas" / f"{name}.json": readable(schema)
        for name, schema in schemas().items()
    }
    made[FOLDER / ASYNCAPI] = readable(asyncapi_document(PUBLIC_EVENTS))
    made[EVENT_TYPES] = event_types_module(
        earlier_schemas(project) | schemas()
    ).encode()
    return made


def earlier_schemas(project: Path) -> dict[str, dict[str, Any]]:
    """Return the schemas of versions that are no longer published.

    Their messages are still on topics.
    """
    files = sorted((project / FOLDER / "schemas").glob("*.json"))
    return {file.stem: _published(file) for file in files if file.stem not in schemas()}


def broken(project: Path) -> list[str]:
    """Return the incompatible changes of the code's schemas to the published ones."""
    complaints = []
    for name, schema in schemas().items():
        file = project / FOLDER / "schemas" / f"{name}.json"
        if file.exists():
            changes = breaking_changes(_published(file), schema)
            complaints += [f"{name}: {change}" for change in changes]
    return complaints


def _published(file: Path) -> dict[str, Any]:
    try:
        schema: dict[str, Any] = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{file}: {error}") from None
    return schema


def files(project: Path) -> dict[Path, bytes]:
    """Return the content of every generated file, by path in the project.

    :raises BrokenContractError: a published schema would change incompatibly
    :raises ValueError: one isn't JSON, as after a merge with conflicts
    """
    if complaints := broken(project):
        raise BrokenContractError(
            "give these events a new class_version:\n" + "\n".join(complaints)
        )
    return documents(project)
