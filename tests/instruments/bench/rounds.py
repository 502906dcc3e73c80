"""Measure everything in turn, several times over, so that all share one machine."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median

from tests.instruments.bench.pairs import LIMITS, MEASURES, PAIRS, Limit, Pair
from tests.instruments.bench.stage import Stage

WARM_UP_S = 2.0
# With a million sessions they take too long for more than once.
SLOW = ("rebuilt", "library_projection")


@dataclass(frozen=True, slots=True)
class Figures:
    """What every round gave, by the name of the measure."""

    rounds: dict[str, list[float]]

    def ratios(self, pair: Pair) -> list[float]:
        ours, against = self.rounds[pair.ours], self.rounds[pair.against]
        return [a / b for a, b in zip(ours, against, strict=True)]

    def ratio(self, pair: Pair) -> float:
        return median(self.ratios(pair))

    def figure(self, limit: Limit) -> float:
        return median(self.rounds[limit.measure])


def wanted_measures(pairs: Sequence[Pair], limits: Sequence[Limit]) -> list[str]:
    names = [name for pair in pairs for name in (pair.ours, pair.against)]
    names += [limit.measure for limit in limits]
    return list(dict.fromkeys(names))


def run(
    stage: Stage,
    *,
    rounds: int,
    seconds: float,
    pairs: Sequence[Pair] = PAIRS,
    limits: Sequence[Limit] = LIMITS,
    once: Collection[str] = (),
    say: Callable[[str], None],
) -> Figures:
    """Run each measure once a round, in alternating order, but for some only once."""
    names = wanted_measures(pairs, limits)
    found: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        if name not in SLOW:
            MEASURES[name](stage, WARM_UP_S)
    for number in range(rounds):
        for name in names if number % 2 == 0 else reversed(names):
            if name in once and found[name]:
                found[name].append(found[name][0])
                continue
            value = MEASURES[name](stage, seconds)
            found[name].append(value)
            say(f"round {number + 1} of {rounds}: {name} {value:,.1f}")
    return Figures(found)
