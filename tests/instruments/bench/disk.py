"""Bytes on disk by kind of request: ``python -m tests.instruments.bench.disk``.

Sends ``--requests`` of each kind (fewer of large ones) to a service of its own, waits
for its followers, and divides by the requests what tables and indexes have grown by:
the log, what else the schema events keeps, what it keeps for hours, and read tables.
WAL is what was written of it, with whole pages after the checkpoint before each kind.
Prints the table of docs/operations/disk.md, and the bytes of a log line.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Self

import psycopg

from service.embedded_postgres.server import EmbeddedPostgres
from tests.instruments.bench.disk_kinds import CLIENTS, Kind, kinds
from tests.instruments.bench.gateway_stage import upstream
from tests.support.gateway.served import Api, new_session
from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

HEAD: Final = ("request", "events", "log", "beside it", "read tables", "hours", "WAL")
LOG: Final = {"stored_event"}
# Receipts are kept for a day, the rest for two hours.
PASSING: Final = {
    *("receipt", "receipt_previous"),
    *("reported_trace", "reported_trace_part", "usage_of_amendable_turn"),
}
SIZES: Final = """
    SELECT n.nspname, c.relname, pg_total_relation_size(c.oid)::bigint
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)'
"""
WRITTEN: Final = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint"
POSITION: Final = "SELECT position FROM events.head"
# Ends of batched calls, and snapshots, are written some time after the answer.
QUIET_S: Final = 3.0
TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes by what they are for; ``position`` is the log's."""

    position: int
    log: int
    kept: int
    read: int
    passing: int
    wal: int

    @classmethod
    def now(cls, db: "psycopg.Connection[Any]", wal: int) -> Self:
        """Measure after a vacuum and a checkpoint, but WAL as it was before them."""
        db.execute("VACUUM")
        db.execute("CHECKPOINT")
        found = {"log": 0, "kept": 0, "read": 0, "passing": 0}
        for schema, table, size in db.execute(SIZES):
            found[_group(schema, table)] += size
        return cls(position=_number(db, POSITION), wal=wal, **found)

    def since(self, earlier: Self) -> Mapping[str, int]:
        return {
            each.name: getattr(self, each.name) - getattr(earlier, each.name)
            for each in fields(self)
        }


def _group(schema: str, table: str) -> str:
    if table in PASSING:
        return "passing"
    if schema != "events":
        return "read"
    return "log" if table in LOG else "kept"


def _number(db: "psycopg.Connection[Any]", query: str) -> int:
    row = db.execute(query).fetchone()
    assert row is not None
    return int(row[0])


async def measure(admin: Api, upstream_url: str, url: str, requests: int) -> None:
    """Print a row for each kind."""
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    with psycopg.connect(url, autocommit=True) as db:
        for kind in await kinds(admin, upstream_url):
            count = max(int(requests * kind.share), CLIENTS)
            # The first of each client may bring more than those that follow.
            await send(kind, 0, CLIENTS)
            await until_quiet(admin)
            before = Sizes.now(db, 0)
            written = _number(db, WRITTEN)
            await send(kind, CLIENTS, count)
            await until_quiet(admin)
            after = Sizes.now(db, _number(db, WRITTEN) - written)
            print(row(kind.name, after.since(before), count), flush=True)


def row(name: str, grown: Mapping[str, int], count: int) -> str:
    each = {what: grown[what] / count for what in grown}
    sizes = (each[what] for what in ("log", "kept", "read", "passing", "wal"))
    cells = (f"{each['position']:.2f}", *(f"{size:,.0f}" for size in sizes))
    return f"| {name} | {' | '.join(cells)} |"


async def send(kind: Kind, first: int, count: int) -> None:
    async def client(number: int) -> None:
        for each in range(first + number, first + count, CLIENTS):
            await kind.send(each)

    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(client(number))


async def until_quiet(admin: Api) -> None:
    """Wait until the followers have everything, and nothing more comes."""

    async def position() -> int | None:
        state = (await admin.call("GET", "/readyz")).data
        if any(each["lag"] for each in state["followers"]):
            return None
        return int(state["log_position"])

    async def is_quiet() -> bool:
        found = await position()
        await asyncio.sleep(QUIET_S)
        return found is not None and found == await position()

    await until(is_quiet, timeout_s=TIMEOUT_S)


def line_bytes(log: Path) -> float:
    """Return the mean of the log lines of requests."""
    sizes = [
        len(line)
        for line in log.read_bytes().splitlines(keepends=True)
        if json.loads(line)["message"] == "request"
    ]
    return sum(sizes) / len(sizes)


async def run(server: Server, upstream_url: str, url: str, requests: int) -> None:
    async with new_session() as http:
        admin = Api(http, server.url, server.admin_token)
        await measure(admin, f"{upstream_url}/mcp", url, requests)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=4000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="disk-") as name:
        folder = Path(name)
        data, log = folder / "data", folder / "serve.log"
        server = serving(
            *("--data-dir", str(data), "--gateway-networks", "127.0.0.0/8"), log=log
        )
        with upstream("plain", folder) as other, running(server):
            url = EmbeddedPostgres.url_of_running(data)
            asyncio.run(run(server, other.url, url, options.requests))
        print(f"\nA request's log line: {line_bytes(log):.0f} bytes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
