"""An entry of the trail as the API and exports show it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from eventsourcing.utils import get_topic
from typing_extensions import TypedDict

from projections.audit.authorship import Authorship, authorship
from projections.audit.trail.sentences import UNREADABLE, sentence_of
from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.stored_entries import (
    StoredEntry,
    first_entries,
    naming_entries,
)
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.provider import Provider
from service.secrets.aggregate import Secret
from service.sessions.aggregate import ChatSession
from service.users.aggregate import Token

# What gives its name to a thing that keeps it. Users, agents and connectors don't.
NAMES: Final[Mapping[str, Callable[[Any], str]]] = {
    get_topic(Secret.Created): lambda event: event.name,
    get_topic(ChatSession.Created): lambda event: event.session_id,
    get_topic(ModelPricing.Created): lambda event: (
        f"{event.provider_key}/{event.model}"
    ),
    get_topic(Provider.Created): lambda event: event.display_name,
    get_topic(Token.Created): lambda event: event.label,
}


class AuditedResource(TypedDict):
    """The resource that an entry changed.

    ``name`` is null for what has no name of its own: tool rules, and records of reads
    and refusals.
    """

    kind: str
    id: UUID
    name: str | None


class AuditEntry(TypedDict):
    """Who did what, when, in which request, and what it changed.

    ``actor_id`` is null for actions of the service or its operator; see ``actor``.
    ``what`` is a sentence for people whose wording may change between versions of the
    service; programs use ``kind`` and the event's own fields.
    """

    position: int
    recorded_at: datetime
    actor_id: UUID | None
    actor: str | None
    token_id: UUID | None
    request_id: str | None
    trace_id: str | None
    address: str | None
    kind: str
    resource: AuditedResource
    version: int
    what: str


@dataclass(frozen=True, slots=True)
class _Read:
    """An entry, and its event if that is readable."""

    stored: StoredEntry
    author: Authorship
    event: Any


async def audit_entries(
    db: Db, mapper: EventMapper, entries: Sequence[StoredEntry]
) -> list[AuditEntry]:
    """Return entries as the API shows them, with names for ids."""
    read = [
        _Read(each, authorship(each.metadata), _event(mapper, each)) for each in entries
    ]
    names = await _names(db, mapper, _ids(read))
    return [_shown(each, names) for each in read]


async def _names(db: Db, mapper: EventMapper, ids: Iterable[str]) -> dict[str, str]:
    """Return the names of what has one among some ids.

    The present names, from the log: so an entry shows them however far any read table
    has come.
    """
    wanted = sorted(set(ids))
    naming = await naming_entries(db, wanted)
    decoded = [(each, _event(mapper, each)) for each in naming]
    names = {str(each.aggregate_id): event.name for each, event in decoded if event}
    first = await first_entries(db, wanted, [*NAMES])
    for each in first:
        if (event := _event(mapper, each)) is not None:
            names[str(each.aggregate_id)] = NAMES[each.topic](event)
    return names


def _event(mapper: EventMapper, entry: StoredEntry) -> Any:
    """Decode an event; None for one that can't be, which must not hide the others."""
    try:
        event = mapper.to_domain_event(
            StoredEvent(
                originator_id=entry.aggregate_id,
                originator_version=entry.version,
                topic=entry.topic,
                state=entry.state,
            )
        )
        # One that was damaged may lack a field that its sentence names.
        sentence_of(event)
    except Exception:  # noqa: BLE001 # whatever is wrong with it, it is to be shown
        return None
    return event


def _ids(entries: Iterable[_Read]) -> Iterator[str]:
    for entry in entries:
        yield str(entry.stored.aggregate_id)
        if entry.author.actor and _ID.fullmatch(entry.author.actor):
            yield entry.author.actor
        if entry.event is not None:
            sentence_of(entry.event, named := _Collected())
            yield from named


class _Collected(list[str]):
    """Notes which ids a sentence names."""

    def __call__(self, resource_id: str) -> str:
        if _ID.fullmatch(resource_id):
            self.append(resource_id)
        return resource_id


def _shown(entry: _Read, names: Mapping[str, str]) -> AuditEntry:
    stored, author = entry.stored, entry.author

    def named(resource_id: str) -> str:
        name = names.get(resource_id)
        return resource_id if name is None else f"{name} ({resource_id})"

    what = UNREADABLE
    if entry.event is not None:
        what = sentence_of(entry.event, named)
    actor_id = author.actor_id
    return {
        "position": stored.position,
        "recorded_at": stored.recorded_at,
        "actor_id": actor_id,
        "actor": names.get(str(actor_id)) if actor_id else author.actor,
        "token_id": author.token_id,
        "request_id": author.request_id,
        "trace_id": author.trace_id,
        "address": author.address,
        "kind": stored.topic,
        "resource": {
            "kind": stored.topic.partition(".")[0],
            "id": stored.aggregate_id,
            "name": names.get(str(stored.aggregate_id)),
        },
        "version": stored.version,
        "what": what,
    }


_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
