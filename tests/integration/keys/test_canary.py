from pathlib import Path
from unittest.mock import AsyncMock
from uuid import UUID

import pytest

from service.database import Pool
from service.event_log.log import EventLog
from service.keys.canary import (
    RootKeyInUseError,
    WrongPurposeKeysError,
    retire_root_key,
    verify_canary,
)
from service.keys.key_ring import KeyRing
from service.keys.root_key import LocalRootKeys, WrongRootKeyError
from service.keys.user_keys import UserKeys
from service.open_resources import open_resources

ADA = UUID(int=1)
ROOT = LocalRootKeys.parse("k-20260101-00000001:" + "A" * 43 + "=")
SAME_ID = LocalRootKeys.parse("k-20260101-00000001:" + "B" * 42 + "A=")


async def test_the_ring_of_the_first_start_is_the_one_for_every_start(
    pool: Pool, ring: KeyRing, tmp_path: Path
) -> None:
    await verify_canary(pool, ring)
    await verify_canary(pool, KeyRing.load(tmp_path / "keys.json"))
    with pytest.raises(WrongRootKeyError, match=ring.primary_id) as refusal:
        await verify_canary(pool, KeyRing.load_or_create(tmp_path / "other.json"))
    assert refusal.value.root_key_id == ring.primary_id


async def test_another_key_of_the_same_id_is_refused(
    pool: Pool, tmp_path: Path
) -> None:
    path = tmp_path / "keys.json"
    await verify_canary(pool, KeyRing.load_or_create(path, root=ROOT))
    with pytest.raises(WrongRootKeyError, match=ROOT.primary_id):
        await verify_canary(pool, KeyRing.load(path, root=SAME_ID))


async def test_a_ring_made_anew_around_the_right_root_key_is_refused(
    pool: Pool, tmp_path: Path
) -> None:
    await verify_canary(pool, KeyRing.load_or_create(tmp_path / "a", root=ROOT))
    with pytest.raises(WrongPurposeKeysError):
        await verify_canary(pool, KeyRing.load_or_create(tmp_path / "b", root=ROOT))


async def test_a_root_key_is_retired_only_when_nothing_needs_it(
    pool: Pool, ring: KeyRing
) -> None:
    keys = UserKeys(pool, ring)
    await verify_canary(pool, ring)
    await keys.get_or_create(ADA)
    old_id, new_id = ring.primary_id, ring.replace_primary()
    await verify_canary(pool, ring)
    with pytest.raises(RootKeyInUseError, match=old_id):
        await retire_root_key(pool, ring, old_id)
    assert [each.rewrapped async for each in keys.rewrap_all()] == [1]
    await retire_root_key(pool, ring, old_id)
    ring.remove_root_key(old_id)
    await verify_canary(pool, ring)
    assert await keys.count_by_root_key() == {new_id: 1}


async def test_the_primary_root_key_is_not_retired_even_when_unused(
    pool: Pool, ring: KeyRing
) -> None:
    await verify_canary(pool, ring)
    with pytest.raises(RootKeyInUseError, match=ring.primary_id):
        await retire_root_key(pool, ring, ring.primary_id)


async def test_a_ring_without_a_root_key_in_use_is_refused(
    pool: Pool, ring: KeyRing
) -> None:
    await verify_canary(pool, ring)
    old_id = ring.primary_id
    ring.replace_primary()
    ring.remove_root_key(old_id)
    with pytest.raises(WrongRootKeyError, match=old_id):
        await verify_canary(pool, ring)


async def test_the_log_is_not_opened_with_a_wrong_ring(
    pool: Pool,
    ring: KeyRing,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await verify_canary(pool, ring)
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    started = AsyncMock()
    monkeypatch.setattr(EventLog, "start", started)

    with pytest.raises(WrongRootKeyError):
        async with open_resources(database_url, other):
            pass

    started.assert_not_called()
