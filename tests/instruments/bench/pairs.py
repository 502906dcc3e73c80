"""What is measured against what, and what it must reach.

A measure returns a rate per second. Those that have a target of their own, rather
than an opponent, are in milliseconds.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.instruments.bench import library, load, pgbench, processes, session_log
from tests.instruments.bench.lag import LagSampler
from tests.instruments.bench.plan import changing
from tests.instruments.bench.stage import Stage

EVENTS_PER_S = 3000
HALF = 0.5
Measure = Callable[[Stage, float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``ours`` divided by ``against`` must reach ``target``; names of measures."""

    name: str
    what: str
    opponent: str
    ours: str
    against: str
    target: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A figure in milliseconds that must stay below ``target``."""

    name: str
    what: str
    measure: str
    target: float


def replace_rules(stage: Stage, seconds: float) -> float:
    plan = changing(stage.rules)
    return load.closed_loop(stage.api.url, plan, seconds=seconds).rate


def bare_rules(stage: Stage, seconds: float) -> float:
    return load.closed_loop(stage.bare_rules.url, stage.rules, seconds=seconds).rate


def library_commands(stage: Stage, seconds: float) -> float:
    return library.measure("commands", stage.library_url, seconds)


def inserts(stage: Stage, seconds: float) -> float:
    return pgbench.insert_rate(stage.database_url, stage.insert, seconds)


def two_processes(stage: Stage, seconds: float) -> float:
    """Drive two API processes over one log, half of the connections each."""
    with (
        processes.service(stage.database_url, stage.folder / "rules") as second,
        ThreadPoolExecutor(2) as pool,
    ):
        # The second one's cache is cold.
        for duration in (1.0, seconds):
            plans = {
                stage.api.url: changing(stage.rules),
                second.url: changing(stage.other_rules),
            }
            loads = pool.map(
                lambda each, duration=duration: load.closed_loop(
                    *each, seconds=duration, connections=load.CONNECTIONS // 2
                ),
                plans.items(),
            )
            rate = sum(each.rate for each in loads)
    return rate


def catalog(stage: Stage, seconds: float) -> float:
    return load.closed_loop(stage.api.url, stage.catalog, seconds=seconds).rate


def bare_catalog(stage: Stage, seconds: float) -> float:
    return load.closed_loop(stage.bare_catalog.url, stage.catalog, seconds=seconds).rate


def served_rules(stage: Stage, seconds: float) -> float:
    plan = changing(stage.served_rules)
    return load.closed_loop(stage.served.url, plan, seconds=seconds).rate


def served_catalog(stage: Stage, seconds: float) -> float:
    return load.closed_loop(
        stage.served.url, stage.served_catalog, seconds=seconds
    ).rate


def session_list(stage: Stage, seconds: float) -> float:
    url = stage.sessions_api.url
    return load.closed_loop(url, stage.session_list, seconds=seconds).rate


def bare_list(stage: Stage, seconds: float) -> float:
    url = stage.bare_list.url
    return load.closed_loop(url, stage.session_list, seconds=seconds).rate


def rebuilt(stage: Stage, _seconds: float) -> float:
    return session_log.rebuild_rate(stage.sessions_url, "sessions", stage.size.sessions)


def library_projection(stage: Stage, _seconds: float) -> float:
    return library.measure("projection", stage.library_url, stage.size.sample)


def half_rate_p99(stage: Stage, seconds: float) -> float:
    """Return the latency at half of the rate that is reached just now."""
    most = replace_rules(stage, seconds)
    return load.generated(
        stage.api.url, changing(stage.rules), seconds=seconds, rate=most * HALF
    ).p99_ms


def lag_p99(stage: Stage, seconds: float) -> float:
    """Return the lag of the slowest projection; the followers are another process."""
    with (
        processes.followers(stage.database_url, stage.folder / "rules"),
        LagSampler(stage.database_url) as sampler,
    ):
        sampler.wait_until_caught_up()
        plan = changing(stage.rules)
        load.generated(stage.api.url, plan, seconds=seconds, rate=EVENTS_PER_S)
    return sampler.p99_ms()


MEASURES: Mapping[str, Measure] = {
    each.__name__: each
    for each in (
        replace_rules,
        bare_rules,
        library_commands,
        inserts,
        two_processes,
        catalog,
        bare_catalog,
        served_rules,
        served_catalog,
        session_list,
        bare_list,
        rebuilt,
        library_projection,
        half_rate_p99,
        lag_p99,
    )
}
OPERATION_1 = "operation 1: three rules replaced, one process, 64 connections"
PAIRS = (
    Pair(
        name="command against bare HTTP",
        what=OPERATION_1,
        opponent="bare aiohttp + uvloop, parsing and answering the same bytes",
        ours="replace_rules",
        against="bare_rules",
        target=0.25,
    ),
    Pair(
        name="command of plain serve against bare HTTP",
        what="operation 1 of plain `serve`, 64 connections",
        opponent="bare aiohttp + uvloop, parsing and answering the same bytes",
        ours="served_rules",
        against="bare_rules",
        target=0.2,
    ),
    Pair(
        name="command against the library",
        what=OPERATION_1,
        opponent="`eventsourcing`: Application and its recorder, 16 threads, no HTTP",
        ours="replace_rules",
        against="library_commands",
        target=6,
    ),
    Pair(
        name="command against pgbench",
        what=OPERATION_1,
        opponent="pgbench: one INSERT of the same bytes a transaction, 32 clients",
        ours="replace_rules",
        against="inserts",
        target=0.3,
    ),
    Pair(
        name="two processes",
        what="operation 1 on two API processes over one database",
        opponent="one process",
        ours="two_processes",
        against="replace_rules",
        target=1,
    ),
    Pair(
        name="catalog against bare HTTP",
        what="operation 5: the real catalog, warm",
        opponent="bare aiohttp + uvloop, answering the same bytes",
        ours="catalog",
        against="bare_catalog",
        target=0.85,
    ),
    Pair(
        name="catalog of plain serve against bare HTTP",
        what="operation 5 of plain `serve`: the real catalog, warm",
        opponent="bare aiohttp + uvloop, answering the same bytes",
        ours="served_catalog",
        against="bare_catalog",
        target=0.8,
    ),
    Pair(
        name="list against bare SQL",
        what="operation 4: 25 of the newest sessions, no trace store",
        opponent="the same SQL in a bare handler, rendered in Python",
        ours="session_list",
        against="bare_list",
        target=1.2,
    ),
    Pair(
        name="rebuild against the library",
        what="rebuild of the session list's tables",
        opponent="`eventsourcing`: ProjectionRunner, on a sample",
        ours="rebuilt",
        against="library_projection",
        target=20,
    ),
)
LIMITS = (
    Limit(
        name="latency at half rate",
        what="operation 1 at half of its rate: 99th percentile, ms",
        measure="half_rate_p99",
        target=12,
    ),
    Limit(
        name="projection lag",
        what=f"lag of the slowest projection at {EVENTS_PER_S} events/s: "
        "99th percentile, ms",
        measure="lag_p99",
        target=50,
    ),
)
