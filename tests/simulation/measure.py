"""Measure the real system's service times, and write them where the model reads them.

    python -m tests.simulation.measure [requests] [followers] [sessions]

Everything runs on a PostgreSQL of its own, through the service's own code. Times are
CPU times, which other work on the machine changes less than times by the clock; a
commit is timed by the clock. Linux alone tells the CPU time of another process to the
nanosecond.
"""

import argparse
import os
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Any

import psycopg
import pytest
import uvloop

from projections.catalog import PROJECTORS
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.log import EventLog
from service.migrate import migrate
from tests.bench import session_log
from tests.bench.stage import follow_to_the_end, new_database
from tests.bench.world import World
from tests.simulation.measure_followers import follower_times
from tests.simulation.measure_http import http_times
from tests.simulation.measure_sessions import bytes_of_turn, page_times
from tests.simulation.real import Caller, caller_of, closed_loops, cpu_of, noted
from tests.simulation.service_times import BatchTime, Spread, record, recorded
from tests.time_limits import raise_limits

EACH = 5
SECONDS = 1.0
CALLERS = (1, 8, 32, 128)
COMMITS = 400
COMMIT = "SELECT pg_logical_emit_message(true, 'agent_runtime', '')"
REBUILT = ("sessions", "audit_trail")
REBUILDS = 4


async def batch_times(log: EventLog, caller: Caller) -> tuple[BatchTime, BatchTime]:
    """Time batches of closed loops: the event loop's work, and PostgreSQL's."""
    server = log._writer._connection.backend  # noqa: SLF001 # its process
    assert server is not None
    cpu: dict[float, list[float]] = {}
    database: dict[float, list[float]] = {}
    for callers in CALLERS:
        found = []
        sizes: list[float] = []
        for _ in range(EACH):
            began = time.thread_time(), cpu_of(server.pid)
            with noted() as (batches, _waits):
                await closed_loops([log], [caller], callers, SECONDS)
            loop_s, database_s = time.thread_time(), cpu_of(server.pid)
            found.append(
                [
                    (loop_s - began[0]) / len(batches),
                    (database_s - began[1]) / len(batches),
                ]
            )
            sizes += batches
        size = fmean(sizes)
        cpu[size] = [each for each, _ in found]
        database[size] = [each for _, each in found]
    return BatchTime.fit(cpu), BatchTime.fit(database)


async def commands(url: str, folder: Path) -> tuple[BatchTime, BatchTime, World]:
    """Time commands of operation 1 without HTTP."""
    async with caller_of(url, folder) as (caller, resources):
        command, append = await batch_times(resources.log, caller)
        # The API reads their tables.
        await follow_to_the_end(resources, PROJECTORS)
        return command, append, caller.world


def commit_time(url: str) -> Spread:
    """Time commits of next to nothing, by the clock."""
    took = []
    with psycopg.connect(url, autocommit=True) as connection:
        for _ in range(COMMITS):
            began = time.perf_counter()
            connection.execute(COMMIT, prepare=True)
            took.append(time.perf_counter() - began)
    return Spread.of(took)


def rebuild_time(url: str, name: str, events: int) -> Spread:
    """Time Python's work of a rebuild, during which PostgreSQL works, too."""
    took = []
    for _ in range(REBUILDS):
        began = time.process_time()
        session_log.rebuild_rate(url, name, events)
        took.append((time.process_time() - began) / events)
    return Spread.of(took)


def requests(url: str, folder: Path) -> dict[str, Any]:
    commit = commit_time(url)
    command, append, world = uvloop.run(commands(url, folder))
    http = http_times(url, folder, world, command)
    return {
        "command": asdict(command),
        "append": asdict(append),
        "commit": asdict(commit),
        "http": {name: asdict(each) for name, each in http.items()},
    }


def followers(url: str, folder: Path) -> dict[str, Any]:
    found, events = uvloop.run(follower_times(url, folder))
    return {
        "followers": {name: asdict(each) for name, each in found.items()},
        "rebuild": {name: asdict(rebuild_time(url, name, events)) for name in REBUILT},
    }


def sessions(url: str, folder: Path) -> dict[str, Any]:
    page, world = page_times(url, folder)
    return {
        "page": {name: asdict(each) for name, each in page.items()},
        "bytes_of_turn": bytes_of_turn(url, folder, world),
    }


PARTS = {"requests": requests, "followers": followers, "sessions": sessions}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.measure")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="agent-runtime-times-") as name,
        EmbeddedPostgres.start(Path(name)) as postgres,
    ):
        raise_limits(patch)
        for part in parser.parse_args().parts or PARTS:
            url, folder = new_database(postgres.url, part), Path(name) / part
            migrate(url)
            folder.mkdir(mode=0o700)
            load = os.getloadavg()[0]
            found = PARTS[part](url, folder)
            loads = {part: [round(each, 1) for each in (load, os.getloadavg()[0])]}
            known = recorded()
            record(
                {
                    "loads": known.get("loads", {}) | loads,
                    "times": known.get("times", {}) | found,
                }
            )


if __name__ == "__main__":
    main()
