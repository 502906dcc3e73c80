"""The service on the cluster."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg

from service.migrate import migrate
from tests.instruments.faults.failover.cluster import Cluster, create_database
from tests.instruments.faults.failover.machine import Machine
from tests.instruments.faults.running_service import (
    START_TIMEOUT_S,
    Cast,
    RunningService,
    started,
    world_of,
)
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic
from tests.support.waiting import until

STEP_S = 0.2


@dataclass(slots=True, kw_only=True)
class FailoverStage(RunningService):
    cluster: Cluster

    @property
    def url(self) -> str:
        return self.cluster.url

    @property
    def places(self) -> list[Path]:
        machines = [each.folder for each in self.cluster.machines]
        return [self.folder / "logs", self.data, *machines]

    async def primary(self) -> Machine:
        """Return the machine that leads, once there is one."""
        found: Machine | None = None

        async def is_there() -> bool:
            nonlocal found
            found = await asyncio.to_thread(self.cluster.primary)
            return found is not None

        await until(is_there, timeout_s=START_TIMEOUT_S, step_s=STEP_S)
        assert found is not None
        return found

    async def recover(self, *, timeout_s: float) -> None:
        """Wait until the cluster is whole and every process is ready.

        :raises TimeoutError: they aren't in time
        """
        await until_whole(self.cluster, timeout_s=timeout_s)
        await RunningService.recover(self, timeout_s=timeout_s)

    def epoch(self) -> UUID:
        with psycopg.connect(self.url) as db:
            row = db.execute("SELECT epoch FROM events.head").fetchone()
        assert row is not None
        return UUID(str(row[0]))


async def until_whole(cluster: Cluster, *, timeout_s: float = START_TIMEOUT_S) -> None:
    """Wait until two standbys follow a primary.

    :raises TimeoutError: they don't in time
    """
    try:
        await until(
            lambda: asyncio.to_thread(cluster.is_whole),
            timeout_s=timeout_s,
            step_s=STEP_S,
        )
    except TimeoutError:
        raise TimeoutError(
            f"the cluster isn't whole: {cluster.members()}\n{cluster.log_tails()}"
        ) from None


@asynccontextmanager
async def set_up(
    cluster: Cluster, cast: Cast, *, broker: Broker | None = None
) -> AsyncIterator[FailoverStage]:
    """Start the service on a cluster without a database yet."""
    await until_whole(cluster)
    with tempfile.TemporaryDirectory(prefix="failover-") as name:
        folder = Path(name)
        data = folder / "data"
        for sub in (data, folder / "logs"):
            sub.mkdir()
        create_database(cluster)
        migrate(cluster.url)
        stage = FailoverStage(
            folder=folder,
            data=data,
            world=await world_of(cluster.url, data, cast),
            cast=cast,
            broker=broker,
            cluster=cluster,
        )
        if broker is not None:
            stage.kafka = await new_topic(broker.bootstrap)
        async with started(stage, cluster.url):
            yield stage
