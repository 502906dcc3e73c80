"""What a command waits for when several API processes share one log.

    python -m tests.bench.writers [--rates 100 400 850] [--rounds 5]

A commit takes 2 ms, as with a synchronous standby in the next zone. One process gets
all commands; then it has three more beside it, which only read, as docs/operations.md
recommends; then the commands are divided among as many writers as a log allows, beside
one process that reads.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psycopg

from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.writer_slots import WRITERS_MAX
from service.migrate import migrate
from tests.bench import load, processes
from tests.bench.plan import changing, reads, rule_changes
from tests.bench.stage import AGENTS, CATALOG, fill

RATES = (100, 400, 850)
READS_PER_S = 25
READERS = 3
SLOW_COMMITS = (
    "ALTER SYSTEM SET commit_delay = 2000",
    "ALTER SYSTEM SET commit_siblings = 0",
    "SELECT pg_reload_conf()",
)
ALONE = "one process"
WITH_READERS = "one writer, three that read"
WRITERS = "three writers, one that reads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The URL of each process, and a file of requests for each."""

    writers: Mapping[str, Path]
    readers: Mapping[str, Path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of the commands: the median latency in milliseconds, and the rate reached."""

    p50_ms: float
    rate: float


def _measure(stage: Stage, shape: str, rate: float, seconds: float) -> Figures:
    writers = list(stage.writers)[: WRITERS_MAX if shape == WRITERS else 1]
    readers = list(stage.readers)[: {ALONE: 0, WRITERS: 1}.get(shape, READERS)]
    with ThreadPoolExecutor(len(writers) + len(readers)) as pool:
        reading = [
            pool.submit(
                load.generated,
                *(url, stage.readers[url]),
                seconds=seconds,
                connections=4,
                rate=READS_PER_S,
            )
            for url in readers
        ]
        writing = [
            pool.submit(
                load.generated,
                *(url, changing(stage.writers[url])),
                seconds=seconds,
                connections=load.CONNECTIONS // len(writers),
                rate=rate / len(writers),
            )
            for url in writers
        ]
        for each in reading:
            each.result()
        found = [each.result() for each in writing]
    return Figures(
        p50_ms=sum(each.p50_ms * each.requests for each in found)
        / sum(each.requests for each in found),
        rate=sum(each.rate for each in found),
    )


def _set_up(held: ExitStack) -> Stage:
    folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="writers-")))
    postgres = held.enter_context(EmbeddedPostgres.start(folder))
    migrate(postgres.url)
    world = asyncio.run(fill(postgres.url, folder))
    with psycopg.connect(postgres.url, autocommit=True) as db:
        for statement in SLOW_COMMITS:
            db.execute(statement)
    writers, readers = {}, {}
    for number in range(WRITERS_MAX):
        api = held.enter_context(processes.service(postgres.url, folder))
        plan = rule_changes(world, offset=number * AGENTS // WRITERS_MAX)
        writers[api.url] = plan.write(folder / f"writer{number}.plan")
    plan = reads(world.admin_token, CATALOG)
    for number in range(READERS):
        api = held.enter_context(
            processes.service(postgres.url, folder, options=["--reads-only"])
        )
        readers[api.url] = plan.write(folder / f"reader{number}.plan")
    return Stage(writers=writers, readers=readers)


def measured(
    rates: Sequence[int], rounds: int, seconds: float
) -> Iterator[tuple[int, Mapping[str, list[Figures]]]]:
    with ExitStack() as held:
        stage = _set_up(held)
        # The caches of all writers are cold.
        _measure(stage, WRITERS, min(rates), seconds)
        for rate in rates:
            found: dict[str, list[Figures]] = {}
            for _ in range(rounds):
                for shape in (ALONE, WITH_READERS, WRITERS):
                    figures = _measure(stage, shape, rate, seconds)
                    found.setdefault(shape, []).append(figures)
            yield rate, found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.writers")
    parser.add_argument("--rates", type=int, nargs="+", default=RATES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    print("| commands a second | processes | reached | p50, ms | of one's |")
    print("|---|---|---|---|---|")
    for rate, found in measured(options.rates, options.rounds, options.seconds):
        for shape, figures in found.items():
            ratios = [
                each.p50_ms / alone.p50_ms
                for each, alone in zip(figures, found[ALONE], strict=True)
            ]
            print(
                f"| {rate:,} | {shape} | {median(each.rate for each in figures):,.0f} "
                f"| {median(each.p50_ms for each in figures):.1f} "
                f"| {median(ratios):.2f} ({min(ratios):.2f}, {max(ratios):.2f}) |",
                flush=True,
            )


if __name__ == "__main__":
    main()
