"""What commit 0fd5674 left, the oldest version that can be upgraded, stays whole."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service.cli.backup_file import open_archive
from service.cli.running import EXIT_FAILED
from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import (
    BASELINE,
    RECORD,
    MigrationError,
    PendingMigrationsError,
    migrate,
    migrations,
    require_migrated,
)
from tests.integration.upgrade import old_version
from tests.support.harness.service import agent_runtime, running, serving
from tests.support.waiting import until_blocking

OWNER = "owner_of_old"
NAMES = [each.name for each in migrations()]
RECORDED = "SELECT name, sha256 FROM public.agent_runtime_migration ORDER BY name"
AGENT_ID = next(
    each["answer"]["data"]["id"]
    for each in old_version.ANSWERS["repeated"]
    if each["path"] == "/api/catalog/agents"
)
TOOLS = ["fast_list_issues", "tracker_create_issue", "tracker_list_issues"]
# They name the end of the log, which goes on.
MOVING = {"position", "end_cursor"}


@pytest.fixture
def external_url(postgres: str) -> Iterator[str]:
    """A database of the old version, which an ordinary role owns."""
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER")
        db.execute(f"CREATE DATABASE old OWNER {OWNER}")
    try:
        old_version.load(make_conninfo(postgres, dbname="old"), OWNER)
        yield make_conninfo(postgres, dbname="old", user=OWNER)
    finally:
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute("DROP DATABASE old WITH (FORCE)")
            db.execute(f"DROP OWNED BY {OWNER}")
            db.execute(f"DROP ROLE {OWNER}")


@pytest.fixture
def empty_url(postgres: str) -> Iterator[str]:
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("CREATE DATABASE fresh")
    yield make_conninfo(postgres, dbname="fresh")
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("DROP DATABASE fresh WITH (FORCE)")


def recorded(url: str) -> dict[str, str]:
    with psycopg.connect(url) as db:
        return dict(db.execute(RECORDED).fetchall())


def schema(url: str) -> str:
    """Return what migrations make, with owners and privileges."""
    parts = [
        ["--schema=events"],
        ["--table=read.position", "--table=read.generation", "--table=read.log_check"],
    ]
    dump = [str(packaged_binaries() / "pg_dump"), "--schema-only", url]
    texts = [
        subprocess.run([*dump, *part], capture_output=True, text=True, check=True)
        for part in parts
    ]
    # A word that pg_dump makes up each time.
    return re.sub(r"\\(un)?restrict \w+", "", "".join(each.stdout for each in texts))


def call(
    url: str, user: str, method: str, path: str, body: Any = None, key: str = ""
) -> tuple[int, Any, Any]:
    request = Request(  # noqa: S310 # of our own server
        url + path,
        method=method,
        headers={
            "Authorization": f"Bearer {old_version.ANSWERS['tokens'][user]}",
            "Content-Type": "application/json",
            "X-Min-Position": str(old_version.POSITION),
            **({"Idempotency-Key": key} if key else {}),
        },
        data=None if body is None else json.dumps(body).encode(),
    )

    def answer() -> tuple[int, Any, Any] | None:
        try:
            with urlopen(request, timeout=60) as answer:  # noqa: S310
                return answer.status, json.load(answer), answer.headers
        except HTTPError as error:
            # The read tables are still being built.
            if error.code == 503:
                return None
            raise

    found = until_blocking(answer)
    assert found is not None
    return found


# They were 0 where no call at the gateway names the session or turn: null since then.
TOOL_CALLS = ("num_tool_calls", "num_tool_calls_with_error")


def assert_has(new: Any, old: Any, where: str) -> None:
    """Assert that an answer says what it said before; it may say more."""
    if isinstance(old, dict):
        assert isinstance(new, dict), where
        assert old.keys() <= new.keys(), where
        unknown = TOOL_CALLS if old.get("num_tool_calls") == 0 else ()
        for name in old.keys() - MOVING:
            expected = None if name in unknown else old[name]
            assert_has(new[name], expected, f"{where}.{name}")
    elif isinstance(old, list):
        assert len(new) == len(old), where
        for number, (one, other) in enumerate(zip(new, old, strict=True)):
            assert_has(one, other, f"{where}[{number}]")
    else:
        assert new == old, where


def assert_kept(url: str) -> None:
    """Assert that a service answers as the old version did."""
    for each in old_version.ANSWERS["reads"]:
        _, answer, _ = call(url, each["user"], "GET", each["path"])
        assert_has(answer["data"], each["answer"], each["path"])
    for each in old_version.ANSWERS["repeated"]:
        given = (each[name] for name in ("user", "method", "path", "body", "key"))
        status, answer, headers = call(url, *given)
        assert (status, answer) == (each["status"], each["answer"]), each["path"]
        assert headers["Idempotent-Replayed"] == "true", each["path"]
    _, secret, _ = call(url, "ada", "GET", "/api/secrets/TRACKER_TOKEN/value")
    assert secret["data"]["value"] == "swordfish"
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    _, listed, _ = call(url, "agent", "POST", f"/mcp/agents/{AGENT_ID}", listing)
    assert [each["name"] for each in listed["result"]["tools"]] == TOOLS


def assert_verified(folder: Path, tmp_path: Path, *options: str) -> None:
    """Assert that the old version's checkpoint vouches for what is exported now."""
    signed = old_version.data_folder(tmp_path / "signed") / "checkpoints"
    (key,) = signed.glob("public-key.*")
    export = tmp_path / "export.jsonl"
    command(
        "audit", "events", "--output", str(export), "--data-dir", str(folder), *options
    )
    said = command(
        *("audit", "verify", str(export)),
        *("--public-key", str(key), "--checkpoint", str(signed)),
    )
    assert f"{old_version.POSITION} entries" in said


