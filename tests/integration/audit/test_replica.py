"""Everything that a reviewer does, on a streaming replica of the database."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from aiohttp.test_utils import TestClient, TestServer
from psycopg.conninfo import make_conninfo

from projections.catalog import run_followers
from service.app import create_app
from service.database import READER_ROLE
from service.migrate import migrate
from service.open_resources import open_resources
from tests.support.audit.tampering import sign
from tests.support.callers import Callers
from tests.support.harness.replicated_postgres import primary_server, standby_of
from tests.support.harness.service import audit
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

WRITTEN = "SELECT pg_current_wal_lsn()"
IS_REPLAYED = "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s"


async def test_a_reviewer_needs_nothing_but_a_replica(tmp_path: Path) -> None:
    with primary_server() as primary:
        migrate(primary.url)
        primary.execute(f"CREATE ROLE olga LOGIN IN ROLE {READER_ROLE}")
        with standby_of(primary) as replica:
            position = await record_something(primary.url, tmp_path)
            await asyncio.to_thread(until_replayed, primary.url, replica.url)
            await expect_all_of_it(
                make_conninfo(replica.url, user="olga"), primary.url, tmp_path, position
            )


async def record_something(url: str, tmp_path: Path) -> int:
    """Record and sign; after the replica was made, so that it must be streamed."""
    async with (
        open_resources(url, tmp_path) as resources,
        run_followers(resources.log, url),
        TestClient(TestServer(create_app(resources))) as client,
    ):
        ada = await Callers(resources, client).user("ada")
        made = await ada.post("/api/catalog/agents", {"name": "Triage"})
        await sign(resources, tmp_path)
        return made.position


def until_replayed(primary: str, replica: str) -> None:
    with psycopg.connect(primary) as db:
        row = db.execute(WRITTEN).fetchone()
    with psycopg.connect(replica, autocommit=True) as db:
        until_blocking(lambda: db.execute(IS_REPLAYED, row).fetchone() == (True,))


async def expect_all_of_it(
    replica: str, primary: str, tmp_path: Path, position: int
) -> None:
    export, same = tmp_path / "export", tmp_path / "same"
    for url, path in ((replica, export), (primary, same)):
        done = await audit("events", "--database-url", url, "--output", str(path))
        assert (done.returncode, done.stderr) == (0, "")
    assert export.read_bytes() == same.read_bytes()

    key = await audit("checkpoint", "--key", "--database-url", replica)
    checkpoints = str(tmp_path / "checkpoints")
    verified = await audit(
        *("verify", str(export), "--public-key", key.stdout.strip()),
        *("--checkpoint", checkpoints),
    )
    assert verified.returncode == 0
    assert "entries verified" in verified.stdout

    with psycopg.connect(primary, autocommit=True) as db:
        db.execute("CREATE DATABASE reviewed")
    reviewed = make_conninfo(primary, dbname="reviewed")
    into = ["--database-url", replica, "--into", reviewed, "--schema", "then"]
    replayed = await audit("replay", "--at", str(position), *into)
    assert (replayed.returncode, replayed.stderr) == (0, "")
    with psycopg.connect(reviewed) as db:
        agents = db.execute('SELECT name FROM "then".agent').fetchall()
    assert agents == [("Triage",)]
