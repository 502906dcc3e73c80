"""The questions of docs/scale.md, answered by the simulation, each with some seeds."""

import heapq
from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean, stdev

from tests.simulation.cell import (
    Cell,
    ceiling,
    follower_ceiling,
    loaded,
    many,
)
from tests.simulation.measured import ServiceTimes
from tests.simulation.service_times import Spread

SEEDS = (1, 2, 3, 4, 5)
# Student's t for 95 %, of five seeds.
T = 2.776
COMMIT_S = 0.002
COMMITS_MS = (0.5, 2, 10)
WRITERS = (1, 2, 3)
BATCH_MAX = 256
SLOWEST = ("sessions", "audit_trail", "usage", "merkle_tree")
TURNS = 50_000
TENANTS = 10_000
EXACT = 1e-4
HEADROOM = 0.7
ROUTERS_US = (0, 10, 40)
REBUILD_STEPS = 50

Row = list[str]


def interval(found: Sequence[float]) -> str:
    """Return the mean, and after ± half of its interval of 95 %."""
    half = T * stdev(found) / len(found) ** 0.5
    return f"{rounded(fmean(found))} ± {rounded(half, 2)}"


def rounded(value: float, digits: int = 3) -> str:
    text = f"{float(f'{value:.{digits}g}'):,.10f}".rstrip("0").rstrip(".")
    return text or "0"


def over_seeds(answer: Callable[[int], float]) -> list[float]:
    return [answer(seed) for seed in SEEDS]


def ceilings(times: ServiceTimes) -> list[Row]:
    """Answer how much one log takes, by commit latency and writers."""
    rows = []
    for milliseconds in COMMITS_MS:
        given = times.with_commits_of(milliseconds / 1000)
        for writers in WRITERS:
            cells = [ceiling(seed, given, writers=writers) for seed in SEEDS]
            rates = [cell.rate for cell in cells]
            half = fmean(rates) / 2
            waits = [loaded(seed, given, half, writers=writers) for seed in SEEDS]
            rows.append(
                [
                    rounded(milliseconds),
                    str(writers),
                    interval(rates),
                    interval([each.percentile(0.5) * 1000 for each in waits]),
                    interval([each.percentile(0.99) * 1000 for each in waits]),
                    _busiest(cells),
                ]
            )
    return rows


def _busiest(cells: Sequence[Cell]) -> str:
    busy = {
        name: fmean(cell.busy()[name] for cell in cells) for name in cells[0].busy()
    }
    name = max(busy, key=lambda name: busy[name])
    return f"{name}, {min(busy[name], 1):.0%}"


def sensitivity(times: ServiceTimes) -> list[Row]:
    """Answer what more or less of one service time does to three writers' ceiling."""
    usual = times.with_commits_of(COMMIT_S)

    def rates(given: ServiceTimes) -> list[float]:
        return over_seeds(lambda seed: ceiling(seed, given, writers=3).rate)

    base = rates(usual)
    changes: dict[str, Callable[[float], ServiceTimes]] = {
        "HTTP": lambda factor: usual.changed(
            http={name: each.times(factor) for name, each in usual.http.items()}
        ),
        "deciding": lambda factor: usual.changed(command=usual.command.times(factor)),
        "append": lambda factor: usual.changed(append=usual.append.times(factor)),
        "commit": lambda factor: usual.changed(commit=usual.commit.times(factor)),
    }
    return [
        [
            name,
            *(
                interval(
                    [a / b for a, b in zip(rates(change(factor)), base, strict=True)]
                )
                for factor in (0.7, 1.3)
            ),
        ]
        for name, change in changes.items()
    ]


