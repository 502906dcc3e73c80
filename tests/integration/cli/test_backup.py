"""Backup and restore by one command each, between embedded and external databases."""

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service.cli.backup_file import DESCRIPTION, open_archive
from service.cli.running import EXIT_CONFIG
from service.database import SERVICE_ROLE
from service.embedded_postgres.server import EmbeddedPostgres
from service.errors import ConfigError
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.migrate import migrate, migrations
from tests.support.audit.reading import until_signed
from tests.support.harness.service import agent_runtime, running, serving

OWNER = "owner_of_restored"
SECRET = "/api/secrets/TOKEN/value"
EVENTS = "SELECT * FROM events.stored_event ORDER BY notification_id"
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'events'"
# What a restore could lose, for it is not a table.
NOT_TABLES = """
    SELECT relname FROM pg_class
     WHERE relnamespace = 'events'::regnamespace AND relkind IN ('S', 'm', 'p', 'f')
"""


@pytest.fixture
def external_url(postgres: str, template: str) -> Iterator[str]:
    """An empty database of a login role without any other right, as documented.

    ``template`` has made the two roles without login.
    """
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER IN ROLE {SERVICE_ROLE}")
        db.execute(f"CREATE DATABASE restored OWNER {OWNER}")
    try:
        yield make_conninfo(postgres, dbname="restored", user=OWNER)
    finally:
        with psycopg.connect(postgres, autocommit=True) as db:
            db.execute("DROP DATABASE restored WITH (FORCE)")
            db.execute(f"DROP OWNED BY {OWNER}")
            db.execute(f"DROP ROLE {OWNER}")


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A data folder with an embedded database, and a backup of it while it served."""
    folder = tmp_path / "first"
    with running(serving("--data-dir", str(folder))) as server:
        token = server.admin_token
        call(server.url, token, "POST", "/api/secrets", name="TOKEN", value="swordfish")
        until_signed(server.url, token)
        command("backup", str(tmp_path / "one.backup"), "--data-dir", str(folder))
    return folder


def call(url: str, token: str, method: str, path: str, **body: Any) -> Any:
    request = Request(  # noqa: S310 # of our own server
        url + path,
        method=method,
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
        },
        data=json.dumps(body).encode() if body else None,
    )
    with urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.load(answer)["data"], answer.headers["X-Log-Epoch"]


def command(*arguments: str) -> str:
    done = agent_runtime(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*arguments: str) -> str:
    done = agent_runtime(*arguments)
    assert done.returncode == EXIT_CONFIG, (done.stdout, done.stderr)
    return done.stderr


def copy_keys(source: Path, target: Path) -> Path:
    target.mkdir(mode=0o700)
    shutil.copy(source / KEY_RING_FILE, target)
    return target


def tables_of(backup: Path) -> dict[str, list[bytes]]:
    """Return the rows of each table, in any order."""
    with zipfile.ZipFile(backup) as archive:
        return {
            name.removeprefix("events/"): sorted(archive.read(name).splitlines())
            for name in archive.namelist()
            if name.startswith("events/")
        }


@contextmanager
def revealing(*options: str, token: str) -> Iterator[tuple[str, str]]:
    """Serve, and reveal the secret; yields the base URL and the log's epoch."""
    with running(serving(*options)) as server:
        data, epoch = call(server.url, token, "GET", SECRET)
        assert data["value"] == "swordfish"
        yield server.url, epoch


@pytest.mark.thorough
def test_from_embedded_to_external_and_back(
    served: Path, external_url: str, tmp_path: Path
) -> None:
    token = (served / "admin-token").read_text().strip()
    with revealing("--data-dir", str(served), token=token) as (_, epoch):
        epochs = {epoch}
    second = copy_keys(served, tmp_path / "second")
    external = ("--data-dir", str(second), "--database-url", external_url)

    said = command("restore", str(tmp_path / "one.backup"), *external)

    assert "the log has the new epoch" in said
    with psycopg.connect(external_url) as db:
        restored = db.execute(EVENTS).fetchall()
        may_change = db.execute(
            "SELECT has_table_privilege(%s, 'events.stored_event', 'UPDATE')",
            [SERVICE_ROLE],
        ).fetchone()
    assert may_change == (False,)
    with revealing(*external, token=token) as (url, epoch):
        epochs.add(epoch)
        other = {"name": "OTHER", "value": "written after it"}
        call(url, token, "POST", "/api/secrets", **other)
        command("backup", str(tmp_path / "two.backup"), *external)

    third = copy_keys(served, tmp_path / "third")
    embedded = ("--data-dir", str(third))
    command("restore", str(tmp_path / "two.backup"), *embedded)
    with revealing(*embedded, token=token) as (url, epoch):
        epochs.add(epoch)
        data, _ = call(url, token, "GET", "/api/secrets/OTHER/value")
        assert data["value"] == "written after it"
        command("doctor", *embedded, "--log-level", "error")
        assert len(epochs) == 3
    with psycopg.connect(external_url) as db:
        assert db.execute(EVENTS).fetchall()[: len(restored)] == restored


@pytest.mark.thorough
def test_an_impossible_restore_is_refused_without_effect(
    served: Path, external_url: str, tmp_path: Path
) -> None:
    backup = tmp_path / "one.backup"
    no_keys = ("--data-dir", str(tmp_path / "no keys"), "--database-url", external_url)
    assert "there is no key ring" in refused("restore", str(backup), *no_keys)

    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (tmp_path / "first" / KEY_RING_FILE).rename(other / "aside")
    with running(serving("--data-dir", str(other), "--database-url", external_url)):
        pass
    (other / "aside").rename(tmp_path / "first" / KEY_RING_FILE)
    foreign = ("--data-dir", str(other), "--database-url", external_url)
    assert "root key" in refused("restore", str(backup), *foreign)
    owned = copy_keys(served, tmp_path / "owned")
    onto = ("--data-dir", str(owned), "--database-url", external_url)
    assert "already has events" in refused("restore", str(backup), *onto)

    assert "exists; choose another file" in refused(
        "backup", str(backup), "--data-dir", str(served)
    )


