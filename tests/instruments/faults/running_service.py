"""The service's processes on a database, and Kafka, all real, on loopback."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from projections.relay.kafka.settings import KafkaSettings
from service.open_resources import open_resources
from tests.instruments.faults.program import Program
from tests.instruments.faults.tools import libfaketime
from tests.instruments.faults.world import World, make_world
from tests.support.kafka.broker import Broker

SUPERVISE_S = 0.5
# How long all processes together take to start on a quiet machine of two cores.
QUIET_START_S = 4.0
START_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """How many processes of each kind there are.

    ``bugs`` names, for a kind, a bug that its processes are run with; ``settings``
    are those of the APIs.
    ``data`` is where PostgreSQL's files stand, if not in the stage's folder.
    """

    apis: int = 2
    followers: int = 2
    relays: int = 0
    agents: int = 6
    connectors: int = 3
    secrets: int = 6
    bugs: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    with_clock: bool = False
    data: Path | None = None


@dataclass(slots=True, kw_only=True)
class RunningService:
    """``counts`` are the kills, pauses and restarts so far, by what they hit.

    ``slowness`` is how many times longer than on a quiet machine the first start of
    all processes took, at least 1: by it time limits are multiplied.
    """

    folder: Path
    data: Path
    world: World
    cast: Cast
    broker: Broker | None = None
    kafka: KafkaSettings | None = None
    apis: list[Program] = field(default_factory=list)
    followers: list[Program] = field(default_factory=list)
    relays: list[Program] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    surprises: list[str] = field(default_factory=list)
    slowness: float = 1.0

    @property
    def url(self) -> str:
        """The database's URL, the same whenever PostgreSQL is started again."""
        raise NotImplementedError

    @property
    def programs(self) -> list[Program]:
        return [*self.apis, *self.followers, *self.relays]

    @property
    def ports(self) -> list[int]:
        return [each.port for each in self.apis]

    @property
    def clock(self) -> Path:
        """The file that says how far the API's clocks are off."""
        return self.folder / "clock"

    @property
    def places(self) -> list[Path]:
        """The folders in which no secret may stand in clear text."""
        return [self.folder / "logs", self.data]

    def kill(self, program: Program) -> None:
        self.counts[f"kill {program.name.split('-')[0]}"] += 1
        program.kill()

    async def recover(self, *, timeout_s: float) -> None:
        """Start what isn't running, and wait until everything is ready.

        :raises TimeoutError: something isn't in time
        """
        keeping = asyncio.create_task(self._supervise())
        try:
            await asyncio.sleep(0)
            await asyncio.gather(*(e.ready(timeout_s=timeout_s) for e in self.programs))
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    def keep_database(self) -> None:
        """Start the database if it has ended."""

    async def _supervise(self) -> None:
        """Start whatever has ended: a process does when its database isn't up yet."""
        while True:
            self.keep_database()
            for each in self.programs:
                if not each.is_running:
                    each.start()
            await asyncio.sleep(SUPERVISE_S)


async def world_of(url: str, data: Path, cast: Cast) -> World:
    async with open_resources(url, data) as resources:
        return await make_world(
            resources,
            agents=cast.agents,
            connectors=cast.connectors,
            secrets=cast.secrets,
        )


@asynccontextmanager
async def started(service: RunningService, apis_url: str) -> AsyncIterator[None]:
    """Start its processes, and end them whatever happens.

    ``apis_url`` is the URL by which the APIs reach the database.
    """
    _make_programs(service, apis_url)
    try:
        begun = time.monotonic()
        await service.recover(timeout_s=START_TIMEOUT_S)
        service.slowness = max(1.0, (time.monotonic() - begun) / QUIET_START_S)
        yield
    finally:
        for each in service.programs:
            if each.is_running:
                each.resume()
                each.kill()


def _make_programs(service: RunningService, apis_url: str) -> None:
    cast = service.cast
    settings = {**cast.settings}
    if cast.with_clock:
        service.clock.write_text("+0\n")
        settings |= {
            "LD_PRELOAD": libfaketime(),
            "FAKETIME_TIMESTAMP_FILE": str(service.clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    for number in range(cast.apis):
        service.apis.append(
            _program(service, "api", number, apis_url, settings=settings)
        )
    for number in range(cast.followers):
        service.followers.append(_program(service, "followers", number, service.url))
    if service.kafka is not None:
        for number in range(cast.relays):
            service.relays.append(relay(service, number))


def relay(service: RunningService, number: int) -> Program:
    """Return a relay to the service's topic, not started yet."""
    kafka = service.kafka
    assert kafka is not None
    options = ["--kafka", kafka.bootstrap, "--kafka-topic", kafka.topic]
    options += ["--kafka-replication", "1"]
    return _program(service, "relay", number, service.url, options)


def _program(
    service: RunningService,
    kind: str,
    number: int,
    url: str,
    options: Sequence[str] = (),
    *,
    settings: dict[str, str] | None = None,
) -> Program:
    return Program(
        f"{kind}-{number}",
        service.folder / "logs" / f"{kind}-{number}.log",
        [
            "--only",
            kind,
            "--database-url",
            url,
            "--data-dir",
            str(service.data),
            *options,
        ],
        bug=service.cast.bugs.get(kind),
        settings=settings,
    )
