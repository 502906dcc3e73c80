"""How cost grows with the log.

    python -m tests.bench.growth [--sizes 10000 100000 1000000 10000000]

A database on disk for each size, filled with sessions written straight into the log,
so that a session is an event. What the operations read has been projected, and the
tables vacuumed, before anything is measured; then each round measures all sizes in
turn, so that they can be compared whatever the machine does meanwhile.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import psycopg

from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log import aggregate_reader
from service.migrate import migrate
from service.resources import open_resources
from tests.bench import load, processes, session_log
from tests.bench.plan import changing, reads, rule_changes
from tests.bench.stage import (
    CATALOG,
    LIST,
    follow,
    import_prices,
    new_database,
)
from tests.bench.world import World, make_world
from tests.harness.service import Server

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
AGENTS = 256
REPLAYS = 100
# The followers that the measured operations read from.
FOLLOWED = ("sessions", "agents", "connectors", "provider_catalog", "users", "gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Rates per second; times in milliseconds; memory of the API process in MB."""

    commands: float
    list_pages: float
    catalogs: float
    replay_ms: float
    start_ms: float
    memory_mb: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A database of one size, and the API process that serves it."""

    url: str
    folder: Path
    world: World
    api: Server
    start_ms: float
    rules: Path
    session_list: Path
    catalog: Path

    def measure(self, seconds: float) -> Figures:
        def rate(plan: Path) -> float:
            load.closed_loop(self.api.url, plan, seconds=1)
            return load.closed_loop(self.api.url, plan, seconds=seconds).rate

        return Figures(
            commands=rate(changing(self.rules)),
            list_pages=rate(self.session_list),
            catalogs=rate(self.catalog),
            replay_ms=asyncio.run(_replay_ms(self)),
            start_ms=self.start_ms,
            memory_mb=self.api.memory_mb(),
        )


def _log_of(held: ExitStack, server_url: str, folder: Path, events: int) -> Log:
    own = folder / str(events)
    own.mkdir(mode=0o700)
    url = new_database(server_url, f"growth_{events}")
    migrate(url)
    world = asyncio.run(_fill(url, own, events))
    began = time.perf_counter()
    api = held.enter_context(processes.service(url, own))
    start_ms = (time.perf_counter() - began) * 1000
    asyncio.run(import_prices(api.url, url, own, world))
    plans = {
        "rules": rule_changes(world),
        "session_list": reads(world.admin_token, LIST),
        "catalog": reads(world.admin_token, CATALOG),
    }
    files = {name: plan.write(own / f"{name}.plan") for name, plan in plans.items()}
    return Log(url=url, folder=own, world=world, api=api, start_ms=start_ms, **files)


async def _fill(url: str, folder: Path, events: int) -> World:
    async with open_resources(url, folder) as resources:
        world = await make_world(resources, agents=AGENTS, connectors=2)
        head = (await resources.log.head()).position
    missing = max(events - head, 0)
    await asyncio.to_thread(
        session_log.write_sessions, url, sessions=missing, agent=world.agents[0]
    )
    await asyncio.to_thread(session_log.rebuild_rate, url, "sessions", events)
    await follow(url, folder, *FOLLOWED)
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("VACUUM (ANALYZE)")
        db.execute("CHECKPOINT")
    return world


async def _replay_ms(log: Log) -> float:
    """Return how long it takes to load one agent from the log, without a cache."""
    took = []
    async with (
        open_resources(log.url, log.folder) as resources,
        resources.pool.connection() as db,
    ):
        for agent in log.world.agents[:REPLAYS]:
            began = time.perf_counter()
            await aggregate_reader.load(db, resources.log.mapper, agent)
            took.append((time.perf_counter() - began) * 1000)
    return median(took)


def measured(
    sizes: Sequence[int], rounds: int, seconds: float
) -> dict[int, list[Figures]]:
    with ExitStack() as held:
        folder = Path(
            held.enter_context(
                tempfile.TemporaryDirectory(prefix="agent-runtime-growth-")
            )
        )
        postgres = held.enter_context(EmbeddedPostgres.start(folder))
        logs = {size: _log_of(held, postgres.url, folder, size) for size in sizes}
        found: dict[int, list[Figures]] = {size: [] for size in sizes}
        for number in range(rounds):
            for size in sizes if number % 2 == 0 else reversed(sizes):
                found[size].append(logs[size].measure(seconds))
        return found


def medians(figures: Sequence[Figures]) -> Figures:
    names = asdict(figures[0])
    return Figures(
        **{name: median(getattr(each, name) for each in figures) for name in names}
    )


def as_row(events: int, found: Figures) -> str:
    return (
        f"| {events:,} | {found.commands:,.0f} | {found.list_pages:,.0f} "
        f"| {found.catalogs:,.0f} | {found.replay_ms:.2f} "
        f"| {found.start_ms:,.0f} | {found.memory_mb:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--output", type=Path, help="a file for the figures as JSON")
    options = parser.parse_args()
    found = measured(sorted(options.sizes), options.rounds, options.seconds)
    print(
        "| events | operation 1 /s | list pages /s | catalogs /s | replay of one agent,"
        " ms | start, ms | memory, MB |\n|---|---|---|---|---|---|---|"
    )
    for size, figures in found.items():
        print(as_row(size, medians(figures)))
    if options.output is not None:
        every = {size: [asdict(each) for each in own] for size, own in found.items()}
        options.output.write_text(json.dumps(every, indent=1))


if __name__ == "__main__":
    main()
