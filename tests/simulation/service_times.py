"""Service times: distributions that are measured once, and drawn from by a seed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any, Self

RECORDED = Path(__file__).with_name("measured.json")
GROUPS = 20


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution as the means of equally likely groups of its sorted samples.

    Its mean is that of the samples. Of times, in seconds.
    """

    groups: tuple[float, ...]

    @classmethod
    def of(cls, samples: Sequence[float]) -> Self:
        found = sorted(samples)
        count = min(GROUPS, len(found))
        cuts = [len(found) * number // count for number in range(count + 1)]
        return cls(
            tuple(
                float(f"{fmean(found[begin:end]):.4g}") for begin, end in pairwise(cuts)
            )
        )

    @classmethod
    def constant(cls, value: float) -> Self:
        return cls((value,))

    @property
    def mean(self) -> float:
        return fmean(self.groups)

    def draw(self, random: Random) -> float:
        return self.groups[int(random.random() * len(self.groups))]

    def times(self, factor: float) -> "Spread":
        return Spread(tuple(each * factor for each in self.groups))


@dataclass(frozen=True, slots=True)
class BatchTime:
    """The time of work on a batch, in seconds: ``(base + each * items) * noise``."""

    base: float
    each: float
    noise: Spread

    @classmethod
    def fit(
        cls, samples: Mapping[int, Sequence[float]] | Mapping[float, Sequence[float]]
    ) -> Self:
        """Fit a line to the medians by the number of items; all relative errors count.

        The noise is the quotient of each sample and the line, so the mean stays that
        of the samples.
        """
        points = [(items, median(found)) for items, found in samples.items()]
        weights = [1 / value**2 for _, value in points]
        total = sum(weights)
        x = sum(w * items for w, (items, _) in zip(weights, points, strict=True))
        y = sum(w * value for w, (_, value) in zip(weights, points, strict=True))
        x, y = x / total, y / total
        slope = sum(
            w * (items - x) * (value - y)
            for w, (items, value) in zip(weights, points, strict=True)
        ) / sum(
            w * (items - x) ** 2 for w, (items, _) in zip(weights, points, strict=True)
        )
        slope = max(slope, 0.0)
        base = max(y - slope * x, 0.0)
        quotients = [
            value / (base + slope * items)
            for items, found in samples.items()
            for value in found
        ]
        return cls(float(f"{base:.4g}"), float(f"{slope:.4g}"), Spread.of(quotients))

    def mean(self, items: float) -> float:
        return (self.base + self.each * items) * self.noise.mean

    def draw(self, random: Random, items: int) -> float:
        return (self.base + self.each * items) * self.noise.draw(random)

    def times(self, factor: float) -> "BatchTime":
        return BatchTime(self.base * factor, self.each * factor, self.noise)


@dataclass(frozen=True, slots=True)
class Load:
    """What closed loops reached: commands a second, and the median wait in seconds."""

    rate: float
    p50: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerTime:
    """A follower's step: its work on the event loop, and its wait for PostgreSQL."""

    cpu: BatchTime
    database: BatchTime


def spread(found: Mapping[str, Any]) -> Spread:
    return Spread(tuple(found["groups"]))


def batch_time(found: Mapping[str, Any]) -> BatchTime:
    return BatchTime(found["base"], found["each"], spread(found["noise"]))


def recorded() -> dict[str, Any]:
    """Return all that was measured."""
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def record(found: Mapping[str, Any]) -> None:
    """Replace parts of what is recorded."""
    known = recorded() if RECORDED.exists() else {}
    text = json.dumps(known | dict(found), indent=1)
    RECORDED.write_text(text + "\n", encoding="utf-8")
