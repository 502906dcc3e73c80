"""The read tables, held against what the log says when it is read again."""

import asyncio
import re
import time

import psycopg
from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from projections.catalog import follower_conninfo
from projections.engine.projector import Projector
from projections.engine.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper
from tests.instruments.faults.checks import Findings
from tests.support.projectors import PROJECTORS

TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
CAUGHT_UP = """
    SELECT p.follower, p.position, h.position, p.reason
      FROM events.head h LEFT JOIN read.position p ON p.follower = ANY (%s)
"""
STEP_S = 0.1


async def until_caught_up(url: str, findings: Findings, *, timeout_s: float) -> None:
    """Wait until every follower has applied the whole log."""
    names = [each.name for each in PROJECTORS]
    deadline = time.monotonic() + timeout_s
    while True:
        with psycopg.connect(url, autocommit=True) as db:
            rows = db.execute(CAUGHT_UP, [names]).fetchall()
        late = [row for row in rows if row[1] != row[2] or row[3]]
        if len(rows) == len(names) and not late:
            return
        if stopped := [row for row in rows if row[3]]:
            findings.add(f"followers have stopped: {stopped}")
            return
        if time.monotonic() > deadline:
            findings.add(f"followers are behind after {timeout_s} s: {late}")
            return
        await asyncio.sleep(STEP_S)


async def check_tables(url: str, findings: Findings) -> None:
    """Rebuild every read table, with nobody following, and expect the same rows."""
    mapper = EventMapper(AGGREGATES)
    async with await AsyncConnection.connect(
        follower_conninfo(url), autocommit=True
    ) as db:
        for projector in PROJECTORS:
            live = await _sums(db, projector)
            await rebuild(follower_conninfo(url), mapper, projector)
            again = await _sums(db, projector)
            for table, sums in live.items():
                if sums != again[table]:
                    findings.add(
                        f"read.{table}: {sums[0]} rows, and {again[table][0]} when"
                        " rebuilt, which aren't the same"
                    )


async def _sums(
    db: AsyncConnection, projector: Projector
) -> dict[str, tuple[int, int]]:
    """Return how many rows each table has, and a sum over all that is in them."""
    sums = {}
    for table in TABLE.findall(projector.table_sql):
        cursor = await db.execute(
            SQL(
                "SELECT count(*), coalesce(sum(hashtextextended(t::text, 7)::numeric),"
                " 0) FROM read.{} AS t"
            ).format(Identifier(table))
        )
        row = await cursor.fetchone()
        assert row is not None
        sums[table] = (int(row[0]), int(row[1]))
    return sums
