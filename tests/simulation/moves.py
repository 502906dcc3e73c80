"""A tenant moves from one cell to another one, as docs/scale.md plans it."""

from dataclasses import dataclass, field
from random import Random
from statistics import fmean

from simpy import Environment

from tests.simulation.cell import Cell, ceiling
from tests.simulation.clients import Answers
from tests.simulation.measured import ServiceTimes
from tests.simulation.model import Server, Steps
from tests.simulation.questions import COMMIT_S, SEEDS, Row, interval, rounded

# What is copied in the simulation; the rest of a history takes as long for each event.
HISTORY = 6_000
BATCHES = (256, 32)
# The mover appends tenant.left when the copy is less behind than this.
NEARLY_THERE = 100
LOAD = 0.5
SHARE = 0.05
BEGIN_S = 0.5


@dataclass(slots=True)
class Move:
    """``refused_s`` is from ``tenant.left`` until ``tenant.arrived``.

    ``written`` are the tenant's events in the cell that it leaves, up to
    ``tenant.left``, and ``copied`` those that the other one has when it opens.
    """

    copying_s: float = 0.0
    refused_s: float = 0.0
    written: int = HISTORY
    copied: int = 0
    before: Answers = field(default_factory=lambda: Answers(BEGIN_S / 2))
    meanwhile: Answers = field(default_factory=Answers)

    @property
    def rate(self) -> float:
        return self.copied / self.copying_s


def move(seed: int, times: ServiceTimes, load: float, batch_max: int) -> Move:
    """Move a tenant between two cells under a load of commands a second each."""
    env, found = Environment(), Move()
    origin, target = (Cell(env, 2 * seed + number, times) for number in (0, 1))
    is_left = False
    origin.load(load * (1 - SHARE))
    target.load(load)
    target.answers = found.before
    random = Random(seed)

    def tenant() -> Steps:
        while True:
            yield env.timeout(random.expovariate(load * SHARE))
            env.process(command())

    def command() -> Steps:
        process = random.choice(origin.processes)
        # One that is answered behind tenant.left is taken for one that conflicted.
        if (yield from process.command()) and not is_left:
            found.written += 1

    def mover() -> Steps:
        nonlocal is_left
        core = Server(env)
        yield env.timeout(BEGIN_S)
        target.answers = found.meanwhile
        began = env.now
        while found.written - found.copied >= NEARLY_THERE:
            yield from copy(core)
        found.copying_s = env.now - began
        yield from origin.log.append(1)
        is_left, left_at = True, env.now
        while found.written > found.copied:
            yield from copy(core)
        yield from target.log.append(1)
        found.refused_s = env.now - left_at

    def copy(core: Server) -> Steps:
        events = min(found.written - found.copied, batch_max)
        # Reading, decoding and encoding, as a rebuild does.
        read = times.rebuild["sessions"].draw(random)
        yield core.serve(read * events)
        yield from target.log.append(events)
        found.copied += events

    env.process(tenant())
    moved = env.process(mover())
    env.run(until=moved)
    return found


def moves(times: ServiceTimes) -> list[Row]:
    """Answer how long a tenant is copied and refused, and what neighbours notice."""
    given = times.with_commits_of(COMMIT_S)
    full = fmean(ceiling(seed, given, writers=1).rate for seed in SEEDS)
    rows = []
    for batch_max in BATCHES:
        found = [move(seed, given, full * LOAD, batch_max) for seed in SEEDS]
        rows.append(
            [
                rounded(batch_max),
                interval([each.rate for each in found]),
                interval([10**7 / each.rate / 3600 for each in found]),
                interval([each.refused_s * 1000 for each in found]),
                interval([each.before.percentile(0.99) * 1000 for each in found]),
                interval([each.meanwhile.percentile(0.99) * 1000 for each in found]),
            ]
        )
    return rows
