"""How cost grows with the log, and with what a single thing holds.

    python -m tests.bench.growth [--sizes 10000 100000 1000000 10000000]

One database on disk grows from size to size, by sessions written straight into the
log, so that a session is an event. The list's projection has read all of them before
anything is measured.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from projections.catalog import PROJECTORS
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log import aggregate_reader
from service.migrate import migrate
from service.resources import open_resources
from tests.bench import load, processes, session_log
from tests.bench.plan import Plan, reads, rule_changes
from tests.bench.stage import CATALOG, LIST, follow_to_the_end, import_prices
from tests.bench.world import World, make_world
from tests.harness.service import Server

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
AGENTS = 256
REPLAYS = 100
# The followers that the measured operations read from.
FOLLOWED = ("sessions", "agents", "connectors", "provider_catalog", "users")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Rates per second; times in milliseconds; memory of the API process in MB."""

    events: int
    commands: float
    list_pages: float
    catalogs: float
    replay_ms: float
    start_ms: float
    memory_mb: float


def measure(
    url: str, folder: Path, world: World, events: int, seconds: float
) -> Figures:
    _grow(url, folder, world, events)
    replay_ms = asyncio.run(_replay_ms(url, folder, world))
    began = time.perf_counter()
    with processes.service(url, folder) as api:
        start_ms = (time.perf_counter() - began) * 1000
        ask = _asking(api, folder, seconds)
        return Figures(
            events=events,
            commands=ask(rule_changes(world)),
            list_pages=ask(reads(world.admin_token, LIST)),
            catalogs=ask(reads(world.token, CATALOG)),
            replay_ms=replay_ms,
            start_ms=start_ms,
            memory_mb=api.memory_mb(),
        )


def _asking(api: Server, folder: Path, seconds: float) -> Callable[[Plan], float]:
    def ask(plan: Plan) -> float:
        file = plan.write(folder / "growth.plan")
        load.closed_loop(api.url, file, seconds=1)
        return load.closed_loop(api.url, file, seconds=seconds).rate

    return ask


def _grow(url: str, folder: Path, world: World, events: int) -> None:
    async def head() -> int:
        async with open_resources(url, folder) as resources:
            return (await resources.log.head()).position

    missing = events - asyncio.run(head())
    if missing > 0:
        session_log.write_sessions(url, sessions=missing, agent=world.agents[0])
    asyncio.run(_follow(url, folder))


async def _follow(url: str, folder: Path) -> None:
    async with open_resources(url, folder) as resources:
        await follow_to_the_end(
            resources, [each for each in PROJECTORS if each.name in FOLLOWED]
        )


async def _replay_ms(url: str, folder: Path, world: World) -> float:
    """Return how long it takes to load one agent from the log, without a cache."""
    took = []
    async with (
        open_resources(url, folder) as resources,
        resources.pool.connection() as db,
    ):
        for agent in world.agents[:REPLAYS]:
            began = time.perf_counter()
            await aggregate_reader.load(db, resources.log.mapper, agent)
            took.append((time.perf_counter() - began) * 1000)
    return median(took)


async def _fill(url: str, folder: Path) -> World:
    async with open_resources(url, folder) as resources:
        world = await make_world(resources, agents=AGENTS, connectors=2)
        await follow_to_the_end(resources, PROJECTORS)
    with processes.service(url, folder) as api:
        await import_prices(api.url, url, folder, world)
    return world


def grown(sizes: list[int], seconds: float) -> Iterator[Figures]:
    with (
        tempfile.TemporaryDirectory(prefix="agent-runtime-growth-") as name,
        EmbeddedPostgres.start(Path(name)) as postgres,
    ):
        folder = Path(name) / "api"
        folder.mkdir(mode=0o700)
        migrate(postgres.url)
        world = asyncio.run(_fill(postgres.url, folder))
        for size in sizes:
            yield measure(postgres.url, folder, world, size, seconds)


def as_row(figures: Figures) -> str:
    return (
        f"| {figures.events:,} | {figures.commands:,.0f} | {figures.list_pages:,.0f} "
        f"| {figures.catalogs:,.0f} | {figures.replay_ms:.2f} "
        f"| {figures.start_ms:,.0f} | {figures.memory_mb:,.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.growth")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--output", type=Path, help="a file for the figures as JSON")
    options = parser.parse_args()
    print(
        "| events | operation 1 /s | list pages /s | catalogs /s | replay of one agent,"
        " ms | start, ms | memory, MB |\n|---|---|---|---|---|---|---|",
        flush=True,
    )
    found = []
    for figures in grown(sorted(options.sizes), options.seconds):
        found.append(asdict(figures))
        print(as_row(figures), flush=True)
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
