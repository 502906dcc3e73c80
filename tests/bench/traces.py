"""The cost of an export of spans, by the number of exports of its trace.

    python -m tests.bench.traces [--rounds 31] [--exports 1]

Two databases of one server: with all migrations, and without the one that stores later
exports as parts. Rounds alternate between them. Measured is merging spans into their
traces and computing the turn, without HTTP and the log.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final
from uuid import uuid4

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool

from service.database import Pool, service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from service.sessions.otlp.conventions import SpanError, reported_span
from service.sessions.otlp.pending import KeptTrace, TraceKey, merge_spans
from service.sessions.otlp.span import KeptEntry, KeptSpan, kept_span
from service.sessions.otlp.trace import turn_of
from tests.bench.trace_of_before import merge_whole
from tests.older_database import migrate_before
from tests.sessions.otlp.spans import llm, span
from tests.simulation.real import cpu_of

IN_PARTS = "0016_parts_of_reported_traces.sql"
SPANS_OF_EXPORT = 5
SEALED = "s" * 1_400
AGENT = uuid4()
LSN: Final = "SELECT pg_backend_pid(), pg_current_wal_insert_lsn() - '0/0'"


@dataclass(frozen=True, slots=True)
class Case:
    """Traces of so many exports; in each request, one export of ``at_once`` traces."""

    exports: int
    at_once: int = 1
    root_first: bool = False

    def __str__(self) -> str:
        end = "first" if self.root_first else "last"
        return f"{self.exports} | {self.at_once} | {end}"


# With the number of requests of a round.
CASES: Mapping[Case, int] = {
    Case(1): 100,
    Case(1, at_once=50): 10,
    Case(2): 100,
    Case(2, at_once=50): 10,
    Case(2, root_first=True): 100,
    Case(10): 100,
    Case(10, root_first=True): 50,
    Case(100): 100,
    Case(100, root_first=True): 100,
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one export of one trace: CPU time in µs and WAL in bytes."""

    postgres: float
    python: float
    wal: float

    @property
    def cpu(self) -> float:
        return self.postgres + self.python


def exports_of(case: Case) -> list[list[KeptSpan]]:
    """Return the spans of each export of a trace: model calls and one root."""
    count = case.exports * SPANS_OF_EXPORT
    calls = [llm(number, 1, 900, 80, session__id="s") for number in range(2, count + 1)]
    root = span(1, session__id="s")
    spans = [
        kept(each) for each in ([root, *calls] if case.root_first else [*calls, root])
    ]
    return [
        spans[start : start + SPANS_OF_EXPORT]
        for start in range(0, count, SPANS_OF_EXPORT)
    ]


def kept(given: Any) -> KeptSpan:
    found = reported_span(given, "benchmark")
    assert not isinstance(found, SpanError)
    if found.entry is None:
        return kept_span(found, None)
    entry = KeptEntry(
        is_root=True,
        ended_at=found.entry.ended_at.isoformat(),
        user_id=None,
        is_error=False,
        owner=str(AGENT),
        sealed_input=SEALED,
        sealed_output=SEALED,
        sealed_error=None,
    )
    return kept_span(found, entry)


async def run(pool: Pool, case: Case, requests: int, *, in_parts: bool) -> Cost:
    merge = merge_spans if in_parts else merge_whole
    exports = exports_of(case)
    given = [
        {key: KeptTrace(spans) for key in keys}
        for keys in _keys(case, requests)
        for spans in exports
    ]
    turns = 0
    pid, lsn = await _value(pool)
    cpu, ours = cpu_of(pid), time.process_time()
    for each in given:
        merged = await merge(pool, each)
        for key, trace in merged.items():
            turns += turn_of(key.trace_id, trace.spans, trace.texts) is not None
    ours, cpu = time.process_time() - ours, cpu_of(pid) - cpu
    wal = (await _value(pool))[1] - lsn
    traces = len(given) // case.exports * case.at_once
    assert turns == traces * (case.exports if case.root_first else 1)
    merges = len(given) * case.at_once
    return Cost(cpu / merges * 1e6, ours / merges * 1e6, wal / merges)


def _keys(case: Case, requests: int) -> Sequence[Sequence[TraceKey]]:
    return [
        [TraceKey(AGENT, uuid4().hex) for _ in range(case.at_once)]
        for _ in range(requests // case.exports)
    ]


async def _value(pool: Pool) -> tuple[int, int]:
    async with pool.connection() as db:
        row = await (await db.execute(LSN)).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def database(server: str, *, in_parts: bool) -> str:
    name = "in_parts" if in_parts else "before"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    url = make_conninfo(server, dbname=name)
    if in_parts:
        migrate(url)
    else:
        migrate_before(url, IN_PARTS)
    return url


def empty(url: str, *, in_parts: bool) -> None:
    """Delete what a case has written, so that the next one begins like it."""
    tables = "events.reported_trace" + (", events.reported_trace_part" * in_parts)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"TRUNCATE {tables}")


def _one_connection(url: str) -> Pool:
    return AsyncConnectionPool(
        service_conninfo(url),
        min_size=1,
        max_size=1,
        kwargs={"autocommit": True},
        open=False,
    )


async def measure(urls: Mapping[bool, str], rounds: int, exports: int | None) -> None:
    print(
        "| exports | traces of a request | root | before, µs | in parts, µs "
        "| CPU ratio (of rounds) | of PostgreSQL's "
        "| WAL before, bytes | in parts | ratio |"
    )
    print(f"|{'---|' * 10}")
    async with (
        _one_connection(urls[False]) as before,
        _one_connection(urls[True]) as after,
    ):
        for case, requests in CASES.items():
            if exports not in {None, case.exports}:
                continue
            found: list[tuple[Cost, Cost]] = []
            for number in range(rounds + 1):
                # In turn also who is first; the first round warms up.
                order = (False, True) if number % 2 else (True, False)
                cost = {
                    in_parts: await run(
                        after if in_parts else before, case, requests, in_parts=in_parts
                    )
                    for in_parts in order
                }
                found.append((cost[False], cost[True]))
            _print(case, found[1:])
            for in_parts, url in urls.items():
                empty(url, in_parts=in_parts)


def _print(case: Case, found: Sequence[tuple[Cost, Cost]]) -> None:
    ratios = sorted(new.cpu / old.cpu for old, new in found)
    postgres = median(new.postgres / old.postgres for old, new in found)
    old_wal, new_wal = (median(each[n].wal for each in found) for n in (0, 1))
    print(
        f"| {case} | {median(old.cpu for old, _ in found):,.0f} "
        f"| {median(new.cpu for _, new in found):,.0f} "
        f"| {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) "
        f"| {postgres:.2f} | {old_wal:,.0f} | {new_wal:,.0f} "
        f"| {new_wal / old_wal:.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.traces")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--exports", type=int, help="only traces of so many")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="agent-runtime-traces-") as folder,
        EmbeddedPostgres.start(Path(folder)) as server,
    ):
        urls = {each: database(server.url, in_parts=each) for each in (False, True)}
        asyncio.run(measure(urls, options.rounds, options.exports))


if __name__ == "__main__":
    main()
