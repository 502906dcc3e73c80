"""Writes to the trail's read tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from projections.engine.arrays import columns
from service.database import Db


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryRow:
    position: int
    kind: str
    aggregate: str
    actor: str | None
    request_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionRow:
    resource_id: UUID
    position: int


INSERT_ENTRIES = """
    INSERT INTO audit_entry (position, kind, aggregate, actor, request_id)
    SELECT *
      FROM unnest(
           %(position)b::bigint[], %(kind)b::text[], %(aggregate)b::text[],
           %(actor)b::text[], %(request_id)b::text[])
"""
INSERT_MENTIONS = """
    INSERT INTO audit_mention (resource_id, position)
    SELECT * FROM unnest(%(resource_id)b::uuid[], %(position)b::bigint[])
"""


async def insert_entries(
    db: Db,
    entries: Sequence[EntryRow],
    mentions: Sequence[MentionRow],
) -> None:
    await db.execute(INSERT_ENTRIES, columns(entries))
    await db.execute(INSERT_MENTIONS, columns(mentions))