def parts(times: ServiceTimes) -> dict[str, list[float]]:
    """Answer how many turns a second each part of a cell takes."""
    given = times.with_commits_of(COMMIT_S)

    def full_batches(seed: int) -> float:
        random = Random(seed)
        took = [
            given.append.draw(random, BATCH_MAX) + given.commit.draw(random)
            for _ in range(200)
        ]
        return BATCH_MAX / fmean(took)

    def by_itself(name: str) -> list[float]:
        return over_seeds(lambda seed: follower_ceiling(seed, given, [name]))

    return {
        "three API processes": over_seeds(
            lambda seed: ceiling(seed, given, writers=3, request="turn").rate
        ),
        "the lock, with full batches": over_seeds(full_batches),
        "all followers, in one process": over_seeds(
            lambda seed: follower_ceiling(seed, given)
        ),
        **{f"of these, `{name}` by itself": by_itself(name) for name in SLOWEST},
    }


def cells(capacity: float, largest: float) -> list[float]:
    """Answer how many cells 50,000 turns a second need, by the largest tenant."""
    return over_seeds(lambda seed: _cells_for(seed, capacity, largest))


def _cells_for(seed: int, capacity: float, largest: float) -> float:
    return len(spread_over(seed, capacity, largest)) or float("inf")


def spread_over(seed: int, capacity: float, largest: float) -> list[list[float]]:
    """Return the loads of the tenants of each cell; none if no number is enough.

    They are the fewest cells of which none has more than 70 % of what it can take.
    Tenants are distributed by Zipf, with an exponent that gives the largest its share,
    and each is put where the load is least when it comes: nobody knows beforehand how
    large it gets.
    """
    random = Random(seed)
    loads = [TURNS * share for share in _zipf(largest)]
    random.shuffle(loads)
    if max(loads) > HEADROOM * capacity:
        return []
    cells = max(int(TURNS / (HEADROOM * capacity)), 1)
    while max(map(sum, spread := _spread(loads, cells))) > HEADROOM * capacity:
        cells += 1
    return spread


def _zipf(largest: float) -> list[float]:
    low, high = 0.0, 2.0
    while True:
        exponent = (low + high) / 2
        weights = [rank**-exponent for rank in range(1, TENANTS + 1)]
        share = 1 / sum(weights)
        if high - low < EXACT:
            return [share * each for each in weights]
        low, high = (exponent, high) if share < largest else (low, exponent)


def _spread(loads: Sequence[float], cells: int) -> list[list[float]]:
    found: list[list[float]] = [[] for _ in range(cells)]
    heap = [(0.0, number) for number in range(cells)]
    for load in loads:
        total, number = heap[0]
        found[number].append(load)
        heapq.heapreplace(heap, (total + load, number))
    return found


def growth(times: ServiceTimes) -> list[Row]:
    """Answer how many times the commands of one cell 64 cells take, by their router."""
    given = times.with_commits_of(COMMIT_S)
    one = fmean(over_seeds(lambda seed: many(seed, given, 1, 2.0)))

    def grown(router_s: float) -> list[float]:
        return over_seeds(lambda seed: many(seed, given, 64, 0.35, router_s) / one)

    return [[rounded(each), interval(grown(each / 1e6))] for each in ROUTERS_US]


def hot_tenant(times: ServiceTimes) -> list[Row]:
    """Answer what neighbours notice of a tenant that grows, in a cell half full."""
    given = times.with_commits_of(COMMIT_S)
    full = fmean(over_seeds(lambda seed: ceiling(seed, given, writers=1).rate))
    rows = []
    for share in (0, 0.05, 0.3, 0.6):
        answers = [
            loaded(seed, given, full * (0.5 + share), writers=1, seconds=2)
            for seed in SEEDS
        ]
        rows.append(
            [
                f"{share:.0%}",
                interval([each.percentile(0.5) * 1000 for each in answers]),
                interval([each.percentile(0.99) * 1000 for each in answers]),
            ]
        )
    return rows


def rebuilds(times: ServiceTimes) -> list[Row]:
    """Answer how many hours a rebuild takes, by the length of the log."""

    def hours(seed: int, time: Spread, events: int) -> float:
        random = Random(seed)
        drawn = fmean(time.draw(random) for _ in range(REBUILD_STEPS))
        return drawn * events / 3600

    return [
        [
            f"`{name}`",
            *(
                interval([hours(seed, time, events) for seed in SEEDS])
                for events in (10**6, 10**8, 10**9)
            ),
        ]
        for name, time in times.rebuild.items()
    ]
