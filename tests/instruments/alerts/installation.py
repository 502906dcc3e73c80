"""A service of real processes on a real PostgreSQL, under load, and its Prometheus."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

import aiohttp
import psycopg
from psycopg.conninfo import make_conninfo

from projections.relay.kafka.settings import KafkaSettings
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from service.tasks import end_tasks
from tests.instruments.alerts.own_disk import disk_of
from tests.instruments.alerts.prometheus import Watch, watching
from tests.support.gateway.served import Api, new_session
from tests.support.harness.clock import Clock
from tests.support.harness.process import free_ports
from tests.support.harness.replicated_postgres import (
    Replication,
    primary_server,
    standby_of,
)
from tests.support.harness.service import (
    AGENT_RUNTIME,
    Server,
    agent_runtime,
    serving,
)
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic
from tests.support.waiting import until

Kind = Literal["processes", "requests", "content", "replicated", "kafka", "embedded"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LIST: Final = "/api/mcp/connectors?limit=10"
CLIENTS: Final = 4
PAUSE_S: Final = 0.25
REQUEST: Final = aiohttp.ClientTimeout(total=30)


@dataclass(slots=True, kw_only=True)
class Installation:
    """One service, its database, and the Prometheus that watches it alone.

    The service goes by ``clock``, unless it runs PostgreSQL itself; the others go by
    the true time. ``url`` is of the database's owner, None where the service runs
    PostgreSQL itself; ``options`` are the service's. What a fault starts and leaves
    behind is ended by ``stack``. Time passes ``scale`` times faster for the rules.
    """

    folder: Path
    url: str | None
    scale: int
    options: Sequence[str]
    stack: AsyncExitStack
    port: int = field(default_factory=lambda: free_ports(1)[0])
    postgres: EmbeddedPostgres | None = None
    servers: Replication | None = None
    broker: Broker | None = None
    kafka: KafkaSettings | None = None
    clock: Clock = field(init=False)
    server: Server = field(init=False)
    admin: Api = field(init=False)
    watch: Watch = field(init=False)

    def connect(self, database: str = "agent_runtime") -> "psycopg.Connection[Any]":
        """Connect as the owner of the database."""
        assert self.url is not None
        return psycopg.connect(
            make_conninfo(self.url, dbname=database), autocommit=True
        )

    @property
    def _where(self) -> Sequence[str]:
        where = ("--data-dir", str(self.data))
        return where if self.url is None else (*where, "--database-url", self.url)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    async def command(self, *arguments: str) -> None:
        """Run a command of ``agent-runtime`` on this database."""
        done = await asyncio.to_thread(agent_runtime, *arguments, *self._where)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)

    async def start(self) -> None:
        log = self.folder / "log"
        self.clock = Clock(self.folder)
        # With libfaketime time.sleep fails, which waits for a PostgreSQL of its own.
        words = () if self.url is None else self.clock.words
        self.server = serving(
            *self._where,
            *self.options,
            log=log,
            port=self.port,
            program=(*words, *AGENT_RUNTIME),
        )
        self.server.start()
        await asyncio.to_thread(self.server.wait_until_ready)

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)

    def beside(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it until the installation ends."""
        task = asyncio.create_task(work)
        self.stack.push_async_callback(end_tasks, task)


@asynccontextmanager
async def installed(
    kind: Kind, folder: Path, broker: Broker | None, *, scale: int
) -> AsyncIterator[Installation]:
    """Start everything, with clients that read and write, until the block ends."""
    async with AsyncExitStack() as stack:
        servers = postgres = kafka = None
        options = ["--gateway-networks", "127.0.0.0/8"]
        url = None
        if kind == "embedded":
            stack.enter_context(disk_of(folder / "data"))
        elif kind == "replicated":
            primary = stack.enter_context(primary_server())
            migrate(primary.url)
            standby = stack.enter_context(standby_of(primary))
            servers = Replication(primary, standby)
            servers.wait_for_standby()
            options += ["--read-database-url", standby.url]
            url = primary.url
        else:
            postgres = stack.enter_context(EmbeddedPostgres.start(folder / "data"))
            url = postgres.url
            migrate(url)
        if kind == "kafka":
            assert broker is not None
            kafka = await new_topic(broker.bootstrap)
            options += ["--kafka", kafka.bootstrap, "--kafka-topic", kafka.topic]
            options += ["--kafka-replication", "1"]
        service = Installation(
            folder=folder,
            url=url,
            scale=scale,
            options=options,
            stack=stack,
            postgres=postgres,
            servers=servers,
            broker=broker,
            kafka=kafka,
        )
        await _start(service)
        yield service


async def _start(service: Installation) -> None:
    await service.start()
    service.stack.push_async_callback(service.stop)
    http = await service.stack.enter_async_context(new_session())
    service.admin = Api(http, service.server.url, service.server.admin_token)
    target = f"127.0.0.1:{service.port}"
    service.watch = await service.stack.enter_async_context(
        watching(service.folder / "prometheus", [target], service.scale)
    )
    await until(service.watch.scrapes)
    numbers = itertools.count(1)
    for request in _requests(next(numbers)):
        await service.admin.do(*request)
    for _ in range(CLIENTS):
        service.beside(_use(service.admin, numbers))


def _requests(number: int) -> list[tuple[str, str, Any]]:
    return [
        ("POST", "/api/catalog/agents", {"name": f"agent {number}"}),
        ("GET", "/api/catalog/agents?limit=10", None),
        ("GET", LIST, None),
    ]


async def _use(admin: Api, numbers: "itertools.count[int]") -> None:
    """Write and read without end, whatever the answers are."""
    while True:
        for method, path, body in _requests(next(numbers)):
            with suppress(aiohttp.ClientError, TimeoutError, ValueError):
                async with asyncio.timeout(REQUEST.total):
                    await admin.call(method, path, body)
            await asyncio.sleep(PAUSE_S)