@pytest.mark.thorough
def test_a_backup_of_before_a_rotation_can_be_restored_without_a_copy_of_its_keys(
    served: Path, tmp_path: Path
) -> None:
    token = (served / "admin-token").read_text().strip()
    old_id = KeyRing.load(served / KEY_RING_FILE).primary_id
    said = command("keys", "rotate", "--data-dir", str(served))
    kept = served / f"keys-{old_id}.json"
    assert str(kept) in said
    second = tmp_path / "second"
    second.mkdir(mode=0o700)
    shutil.copy(kept, second / KEY_RING_FILE)

    command("restore", str(tmp_path / "one.backup"), "--data-dir", str(second))

    with revealing("--data-dir", str(second), token=token):
        pass
    assert old_id not in command("keys", "status", "--data-dir", str(served))


def test_a_damaged_or_partial_backup_is_refused(served: Path, tmp_path: Path) -> None:
    target = copy_keys(served, tmp_path / "target")
    whole = (tmp_path / "one.backup").read_bytes()
    damaged, cut, other = (tmp_path / name for name in ("damaged", "cut", "other"))
    damaged.write_bytes(with_other_byte(whole, len(whole) // 2))
    cut.write_bytes(whole[: len(whole) - 30])
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("x", "y")

    for path in (damaged, cut, other, tmp_path / "missing", tmp_path):
        said = refused("restore", str(path), "--data-dir", str(target))
        assert str(path) in said
    assert {each.name for each in target.iterdir()} == {KEY_RING_FILE}

    damaged.write_bytes(whole)
    with open_archive(damaged):
        pass
    size = len(whole)
    ends = {*range(100), *range(size - 100, size)}
    for place in sorted(ends | {size * number // 300 for number in range(300)}):
        damaged.write_bytes(with_other_byte(whole, place))
        expect_refused(damaged)
    for length in {0, 1, size - 1, *(size * number // 50 for number in range(50))}:
        damaged.write_bytes(whole[:length])
        expect_refused(damaged)
    for longer in (whole + b"\0", whole + whole, b"\0" + whole):
        damaged.write_bytes(longer)
        expect_refused(damaged)


def with_other_byte(whole: bytes, place: int) -> bytes:
    return whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]


def expect_refused(backup: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(str(backup))), open_archive(backup):
        pass


@pytest.mark.thorough
def test_a_backup_of_before_digests_is_restored_and_said_to_have_none(
    served: Path, tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier.backup"
    with (
        zipfile.ZipFile(tmp_path / "one.backup") as source,
        zipfile.ZipFile(earlier, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == DESCRIPTION:
                content = json.dumps({**json.loads(content), "format": 1}).encode()
            target.writestr(name, content)
    second = copy_keys(served, tmp_path / "second")

    said = command("restore", str(earlier), "--data-dir", str(second))

    assert "without a digest" in said
    token = (served / "admin-token").read_text().strip()
    with revealing("--data-dir", str(second), token=token):
        pass


def test_every_table_is_restored_with_the_same_rows(
    served: Path, external_url: str, tmp_path: Path
) -> None:
    second = copy_keys(served, tmp_path / "second")
    external = ("--data-dir", str(second), "--database-url", external_url)

    command("restore", str(tmp_path / "one.backup"), *external)

    command("backup", str(tmp_path / "two.backup"), *external)
    before = tables_of(tmp_path / "one.backup")
    after = tables_of(tmp_path / "two.backup")
    with psycopg.connect(external_url) as db:
        assert {name for (name,) in db.execute(TABLES)} == after.keys()
        assert db.execute(NOT_TABLES).fetchall() == []
    # The restored log has another epoch on another server.
    assert before.pop("head") != after.pop("head")
    assert before.pop("epoch_change") == []
    (change,) = after.pop("epoch_change")
    assert b"\trestore\t" in change
    assert after == before
    full = {"stored_event", "merkle_node", "user_key", "sealed_value", "checkpoint"}
    assert {name for name in full if not after[name]} == set()


def test_a_backup_of_an_older_version_is_restored_and_migrated(
    external_url: str, tmp_path: Path
) -> None:
    known = {each.name: each.sha256 for each in migrations()}
    older = {name: sha256 for name, sha256 in known.items() if name < "0019"}
    migrate(external_url, upto=older)
    backup = str(tmp_path / "older.backup")
    keys = tmp_path / "keys"
    keys.mkdir(mode=0o700)
    KeyRing.load_or_create(keys / KEY_RING_FILE)
    command("backup", backup, "--data-dir", str(keys), "--database-url", external_url)
    with psycopg.connect(external_url) as db:
        epoch = db.execute("SELECT epoch FROM events.head").fetchone()

    migrate(external_url)
    onto = ("--data-dir", str(keys), "--database-url", external_url)
    assert "which the backup's didn't have" in refused("restore", backup, *onto)
    command("restore", backup, "--data-dir", str(keys))

    with EmbeddedPostgres.start(keys) as postgres, psycopg.connect(postgres.url) as db:
        names = db.execute("SELECT name FROM public.agent_runtime_migration")
        assert {name for (name,) in names} == known.keys()
        assert db.execute("SELECT epoch FROM events.head").fetchone() != epoch
