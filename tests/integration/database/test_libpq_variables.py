"""Variables that libpq reads say nothing about the service's database."""

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from service.config import Config
from service.embedded_postgres.server import EmbeddedPostgres
from service.ignored_variables import IGNORED, libpq_variables
from tests.support.harness.service import (
    Server,
    agent_runtime,
    own_environment,
    running,
    serving,
)
from tests.support.waiting import until

NAME = "代理 łódź"
# Where "nonsense" would do no harm.
HARMFUL: Mapping[str, str] = {
    "PGCLIENTENCODING": "LATIN1",
    "PGHOSTADDR": "192.0.2.1",
    "PGREQUIREAUTH": "scram-sha-256",
    "PGSSLROOTCERT": "system",
    "PGTARGETSESSIONATTRS": "standby",
    "PGTZ": "Asia/Kathmandu",
    "PGDATESTYLE": "SQL, DMY",
    "PGMINPROTOCOLVERSION": "9.9",
    "PGOPTIONS": "-c default_transaction_read_only=on",
}
SESSION = """
import sys
from pathlib import Path
import psycopg
from service.embedded_postgres.server import EmbeddedPostgres
with psycopg.connect(EmbeddedPostgres.url_of_running(Path(sys.argv[1]))) as db:
    print(db.info.get_parameters())
    print(db.execute("SELECT inet_server_addr(), system_identifier"
                     " FROM pg_control_system()").fetchall())
    print(db.execute("SELECT name, setting FROM pg_settings ORDER BY 1").fetchall())
"""


def value(variable: str) -> str:
    return HARMFUL.get(variable, "nonsense")


async def serves(server: Server) -> None:
    """Write an event with letters of no single 8-bit encoding; wait for followers."""
    position = create_agent(server)
    await until(lambda: have_reached(server, position))
    assert NAME in agents(server)


def create_agent(server: Server) -> int:
    """Create an agent, and return the position of that event."""
    with urlopen(request(server, {"name": NAME})) as reply:  # noqa: S310
        return int(reply.headers["X-Event-Position"])


def have_reached(server: Server, position: int) -> bool:
    with urlopen(f"{server.url}/readyz") as reply:  # noqa: S310
        followers = json.load(reply)["data"]["followers"]
    return bool(followers) and all(each["position"] >= position for each in followers)


def agents(server: Server) -> list[str]:
    with urlopen(request(server)) as reply:  # noqa: S310
        return [each["name"] for each in json.load(reply)["data"]["agents"]]


def request(server: Server, body: object = None) -> Request:
    return Request(  # noqa: S310
        f"{server.url}/api/catalog/agents",
        None if body is None else json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {server.admin_token}",
            "Content-Type": "application/json",
        },
    )


def home_with_passwords(folder: Path) -> Path:
    """Return a home folder whose password file libpq complains of."""
    folder.mkdir()
    passwords = folder / ".pgpass"
    passwords.write_text("*:*:*:*:wrong\n")
    passwords.chmod(stat.S_IRUSR | stat.S_IROTH)
    return folder


async def test_none_reaches_the_embedded_database(tmp_path: Path) -> None:
    home = home_with_passwords(tmp_path / "home")
    settings = {name: value(name) for name in libpq_variables()} | {"HOME": str(home)}
    where = ("--data-dir", str(tmp_path / "data"))
    log = tmp_path / "log"

    with running(serving(*where, log=log, settings=settings)) as server:
        await serves(server)
        beside = agent_runtime("doctor", *where, settings=settings)
    alone = agent_runtime("backup", str(tmp_path / "backup"), *where, settings=settings)

    assert beside.returncode == 0, beside.stdout + beside.stderr
    assert alone.returncode == 0, alone.stderr
    written = log.read_text()
    assert "ignored environment variables: PGAPPNAME, " in written
    assert "ignored PGCHANNELBINDING, " in written
    for words in (written, beside.stderr, alone.stderr):
        assert "password file" not in words


@pytest.fixture(scope="module")
def running_data_dir() -> Iterator[Path]:
    with (
        tempfile.TemporaryDirectory(prefix="agent-runtime-test-") as folder,
        EmbeddedPostgres.start(Path(folder)),
    ):
        yield Path(folder)


@pytest.mark.thorough
@pytest.mark.parametrize("variable", sorted(libpq_variables()))
def test_a_session_of_the_embedded_database_is_the_same(
    variable: str, running_data_dir: Path
) -> None:
    assert session(running_data_dir, {variable: value(variable)}) == session(
        running_data_dir, {}
    )


def session(data_dir: Path, settings: Mapping[str, str]) -> str:
    """Return the parameters of another process's connection."""
    return subprocess.run(
        [sys.executable, "-c", SESSION, str(data_dir)],
        env=own_environment(settings),
        check=True,
        capture_output=True,
        text=True,
    ).stdout


async def test_those_of_the_session_are_ignored_by_an_external_database_too(
    tmp_path: Path, database_url: str
) -> None:
    settings = {name: value(name) for name in IGNORED}
    where = ("--data-dir", str(tmp_path), "--database-url", database_url)

    with running(serving(*where, log=tmp_path / "log", settings=settings)) as server:
        await serves(server)
        done = agent_runtime("migrate", *where, settings=settings)

    assert done.returncode == 0, done.stderr


async def test_an_encoding_in_the_url_changes_nothing(database_url: str) -> None:
    url = make_conninfo(database_url, client_encoding="LATIN1")

    read = Config.read({"database_url": url}, {}).database_url

    assert read is not None
    async with await AsyncConnection.connect(read) as db:
        cursor = await db.execute("SELECT %s::text", [NAME])
        assert await cursor.fetchone() == (NAME,)


def test_this_process_has_none(postgres: str) -> None:
    """Tests and tools use an embedded database as well, and start it themselves."""
    assert postgres
    assert not libpq_variables() & os.environ.keys()
