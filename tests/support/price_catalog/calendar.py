"""A plain model of a model's prices: one cell for each day, the last one endless."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.support.price_catalog.prices import day

DAYS = 12
MICROSECOND = timedelta(microseconds=1)


@dataclass
class Calendar:
    """Says for each day which price holds; None for none.

    Written from the rules alone: each method returns whether the rules allow the
    step, and takes it if they do. Day ``DAYS`` stands for all that follow.
    """

    cells: list[int | None] = field(default_factory=lambda: [None] * (DAYS + 1))

    def set(self, version: int, start: int, end: int | None) -> bool:
        stop = DAYS + 1 if end is None else end
        if stop <= start:
            return False
        taken = {self._run(each) for each in range(start, stop) if self.cells[each]}
        if taken:
            [*others, (first, last)] = sorted(taken)
            if others or last != DAYS + 1 or first >= start:
                return False
            self._fill(start, DAYS + 1, None)
        self._fill(start, stop, version)
        return True

    def end(self, version: int, at: int) -> bool:
        runs = self._runs(version)
        if not runs:
            return False
        first, last = runs[-1]
        if not first <= at <= last or (at == last == DAYS + 1):
            return False
        self._fill(at, last, None)
        return True

    def correct(
        self, corrects: int, version: int, start: int | None, end: int | None
    ) -> bool:
        runs = self._runs(corrects)
        if start is None:
            if len(runs) != 1:
                return False
            [(first, last)] = runs
            start = first
        else:
            around = [run for run in runs if run[0] <= start < run[1]]
            if not around:
                return False
            [(_, last)] = around
        stop = last if end is None else end
        if not start < stop <= last:
            return False
        self._fill(start, stop, version)
        return True

    def moments(self) -> Iterator[tuple[datetime, int | None]]:
        """Yield moments at and one microsecond around every boundary."""
        for number, version in enumerate(self.cells):
            if number:
                yield day(number) - MICROSECOND, self.cells[number - 1]
                yield day(number), version
                yield day(number) + MICROSECOND, version

    def _fill(self, start: int, stop: int, version: int | None) -> None:
        self.cells[start:stop] = [version] * (stop - start)

    def _run(self, cell: int) -> tuple[int, int]:
        version = self.cells[cell]
        return next(
            (first, stop) for first, stop in self._runs(version) if first <= cell < stop
        )

    def _runs(self, version: int | None) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for number, each in enumerate(self.cells):
            if each != version:
                continue
            if runs and runs[-1][1] == number:
                runs[-1] = runs[-1][0], number + 1
            else:
                runs.append((number, number + 1))
        return runs
