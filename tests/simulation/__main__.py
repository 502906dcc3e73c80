"""Answer the questions of docs/scale.md again, and write the answers there.

    python -m tests.simulation

The same seeds and the same measured.json give the same tables.
"""

import re
from collections.abc import Iterator, Sequence
from math import isinf
from pathlib import Path
from statistics import fmean

from tests.simulation import lost_cell, questions
from tests.simulation.measured import ServiceTimes, recorded_times
from tests.simulation.moves import moves
from tests.simulation.questions import Row, interval, rounded
from tests.simulation.reads import CORES, LOADS, replicas
from tests.simulation.storm import storms

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
TABLES = re.compile(
    r"(?<=<!-- python -m tests.simulation -->\n).*(?=<!-- end -->)", re.DOTALL
)


def tables(times: ServiceTimes) -> str:
    """Return the answers as Markdown."""
    return "\n".join(
        [
            *_one_log(times),
            *_cells(times),
            *_troubles(times),
            *_reads(times),
            *_moves(times),
            *_lost_cell(times),
            "",
        ]
    )


def _table(heads: Sequence[str], rows: Sequence[Row]) -> list[str]:
    lines: list[Sequence[str]] = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def _one_log(times: ServiceTimes) -> Iterator[str]:
    yield from ("### Ceiling of one log", "")
    yield from _table(
        [
            "commit, ms",
            "writers",
            "commands a second, at most",
            "p50 at half of that, ms",
            "p99 at half of that, ms",
            "busiest at most",
        ],
        questions.ceilings(times),
    )
    yield from (
        "What three writers with commits of 2 ms reach if a service time changes:",
        "",
    )
    yield from _table(["time", "30 % less", "30 % more"], questions.sensitivity(times))


def _cells(times: ServiceTimes) -> Iterator[str]:
    yield from ("### What saturates first, and cells for 50,000 turns a second", "")
    parts = questions.parts(times)
    yield from _table(
        ["part of a cell, with commits of 2 ms", "turns a second, at most"],
        [[name, interval(found)] for name, found in parts.items()],
    )
    first = min(fmean(found) for found in parts.values())
    rows = []
    for name, factor in {"as measured": 1, "three times as fast": 3}.items():
        for largest in (0.005, 0.01, 0.05):
            found = questions.cells(factor * first, largest)
            cells = "none is large enough" if isinf(found[0]) else interval(found)
            percent = f"{rounded(largest * 100)} %"
            rows.append([name, rounded(factor * first), percent, cells])
    yield from _table(
        ["machines", "turns a second of a cell, at most", "largest tenant", "cells"],
        rows,
    )
    yield from ("### 64 cells", "")
    yield from _table(
        [
            "one core of a router for all cells, µs a request",
            "times the commands of one",
        ],
        questions.growth(times),
    )


def _troubles(times: ServiceTimes) -> Iterator[str]:
    yield from ("### A hot tenant, a fail-over, a rebuild", "")
    yield from _table(
        [
            "load of a tenant that comes on top, in a cell half full",
            "p50 of all, ms",
            "p99 of all, ms",
        ],
        questions.hot_tenant(times),
    )
    yield from _table(
        [
            "clients repeat, in a fail-over of 20 s of a cell half full",
            "requests admitted at a time",
            "requests for each command",
            "answered within 60 s after it, %",
            "the last of these after, s",
        ],
        storms(times),
    )
    yield from _table(
        ["rebuild, hours", "a million events", "100 million", "a billion"],
        questions.rebuilds(times),
    )


def _reads(times: ServiceTimes) -> Iterator[str]:
    yield from ("### Replicas for operation 4", "")
    yield from _table(
        [
            f"reading processes on a replica of {CORES + 1} cores",
            "pages of 25 sessions a second, at most",
            "busiest at most",
            *(f"p99 at {load:.0%} of that, ms" for load in LOADS),
        ],
        replicas(times),
    )


def _moves(times: ServiceTimes) -> Iterator[str]:
    yield from ("### Moving a tenant", "")
    yield from _table(
        [
            "copied in batches of",
            "events copied a second",
            "hours for 10 million",
            "the tenant's writes are refused, ms",
            "p99 of others in the other cell before, ms",
            "meanwhile, ms",
        ],
        moves(times),
    )


def _lost_cell(times: ServiceTimes) -> Iterator[str]:
    yield from ("### A cell is lost", "")
    capacity = fmean(min(questions.parts(times).values(), key=fmean))
    yield from _table(
        ["tenants of a cell", "of the one with the most", "its share of all load, %"],
        lost_cell.concerned(capacity),
    )
    yield from _table(
        [
            "what is kept, at",
            "WAL, MB a second",
            "GB a day",
            "TB a year",
            "a year copied at 200 MB a second",
            "at 1 GB a second",
        ],
        lost_cell.sizes(times, capacity),
    )
    yield from _table(
        [
            "read tables from a log of 100 million events",
            "hours until tools can be used",
            "until a table is there, on average",
            "until all are",
        ],
        lost_cell.orders(times),
    )


def in_page() -> str:
    """Return the tables that docs/scale.md has."""
    found = TABLES.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    return found[0]


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    made = tables(recorded_times())
    PAGE.write_text(TABLES.sub(lambda _: made, page), encoding="utf-8")


if __name__ == "__main__":
    main()
