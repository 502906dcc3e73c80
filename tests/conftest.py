"""A real PostgreSQL, a clone of a migrated database for each test, and a service."""

import asyncio
import fcntl
import itertools
import logging
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from aiohttp.test_utils import TestClient
from psycopg.conninfo import make_conninfo

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.aggregates import AGGREGATES
from service.app import create_app
from service.connection_pool import connection_pool
from service.database import SERVICE_ROLE, service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.log import EventLog
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from tests.callers import Callers
from tests.event_log.in_memory import InMemoryLog
from tests.http_server import Server
from tests.scenario import Scenario

pytest_plugins = [
    "tests.failure_reports",
    "tests.kafka.fixtures",
    "tests.levels",
    "tests.scheduling",
    "tests.time_limits",
]

TEMPLATE = "migrated"
FOLLOWED_TEMPLATE = "followed"
MEMORY_BYTES_MIN = 2 * 1024**3
_numbers = itertools.count(1)


def memory_folder() -> Path | None:
    """A folder in memory, if it has room.

    A new database for each test is cheap there: flushing it costs nothing.
    """
    folder = Path("/dev/shm")  # noqa: S108
    if folder.is_dir() and shutil.disk_usage(folder).free > MEMORY_BYTES_MIN:
        return folder
    return None


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


async def make_read_tables(url: str) -> None:
    """Let every follower begin once, rather than once a test."""
    conninfo = service_conninfo(url)
    async with connection_pool(conninfo) as pool:
        await pool.wait(60)
        log = EventLog(conninfo, AGGREGATES, pool)
        await log.start()
        async with run_followers(log, url) as followers:
            names = [follower.name for follower in followers]
            await wait_for_position(pool, names, 0, timeout_s=60)
        await log.stop()


@contextmanager
def fresh_database(postgres: str, template: str) -> Iterator[str]:
    """The URL of a migrated, empty database, for as long as it is needed."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY"
        )
        # The one right that a migration gives and a clone doesn't inherit.
        connection.execute(f"GRANT CREATE ON DATABASE {name} TO {SERVICE_ROLE}")
    yield make_conninfo(postgres, dbname=name)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


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
async def client(resources: Resources) -> AsyncIterator[TestClient]:
    """The whole service in this process: the API and every follower."""
    async with (
        run_followers(resources.log, resources.database_url) as followers,
        TestClient(Server(create_app(resources))) as client,
    ):
        names = [follower.name for follower in followers]
        await wait_for_position(resources.pool, names, 0, timeout_s=60)
        yield client
        await asyncio.sleep(0)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A private folder with its keys, as after a first start."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    KeyRing.load_or_create(folder / KEY_RING_FILE)
    return folder


@pytest.fixture
def logging_as_it_was() -> Iterator[None]:
    """Undo what a command does: its process logs to standard error."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def callers(resources: Resources, client: TestClient) -> Callers:
    """Make users and call the API as them."""
    return Callers(resources, client)


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> Scenario:
    """Given aggregates, when a handler runs, then these events are recorded.

    On PostgreSQL if the test uses it besides, otherwise in memory.
    """
    if "resources" in request.fixturenames:
        return Scenario(request.getfixturevalue("resources").log)
    return Scenario(InMemoryLog(AGGREGATES))