def command(*arguments: str) -> str:
    done = agent_runtime(*arguments)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def test_a_data_folder(tmp_path: Path) -> None:
    folder = old_version.embedded(tmp_path / "data")

    with running(serving("--data-dir", str(folder))) as server:
        assert_kept(server.url)

    assert_verified(folder, tmp_path)
    with EmbeddedPostgres.start(folder) as postgres:
        assert list(recorded(postgres.url)) == NAMES


@pytest.mark.thorough
def test_an_external_database(external_url: str, tmp_path: Path) -> None:
    folder = old_version.data_folder(tmp_path / "data")
    options = ("--database-url", external_url)

    with running(serving("--data-dir", str(folder), *options)) as server:
        assert_kept(server.url)

    assert_verified(folder, tmp_path, *options)
    assert list(recorded(external_url)) == NAMES


@pytest.mark.thorough
def test_a_backup(tmp_path: Path) -> None:
    folder = old_version.data_folder(tmp_path / "data")

    said = command("restore", str(old_version.BACKUP), "--data-dir", str(folder))

    assert f"restored {old_version.POSITION} events" in said
    with running(serving("--data-dir", str(folder))) as server:
        _, secret, _ = call(
            server.url, "ada", "GET", "/api/secrets/TRACKER_TOKEN/value"
        )
        assert secret["data"]["value"] == "swordfish"
    assert_verified(folder, tmp_path)
    with EmbeddedPostgres.start(folder) as postgres:
        assert list(recorded(postgres.url)) == NAMES


def test_the_schema_is_that_of_a_new_database(
    external_url: str, empty_url: str, postgres: str
) -> None:
    assert migrate(external_url) == NAMES[1:]
    assert list(recorded(external_url)) == NAMES
    assert migrate(external_url) == []
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"ALTER DATABASE fresh OWNER TO {OWNER}")

    migrate(make_conninfo(empty_url, user=OWNER))

    assert schema(external_url) == schema(empty_url)


def test_a_command_that_reads_takes_the_old_migrations_for_the_baseline(
    external_url: str,
) -> None:
    old = recorded(external_url)
    assert len(old) == 18

    later = migrations()[1:]
    lacking = f"lacks {len(later)} migration"
    with pytest.raises(PendingMigrationsError, match=lacking):
        require_migrated(external_url)
    assert recorded(external_url) == old

    with psycopg.connect(external_url) as db:
        for each in later:
            db.execute(each.sql.encode())
            db.execute(RECORD, [each.name, each.sha256])
    require_migrated(external_url)
    assert recorded(external_url).keys() == old.keys() | {each.name for each in later}
    assert migrate(external_url) == []
    assert list(recorded(external_url)) == NAMES


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "DELETE FROM public.agent_runtime_migration WHERE name > '0015'",
            f"only 14 of the 18 migrations that {BASELINE} replaces: .* 0fd5674",
        ),
        (
            "UPDATE public.agent_runtime_migration SET sha256 = '' WHERE name < '0002'",
            "applied in another form",
        ),
    ],
)
def test_others_are_refused_and_left_as_they_are(
    external_url: str, tmp_path: Path, change: str, said: str
) -> None:
    with psycopg.connect(external_url) as db:
        db.execute(change.encode())
    old = recorded(external_url)

    for each in (migrate, require_migrated):
        with pytest.raises(MigrationError, match=said):
            each(external_url)
    options = ("--data-dir", str(tmp_path), "--database-url", external_url)
    refused = agent_runtime("backup", str(tmp_path / "new.backup"), *options)

    assert refused.returncode == EXIT_FAILED
    assert re.search(said, refused.stderr)
    assert not list(tmp_path.iterdir())
    assert recorded(external_url) == old


def test_a_backup_of_only_some_is_refused(empty_url: str) -> None:
    with open_archive(old_version.BACKUP) as (_, described):
        some = dict(list(described.migrations.items())[:14])

    with pytest.raises(MigrationError, match="only 14 of the 18"):
        migrate(empty_url, upto=some)

    assert recorded(empty_url) == {}
