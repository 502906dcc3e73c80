"""Pages of sessions (operation 4) by reading processes and a read replica."""

from random import Random
from statistics import fmean

from simpy import Environment

from tests.simulation.clients import Answers
from tests.simulation.measured import ServiceTimes
from tests.simulation.model import Server, Steps
from tests.simulation.questions import SEEDS, Row, interval

# Of a replica's cores, besides the one that replays the primary's log.
CORES = 3
READERS = (1, 4, 9)
LOADS = (0.5, 0.7, 0.9)
SECONDS = 0.8
# Of a request's work, what precedes the query.
BEFORE_QUERY = 0.4
CALLERS = 32


class Reads:
    """Reading processes, with a core each, before one replica."""

    def __init__(self, seed: int, times: ServiceTimes, readers: int) -> None:
        self.env = Environment()
        self.answers = Answers(warm_up_s=SECONDS / 8)
        self.readers = [Server(self.env) for _ in range(readers)]
        self.replica = [Server(self.env) for _ in range(CORES)]
        self._random = Random(seed)
        self._api, self._query = times.page_in_api, times.page_in_database

    def page(self) -> Steps:
        random, began = self._random, self.env.now
        reader = random.choice(self.readers)
        work = self._api.draw(random)
        yield reader.serve(work * BEFORE_QUERY)
        core = min(self.replica, key=lambda each: each.free_at)
        yield core.serve(self._query.draw(random))
        yield reader.serve(work * (1 - BEFORE_QUERY))
        self.answers.add(began, self.env.now)

    def closed(self) -> "Reads":
        for _ in range(CALLERS * len(self.readers)):
            self.env.process(self._again())
        return self._ended()

    def at(self, rate: float) -> "Reads":
        self.env.process(self._arrive(rate))
        return self._ended()

    def busy(self) -> dict[str, float]:
        return {
            name: sum(each.busy for each in servers) / len(servers) / SECONDS
            for name, servers in {
                "readers": self.readers,
                "replica": self.replica,
            }.items()
        }

    def _again(self) -> Steps:
        while True:
            yield from self.page()

    def _arrive(self, rate: float) -> Steps:
        while True:
            yield self.env.timeout(self._random.expovariate(rate))
            self.env.process(self.page())

    def _ended(self) -> "Reads":
        self.env.run(until=SECONDS)
        return self


def replicas(times: ServiceTimes) -> list[Row]:
    """Answer how many pages a replica takes, and which share of them stays quick."""
    rows = []
    for readers in READERS:
        full = [Reads(seed, times, readers).closed() for seed in SEEDS]
        rates = [each.answers.rate(SECONDS) for each in full]
        busy = {name: fmean(e.busy()[name] for e in full) for name in full[0].busy()}
        busiest = max(busy, key=lambda name: busy[name])
        row = [str(readers), interval(rates), f"{busiest}, {min(busy[busiest], 1):.0%}"]
        for load in LOADS:
            some = [
                Reads(seed, times, readers).at(load * fmean(rates)) for seed in SEEDS
            ]
            row.append(interval([e.answers.percentile(0.99) * 1000 for e in some]))
        rows.append(row)
    return rows
