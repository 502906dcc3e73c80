"""A real PostgreSQL, a clone of a migrated database for each test, and a service."""

import asyncio
import fcntl
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient
from psycopg.conninfo import make_conninfo
from pytest_aiohttp.plugin import AiohttpClient

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.config import Config
from service.database import SERVICE_ROLE
from service.embedded_postgres.server import EmbeddedPostgres
from service.gateway import observer
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.configured import configured
from tests.support.databases import fresh_database, make_read_tables, memory_folder
from tests.support.http_server import Server
from tests.support.kafka.fixtures import bootstrap, frail_broker, own_broker
from tests.support.scenario import Scenario
from tests.support.tool_rules.setting import Setting

__all__ = ["bootstrap", "frail_broker", "own_broker"]

TEMPLATE = "migrated"
FOLLOWED_TEMPLATE = "followed"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL of this test run."""
    with (
        tempfile.TemporaryDirectory(
            prefix="agent-runtime-test-", dir=memory_folder()
        ) as folder,
        EmbeddedPostgres.start(Path(folder)) as server,
    ):
        if hasattr(fcntl, "F_FULLFSYNC"):
            _flush_to_drive_cache(server.url)
        yield server.url


def _flush_to_drive_cache(url: str) -> None:
    """On macOS, don't wait for the disk itself: tests need not survive a power cut."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET wal_sync_method = 'fsync'")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {TEMPLATE}")
    migrate(make_conninfo(postgres, dbname=TEMPLATE))
    return TEMPLATE


@pytest.fixture(scope="session")
def followed_template(postgres: str, template: str) -> str:
    """The template with empty read tables, which followers take up as theirs."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {FOLLOWED_TEMPLATE} TEMPLATE {template}")
        connection.execute(
            f"GRANT CREATE ON DATABASE {FOLLOWED_TEMPLATE} TO {SERVICE_ROLE}"
        )
    asyncio.run(make_read_tables(make_conninfo(postgres, dbname=FOLLOWED_TEMPLATE)))
    return FOLLOWED_TEMPLATE


@pytest.fixture
def database_url(
    request: pytest.FixtureRequest, postgres: str, template: str
) -> Iterator[str]:
    """The URL of a migrated, empty database of this test alone.

    Read tables are there only when all followers run, as they do behind ``client``.
    """
    if "client" in request.fixturenames:
        template = request.getfixturevalue("followed_template")
    with fresh_database(postgres, template) as url:
        yield url


@pytest.fixture
async def resources(database_url: str, tmp_path: Path) -> AsyncIterator[Resources]:
    """What a process holds open, on an empty log, without followers."""
    async with open_resources(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def followers(resources: Resources) -> AsyncIterator[None]:
    """Every follower, with its read tables built."""
    async with run_followers(resources.log, resources.database_url) as followers:
        names = [follower.name for follower in followers]
        await wait_for_position(resources.pool, names, 0, timeout_s=60)
        yield


@pytest.fixture(autouse=True)
def observed_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Don't observe connectors by chance, in a test that takes long enough."""
    monkeypatch.setattr(observer, "POLL_S", 3600.0)


@pytest.fixture
def observed_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observe new and changed connectors, as in production but sooner."""
    monkeypatch.setattr(observer, "POLL_S", 0.1)


@pytest.fixture
def config() -> Config:
    return configured()


@pytest.fixture
def app(resources: Resources, config: Config) -> web.Application:
    return create_app(resources, config)


@pytest.fixture
async def client(
    app: web.Application, followers: None, aiohttp_client: AiohttpClient
) -> TestClient:
    """The whole service in this process: the API and every follower."""
    return await aiohttp_client(Server(app))


@pytest.fixture
def callers(resources: Resources, client: TestClient) -> Callers:
    """Make users and call the API as them."""
    return Callers(resources, client)


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    """A user without a role."""
    return await callers.user("ada")


@pytest.fixture
async def root(callers: Callers) -> Caller:
    return await callers.user("root", "superuser")


@pytest.fixture
def setting(resources: Resources) -> Setting:
    return Setting(resources)


@pytest.fixture
async def agent(setting: Setting, ada: Caller) -> UUID:
    """Managed by ``ada``."""
    return await setting.agent(ada)


@pytest.fixture
async def tracker(setting: Setting, ada: Caller, agent: UUID) -> UUID:
    """A connector that ``ada`` owns and ``agent`` holds."""
    return await setting.connector(ada, granted_to=[agent])


@pytest.fixture
def scenario(resources: Resources) -> Scenario:
    """Given aggregates, when a handler runs, then these events are recorded."""
    return Scenario(resources.log)
