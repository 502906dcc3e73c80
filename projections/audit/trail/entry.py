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
from service.keys.vault import Vault
from service.pacing import Pace
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.provider import Provider
from service.secrets.aggregate import Secret
from service.sessions.aggregate import ChatSession
from service.users.aggregate import Token
from service.users.names import opened_name

# An entry may name a hundred sessions, and a page has hundreds of entries.
NAMED_AT_ONCE: Final = 1000
# What gives its name to a thing that keeps it. Others can be renamed.
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


@dataclass(frozen=True, slots=True)
class _SealedName:
    """A user's name, sealed in an event of theirs."""

    user_id: UUID
    version: int
    sealed: str


@dataclass(frozen=True, slots=True)
class NamedEntries:
    """Entries with the names of what they are about, users' names still sealed."""

    read: Sequence[_Read]
    names: Mapping[str, str | _SealedName]

    async def shown(self, vault: Vault | None) -> list[AuditEntry]:
        """Return the entries as the API shows them.

        Call it without a connection of one's own: opening a name may need another.
        Without ``vault``, sealed names are left out.
        """
        names = {
            each: name for each, name in self.names.items() if isinstance(name, str)
        }
        pace = Pace()
        for each, name in self.names.items():
            await pace.pause()
            if vault is None or isinstance(name, str):
                continue
            opened = await opened_name(
                name.sealed, vault, user_id=name.user_id, version=name.version
            )
            if opened is not None:
                names[each] = opened
        shown = []
        for entry in self.read:
            await pace.pause(len(entry.stored.state))
            shown.append(_shown(entry, names))
        return shown


async def named_entries(
    db: Db, mapper: EventMapper, entries: Sequence[StoredEntry]
) -> NamedEntries:
    """Read entries, and the names for the ids in them."""
    pace = Pace()
    read: list[_Read] = []
    ids: set[str] = set()
    for stored in entries:
        await pace.pause(len(stored.state))
        each = _Read(stored, authorship(stored.metadata), _event(mapper, stored))
        read.append(each)
        ids.update(_ids(each))
    return NamedEntries(read, await _names(db, mapper, ids))


async def _names(
    db: Db, mapper: EventMapper, ids: Iterable[str]
) -> dict[str, str | _SealedName]:
    """Return the names of what has one among some ids.

    The present names, from the log: so an entry shows them however far any read table
    has come. An erased user has none.
    """
    wanted = sorted(set(ids))
    names: dict[str, str | _SealedName] = {}
    pace = Pace()
    for first in range(0, len(wanted), NAMED_AT_ONCE):
        some = wanted[first : first + NAMED_AT_ONCE]
        for each in await naming_entries(db, some):
            name = _name_in(_event(mapper, each))
            if name is not None:
                names[str(each.aggregate_id)] = name
            await pace.pause()
        for each in await first_entries(db, some, [*NAMES]):
            if (event := _event(mapper, each)) is not None:
                names[str(each.aggregate_id)] = NAMES[each.topic](event)
            await pace.pause()
    return names


def _name_in(event: Any) -> str | _SealedName | None:
    """Return the name that an event gives to what can be renamed."""
    sealed = getattr(event, "sealed_name", None)
    if sealed is not None:
        return _SealedName(event.originator_id, event.originator_version, sealed)
    name: str | None = getattr(event, "name", None)
    return name


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


def _ids(entry: _Read) -> Iterator[str]:
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
