"""How the tables of sessions grow with recorded turns, and a page of them.

    python -m tests.bench.turns [--turns 1000000 10000000] [--folder /tmp]

One session is projected from its events, and copied in the order in which a rebuild
writes sessions; indexes are created afterwards, as by a rebuild. Each size begins with
empty tables. A turn has two texts of 400 bytes.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from projections.agents.projector import AgentsProjector
from projections.gateway.projector import GatewayProjector
from projections.sessions.projector import SessionsProjector
from projections.sessions.queries import PageRequest, session_page
from projections.sessions.table import TurnRow
from service.embedded_postgres.server import EmbeddedPostgres
from service.keys.cipher import Key, TextBinding, UserKey, seal, sealed_to_text
from service.migrate import migrate
from service.sessions.turn import Texts, TokenCounts, Turn
from tests.sessions.projected import recorded, session_events

TURNS_OF_SESSION: Final = 10
TEXT_BYTES: Final = 400
DAYS: Final = 365
PAGES: Final = 200
LIMIT: Final = 25
NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Of the last year, evenly, for 1,000 agents and 10,000 users.
COPY_SESSIONS: Final = """
    INSERT INTO session
           (id, session_id, agent_id, user_id, opened_at, opened_position, ended_at,
            started_at, last_active_at, has_error, first_input_version,
            last_output_version, version, rendered)
    SELECT md5(n::text)::uuid, md5('session ' || n)::uuid::text,
           md5('agent ' || n %% 1000)::uuid, md5('user ' || n %% 10000)::uuid,
           t.opened_at - ago, n * t.version, t.ended_at - ago,
           t.started_at - ago, t.last_active_at - ago, t.has_error,
           t.first_input_version, t.last_output_version, t.version, t.rendered
      FROM generate_series(1, %(sessions)s) AS n
     CROSS JOIN LATERAL (SELECT (%(sessions)s - n) * (%(span)s::interval
                                / %(sessions)s) AS ago) AS moment
     CROSS JOIN one_session t
"""
COPY_TURNS: Final = SQL("""
    INSERT INTO session_turn ({columns})
    SELECT {values}
      FROM generate_series(1, %(sessions)s) AS n
     CROSS JOIN LATERAL (SELECT (%(sessions)s - n) * (%(span)s::interval
                                / %(sessions)s) AS ago) AS moment
     CROSS JOIN one_turn t
""")
OF_A_TURN: Final = {
    "session": SQL("md5(n::text)::uuid"),
    "turn_id": SQL("md5(n || ' ' || t.version)"),
    "trace_id": SQL("md5(n || ' ' || t.version)"),
    "started_at": SQL("t.started_at - ago"),
    "ended_at": SQL("t.ended_at - ago"),
    "priced_at": SQL("t.priced_at - ago"),
}
SIZES: Final = """
    SELECT c.relname, pg_table_size(c.oid)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = 'read' AND c.relname LIKE 'session%' AND c.relkind IN ('r', 'i')
     ORDER BY c.relkind DESC, c.relname
"""


def sealed_text(field: str) -> str:
    binding = TextBinding(
        owner_id=UUID(int=1), session_id=UUID(int=2), turn=1, field=field
    )
    key = UserKey(UUID(int=3), Key(bytes(range(32))))
    return sealed_to_text(seal(b"x" * TEXT_BYTES, user_key=key, binding=binding))


def events() -> list[Any]:
    """Return those of a session, each turn a minute after the one before."""
    turns = []
    for number in range(TURNS_OF_SESSION):
        started_at = NOON + number * timedelta(minutes=1)
        turns.append(
            Turn(
                turn_id=f"{number:032x}",
                trace_id=f"{number:032x}",
                started_at=started_at,
                ended_at=started_at + timedelta(seconds=5),
                provider="openai",
                model="gpt-5.1-2025-11-13",
                tokens=TokenCounts(prompt=2_000, completion=300, cache_read=1_000),
                texts=Texts(input=sealed_text("input"), output=sealed_text("output")),
            )
        )
    return session_events(NOON, turns)


async def write(db: AsyncConnection[Any], turns: int) -> None:
    projector = SessionsProjector()
    await db.execute("DROP TABLE IF EXISTS session, session_turn")
    await db.execute(projector.table_sql)
    await projector.project(db, recorded(events()))
    for table in ("session", "session_turn"):
        template = "one_session" if table == "session" else "one_turn"
        copied = SQL("CREATE TEMPORARY TABLE {} AS TABLE {}")
        await db.execute(SQL("DROP TABLE IF EXISTS {}").format(Identifier(template)))
        await db.execute(copied.format(Identifier(template), Identifier(table)))
    await db.execute("TRUNCATE session, session_turn")
    given = {"sessions": turns // TURNS_OF_SESSION, "span": timedelta(days=DAYS)}
    await db.execute(COPY_SESSIONS, given)
    names = [field.name for field in fields(TurnRow)]
    values = [OF_A_TURN.get(name, SQL("t.") + Identifier(name)) for name in names]
    statement = COPY_TURNS.format(
        columns=SQL(", ").join(map(Identifier, names)), values=SQL(", ").join(values)
    )
    await db.execute(statement, given)
    await db.execute(projector.indexes_sql)
    await db.execute("VACUUM (ANALYZE) session")
    await db.execute("VACUUM (ANALYZE) session_turn")


async def page_ms(db: AsyncConnection[Any]) -> float:
    """Return the median time of the first page by time alone."""
    asked = PageRequest(
        caller=UUID(int=1),
        everything=True,
        window_start=NOON - timedelta(days=DAYS),
        limit=LIMIT,
    )
    took = []
    for _ in range(PAGES):
        began = time.perf_counter()
        found, _position = await session_page(db, asked)
        took.append(time.perf_counter() - began)
        assert len(found) == LIMIT
    return median(took) * 1000


async def measure(url: str, sizes: Sequence[int]) -> None:
    async with await AsyncConnection.connect(url, autocommit=True) as db:
        await db.execute("SET search_path = read; SET TimeZone = 'UTC'")
        for projector in (AgentsProjector(), GatewayProjector()):
            await db.execute(projector.table_sql)
            await db.execute(projector.indexes_sql)
        for turns in sizes:
            began = time.perf_counter()
            await write(db, turns)
            took = time.perf_counter() - began
            cursor = await db.execute(SIZES)
            found = await cursor.fetchall()
            total = sum(size for _, size in found)
            print(f"\n{turns:,} turns, {turns // TURNS_OF_SESSION:,} sessions")
            print("| table or index | bytes a turn |\n|---|---|")
            for name, size in found:
                print(f"| `{name}` | {size / turns:,.1f} |")
            print(f"| all | {total / turns:,.1f} |")
            print(f"{total / 1e9:,.2f} GB, written in {took:,.0f} s; ", end="")
            print(f"page of operation 4: {await page_ms(db):.2f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.turns")
    parser.add_argument("--turns", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--folder", type=Path, help="where the database is written")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(
            prefix="agent-runtime-turns-", dir=options.folder
        ) as folder,
        EmbeddedPostgres.start(Path(folder)) as server,
    ):
        migrate(server.url)
        asyncio.run(measure(server.url, options.turns))


if __name__ == "__main__":
    main()
