"""The cost of receipts of idempotency keys: of storing and of deleting them.

    python -m tests.bench.receipts [--receipts 1000000] [--rounds 9]

Two databases of one server: one with all migrations, and one without that which stores
receipts in two tables. Rounds alternate between them.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from service.database import service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.append import Append, Receipt
from service.event_log.batch import APPEND, arguments
from service.event_log.binary_arrays import BinaryArray, BinaryArrayDumper
from service.migrate import migrate
from tests.event_log.in_memory import InMemoryLog
from tests.event_log.ledger import Ledger
from tests.event_log.logs import new_ledger
from tests.older_database import migrate_before
from tests.simulation.real import cpu_of

DAY = timedelta(days=1)
IN_TWO = "0015_receipts_in_two_tables.sql"
ANSWER = b'{"success":true,"data":"' + 600 * b"x" + b'"}'
# Commands of a batch, and batches of a round.
BATCHES = {1: 200, 16: 30, 256: 4}
FILL = """
    INSERT INTO events.{table} (key, request, answer, position, recorded_at)
    SELECT sha256(int8send(number) || convert_to(%(name)s, 'UTF8')),
           sha256(int8send(number)), %(answer)s, number,
           %(begin)s + number * (interval '1 day' / (%(receipts)s + 1))
      FROM generate_series(1, %(receipts)s) AS number
"""
DELETE_ROWS = """
    DELETE FROM events.receipt
     WHERE key IN (
           SELECT key FROM events.receipt
            WHERE recorded_at < clock_timestamp() - interval '24 hours'
            ORDER BY recorded_at
            LIMIT 1000)
"""
ROTATE = "SELECT events.rotate_receipts()"
A_DAY_HAS_PASSED = """
    UPDATE events.receipt_rotation SET rotated_at = rotated_at - interval '24 hours'
"""
DEAD_ROWS = "SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'receipt'"


@dataclass(slots=True)
class Cost:
    seconds: float = 0.0
    cpu: float = 0.0
    wal: int = 0

    def __str__(self) -> str:
        return (
            f"{self.seconds:,.2f} s, {self.cpu:,.2f} s of CPU time, "
            f"{self.wal / 1e6:,.2f} MB of WAL"
        )


def value(db: Connection[Any], query: str) -> Any:
    row = db.execute(query).fetchone()
    assert row is not None
    return row[0]


@contextmanager
def costs(db: Connection[Any]) -> Iterator[Cost]:
    """Measure what the statements within take of their server process."""
    cost = Cost()
    pid = db.info.backend_pid
    lsn = value(db, "SELECT pg_current_wal_insert_lsn()")
    cpu, began = cpu_of(pid), time.perf_counter()
    yield cost
    cost.seconds = time.perf_counter() - began
    cost.cpu = cpu_of(pid) - cpu
    row = db.execute("SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", [lsn])
    cost.wal = int(row.fetchall()[0][0])


def database(server: str, *, in_two: bool) -> str:
    name = "in_two" if in_two else "before"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    url = make_conninfo(server, dbname=name)
    if in_two:
        migrate(url)
    else:
        migrate_before(url, IN_TWO)
    return url


def fill(url: str, table: str, receipts: int, *, begin: datetime) -> None:
    """Write receipts over the day that begins then."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(
            FILL.format(table=table).encode(),
            {
                "name": f"{begin}",
                "answer": ANSWER,
                "receipts": receipts,
                "begin": begin,
            },
        )
        db.execute("VACUUM (ANALYZE)")


def commands(log: InMemoryLog, number: int) -> list[Append]:
    """Return commands that write an aggregate and store an answer."""
    return [
        replace(
            new_ledger(log),
            receipt=Receipt(key=uuid4().bytes * 2, request=32 * b"r", answer=ANSWER),
        )
        for _ in range(number)
    ]


def append_cpu(db: Connection[Any], log: InMemoryLog, size: int) -> tuple[float, float]:
    """Return the CPU time in µs, and the WAL in bytes, of a command of a batch."""
    epoch = value(db, "SELECT epoch FROM events.head")
    batches = [arguments(epoch, commands(log, size)) for _ in range(BATCHES[size])]
    with costs(db) as cost:
        for each in batches:
            db.execute(APPEND, each, prepare=True)
    appended = size * len(batches)
    return cost.cpu / appended * 1e6, cost.wal / appended


def measure_appends(urls: dict[bool, str], rounds: int) -> None:
    log = InMemoryLog([Ledger])
    print("| commands | before, µs | in two tables, µs | ratio (of rounds) | WAL |")
    print("|---|---|---|---|---|")
    with (
        psycopg.connect(service_conninfo(urls[False]), autocommit=True) as before,
        psycopg.connect(service_conninfo(urls[True]), autocommit=True) as in_two,
    ):
        for each in (before, in_two):
            each.adapters.register_dumper(BinaryArray, BinaryArrayDumper)
        for size in BATCHES:
            found = []
            for number in range(rounds + 1):
                # In turn also who is first; the first round warms up.
                order = (before, in_two) if number % 2 else (in_two, before)
                cost = {each: append_cpu(each, log, size) for each in order}
                found.append((cost[before], cost[in_two]))
            del found[0]
            ratios = sorted(new[0] / old[0] for old, new in found)
            old, new = (median(each[n][0] for each in found) for n in (0, 1))
            wal = median(each[1][1] / each[0][1] for each in found)
            print(
                f"| {size} | {old:.1f} | {new:.1f} | {median(ratios):.3f} "
                f"({ratios[0]:.3f} to {ratios[-1]:.3f}) | {wal:.3f} |",
                flush=True,
            )


def measure_deletes(urls: dict[bool, str], receipts: int) -> None:
    begin = datetime.now(UTC) - 3 * DAY
    fill(urls[False], "receipt", receipts, begin=begin)
    fill(urls[True], "receipt_previous", receipts, begin=begin)
    with psycopg.connect(urls[False], autocommit=True) as db:
        db.execute("CHECKPOINT")
        with costs(db) as cost:
            while db.execute(DELETE_ROWS).rowcount == 1000:
                pass
        db.execute("SELECT pg_stat_force_next_flush()")
        print(f"DELETE of {receipts:,} rows: {cost};", end=" ")
        print(f"{value(db, DEAD_ROWS):,} dead rows")
        with costs(db) as cost:
            db.execute("VACUUM events.receipt")
        print(f"VACUUM of these: {cost}")
    with psycopg.connect(urls[True], autocommit=True) as db:
        db.execute("CHECKPOINT")
        db.execute(A_DAY_HAS_PASSED)
        with costs(db) as cost:
            assert value(db, ROTATE), "there is a day to delete"
        print(f"TRUNCATE of {receipts:,} rows: {cost}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.receipts")
    parser.add_argument("--receipts", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="agent-runtime-receipts-") as folder,
        EmbeddedPostgres.start(Path(folder)) as server,
    ):
        urls = {each: database(server.url, in_two=each) for each in (False, True)}
        half, now = options.receipts // 2, datetime.now(UTC)
        for in_two, url in urls.items():
            older = "receipt_previous" if in_two else "receipt"
            fill(url, older, half, begin=now - DAY)
            fill(url, "receipt", half, begin=now - DAY + DAY / 2**20)
        measure_appends(urls, options.rounds)
        measure_deletes(urls, options.receipts)


if __name__ == "__main__":
    main()
