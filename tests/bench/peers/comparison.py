"""Two services that get the same load in turn: rate, CPU of a request, p99."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import psycopg

from tests.bench import load
from tests.bench.plan import changing
from tests.bench.stage import Stage

WARM_UP_S = 2.0
HEAD = (
    "| ours | theirs | rate | CPU of a request | p99 | requests a second"
    " | CPU, µs | rate to reach |\n|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True)
class Measured:
    rate: float
    cpu_s: float
    p99_ms: float


# Load a service for so many seconds.
Measure = Callable[[float], Measured]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Something of ours beside something of a peer; ``target`` is of their rates."""

    ours_is: str
    theirs_is: str
    ours: Measure
    theirs: Measure
    target: float | None = None


# Yields comparisons, each to be measured before the next one is asked for.
Peer = Callable[[Stage], Generator[Comparison, None, None]]


@dataclass(frozen=True, slots=True)
class Result:
    """Rounds of both; ratios are ours divided by theirs."""

    compared: Comparison
    ours: Sequence[Measured]
    theirs: Sequence[Measured]

    def row(self) -> str:
        """Return a row of the table, in Markdown; figures without ratio are medians."""
        target = self.compared.target
        cells = [
            self.compared.ours_is,
            self.compared.theirs_is,
            *(self._ratio(name) for name in ("rate", "cpu_s", "p99_ms")),
            " / ".join(
                f"{median(each.rate for each in side):,.0f}"
                for side in (self.ours, self.theirs)
            ),
            " / ".join(
                f"{median(each.cpu_s for each in side) * 1e6:,.0f}"
                for side in (self.ours, self.theirs)
            ),
            "-" if target is None else f"{target:g}",
        ]
        return f"| {' | '.join(cells)} |"

    def _ratio(self, name: str) -> str:
        ratios = sorted(
            getattr(ours, name) / getattr(theirs, name)
            for ours, theirs in zip(self.ours, self.theirs, strict=True)
        )
        return f"{median(ratios):.3g} ({ratios[0]:.3g} to {ratios[-1]:.3g})"


def run(compared: Comparison, *, rounds: int, seconds: float) -> Result:
    """Measure both in each round, in alternating order."""
    sides = (compared.ours, compared.theirs)
    found: tuple[list[Measured], list[Measured]] = ([], [])
    for side in sides:
        side(WARM_UP_S)
    for number in range(rounds):
        for index in (0, 1) if number % 2 == 0 else (1, 0):
            found[index].append(sides[index](seconds))
    return Result(compared, *found)


def requests(
    url: str,
    plan: Path,
    processes: Sequence[psutil.Process],
    *,
    connections: int = load.CONNECTIONS,
    seconds_min: float = 0,
) -> Measure:
    """Return the measure of a service that gets the requests of a plan.

    The CPU time is that of ``processes`` and of all that they have started.
    """

    def measure(seconds: float) -> Measured:
        before = cpu_s(processes)
        lasting = max(seconds, seconds_min)
        changing(plan)
        done = load.closed_loop(url, plan, seconds=lasting, connections=connections)
        used = cpu_used(before, cpu_s(processes))
        return Measured(done.rate, used / done.requests, done.p99_ms)

    return measure


def cpu_s(processes: Sequence[psutil.Process]) -> dict[int, float]:
    """Return the CPU time of processes and of all that they have started, by id."""
    used = {}
    for root in processes:
        for each in (root, *root.children(recursive=True)):
            try:
                times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            used[each.pid] = times.user + times.system
    return used


def cpu_used(before: dict[int, float], after: dict[int, float]) -> float:
    return sum(used - before.get(pid, 0.0) for pid, used in after.items())


def postgres(database_url: str) -> psutil.Process:
    """Return the process whose children serve a database on this machine."""
    with psycopg.connect(database_url) as db:
        parent: psutil.Process | None = psutil.Process(db.info.backend_pid).parent()
    assert parent is not None
    return parent
