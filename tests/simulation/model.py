"""A model of one log: API processes, their writers, the end of the log, followers.

Each server is a first-come-first-served queue, so one simulated event is enough for
all of a request's wait and work. Times are in seconds.
"""

from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any

from simpy import Environment, Event
from simpy.events import Timeout

from projections.engine.follower import BATCH_EVENTS_MAX, BUSY_EVENTS, STEP_INTERVAL_S
from service.event_log.command_queue import (
    BATCH_BYTES_MAX,
    QUEUE_COMMANDS_MAX,
)
from service.event_log.pending import BATCH_COMMANDS_MAX
from service.event_log.writer import RECONNECT_S, Timeouts
from tests.simulation.service_times import BatchTime, FollowerTime, Spread

Steps = Generator[Event, Any, Any]
QUEUE_S = Timeouts().queue_s
# Of a command's CPU, what follows the commit; from the profile in docs/performance.md.
AFTER_COMMIT = 0.25


class Server:
    """Serves one after the other; ``busy`` is its time of work."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.free_at = 0.0
        self.busy = 0.0

    def serve(self, seconds: float) -> Timeout:
        now = self.env.now
        self.free_at = max(self.free_at, now) + seconds
        self.busy += seconds
        return self.env.timeout(self.free_at - now)


@dataclass(slots=True, eq=False)
class Command:
    """A command that waits; ``done`` tells whether it was committed."""

    done: Event
    since: float
    size: int = 1000


class Queue:
    """The writer's queue: its bounds, and its choice of a batch."""

    def __init__(self) -> None:
        self.waiting: deque[Command] = deque()

    def take(self, now: float) -> tuple[list[Command], list[Command]]:
        """Return a batch, and the commands before its end that are too old."""
        batch: list[Command] = []
        expired: list[Command] = []
        size = 0
        while self.waiting and len(batch) < BATCH_COMMANDS_MAX:
            command = self.waiting[0]
            if command.since < now - QUEUE_S:
                expired.append(self.waiting.popleft())
                continue
            if batch and size + command.size > BATCH_BYTES_MAX:
                break
            batch.append(self.waiting.popleft())
            size += command.size
        return batch, expired


class Log:
    """The end of one log, with the lock that a batch holds through its commit.

    ``commits_in_lock`` and ``batch_max`` are those of the service; a test sets others,
    to see that they are noticed.
    """

    def __init__(
        self,
        env: Environment,
        random: Random,
        append: BatchTime,
        commit: Spread,
        *,
        commits_in_lock: bool = True,
        batch_max: int = BATCH_COMMANDS_MAX,
    ) -> None:
        self.env = env
        self.head = Server(env)
        self.position = 0
        self.committed = env.event()
        self.is_away = False
        self._random = random
        self._append = append
        self._commit = commit
        self._commits_in_lock = commits_in_lock
        self.batch_max = batch_max

    def append(self, commands: int) -> Steps:
        work = self._append.draw(self._random, commands)
        commit = self._commit.draw(self._random)
        if self._commits_in_lock:
            yield self.head.serve(work + commit)
        else:
            yield self.head.serve(work)
            yield self.env.timeout(commit)
        self.position += commands
        committed, self.committed = self.committed, self.env.event()
        committed.succeed()


class Process:
    """An API process: one event loop, and one writer on the log."""

    def __init__(
        self,
        log: Log,
        command: BatchTime,
        http: Spread | None,
        random: Random,
        core: Server | None = None,
    ) -> None:
        self.core = core or Server(log.env)
        self.queue = Queue()
        self.batches = 0
        self._log = log
        self._time = command
        self._random = random
        self._http = http
        self._arrival = log.env.event()
        log.env.process(self._write())

    def command(self) -> Generator[Event, Any, bool]:
        """Decide, wait for the commit, answer; False for a refusal to be repeated.

        Commands on one aggregate are like others: each rests on the one before it.
        """
        env = self._log.env
        cpu = self._cpu()
        yield self.core.serve(cpu * (1 - AFTER_COMMIT))
        is_committed = False
        if len(self.queue.waiting) < QUEUE_COMMANDS_MAX:
            command = Command(env.event(), env.now)
            self.queue.waiting.append(command)
            if not self._arrival.triggered:
                self._arrival.succeed()
            is_committed = yield command.done
        yield self.core.serve(cpu * AFTER_COMMIT)
        return is_committed

    def _cpu(self) -> float:
        cpu = self._time.each * self._time.noise.draw(self._random)
        return cpu + self._http.draw(self._random) if self._http else cpu

    def _write(self) -> Steps:
        env, queue = self._log.env, self.queue
        while True:
            if not queue.waiting:
                self._arrival = env.event()
                yield self._arrival
            if self._log.is_away:
                _finish(queue.waiting, outcome=False)
                queue.waiting.clear()
                yield env.timeout(RECONNECT_S)
                continue
            base = self._time.base / 2
            yield self.core.serve(base)
            batch, expired = queue.take(env.now)
            _finish(expired, outcome=False)
            if not batch:
                continue
            yield from self._commit(batch)
            yield self.core.serve(base)
            _finish(batch, outcome=True)

    def _commit(self, batch: list[Command]) -> Steps:
        for begin in range(0, len(batch), self._log.batch_max):
            self.batches += 1
            part = batch[begin : begin + self._log.batch_max]
            yield from self._log.append(len(part))


def _finish(commands: Iterable[Command], *, outcome: bool) -> None:
    for command in commands:
        command.done.succeed(outcome)


class Follower:
    """Applies the log step by step; ``core`` is the event loop that it shares."""

    def __init__(
        self,
        log: Log,
        core: Server,
        time: FollowerTime,
        random: Random,
    ) -> None:
        self.position = 0
        self.applied: list[tuple[int, float]] = []
        self._log = log
        self._core = core
        self._time = time
        self._random = random
        log.env.process(self._follow())

    def _follow(self) -> Steps:
        log, env = self._log, self._log.env
        while True:
            if self.position == log.position:
                yield log.committed
            began = env.now
            upto = min(log.position, self.position + BATCH_EVENTS_MAX)
            events = upto - self.position
            yield self._core.serve(self._time.cpu.draw(self._random, events))
            yield env.timeout(self._time.database.draw(self._random, events))
            self.position = upto
            self.applied.append((upto, env.now))
            if upto == log.position and events >= BUSY_EVENTS:
                yield env.timeout(max(began + STEP_INTERVAL_S - env.now, 0))
