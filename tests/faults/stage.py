"""PostgreSQL, the service's processes and Kafka, all real, on loopback."""

import asyncio
import contextlib
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from projections.relay.kafka.settings import KafkaSettings
from service.embedded_postgres.errors import EmbeddedPostgresError
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from service.resources import open_resources
from tests.faults.program import Program
from tests.faults.tools import libfaketime
from tests.faults.world import World, make_world
from tests.harness.process_tree import kill
from tests.kafka.broker import Broker
from tests.kafka.fixtures import new_topic
from tests.postgres_proxy import Proxy, running_proxy

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
class Stage:
    """``counts`` are the kills, pauses and restarts so far, by what they hit.

    ``slowness`` is how many times longer than on a quiet machine the first start of
    all processes took, at least 1: by it time limits are multiplied.
    """

    folder: Path
    data: Path
    server: EmbeddedPostgres
    proxy: Proxy
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
        link = quote(str(self.data / "postgres" / "socket"), "")
        return f"postgresql://postgres@/agent_runtime?host={link}&port=5432"

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

    def kill_postgres(self) -> None:
        self.counts["kill postgres"] += 1
        kill(self.server)

    def start_postgres(self) -> None:
        self.server = EmbeddedPostgres.start(self.data)
        self.proxy.redirect(self.server.url)

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

    async def _supervise(self) -> None:
        """Start whatever has ended: a process does when its database isn't up yet."""
        while True:
            if self.server.poll() is not None:
                self.server.stop()
                with contextlib.suppress(EmbeddedPostgresError):
                    self.start_postgres()
            for each in self.programs:
                if not each.is_running:
                    each.start()
            await asyncio.sleep(SUPERVISE_S)


@asynccontextmanager
async def set_up(cast: Cast, *, broker: Broker | None = None) -> AsyncIterator[Stage]:
    """Start everything, and end it whatever happens."""
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        for sub in ("proxy", "logs"):
            (folder / sub).mkdir()
        data = cast.data or folder / "data"
        server = EmbeddedPostgres.start(data)
        async with running_proxy(folder / "proxy") as proxy:
            try:
                migrate(server.url)
                async with open_resources(server.url, data) as resources:
                    world = await make_world(
                        resources,
                        agents=cast.agents,
                        connectors=cast.connectors,
                        secrets=cast.secrets,
                    )
                stage = Stage(
                    folder=folder,
                    data=data,
                    server=server,
                    proxy=proxy,
                    world=world,
                    cast=cast,
                    broker=broker,
                )
                if broker is not None:
                    stage.kafka = await new_topic(broker.bootstrap)
                _engage(stage)
                try:
                    started = time.monotonic()
                    await stage.recover(timeout_s=START_TIMEOUT_S)
                    stage.slowness = max(
                        1.0, (time.monotonic() - started) / QUIET_START_S
                    )
                    yield stage
                finally:
                    for each in stage.programs:
                        if each.is_running:
                            each.resume()
                            each.kill()
                    server = stage.server
            finally:
                proxy.go_away()
                if server.poll() is None:
                    server.stop()


def _engage(stage: Stage) -> None:
    cast = stage.cast
    through_proxy = stage.proxy.url(stage.server.url)
    settings = {**cast.settings}
    if cast.with_clock:
        stage.clock.write_text("+0\n")
        settings |= {
            "LD_PRELOAD": libfaketime(),
            "FAKETIME_TIMESTAMP_FILE": str(stage.clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
    for number in range(cast.apis):
        stage.apis.append(
            _program(stage, "api", number, through_proxy, settings=settings)
        )
    for number in range(cast.followers):
        stage.followers.append(_program(stage, "followers", number, stage.url))
    kafka = stage.kafka
    if kafka is not None:
        options = ["--kafka", kafka.bootstrap, "--kafka-topic", kafka.topic]
        options += ["--kafka-replication", "1"]
        for number in range(cast.relays):
            stage.relays.append(_program(stage, "relay", number, stage.url, options))


def _program(
    stage: Stage,
    kind: str,
    number: int,
    url: str,
    options: Sequence[str] = (),
    *,
    settings: dict[str, str] | None = None,
) -> Program:
    return Program(
        f"{kind}-{number}",
        stage.folder / "logs" / f"{kind}-{number}.log",
        [
            "--only",
            kind,
            "--database-url",
            url,
            "--data-dir",
            str(stage.data),
            *options,
        ],
        bug=stage.cast.bugs.get(kind),
        settings=settings,
    )
