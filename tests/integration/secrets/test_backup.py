"""A backup is the database and, apart from it, the key ring."""

import base64
import itertools
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from aiohttp.test_utils import TestClient, TestServer
from psycopg.conninfo import make_conninfo

from service.app import create_app
from service.keys.key_ring import KEY_RING_FILE
from service.keys.root_key import WrongRootKeyError
from service.keys.user_keys import UserKeys
from service.open_resources import open_resources
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.project import ROOT
from tests.support.secrets.served import postgres_program

VALUES = [f"swordfish {number}" for number in range(20)]
PATH = "/api/secrets/TOKEN"
_numbers = itertools.count(1)


@pytest.fixture
async def ada(callers: Callers) -> Caller:
    caller = await callers.user("ada")
    await caller.post("/api/secrets", {"name": "TOKEN", "value": "first"})
    for value in VALUES:
        await caller.put(PATH, {"value": value})
    return caller


@pytest.fixture
def dump(ada: Caller, resources: Resources) -> bytes:
    return subprocess.run(
        [postgres_program("pg_dump"), resources.database_url],
        check=True,
        capture_output=True,
    ).stdout


@pytest.fixture
def restored_url(postgres: str, dump: bytes) -> Iterator[str]:
    name = f"restored_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    url = make_conninfo(postgres, dbname=name)
    subprocess.run(
        [postgres_program("psql"), "--quiet", "--set=ON_ERROR_STOP=1", url],
        input=dump,
        check=True,
        capture_output=True,
    )
    yield url
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute(f"DROP DATABASE {name} WITH (FORCE)")


def epoch_of(url: str) -> UUID:
    with psycopg.connect(url) as db:
        row = db.execute("SELECT epoch FROM events.head").fetchone()
    assert row is not None
    epoch: UUID = row[0]
    return epoch


async def test_a_dump_holds_neither_values_nor_keys(
    dump: bytes, ada: Caller, resources: Resources
) -> None:
    assert ada.user_id is not None
    ring = resources.key_ring
    content = ring._content  # noqa: SLF001 # keys are never public
    user_key = await UserKeys(resources.pool, ring).get(ada.user_id)
    keys = [*content.root_keys.values(), *content.purpose_keys.values(), user_key.key]
    secret = [key.expose() for key in keys] + [value.encode() for value in VALUES]
    for each in secret:
        for form in (each, each.hex().encode(), base64.b64encode(each)):
            assert form not in dump
    assert ring.primary_id.encode() in dump


async def test_a_restored_database_serves_with_its_key_ring(
    restored_url: str, ada: Caller, tmp_path: Path
) -> None:
    folder = tmp_path / "restored"
    folder.mkdir()
    shutil.copy(tmp_path / KEY_RING_FILE, folder)
    async with open_resources(restored_url, folder) as resources:
        app = create_app(resources)
        async with TestClient(TestServer(app)) as client:
            again = Caller(client, ada.token)
            revealed = await again.get(f"{PATH}/value")
            assert revealed.data["value"] == VALUES[-1]
            written = await again.put(PATH, {"value": "after the restore"})
            assert written.data["version"] == len(VALUES) + 2


async def test_a_dump_restored_into_its_own_server_has_the_same_epoch_until_told(
    restored_url: str, resources: Resources
) -> None:
    """The documents name the statement, for the server can't tell."""
    documented = (ROOT / "docs/operations/backup.md").read_text("utf-8")
    (statement,) = re.findall(r"`(SELECT events\.[^`]+)`", documented)
    was = epoch_of(resources.database_url)
    assert epoch_of(restored_url) == was

    with psycopg.connect(restored_url) as db:
        db.execute(statement)

    assert epoch_of(restored_url) != was


async def test_a_restored_database_refuses_any_other_key_ring(
    restored_url: str, resources: Resources, tmp_path: Path
) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with pytest.raises(WrongRootKeyError, match=resources.key_ring.primary_id):
        async with open_resources(restored_url, folder):
            pass
