"""The real system, measured: its service times, and what the model has to predict."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from unittest.mock import patch

import psycopg

from projections.catalog import follower_conninfo
from projections.engine.follower import Follower
from projections.engine.follower_position import FollowerPosition
from projections.tool_rules.projector import ToolRulesProjector
from service.database import Db
from service.event_log import writer
from service.event_log.execute import execute
from service.event_log.log import EventLog
from service.event_log.mapper import RecordedEvent
from service.principal import Principal
from service.resources import Resources, open_resources
from service.tasks import end_tasks
from service.tool_rules.commands import ReplaceToolRules, ToolRule, replace_tool_rules
from service.tool_rules.decision import Stance
from tests.bench.world import ACTOR, World, make_world
from tests.event_log.logs import open_log
from tests.simulation.service_times import Load
from tests.waiting import until

AGENTS = 96
SLOW_STEP_S = 0.5


@dataclass(slots=True)
class Caller:
    """Sends operation 1's command, without HTTP, to any log of one database."""

    world: World
    principal: Principal
    sent: int = 0

    async def replace_rules(self, log: EventLog) -> int:
        """Change one of the three rules of the next agent; return the position."""
        self.sent += 1
        round_number, agent = divmod(self.sent, len(self.world.agents))
        tracker, calendar = self.world.connectors[:2]
        stance = Stance.ASK if round_number % 2 else Stance.DENY
        command = ReplaceToolRules(
            agent_id=self.world.agents[agent],
            rules=[
                ToolRule(tracker, "issues.read_*", Stance.ALLOW),
                ToolRule(tracker, "issues.create", stance),
                ToolRule(calendar, "*", Stance.ASK),
            ],
        )
        _, appended = await execute(
            log,
            lambda work: replace_tool_rules(command, work),
            metadata=ACTOR,
            at=datetime.now(UTC),
            principal=self.principal,
        )
        assert appended is not None
        assert appended.position is not None
        return appended.position


def cpu_of(pid: int) -> float:
    """Return the CPU time of a process's main thread, in seconds."""
    return _cpu(Path(f"/proc/{pid}/schedstat"))


def threads_cpu_of(pid: int) -> float:
    """Return the CPU time of a process's threads, in seconds."""
    return sum(map(_cpu, Path(f"/proc/{pid}/task").glob("*/schedstat")))


def _cpu(schedstat: Path) -> float:
    return int(schedstat.read_text(encoding="ascii").split()[0]) / 1e9


@asynccontextmanager
async def caller_of(
    database_url: str, folder: Path
) -> AsyncIterator[tuple[Caller, Resources]]:
    async with open_resources(database_url, folder) as resources:
        world = await make_world(resources, agents=AGENTS, connectors=2)
        principal = await resources.authenticator.authenticate(f"Bearer {world.token}")
        caller = Caller(world, principal)
        await warm_up(resources.log, caller)
        yield caller, resources


async def warm_up(log: EventLog, caller: Caller) -> None:
    """Change every agent's rules, so that a log's cache has them."""
    for _ in range(AGENTS // 8):
        await together(log, caller, 8)


async def together(log: EventLog, caller: Caller, commands: int) -> None:
    """Send commands that share one batch."""
    await asyncio.gather(*(caller.replace_rules(log) for _ in range(commands)))


@dataclass(slots=True)
class Samples:
    """Times of batches, by their size, in seconds.

    ``loop`` is the event loop's, before and after the append, ``wait`` the append's.
    """

    loop: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    wait: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def take(self, log: EventLog, caller: Caller, sizes: Sequence[int]) -> None:
        for size in sizes:
            began = time.perf_counter()
            with noted() as (batches, waits):
                await together(log, caller, size)
            took = time.perf_counter() - began
            if batches == [size]:
                self.loop[size].append(took - waits[0])
                self.wait[size].append(waits[0])


@dataclass(frozen=True, slots=True)
class _Observe:
    observe: Callable[[float], None]


@contextmanager
def noted() -> Iterator[tuple[list[float], list[float]]]:
    """Note the writer's batches and how long they took, in place of its metrics."""
    batches: list[float] = []
    waits: list[float] = []
    with (
        patch.object(writer, "BATCH", _Observe(batches.append)),
        patch.object(writer, "DURATION", _Observe(waits.append)),
    ):
        yield batches, waits


async def closed_loops(
    logs: Sequence[EventLog], senders: Sequence[Caller], callers: int, seconds: float
) -> Load:
    """Send commands from several callers, who are divided among the logs.

    ``senders`` is one for all logs, or one for each.
    """
    waits: list[float] = []
    clock = time.perf_counter

    async def loop(number: int) -> None:
        log, caller = logs[number % len(logs)], senders[number % len(senders)]
        while (began := clock()) < ends:
            await caller.replace_rules(log)
            waits.append(clock() - began)

    began = clock()
    ends = began + seconds
    await asyncio.gather(*map(loop, range(callers)))
    # Little's law; counting would depend on where the commits fall in the time.
    return Load(callers / fmean(waits), median(waits))


@asynccontextmanager
async def logs_on(database_url: str, count: int) -> AsyncIterator[list[EventLog]]:
    """Open a database's log as several writers."""
    if count == 0:
        yield []
        return
    async with (
        open_log(database_url) as log,
        logs_on(database_url, count - 1) as more,
    ):
        yield [log, *more]


def delay_commits(database_url: str, seconds: float) -> None:
    """Let every commit of commands wait, as for a standby that is far away.

    It waits at its end, while it holds the lock of the log's end.
    """
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(
            f"""
            CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_sleep({seconds});
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON events.head
                DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION public.wait();
            """.encode()
        )


async def slow_project(
    projector: ToolRulesProjector, db: Db, events: Sequence[RecordedEvent]
) -> None:
    await db.execute("SELECT pg_sleep(%s)", [SLOW_STEP_S])
    await project(projector, db, events)


project = ToolRulesProjector.project
step = Follower._step  # noqa: SLF001 # timed


async def lags(
    resources: Resources, caller: Caller, rate: float, seconds: float
) -> tuple[list[float], list[float]]:
    """Return how long after its answer each command of an open loop is applied.

    And how long the follower's steps took, each of which waits for a fixed time.
    """
    follower = Follower(
        ToolRulesProjector(), resources.log, follower_conninfo(resources.database_url)
    )
    clock = time.perf_counter
    answered: dict[int, float] = {}
    found: list[float] = []
    steps: list[float] = []

    async def timed_step(given: Follower, db: Db, saved: FollowerPosition) -> bool:
        began, before = clock(), given.status.position
        is_behind = await step(given, db, saved)
        if given.status.position > before:
            steps.append(clock() - began)
        return is_behind

    async def watch() -> None:
        while True:
            await asyncio.sleep(0.02)
            now, position = clock(), follower.status.position
            applied = [each for each in answered if each <= position]
            found.extend(now - answered.pop(each) for each in applied)

    async def send() -> None:
        position = await caller.replace_rules(resources.log)
        answered[position] = clock()

    with (
        patch.object(ToolRulesProjector, "project", slow_project),
        patch.object(Follower, "_step", timed_step),
    ):
        tasks = [asyncio.create_task(follower.run()), asyncio.create_task(watch())]
        try:
            head = await resources.log.head()
            await until(lambda: follower.status.position >= head.position)
            steps.clear()
            commands: list[asyncio.Task[None]] = []
            for _ in range(int(rate * seconds)):
                commands.append(asyncio.create_task(send()))
                await asyncio.sleep(1 / rate)
            await asyncio.gather(*commands)
            await until(lambda: not answered)
        finally:
            await end_tasks(*tasks)
    return found, steps
