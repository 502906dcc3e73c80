"""A root key that a rotation has retired is never needed again."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from aiohttp.test_utils import TestClient, TestServer
from psycopg import AsyncConnection

from service.app import create_app
from service.database import Pool
from service.http.errors import UNREADABLE
from service.keys.canary import introduce_root_key, retire_root_key, verify_canary
from service.keys.key_ring import KeyRing
from service.keys.root_key import LocalRootKeys, WrongRootKeyError
from service.keys.rotation import rotate_root_key
from service.keys.user_keys import UserKeys
from service.open_resources import open_resources
from tests.support.callers import Callers
from tests.support.metrics import counted
from tests.support.waiting import until

ADA, BOB = UUID(int=1), UUID(int=2)
OLD, NEW = "old:" + "A" * 43 + "=", "new:" + "B" * 42 + "A="
# As a process of an earlier version does it, too.
INTRODUCE_OLD = r"INSERT INTO events.root_key_canary VALUES ('old', '\x01')"
RETIRE_OLD = """
    LOCK TABLE events.root_key_canary IN SHARE ROW EXCLUSIVE MODE;
    INSERT INTO events.retired_root_key VALUES ('old');
    DELETE FROM events.root_key_canary WHERE root_key_id = 'old'
"""
WAITING = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@dataclass(frozen=True, slots=True)
class Rings:
    """Key rings of the processes during a rotation, in its order."""

    old: KeyRing
    new: KeyRing
    only_new: KeyRing


@pytest.fixture
def rings(tmp_path: Path) -> Rings:
    old, new, only_new = (
        KeyRing.load_or_create(
            tmp_path / "keys.json", root=LocalRootKeys.parse(",".join(keys))
        )
        for keys in ((OLD, NEW), (NEW, OLD), (NEW,))
    )
    return Rings(old, new, only_new)


@pytest.fixture
async def rotated(pool: Pool, rings: Rings) -> UserKeys:
    """The user keys of a process that hasn't been restarted for the rotation."""
    await verify_canary(pool, rings.old)
    keys = UserKeys(pool, rings.old)
    await keys.get_or_create(ADA)
    rotation = await rotate_root_key(pool, rings.new, lambda *_: None)
    assert rotation.retired == ("old",)
    return keys


async def test_no_user_key_is_made_under_it(
    pool: Pool, rings: Rings, rotated: UserKeys
) -> None:
    with pytest.raises(WrongRootKeyError, match="old was retired"):
        await rotated.get_or_create(BOB)

    # Without the old root key, as soon as the rotation says that it isn't needed.
    await verify_canary(pool, rings.only_new)
    keys = UserKeys(pool, rings.only_new)
    await keys.get_or_create(BOB)
    assert await keys.count_by_root_key() == {"new": 2}


@pytest.mark.usefixtures("rotated")
async def test_no_process_starts_with_it_in_first_place(
    pool: Pool, rings: Rings
) -> None:
    with pytest.raises(WrongRootKeyError, match="old was retired"):
        await verify_canary(pool, rings.old)

    await verify_canary(pool, rings.new)
    await verify_canary(pool, rings.only_new)


async def test_a_process_that_begins_to_use_it_meanwhile_is_waited_for(
    pool: Pool, rings: Rings, database_url: str
) -> None:
    async with await AsyncConnection.connect(database_url) as other:
        await other.execute(INTRODUCE_OLD)
        retiring = asyncio.create_task(retire_root_key(pool, rings.new, "old"))
        await until_waiting(database_url, retiring)
        await other.commit()
        await retiring

    assert await UserKeys(pool, rings.new).count_by_root_key() == {}


async def test_a_process_that_begins_to_use_it_later_is_refused(
    pool: Pool, rings: Rings, database_url: str
) -> None:
    await verify_canary(pool, rings.old)
    async with await AsyncConnection.connect(database_url) as other:
        await other.execute(RETIRE_OLD)
        introducing = asyncio.create_task(introduce_root_key(pool, rings.old))
        await until_waiting(database_url, introducing)
        await other.commit()
        with pytest.raises(WrongRootKeyError, match="old was retired"):
            await introducing

    assert await UserKeys(pool, rings.new).count_by_root_key() == {}


async def test_a_process_starts_beside_a_rotation_of_the_key_ring(
    pool: Pool, tmp_path: Path
) -> None:
    starting = KeyRing.load_or_create(tmp_path / "ring.json")
    await verify_canary(pool, starting)
    await rotate_root_key(pool, KeyRing.load(tmp_path / "ring.json"), lambda *_: None)

    await verify_canary(pool, starting)


async def test_a_key_that_is_retired_while_it_is_introduced_is_followed_by_the_new_one(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting = KeyRing.load_or_create(tmp_path / "ring.json")
    await verify_canary(pool, starting)
    wrap, old = starting.wrap, starting.primary_id

    async def wrap_before_a_rotation(*parts: bytes) -> tuple[str, bytes]:
        monkeypatch.undo()
        wrapped = await wrap(*parts)
        ring = KeyRing.load(tmp_path / "ring.json")
        await rotate_root_key(pool, ring, lambda *_: None)
        return wrapped

    monkeypatch.setattr(starting, "wrap", wrap_before_a_rotation)

    assert await introduce_root_key(pool, starting) == starting.primary_id != old


async def test_making_a_user_key_under_it_is_not_an_unreadable_value(
    database_url: str, tmp_path: Path
) -> None:
    old, new = (
        LocalRootKeys.parse(",".join(keys)) for keys in ((OLD, NEW), (NEW, OLD))
    )
    async with (
        open_resources(database_url, tmp_path, root=old) as resources,
        TestClient(TestServer(create_app(resources))) as client,
    ):
        ada = await Callers(resources, client).user("ada", "superuser")
        ring = KeyRing.load(tmp_path / "keys.json", root=new)
        await rotate_root_key(resources.pool, ring, lambda *_: None)
        before = counted(UNREADABLE)

        refused = await ada.post("/api/users", {"name": "bob"})

        assert (refused.status, refused.code) == (503, "root_key_unavailable")
        assert counted(UNREADABLE) == before


async def until_waiting(database_url: str, task: asyncio.Task[object]) -> None:
    with psycopg.connect(database_url, autocommit=True) as db:
        await until(lambda: task.done() or db.execute(WAITING).fetchone() != (0,))
