"""Comparisons of the model with the real system, in which a wrong model is noticed."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from statistics import fmean, median
from typing import Any, Self

from simpy import Environment

from service.event_log.pending import BATCH_COMMANDS_MAX
from tests.simulation.clients import Answers, closed_loop
from tests.simulation.model import (
    Follower,
    Log,
    Process,
    Server,
    Steps,
)
from tests.simulation.service_times import (
    BatchTime,
    FollowerTime,
    Load,
    Spread,
    batch_time,
)

SEED = 1
CALLERS = (1, 8, 64)
WRITERS = (1, 2, 4)
WRITERS_CALLERS = 16
LAG_RATE = 8
MOST = 1.5
SECONDS = 60.0
NONE = Spread.constant(0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Loads that the real system reached, and what it took meanwhile, by the clock.

    ``loop`` is the event loop's time for a batch, ``append`` PostgreSQL's, with its
    commit. ``lag`` is a follower's median, ``step`` its time for a batch.
    """

    loop: BatchTime
    append: BatchTime
    callers: Mapping[int, Load]
    writers: Mapping[int, Load]
    lag: float
    step: float

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        callers, writers = (
            {int(each): Load(**load) for each, load in found[name].items()}
            for name in ("callers", "writers")
        )
        return cls(
            loop=batch_time(found["loop"]),
            append=batch_time(found["append"]),
            callers=callers,
            writers=writers,
            lag=found["lag"],
            step=found["step"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """The model that is compared; a control makes one of these wrong."""

    append_factor: float = 1.0
    step_factor: float = 1.0
    batch_max: int = BATCH_COMMANDS_MAX
    commits_in_lock: bool = True


RIGHT = Model()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A figure of the model beside that of the real system."""

    name: str
    model: float
    real: float

    @property
    def holds(self) -> bool:
        return 1 / MOST <= self.model / self.real <= MOST

    def __str__(self) -> str:
        verdict = "holds" if self.holds else f"FAILS, at most {MOST}"
        quotient = self.model / self.real
        return (
            f"{self.name}: model {self.model:.4g}, real {self.real:.4g}, "
            f"{quotient:.2f} times: {verdict}"
        )


def compare(observed: Observed, model: Model = RIGHT) -> list[Comparison]:
    """Compare callers of one writer, callers of several writers, and a follower."""
    found = []
    for callers, real in observed.callers.items():
        load = reached(observed, model, writers=1, callers=callers)
        found += _both(f"{callers} callers", load, real)
    for writers, real in observed.writers.items():
        load = reached(observed, model, writers=writers, callers=WRITERS_CALLERS)
        found += _both(f"{writers} writers", load, real)
    return [*found, Comparison("lag: median", lag(observed, model), observed.lag)]


def _both(name: str, model: Load, real: Load) -> list[Comparison]:
    return [
        Comparison(f"{name}: commands a second", model.rate, real.rate),
        Comparison(f"{name}: median wait", model.p50, real.p50),
    ]


def reached(observed: Observed, model: Model, *, writers: int, callers: int) -> Load:
    """Return what the model reaches; its writers share one core, as in one process."""
    env, random = Environment(), Random(SEED)
    log = _log(env, random, observed, model)
    processes = [
        Process(log, observed.loop, None, random, core)
        for core in [Server(env)] * writers
    ]
    answers = Answers()
    for number in range(callers):
        env.process(closed_loop(processes[number % writers], env, answers))
    env.run(until=SECONDS)
    return Load(callers / fmean(answers.waits), median(answers.waits))


def lag(observed: Observed, model: Model) -> float:
    """Return the median time from a commit until it is applied."""
    env, random = Environment(), Random(SEED)
    log = Log(env, random, BatchTime(0, 0, NONE), NONE)
    step = BatchTime(observed.step * model.step_factor, 0.0, Spread.constant(1.0))
    follower = Follower(
        log, Server(env), FollowerTime(cpu=BatchTime(0, 0, NONE), database=step), random
    )
    answered: list[float] = []

    def write() -> Steps:
        while True:
            yield env.timeout(1 / LAG_RATE)
            answered.append(env.now)
            yield from log.append(1)

    env.process(write())
    env.run(until=SECONDS)
    found = []
    before = 0
    for upto, at in follower.applied:
        found += [at - each for each in answered[before:upto]]
        before = upto
    return median(found)


def _log(env: Environment, random: Random, observed: Observed, model: Model) -> Log:
    """Return a log whose batches take what they took, nearly all of it their commit."""
    append = observed.append.times(model.append_factor)
    return Log(
        env,
        random,
        BatchTime(0.0, append.each, Spread.constant(1.0)),
        Spread(tuple(append.base * each for each in append.noise.groups)),
        batch_max=model.batch_max,
        commits_in_lock=model.commits_in_lock,
    )
