import asyncio
from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

import pytest

from service.database import Pool
from service.keys.cipher import OpenError
from service.keys.key_ring import KeyRing
from service.keys.root_key import WrongRootKeyError
from service.keys.user_keys import KeyDestroyedError, UserKeys

ADA, BOB, EVE = (UUID(int=number) for number in range(3))  # also the nil UUID


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def keys(pool: Pool, ring: KeyRing) -> UserKeys:
    return UserKeys(pool, ring)


async def query(
    pool: Pool, statement: LiteralString, values: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    async with pool.connection() as connection:
        cursor = await connection.execute(statement, values)
        return await cursor.fetchall() if cursor.description else []


def uncached(keys: UserKeys) -> UserKeys:
    """Give the keys as another process sees them."""
    return UserKeys(keys._pool, keys.ring)  # noqa: SLF001 # keys are never public


async def material(keys: UserKeys, user_id: UUID) -> bytes:
    return (await uncached(keys).get(user_id)).key.expose()


async def test_a_users_key_is_made_once_and_is_nobody_elses(keys: UserKeys) -> None:
    ada, bob = [await keys.get_or_create(user_id) for user_id in (ADA, BOB)]
    assert ada.key_id != bob.key_id
    assert ada.key.expose() != bob.key.expose()
    again = await uncached(keys).get_or_create(ADA)
    assert (again.key_id, again.key.expose()) == (ada.key_id, ada.key.expose())


async def test_twenty_at_once_get_the_same_key(keys: UserKeys) -> None:
    askers = [keys, *(uncached(keys) for _ in range(19))]
    got = await asyncio.gather(*(asker.get_or_create(ADA) for asker in askers))
    assert len({(one.key_id, one.key.expose()) for one in got}) == 1


async def test_opening_needs_the_users_key(keys: UserKeys) -> None:
    with pytest.raises(OpenError):
        await keys.get(ADA)


async def test_a_destroyed_key_never_comes_back(keys: UserKeys, pool: Pool) -> None:
    await keys.get_or_create(ADA)
    assert await keys.destroy(ADA)
    assert not await keys.destroy(ADA)
    for process in (keys, uncached(keys)):
        for ask in (process.get, process.get_or_create):
            with pytest.raises(KeyDestroyedError):
                await ask(ADA)
    rows = await query(pool, "SELECT wrapped, root_key_id FROM events.user_key")
    assert rows == [(None, None)]


async def test_a_key_can_be_destroyed_before_it_is_made(keys: UserKeys) -> None:
    assert await keys.destroy(ADA)
    with pytest.raises(KeyDestroyedError):
        await keys.get_or_create(ADA)


async def test_another_process_uses_a_destroyed_key_no_longer_than_promised(
    pool: Pool, ring: KeyRing
) -> None:
    clock = Clock()
    here, there = (UserKeys(pool, ring, cached_for_s=60, clock=clock) for _ in "ab")
    await there.get_or_create(ADA)
    await here.destroy(ADA)
    clock.now = 59.9
    await there.get(ADA)
    clock.now = 60
    with pytest.raises(KeyDestroyedError):
        await there.get(ADA)


async def test_a_key_destroyed_while_it_was_read_is_not_cached(
    keys: UserKeys, ring: KeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keys.get_or_create(ADA)
    reader = uncached(keys)

    async def destroyed_meanwhile(key_id: str, blob: bytes, aad: bytes) -> bytes:
        await reader.destroy(ADA)
        return await KeyRing.unwrap(ring, key_id, blob, aad)

    monkeypatch.setattr(ring, "unwrap", destroyed_meanwhile)
    await reader.get(ADA)
    with pytest.raises(KeyDestroyedError):
        await reader.get(ADA)


async def test_the_cache_forgets_the_key_that_was_not_used_for_longest(
    pool: Pool, ring: KeyRing
) -> None:
    keys = UserKeys(pool, ring, cached_max=2)
    for user_id in (ADA, BOB, ADA, EVE):
        await keys.get_or_create(user_id)
    assert list(keys._cache) == [ADA, EVE]  # noqa: SLF001 # keys are never public
    assert repr(keys._cache).count("***") == 2  # noqa: SLF001 # keys are never public


async def test_a_wrapped_key_moved_to_another_user_is_refused(
    keys: UserKeys, pool: Pool
) -> None:
    await keys.get_or_create(ADA)
    await keys.get_or_create(BOB)
    moved = "SELECT wrapped FROM events.user_key WHERE user_id = %s"
    (blob,) = (await query(pool, moved, (BOB,)))[0]
    await query(
        pool, "UPDATE events.user_key SET wrapped = %s WHERE user_id = %s", (blob, ADA)
    )
    with pytest.raises(OpenError):
        await uncached(keys).get(ADA)


async def test_rewrapping_stopped_half_way_goes_on_and_frees_the_old_root_key(
    keys: UserKeys, ring: KeyRing
) -> None:
    users = [UUID(int=number) for number in range(12)]
    before = {user: (await keys.get_or_create(user)).key.expose() for user in users}
    await keys.destroy(users.pop())
    old_id, new_id = ring.primary_id, ring.replace_primary()

    async for progress in keys.rewrap_all(batch_size=4):
        assert (progress.rewrapped, progress.failed) == (4, ())
        break
    assert await keys.count_by_root_key() == {old_id: 7, new_id: 4}
    assert {user: await material(keys, user) for user in users} == {
        user: before[user] for user in users
    }

    steps = [step.rewrapped async for step in uncached(keys).rewrap_all(batch_size=4)]
    assert steps == [4, 7]
    assert await keys.count_by_root_key() == {old_id: 0, new_id: 11}
    assert [step async for step in keys.rewrap_all()] == []

    ring.remove_root_key(old_id)
    assert {user: await material(keys, user) for user in users} == {
        user: before[user] for user in users
    }


async def test_a_key_that_does_not_open_is_named_and_the_others_are_rewrapped(
    keys: UserKeys, ring: KeyRing, pool: Pool
) -> None:
    for user_id in (ADA, BOB, EVE):
        await keys.get_or_create(user_id)
    damage = "UPDATE events.user_key SET wrapped = 'x' WHERE user_id = %s"
    await query(pool, damage, (BOB,))
    ring.replace_primary()
    (progress,) = [progress async for progress in keys.rewrap_all()]
    assert (progress.rewrapped, progress.failed) == (2, (BOB,))


async def test_a_key_destroyed_while_it_is_rewrapped_stays_destroyed(
    keys: UserKeys, ring: KeyRing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keys.get_or_create(ADA)
    await keys.get_or_create(BOB)
    ring.replace_primary()

    async def destroyed_meanwhile(key_id: str, blob: bytes, aad: bytes) -> bytes:
        await keys.destroy(ADA)
        return await KeyRing.unwrap(ring, key_id, blob, aad)

    monkeypatch.setattr(ring, "unwrap", destroyed_meanwhile)
    assert [progress.rewrapped async for progress in keys.rewrap_all()] == [1]
    with pytest.raises(KeyDestroyedError):
        await uncached(keys).get(ADA)


async def test_a_key_under_an_unknown_root_key_names_it(
    keys: UserKeys, ring: KeyRing
) -> None:
    await keys.get_or_create(ADA)
    old_id = ring.primary_id
    ring.replace_primary()
    ring.remove_root_key(old_id)
    with pytest.raises(WrongRootKeyError, match=old_id):
        await uncached(keys).get(ADA)


async def test_a_root_key_promoted_meanwhile_wraps_the_next_new_key(
    keys: UserKeys, ring: KeyRing
) -> None:
    await keys.get_or_create(ADA)
    old_id = ring.primary_id
    rotating = KeyRing.load(ring._path)  # noqa: SLF001 # keys are never public
    new_id = rotating.replace_primary()
    await keys.get_or_create(BOB)
    assert await keys.count_by_root_key() == {old_id: 1, new_id: 1}
