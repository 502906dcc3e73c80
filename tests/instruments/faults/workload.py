"""Many clients who write, repeat what they must, and record what they were told."""

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Sequence
from random import Random

import orjson

from tests.instruments.faults.history import History, Outcome, Told
from tests.instruments.faults.world import CANARY, World
from tests.instruments.faults.writes import Write, draw
from tests.support.harness.http_connection import (
    HttpConnection,
    LostError,
    NotSentError,
    Reply,
)
from tests.support.waiting import until

# Longer than the service takes to give up: queue, commit and the question after it.
ATTEMPT_TIMEOUT_S = 30.0
ATTEMPTS_MAX = 60
PAUSE_MIN_S, PAUSE_MAX_S = 0.02, 0.5
RACE_LOST = 409
STALE = 412
UNAVAILABLE = 503


class Workload:
    """``acknowledged`` counts; ``surprises`` are answers that nobody should get.

    ``longest_gap_s`` is the longest time between two acknowledgements; who wants that
    of a while sets it to 0 before.
    """

    def __init__(
        self,
        ports: Sequence[int],
        world: World,
        history: History,
        *,
        seed: int,
        clients: int = 24,
        pause_s: float = 0.0,
    ) -> None:
        self.acknowledged = 0
        self.counts: Counter[str] = Counter()
        self.surprises: list[str] = []
        self.slowest_s = 0.0
        self.longest_gap_s = 0.0
        self._acknowledged_at = time.monotonic()
        self.stopping = False
        self.ports = ports
        self.world = world
        self.history = history
        self.pause_s = pause_s
        self.numbers = itertools.count(1)
        self.versions: dict[str, int] = {}
        self._seed = seed
        self._clients = clients

    async def prepare(self) -> None:
        """Create the secrets, which the writes only overwrite."""
        connection = HttpConnection(self.ports[0])
        for name in self.world.secrets:
            reply = await connection.request(
                "POST",
                "/api/secrets",
                {
                    **self.world.manager.headers,
                    "Content-Type": "application/json",
                },
                orjson.dumps({"name": name, "value": f"{CANARY}-0"}),
                timeout_s=ATTEMPT_TIMEOUT_S,
            )
            assert reply.status == 201, reply
        connection.close()

    async def run(self) -> None:
        """Write until told to stop; ends with every write ended."""
        async with asyncio.TaskGroup() as group:
            for number in range(self._clients):
                group.create_task(_Client(self, f"{self._seed}/{number}").run())

    def count_acknowledged(self) -> None:
        now = time.monotonic()
        self.acknowledged += 1
        self.longest_gap_s = max(self.longest_gap_s, now - self._acknowledged_at)
        self._acknowledged_at = now

    async def until_acknowledged(self, more: int, *, timeout_s: float) -> float:
        """Wait for so many further acknowledgements; return the seconds it took."""
        started = time.monotonic()
        goal = self.acknowledged + more
        await until(lambda: self.acknowledged >= goal, timeout_s=timeout_s)
        return time.monotonic() - started


class _Client:
    def __init__(self, workload: Workload, seed: str) -> None:
        self._load = workload
        self._random = Random(seed)
        self._connections = [HttpConnection(port) for port in workload.ports]
        self._name = seed

    async def run(self) -> None:
        try:
            while not self._load.stopping:
                number = next(self._load.numbers)
                write = draw(self._random, self._load.world, number)
                await self._carry_out(write, number)
                if self._load.pause_s:
                    await asyncio.sleep(self._random.uniform(0, 2 * self._load.pause_s))
        finally:
            for connection in self._connections:
                connection.close()

    async def _carry_out(self, write: Write, number: int) -> None:
        random = self._random
        is_keyed = random.random() < 0.85
        gives_up = random.random() < 0.3
        matched = None
        if write.kind == "rules" and random.random() < 0.2:
            matched = self._load.versions.get(str(write.aggregate_id))
        headers = {**write.person.headers, "Content-Type": "application/json"}
        if is_keyed:
            headers["Idempotency-Key"] = f"k{self._name}/{number}"
        if matched is not None:
            headers["If-Match"] = f'"{matched}"'
        started = time.monotonic()
        outcome: Outcome = "refused"
        reply: Reply | None = None
        pause_s = PAUSE_MIN_S
        for attempt in range(1, ATTEMPTS_MAX + 1):
            began = time.monotonic()
            reply, told = await self._attempt(write, headers, number, attempt)
            self._load.slowest_s = max(self._load.slowest_s, time.monotonic() - began)
            if told == "ok":
                outcome = "ok"
                break
            if told == "unknown":
                outcome = "unknown"
            elif reply is not None and reply.status != UNAVAILABLE:
                break
            if (outcome == "unknown" and not is_keyed) or (
                outcome == "refused" and gives_up
            ):
                break
            await asyncio.sleep(random.uniform(0, pause_s))
            pause_s = min(pause_s * 2, PAUSE_MAX_S)
        self._record(
            Told(
                number=number,
                kind=write.kind,
                aggregate_id=str(write.aggregate_id),
                outcome=outcome,
                status=reply.status if reply else 0,
                code=_code(reply),
                version=_version(reply),
                position=_position(reply),
                matched=matched,
                attempts=attempt,
                started=started,
                ended=time.monotonic(),
            )
        )
        if outcome == "ok" and is_keyed and random.random() < 0.05:
            await self._repeat(write, headers, number, reply)

    async def _attempt(
        self, write: Write, headers: dict[str, str], number: int, attempt: int
    ) -> tuple[Reply | None, Outcome]:
        connection = self._random.choice(self._connections)
        try:
            reply = await connection.request(
                write.method,
                write.path,
                {**headers, "X-Request-Id": f"{number}.{attempt}"},
                write.body,
                timeout_s=ATTEMPT_TIMEOUT_S,
            )
        except NotSentError:
            return None, "refused"
        except LostError:
            return None, "unknown"
        if reply.status < 300:
            return reply, "ok"
        if reply.status in (RACE_LOST, STALE) or reply.status in write.refusals:
            return reply, "refused"
        if reply.status == UNAVAILABLE:
            is_unknown = _code(reply) == "outcome_unknown"
            return reply, "unknown" if is_unknown else "refused"
        self._load.surprises.append(
            f"{write.kind} {number}.{attempt} was answered with {reply.status}:"
            f" {reply.body[:200].decode(errors='replace')}"
        )
        return reply, "unknown"

    async def _repeat(
        self, write: Write, headers: dict[str, str], number: int, first: Reply | None
    ) -> None:
        """Send an acknowledged write again: the same answer, and no other effect."""
        reply, told = await self._attempt(write, headers, number, 999)
        if told != "ok" or reply is None or first is None:
            return
        if (_position(reply), reply.body) != (_position(first), first.body):
            self._load.surprises.append(f"write {number} got two different answers")

    def _record(self, told: Told) -> None:
        load = self._load
        load.history.add(told)
        load.counts[told.outcome] += 1
        if told.outcome == "ok":
            load.count_acknowledged()
        if told.version is not None:
            known = load.versions.get(told.aggregate_id, 0)
            load.versions[told.aggregate_id] = max(known, told.version)


def _version(reply: Reply | None) -> int | None:
    etag = reply.headers.get("etag") if reply else None
    return int(etag.strip('"')) if etag else None


def _position(reply: Reply | None) -> int | None:
    position = reply.headers.get("x-event-position") if reply else None
    return int(position) if position else None


def _code(reply: Reply | None) -> str:
    if reply is None or reply.status < 400:
        return ""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return str(orjson.loads(reply.body)["data"]["code"])
    return "unreadable"
