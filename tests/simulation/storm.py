"""What clients do to a cell that was away, by how they repeat their requests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from simpy import Environment, Resource

from tests.simulation.cell import Cell
from tests.simulation.measured import ServiceTimes
from tests.simulation.model import Steps
from tests.simulation.questions import COMMIT_S, SEEDS, Row, interval

AWAY_FROM_S = 1.0
FAIL_OVER_S = 20.0
# All that a request takes, so that there are fewer of them to be simulated.
SLOWER = 25
LOAD = 0.5
# About a third of a second of work.
ADMITTED = 64
ALL = 1_000_000
# After the fail-over.
GIVEN_UP_S = 60.0

# The seconds until the next attempt, by the number of those before.
Pause = Callable[[int, Random], float]
PAUSES: Mapping[str, Pause] = {
    "at once": lambda _attempts, _random: 0.001,
    "after 1 s, as `Retry-After` says": lambda _attempts, _random: 1.0,
    "at random within 1, 2, 4, 8, 16 s": lambda attempts, random: (
        random.random() * 2 ** min(attempts, 4)
    ),
}


@dataclass(slots=True)
class Storm:
    """Commands that came while the log was away, and what became of them.

    ``last_s`` is how long after the log was back the last one was answered.
    """

    commands: int = 0
    requests: int = 0
    answered: int = 0
    last_s: float = 0.0


def storm(seed: int, times: ServiceTimes, pause: Pause, admitted: int = ALL) -> Storm:
    """Let a cell that is half full be away for a fail-over.

    ``admitted`` is how many requests the proxy before it sends at a time; the others
    wait there.
    """
    env, found = Environment(), Storm()
    proxy = Resource(env, capacity=admitted)
    given = times.with_commits_of(COMMIT_S).requests_slower(SLOWER)
    cell = Cell(env, seed, given)
    random = cell.random
    rate = LOAD / (given.http["rules"].mean + given.command.each)
    back_at = AWAY_FROM_S + FAIL_OVER_S

    def client() -> Steps:
        began, attempts = env.now, 0
        is_counted = AWAY_FROM_S <= began < back_at
        found.commands += is_counted
        while True:
            found.requests += is_counted
            with proxy.request() as turn:
                yield turn
                is_committed = yield from cell.processes[0].command()
            if is_committed:
                break
            yield env.timeout(pause(attempts, random))
            attempts += 1
        if is_counted:
            found.answered += 1
            found.last_s = env.now - back_at

    def arrive() -> Steps:
        while env.now < back_at or found.answered < found.commands:
            yield env.timeout(random.expovariate(rate))
            env.process(client())

    def fail_over() -> Steps:
        yield env.timeout(AWAY_FROM_S)
        cell.log.is_away = True
        yield env.timeout(FAIL_OVER_S)
        cell.log.is_away = False

    env.process(arrive())
    env.process(fail_over())
    env.run(until=back_at + GIVEN_UP_S)
    return found


def storms(times: ServiceTimes) -> list[Row]:
    rows = []
    for name, pause in PAUSES.items():
        for proxy, admitted in {"all": ALL, "few": ADMITTED}.items():
            found = [storm(seed, times, pause, admitted) for seed in SEEDS]
            rows.append(
                [
                    name,
                    proxy,
                    interval([each.requests / each.commands for each in found]),
                    interval([each.answered / each.commands * 100 for each in found]),
                    interval([each.last_s for each in found]),
                ]
            )
    return rows
