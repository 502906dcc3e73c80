"""Backup and restore by one command each, between embedded and external databases."""

import json
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

from service.cli.running import EXIT_CONFIG
from service.database import SERVICE_ROLE
from service.keys.key_ring import KEY_RING_FILE
from tests.harness.service import agent_runtime, running, serving

pytestmark = pytest.mark.processes
OWNER = "owner_of_restored"
SECRET = "/api/secrets/TOKEN/value"
EVENTS = "SELECT * FROM events.stored_event ORDER BY notification_id"


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


@contextmanager
def revealing(*options: str, token: str) -> Iterator[tuple[str, str]]:
    """Serve, and reveal the secret; yields the base URL and the log's epoch."""
    with running(serving(*options)) as server:
        data, epoch = call(server.url, token, "GET", SECRET)
        assert data["value"] == "swordfish"
        yield server.url, epoch


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


def test_what_cannot_be_restored_is_refused_and_changes_nothing(
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


def test_a_damaged_or_partial_backup_is_refused(served: Path, tmp_path: Path) -> None:
    target = copy_keys(served, tmp_path / "target")
    whole = (tmp_path / "one.backup").read_bytes()
    damaged, cut, other = (tmp_path / name for name in ("damaged", "cut", "other"))
    middle = len(whole) // 2
    damaged.write_bytes(whole[:middle] + b"\xff\x00\xff\x00" + whole[middle + 4 :])
    cut.write_bytes(whole[: len(whole) - 30])
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("x", "y")

    for path in (damaged, cut, other, tmp_path / "missing"):
        said = refused("restore", str(path), "--data-dir", str(target))
        assert str(path) in said
    assert {each.name for each in target.iterdir()} == {KEY_RING_FILE}
