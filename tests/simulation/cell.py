"""Cells, as the questions need them: a log, its processes, followers and clients."""

from collections.abc import Generator, Iterable, Mapping
from random import Random
from typing import Any

from simpy import Environment, Event

from tests.simulation.clients import Answers, closed_loop
from tests.simulation.measured import ServiceTimes
from tests.simulation.model import Follower, Log, Process, Server, Steps

WARM_UP_S = 0.2
CATCH_UP_EVENTS = 20_000


class Cell:
    """A log with some writing processes, each with a core of its own."""

    def __init__(
        self,
        env: Environment,
        seed: int,
        times: ServiceTimes,
        *,
        writers: int = 1,
        request: str = "rules",
    ) -> None:
        self.env = env
        self.random = Random(seed)
        self.log = Log(env, self.random, times.append, times.commit)
        self.processes = [
            Process(self.log, times.command, times.http[request], self.random)
            for _ in range(writers)
        ]
        self.answers = Answers(WARM_UP_S)

    @property
    def rate(self) -> float:
        return self.answers.rate(self.env.now)

    def call(self, callers: int, router: tuple[Server, float] | None = None) -> None:
        """Let each process have so many callers in closed loops.

        ``router`` is what their requests pass first, and how long it takes for each.
        """
        for process in self.processes:
            called = Routed(process, *router) if router else process
            for _ in range(callers):
                self.env.process(closed_loop(called, self.env, self.answers))

    def load(self, rate: float) -> None:
        """Send commands at random times at a rate, whatever the answers are."""
        self.env.process(self._arrive(rate))

    def busy(self) -> Mapping[str, float]:
        """Return the share of the time for which each server was busy."""
        cores = [process.core.busy for process in self.processes]
        return {
            "API core": sum(cores) / len(cores) / self.env.now,
            "lock": self.log.head.busy / self.env.now,
        }

    def _arrive(self, rate: float) -> Steps:
        while True:
            yield self.env.timeout(self.random.expovariate(rate))
            self.env.process(self._one(self.random.choice(self.processes)))

    def _one(self, process: Process) -> Steps:
        began = self.env.now
        if (yield from process.command()):
            self.answers.add(began, self.env.now)
        else:
            self.answers.refused += 1


class Routed:
    """A process behind a router that others use, too."""

    def __init__(self, process: Process, router: Server, seconds: float) -> None:
        self._process = process
        self._router = router
        self._seconds = seconds

    def command(self) -> Generator[Event, Any, bool]:
        yield self._router.serve(self._seconds)
        return (yield from self._process.command())


def ceiling(
    seed: int,
    times: ServiceTimes,
    *,
    writers: int,
    request: str = "rules",
    callers: int = 64,
    seconds: float = 0.6,
) -> Cell:
    """Return a cell that had more callers than it can answer."""
    cell = Cell(Environment(), seed, times, writers=writers, request=request)
    cell.call(callers)
    cell.env.run(until=seconds)
    return cell


def loaded(
    seed: int, times: ServiceTimes, rate: float, *, writers: int, seconds: float = 1.2
) -> Answers:
    """Return a cell's answers at a rate of commands."""
    cell = Cell(Environment(), seed, times, writers=writers)
    cell.load(rate)
    cell.env.run(until=seconds)
    return cell.answers


def many(
    seed: int, times: ServiceTimes, cells: int, seconds: float, router_s: float = 0.0
) -> float:
    """Return the commands a second of many cells behind one router."""
    env = Environment()
    router = Server(env)
    made = [Cell(env, seed * 1000 + number, times) for number in range(cells)]
    for cell in made:
        cell.call(4, (router, router_s))
    env.run(until=seconds)
    return sum(cell.rate for cell in made)


def follower_ceiling(
    seed: int, times: ServiceTimes, names: Iterable[str] | None = None
) -> float:
    """Return the events a second with which followers in one process catch up."""
    env, random = Environment(), Random(seed)
    log = Log(env, random, times.append, times.commit)
    log.position = CATCH_UP_EVENTS
    core = Server(env)
    followers = [
        Follower(log, core, times.followers[name], random)
        for name in names or times.followers
    ]
    # Until all of them wait for a commit that never comes.
    env.run()
    return CATCH_UP_EVENTS / max(each.applied[-1][1] for each in followers)
