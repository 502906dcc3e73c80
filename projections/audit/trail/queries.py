"""Queries of the trail."""

from dataclasses import asdict, dataclass
from typing import Literal

from psycopg.sql import SQL, Composed

from projections.audit.trail.filters import Filters
from service.database import Db
from service.event_log.stored_entries import CHUNK_BYTES, StoredEntry, entries_at

Order = Literal["newest", "oldest"]

# Each by an index that ends with the position: the rarest of them is walked in
# order, as far as a page needs.
POSITIONS = """
    SELECT {position}
      FROM {table}
     WHERE {position} BETWEEN %(first)s AND %(last)s {conditions}
     ORDER BY {position} {direction}
     LIMIT %(limit)s
"""
BY_ENTRY = {
    "actor": SQL("AND e.actor = %(actor)s"),
    "request_id": SQL("AND e.request_id = %(request_id)s"),
}
BY_TYPE = SQL("AND e.kind = %(kind)s")
BY_AGGREGATE = SQL("AND e.aggregate = %(kind)s")
BY_RESOURCE = SQL("AND m.resource_id = %(resource)s")
ENTRIES = SQL("read.audit_entry e")
MENTIONS = SQL("read.audit_mention m")
BOTH = SQL("read.audit_mention m JOIN read.audit_entry e ON e.position = m.position")
# Tables that were built from the log of another epoch reflect nothing of this one.
ENDS = """
    SELECT least(h.position, coalesce(p.position, 0)), h.position
      FROM events.head h
      LEFT JOIN read.position p ON p.follower = 'audit_trail' AND p.epoch = h.epoch
"""


@dataclass(frozen=True, slots=True)
class Found:
    """The first entries in an order of positions.

    ``reached`` is the position up to which there are no others; None at the end.
    """

    entries: list[StoredEntry]
    reached: int | None


async def entries_found(db: Db, filters: Filters, *, order: Order, limit: int) -> Found:
    """Return the first entries that pass, at most about ``CHUNK_BYTES`` of them."""
    if filters.first > filters.last:
        return Found([], reached=None)
    if filters.narrows:
        # Not prepared: which index is best depends on what is asked for.
        cursor = await db.execute(
            _statement(filters, order),
            {**asdict(filters), "limit": limit + 1},
            prepare=False,
        )
        positions = [row[0] for row in await cursor.fetchall()]
    elif order == "oldest":
        newest = min(filters.last, filters.first + limit)
        positions = list(range(filters.first, newest + 1))
    else:
        oldest = max(filters.first, filters.last - limit)
        positions = list(range(filters.last, oldest - 1, -1))
    found = await entries_at(db, positions[:limit])
    if sum(len(entry.state) for entry in found) >= CHUNK_BYTES:
        reached = found[-1].position
        return Found(found, reached=None if reached == positions[-1] else reached)
    return Found(found, positions[limit - 1] if len(positions) > limit else None)


def _statement(filters: Filters, order: Order) -> Composed:
    conditions = [
        condition
        for name, condition in BY_ENTRY.items()
        if getattr(filters, name) is not None
    ]
    if filters.kind is not None:
        conditions.append(BY_TYPE if "." in filters.kind else BY_AGGREGATE)
    table, position = ENTRIES, SQL("e.position")
    if filters.resource is not None:
        table, position = (BOTH if conditions else MENTIONS), SQL("m.position")
        conditions.append(BY_RESOURCE)
    return SQL(POSITIONS).format(
        position=position,
        table=table,
        conditions=SQL(" ").join(conditions),
        direction=SQL("ASC" if order == "oldest" else "DESC"),
    )


async def trail_and_log_end(db: Db) -> tuple[int, int]:
    """Return the last positions of what filters can find, and of the log."""
    row = await (await db.execute(ENDS)).fetchone()
    assert row is not None
    return row[0], row[1]
