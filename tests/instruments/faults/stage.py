"""The service's processes, and a PostgreSQL that may be killed under them."""

import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from service.embedded_postgres.errors import EmbeddedPostgresError
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from tests.instruments.faults.running_service import (
    Cast,
    RunningService,
    started,
    world_of,
)
from tests.support.harness.process_tree import kill
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic
from tests.support.postgres_proxy import Proxy, running_proxy

__all__ = ["Cast", "Stage", "set_up"]


@dataclass(slots=True, kw_only=True)
class Stage(RunningService):
    server: EmbeddedPostgres
    proxy: Proxy

    @property
    def url(self) -> str:
        link = quote(str(self.data / "postgres" / "socket"), "")
        return f"postgresql://postgres@/agent_runtime?host={link}&port=5432"

    def kill_postgres(self) -> None:
        self.counts["kill postgres"] += 1
        kill(self.server)

    def start_postgres(self) -> None:
        self.server = EmbeddedPostgres.start(self.data)
        self.proxy.redirect(self.server.url)

    def keep_database(self) -> None:
        if self.server.poll() is not None:
            self.server.stop()
            with contextlib.suppress(EmbeddedPostgresError):
                self.start_postgres()


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
                stage = Stage(
                    folder=folder,
                    data=data,
                    server=server,
                    proxy=proxy,
                    world=await world_of(server.url, data, cast),
                    cast=cast,
                    broker=broker,
                )
                if broker is not None:
                    stage.kafka = await new_topic(broker.bootstrap)
                try:
                    async with started(stage, proxy.url(server.url)):
                        yield stage
                finally:
                    server = stage.server
            finally:
                proxy.go_away()
                if server.poll() is None:
                    server.stop()
