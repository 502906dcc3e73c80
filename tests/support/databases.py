"""Databases of one test run: cheap to make, and gone with it."""

import itertools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.aggregates import AGGREGATES
from service.connection_pool import connection_pool
from service.database import SERVICE_ROLE, service_conninfo
from service.event_log.log import EventLog

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
