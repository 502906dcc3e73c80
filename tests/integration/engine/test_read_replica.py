"""Reads from a real standby: as good as the primary's, whatever happens to it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest
from aiohttp.test_utils import TestClient

from projections.audit.proofs.signer import run_signer
from projections.audit.trail import export
from projections.audit.trail.queries import entries_found
from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.connection_pool import CheckedPool, connection_pool
from service.event_log import read_replica
from service.http.read_server import READS, REPEATED
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from service.waits import Waits
from tests.support import metrics
from tests.support.audit.ends import without_end
from tests.support.callers import Caller, Callers, Reply
from tests.support.harness.replicated_postgres import (
    DATABASE,
    Replication,
    primary_server,
    standby_of,
)
from tests.support.http_server import Server
from tests.support.waiting import until

# Imported before the limit is raised.
OWN_WAIT_S = Waits().connection_s
CONNECTORS = "/api/mcp/connectors"
CONNECTOR = {"name": "search", "url": "https://tools.example/mcp"}


@contextmanager
def replicating() -> Iterator[Replication]:
    """Run a primary, and a standby that it doesn't wait for."""
    with primary_server() as primary:
        migrate(primary.url)
        with standby_of(primary) as standby:
            yield Replication(primary, standby)


@pytest.fixture(scope="module")
def shared() -> Iterator[Replication]:
    with replicating() as servers:
        yield servers


@pytest.fixture
def servers(shared: Replication) -> Iterator[Replication]:
    """Give the next test a standby that follows."""
    yield shared
    if not shared.standby.is_running:
        shared.standby.start()
    shared.standby.resume_replay()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys")


@dataclass
class Stage:
    """A service that reads from a standby, and a superuser of it."""

    servers: Replication
    resources: Resources
    admin: Caller

    @property
    def is_asked(self) -> bool:
        assert self.resources.reads.replica is not None
        return self.resources.reads.replica.is_usable

    async def make(self, name: str = "search") -> Reply:
        made = await self.admin.post(CONNECTORS, {**CONNECTOR, "name": name})
        assert made.status == 201, made
        return made


@asynccontextmanager
async def serving_from(servers: Replication, folder: Path) -> AsyncIterator[Stage]:
    url = servers.primary.url
    async with (
        open_resources(url, folder, read_database_url=servers.standby.url) as resources,
        run_followers(resources.log, url) as followers,
        TestClient(Server(create_app(resources))) as client,
    ):
        names = [follower.name for follower in followers]
        await wait_for_position(resources.pool, names, 0, timeout_s=60)
        admin = await Callers(resources, client).user(uuid4().hex, "superuser")
        stage = Stage(servers, resources, admin)
        await until(lambda: stage.is_asked)
        yield stage


@pytest.fixture
async def stage(servers: Replication, folder: Path) -> AsyncIterator[Stage]:
    async with serving_from(servers, folder) as stage:
        yield stage


@dataclass
class Counted:
    """Reads since the beginning of a block."""

    replica: float = 0
    primary: float = 0
    repeated: float = 0


def counted() -> Counted:
    return Counted(
        replica=metrics.counted(READS, server="replica"),
        primary=metrics.counted(READS, server="primary"),
        repeated=metrics.counted(REPEATED),
    )


async def raw(caller: Caller, path: str, **headers: str) -> tuple[int, bytes, Any]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["Authorization"] = f"Bearer {caller.token}"
    async with caller.client.get(path, headers=sent) as response:
        return response.status, await response.read(), response.headers


@pytest.mark.thorough
async def test_every_kind_of_read_is_answered_by_the_replica(
    stage: Stage, tmp_path: Path
) -> None:
    made = await stage.make()
    position = made.headers["X-Event-Position"]
    async with run_signer(stage.resources.log, stage.resources.pool, tmp_path):
        await until(lambda: is_signed(stage, int(position)))
    replica = stage.resources.reads.replica
    assert replica is not None
    await wait_for_position(
        replica, ["merkle_tree", "audit_trail"], int(position), timeout_s=60
    )
    paths = [
        "/api/observability/session/list",
        "/api/llm-router/providers",
        CONNECTORS,
        "/api/users",
        "/api/usage",
        "/api/audit/events",
        f"/api/audit/events/{position}",
        "/api/audit/export.jsonl",
        "/api/audit/export.csv",
        "/api/audit/checkpoint",
        f"/api/audit/proofs/inclusion?position={position}",
        f"/api/audit/proofs/consistency?first=1&second={position}",
        f"/api/audit/aggregates/{made.data['id']}",
        f"/api/audit/aggregates/{made.data['id']}/difference?since=1",
    ]
    for path in paths:
        before = counted()

        status, body, _ = await raw(stage.admin, path)

        assert status == 200, (path, body)
        after = counted()
        assert after.replica == before.replica + 1, path
        # A machine that is busy may let the primary answer instead.
        assert after.primary - before.primary == after.repeated - before.repeated, path


async def is_signed(stage: Stage, position: int) -> bool:
    row = await stage.admin.get(f"/api/audit/proofs/inclusion?position={position}")
    return row.status == 200 and row.data["checkpoint"] is not None


