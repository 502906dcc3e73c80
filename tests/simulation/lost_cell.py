"""A cell is lost with all of its machines: whom it concerns, and what comes back when.

And how many bytes a cell keeps, which decides how it can come back.
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from statistics import fmean

from projections.engine.follower import BATCH_EVENTS_MAX
from tests.simulation.measured import ServiceTimes
from tests.simulation.questions import (
    HEADROOM,
    SEEDS,
    TURNS,
    Row,
    interval,
    rounded,
    spread_over,
)

LARGEST = 0.005
EVENTS = 10**8
YEAR_S = 365.25 * 86_400
COPIED_BYTES_PER_S = (200e6, 1e9)
# Read tables without which nobody can work with tools.
TOOLS = ("users", "agents", "connectors", "tool_rules", "gateway")

Order = Callable[[Mapping[str, float]], Sequence[str]]
ORDERS: Mapping[str, Order] = {
    "longest first": lambda took: sorted(took, key=lambda name: -took[name]),
    "shortest first": lambda took: sorted(took, key=lambda name: took[name]),
}


def concerned(capacity: float) -> list[Row]:
    """Answer how many tenants a cell has, and how much of the load."""

    def of_cell(seed: int) -> tuple[float, float, float]:
        cells = spread_over(seed, capacity, LARGEST)
        counts = [len(each) for each in cells]
        return fmean(counts), max(counts), max(sum(each) for each in cells) / TURNS

    mean, most, share = zip(*(of_cell(seed) for seed in SEEDS), strict=True)
    return [[interval(mean), interval(most), interval([each * 100 for each in share])]]


def rebuild_s(seed: int, times: ServiceTimes, events: int) -> dict[str, float]:
    """Return how long each follower takes to read a log again, by itself."""
    random, took = Random(seed), {}
    for name, each in times.followers.items():
        steps = [
            each.cpu.draw(random, BATCH_EVENTS_MAX)
            + each.database.draw(random, BATCH_EVENTS_MAX)
            for _ in range(50)
        ]
        took[name] = fmean(steps) / BATCH_EVENTS_MAX * events
    return took


def orders(times: ServiceTimes) -> list[Row]:
    """Answer when read tables are back, by the order in which they are built."""

    def hours(name: str, seed: int) -> tuple[float, float, float]:
        took = rebuild_s(seed, times, EVENTS)
        if name == "all at once":
            return at_once(took)
        ready, now = {}, 0.0
        for each in ORDERS[name](took):
            now += took[each]
            ready[each] = now
        return _summary(ready)

    rows = []
    for name in (*ORDERS, "all at once"):
        found = [hours(name, seed) for seed in SEEDS]
        rows.append([name, *map(interval, zip(*found, strict=True))])
    return rows


def at_once(took: Mapping[str, float]) -> tuple[float, float, float]:
    """Let all share one event loop fairly: the shortest is there first."""
    ready, now, done = {}, 0.0, 0.0
    left = sorted(took, key=lambda name: took[name])
    for number, name in enumerate(left):
        now += (took[name] - done) * (len(left) - number)
        done = took[name]
        ready[name] = now
    return _summary(ready)


def _summary(ready: Mapping[str, float]) -> tuple[float, float, float]:
    """Return hours: until tools can be used, on average, until all are there."""
    tools = max(ready[name] for name in TOOLS)
    return tools / 3600, fmean(ready.values()) / 3600, max(ready.values()) / 3600


def sizes(times: ServiceTimes, capacity: float) -> list[Row]:
    """Answer the bytes of a year, and how long it takes to copy those of a cell."""
    rows = []
    for name, turns in {
        "a cell, 70 % full": HEADROOM * capacity,
        "50,000 turns a second": float(TURNS),
    }.items():
        kept = times.bytes_of_turn["log"] + times.bytes_of_turn["read tables"]
        a_year = turns * YEAR_S * kept
        copied = [
            f"{rounded(a_year / rate / 3600)} h" if turns < TURNS else ""
            for rate in COPIED_BYTES_PER_S
        ]
        rows.append(
            [
                name,
                rounded(turns * times.bytes_of_turn["WAL"] / 1e6),
                rounded(turns * 86_400 * kept / 1e9),
                rounded(a_year / 1e12),
                *copied,
            ]
        )
    return rows
