"""The roles of the sessions that the service has on its embedded PostgreSQL."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.cli.databases import for_service
from service.database import SERVICE_ROLE, service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.harness.service import agent_runtime, running, serving
from tests.support.project import ROOT
from tests.support.secrets.served import postgres_program

SESSIONS = """
    SELECT DISTINCT usename FROM pg_stat_activity WHERE application_name = %s
"""

pytestmark = pytest.mark.thorough


@pytest.fixture
def running_data_dir(tmp_path: Path) -> Iterator[Path]:
    with running(serving("--data-dir", str(tmp_path), log=tmp_path / "log")):
        yield tmp_path


def test_the_documented_command_connects(tmp_path: Path) -> None:
    lines = (ROOT / "docs/operations/database.md").read_text("utf-8").splitlines()
    [documented] = [line for line in lines if line.startswith("psql ")]
    programs = postgres_program("psql").parent

    with running(serving("--data-dir", str(tmp_path / "data"), log=tmp_path / "log")):
        connected = subprocess.run(
            ["/bin/sh", "-c", documented],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
            input="SELECT position FROM events.head",
            capture_output=True,
            text=True,
            check=False,
        )

    assert connected.returncode == 0, connected.stderr
    assert "(1 row)" in connected.stdout


async def test_no_session_of_the_service_is_a_superusers(
    running_data_dir: Path,
) -> None:
    owner = EmbeddedPostgres.url_of_running(running_data_dir)

    issued = await asyncio.to_thread(
        agent_runtime, "token", "issue", "admin", "--data-dir", str(running_data_dir)
    )
    checked = await asyncio.to_thread(
        agent_runtime, "doctor", "--data-dir", str(running_data_dir)
    )

    assert issued.returncode == 0, issued.stderr
    assert "keys match the database" in checked.stdout

    with psycopg.connect(owner) as db:
        sessions = db.execute(SESSIONS, ["agent-runtime"]).fetchall()
    assert sessions == [(SERVICE_ROLE,)]


async def test_resetting_the_role_gives_no_more_rights(running_data_dir: Path) -> None:
    url = for_service(EmbeddedPostgres.url_of_running(running_data_dir))

    with psycopg.connect(service_conninfo(url), autocommit=True) as db:
        for reset in ("RESET ROLE", "SET ROLE NONE"):
            db.execute(reset)
            row = db.execute("SELECT current_user, session_user").fetchone()
            assert row == (SERVICE_ROLE, SERVICE_ROLE)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("UPDATE events.stored_event SET state = ''")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("SET SESSION AUTHORIZATION postgres")