async def test_a_read_says_which_position_the_replica_reflects(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Asked all the same where a busy machine needs longer for the next steps.
    monkeypatch.setattr(read_replica, "LAG_MAX_S", 60.0)
    made = await stage.make()
    await until(lambda: is_listed(stage, made))
    stage.servers.standby.pause_replay()
    later = await stage.make("later")
    asked = await other_token(stage)

    listed = await asked.get(CONNECTORS)

    assert listed.position < later.position
    assert later.data["id"] not in {each["id"] for each in listed.data["connectors"]}


async def is_listed(stage: Stage, made: Reply) -> bool:
    listed = await stage.admin.get(CONNECTORS)
    return made.data["id"] in {each["id"] for each in listed.data["connectors"]}


async def other_token(stage: Stage) -> Caller:
    """A caller who wrote nothing a moment ago."""
    callers = Callers(stage.resources, stage.admin.client)
    return await callers.user(uuid4().hex, "superuser")


async def test_what_the_replica_does_not_have_yet_is_asked_of_the_primary(
    stage: Stage,
) -> None:
    stage.servers.standby.pause_replay()
    made = await stage.make()
    position = made.headers["X-Event-Position"]
    other = await other_token(stage)

    # By the position, by being refused, and by the caller's own write.
    listed = await other.get(CONNECTORS, X_Min_Position=position)
    sessions = await other.get(
        "/api/observability/session/list", X_Min_Position=position
    )
    catalog = await other.get("/api/llm-router/providers", X_Min_Position=position)
    found = await other.get(f"{CONNECTORS}/{made.data['id']}")
    own = await stage.admin.get(CONNECTORS)
    replayed = await other.get(f"/api/audit/aggregates/{made.data['id']}?at={position}")
    beyond = await other.get(CONNECTORS, X_Min_Position="1000000")

    assert (listed.status, found.status, replayed.status) == (200, 200, 200)
    assert listed.position >= made.position
    assert (sessions.status, catalog.status) == (200, 200)
    assert min(sessions.position, catalog.position) >= made.position
    assert made.data["id"] in {each["id"] for each in own.data["connectors"]}
    assert (beyond.status, beyond.code) == (412, "position_beyond_log")


async def test_a_reading_is_recorded_once_by_either_server(stage: Stage) -> None:
    stage.servers.standby.pause_replay()
    made = await stage.make()
    before = (await stage.resources.log.head()).position

    replayed = await stage.admin.get(f"/api/audit/aggregates/{made.data['id']}")

    assert replayed.status == 200
    assert (await stage.resources.log.head()).position == before + 1


@pytest.mark.parametrize("ahead", ["0", "1 day"])
async def test_a_replica_that_is_too_far_behind_is_not_asked(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, ahead: str
) -> None:
    """Also while the log is ahead of the clock, which then doesn't tell an age."""
    monkeypatch.setattr(read_replica, "LAG_MAX_S", 0.2)
    stage.servers.primary.execute(
        f"UPDATE events.head SET recorded_at = recorded_at + interval '{ahead}'",  # noqa: S608
        DATABASE,
    )
    stage.servers.standby.pause_replay()
    made = await stage.make()

    await until(lambda: not stage.is_asked)
    before = counted()
    listed = await (await other_token(stage)).get(CONNECTORS)

    assert listed.position >= made.position - 1
    assert counted().replica == before.replica

    stage.servers.standby.resume_replay()
    monkeypatch.undo()
    await until(lambda: stage.is_asked)


@pytest.fixture
def own_wait_for_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reads wait for a connection to the replica as long as a user's, no longer."""

    def own_pool(conninfo: str, waits: Waits) -> CheckedPool:
        pool = connection_pool(conninfo, waits)
        pool.timeout = OWN_WAIT_S
        return pool

    monkeypatch.setattr(read_replica, "connection_pool", own_pool)


@pytest.mark.usefixtures("own_wait_for_replica")
@pytest.mark.thorough
async def test_a_replica_that_is_killed_is_not_asked_until_it_is_back(
    stage: Stage,
) -> None:
    stage.servers.standby.kill()

    listed = await stage.admin.get(CONNECTORS)
    sessions = await stage.admin.get("/api/observability/session/list")
    await until(lambda: not stage.is_asked)
    before = counted()
    later = await stage.admin.get(CONNECTORS)

    assert (listed.status, sessions.status, later.status) == (200, 200, 200)
    assert counted().replica == before.replica

    # In this thread: the kernel ends it with the thread that started it.
    stage.servers.standby.start()
    await until(lambda: stage.is_asked)
    again = await stage.admin.get(CONNECTORS)
    assert again.status == 200


@pytest.mark.thorough
async def test_a_replica_that_is_frozen_delays_a_read_and_fails_none(
    stage: Stage,
) -> None:
    stage.servers.standby.freeze()
    try:
        listed = await stage.admin.get(CONNECTORS)
        await until(lambda: not stage.is_asked)
    finally:
        stage.servers.standby.thaw()

    assert listed.status == 200
    await until(lambda: stage.is_asked)


async def test_a_standby_that_was_promoted_beside_the_primary_is_not_asked(
    tmp_path: Path,
) -> None:
    with replicating() as servers:
        async with serving_from(servers, tmp_path) as stage:
            await asyncio.to_thread(servers.standby.promote)

            await until(lambda: not stage.is_asked)

            assert (await stage.admin.get(CONNECTORS)).status == 200


async def test_an_export_goes_on_when_its_replica_is_lost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "BATCH_ENTRIES", 1)
    for number in range(5):
        made = await stage.make(f"connector-{number}")
    replica = stage.resources.reads.replica
    assert replica is not None
    await wait_for_position(replica, ["audit_trail"], made.position, timeout_s=60)
    lent = []
    found = entries_found

    async def killing(*arguments: Any, **options: Any) -> Any:
        lent.append(arguments[0])
        if len(lent) == 3:
            stage.servers.standby.kill()
        return await found(*arguments, **options)

    monkeypatch.setattr(export, "entries_found", killing)
    before = counted()

    status, body, headers = await raw(stage.admin, "/api/audit/export.jsonl")

    lines = without_end(body.splitlines())
    positions = [orjson.loads(line)["position"] for line in lines]
    assert status == 200
    assert positions == [*range(1, int(headers["X-Event-Position"]) + 1)]
    assert counted().repeated == before.repeated + 1
