"""A projector of the tests, with faults to switch on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar

from psycopg import AsyncConnection

from projections.engine.projector import Projector
from service.event_log.mapper import RecordedEvent
from tests.support.event_log.ledger import Ledger

UPSERT = """
    INSERT INTO line_count AS t (ledger_id, lines, last_note, position)
    SELECT * FROM unnest(%s::uuid[], %s::int[], %s::text[], %s::bigint[])
    ON CONFLICT (ledger_id) DO UPDATE
       SET lines = t.lines + excluded.lines,
           last_note = coalesce(excluded.last_note, t.last_note),
           position = excluded.position
"""


class LineCounts(Projector):
    """How many lines each ledger has; adding, so that a repeat would show."""

    name = "line_counts"
    events = (Ledger.Created, Ledger.Entered)
    table: ClassVar[str] = """
        CREATE TABLE line_count (
            ledger_id uuid   PRIMARY KEY,
            lines     int    NOT NULL,
            last_note text,
            position  bigint NOT NULL
        );
    """

    def __init__(self) -> None:
        self.poison: str | None = None
        self.before_return: Callable[[AsyncConnection[Any]], Awaitable[None]] | None = (
            None
        )
        self.batches: list[int] = []

    @cached_property
    def table_sql(self) -> str:
        return self.table

    async def project(
        self, db: AsyncConnection[Any], events: Sequence[RecordedEvent]
    ) -> None:
        self.batches.append(len(events))
        rows: dict[Any, list[Any]] = {}
        for each in events:
            row = rows.setdefault(each.aggregate_id, [each.aggregate_id, 0, None, 0])
            row[3] = each.position
            if isinstance(each.event, Ledger.Entered):
                if each.event.note == self.poison:
                    raise ValueError(each.event.note)
                row[1] += 1
                row[2] = each.event.note
        columns = zip(*rows.values(), strict=True)
        await db.execute(UPSERT, [list(column) for column in columns])
        if self.before_return:
            await self.before_return(db)
        await asyncio.sleep(0)


class OtherLineCounts(LineCounts):
    """A second projection, to see that it goes on."""

    name = "other_line_counts"
    table = LineCounts.table.replace("line_count", "other_line_count")

    async def project(
        self, db: AsyncConnection[Any], events: Sequence[RecordedEvent]
    ) -> None:
        await db.execute(
            "INSERT INTO other_line_count"
            " SELECT id, 0, NULL, 0 FROM unnest(%s::uuid[]) AS id"
            " ON CONFLICT DO NOTHING",
            [[each.aggregate_id for each in events]],
        )


class LineCountsWithFirst(LineCounts):
    """The same projection after a change of its tables."""

    table = LineCounts.table.replace("lines     int", "newer     int, lines int")

    async def project(
        self, db: AsyncConnection[Any], events: Sequence[RecordedEvent]
    ) -> None:
        await db.execute(
            "INSERT INTO line_count SELECT id, 1, 0, 'new form', 0"
            " FROM unnest(%s::uuid[]) AS id ON CONFLICT DO NOTHING",
            [[each.aggregate_id for each in events]],
        )
