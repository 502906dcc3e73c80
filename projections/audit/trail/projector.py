"""Log entries to the trail's index tables."""

import re
from collections.abc import Iterator, Sequence
from uuid import UUID

from eventsourcing.utils import get_topic

from projections.audit.authorship import authorship
from projections.audit.trail.table import EntryRow, MentionRow, insert_entries
from projections.engine.projector import Projector
from service.audit.aggregate import AuditReading, Refusal
from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.stored_entries import StoredEntry, entries_between
from service.pacing import Pace

# No text is longer in an index than PostgreSQL allows; ours are far below.
INDEXED_CHARACTERS_MAX = 256


class AuditTrailProjector(Projector):
    """Indexes every entry by author, kind, request and all that it mentions.

    It reads ids off the bytes of the state, wherever they stand in it, so that it
    misses none, whatever the event means.
    """

    name = "audit_trail"
    version = 2
    events = ()
    replayed = False

    async def read(
        self,
        db: Db,
        mapper: EventMapper,  # noqa: ARG002 # nothing is decoded
        *,
        after: int,
        upto: int,
        limit: int,
    ) -> Sequence[StoredEntry]:
        return await entries_between(db, after=after, upto=upto, limit=limit)

    async def project(self, db: Db, events: Sequence[StoredEntry]) -> None:
        mentions: list[MentionRow] = []
        pace = Pace()
        for entry in events:
            mentions += _mentions(entry)
            await pace.pause()
        await insert_entries(db, [_row(entry) for entry in events], mentions)


def _row(entry: StoredEntry) -> EntryRow:
    author = authorship(entry.metadata)
    return EntryRow(
        position=entry.position,
        kind=entry.topic,
        aggregate=entry.topic.partition(".")[0],
        actor=_indexed(author.actor),
        request_id=_indexed(author.request_id),
    )


def _indexed(text: str | None) -> str | None:
    return text if text is None else text[:INDEXED_CHARACTERS_MAX]


def _mentions(entry: StoredEntry) -> Iterator[MentionRow]:
    mentioned = {entry.aggregate_id}
    pattern = _ID_AS_SENT if entry.topic in _SENT else _ID
    mentioned.update(UUID(each.decode()) for each in pattern.findall(entry.state))
    for resource_id in sorted(mentioned):
        yield MentionRow(resource_id=resource_id, position=entry.position)


# These events keep a request's parameters as they were sent, with ids in any form
# that the API takes. In others, 32 hexadecimal digits are hashes and ids of traces.
_SENT = frozenset(map(get_topic, (AuditReading.Created, Refusal.Created)))
_HYPHENATED = rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_ID = re.compile(rb"(?<![0-9a-f-])%b(?![0-9a-f-])" % _HYPHENATED)
_ID_AS_SENT = re.compile(
    rb"(?<![0-9a-f-])(?:%b|[0-9a-f]{32})(?![0-9a-f-])" % _HYPHENATED, re.IGNORECASE
)
