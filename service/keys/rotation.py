"""Rotate the root key while the service runs, and report which keys are in use."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from service.database import Pool
from service.keys.canary import (
    RootKeyInUseError,
    retire_root_key,
    verify_canary,
)
from service.keys.key_ring import KeyRing
from service.keys.user_keys import UserKeys

# A running service may wrap one more key under the old root key before it reads the
# new one.
PASSES_MAX = 5

Report = Callable[[int, int], None]


class RewrapFailedError(Exception):
    """Some users' keys don't open under their root key, so it is kept."""

    def __init__(self, user_ids: Sequence[UUID]) -> None:
        listed = ", ".join(map(str, user_ids[:10]))
        super().__init__(
            f"the keys of {len(user_ids)} users can't be unwrapped: {listed}"
        )
        self.user_ids = tuple(user_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class RootKeyStatus:
    """``user_keys`` None: none was ever wrapped under it, or none needs it."""

    root_key_id: str
    is_primary: bool
    is_in_file: bool
    user_keys: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """The result of a rotation; ``retired`` root keys are no longer needed.

    ``kept`` are copies of the key ring with those that were removed from it.
    """

    primary_id: str
    rewrapped: int
    retired: tuple[str, ...]
    kept: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class SealedCount:
    values: int
    destroyed_keys: int


COUNT_SEALED = """
    SELECT (SELECT count(*) FROM events.sealed_value),
           (SELECT count(*) FROM events.user_key WHERE destroyed_at IS NOT NULL)
"""


async def count_sealed(pool: Pool) -> SealedCount:
    async with pool.connection() as connection:
        row = await (await connection.execute(COUNT_SEALED)).fetchone()
    assert row is not None
    return SealedCount(*row)


async def root_keys_in_use(pool: Pool, ring: KeyRing) -> list[RootKeyStatus]:
    """Return every root key that exists or is needed, with its number of user keys."""
    counts = await UserKeys(pool, ring).count_by_root_key()
    primary_id = ring.primary_id
    return [
        RootKeyStatus(
            root_key_id=root_key_id,
            is_primary=root_key_id == primary_id,
            is_in_file=root_key_id in ring.file_key_ids,
            user_keys=counts.get(root_key_id),
        )
        for root_key_id in sorted(ring.key_ids | counts.keys())
    ]


async def rotate_root_key(pool: Pool, ring: KeyRing, report: Report) -> Rotation:
    """Wrap every user key under the primary root key and retire all others.

    Resumes a rotation that was interrupted. Otherwise it begins with a new
    root key, or, where they come from outside, with the one that is primary there.
    ``report`` is called with the number of rewrapped user keys and their total.

    :raises WrongRootKeyError: a root key that is needed is missing
    :raises RewrapFailedError: a user key is damaged; its root key is kept
    :raises RootKeyInUseError: other processes kept wrapping keys under an old root key
    """
    await verify_canary(pool, ring)
    user_keys = UserKeys(pool, ring)
    if not await _old_ids(user_keys) and ring.makes_root_keys:
        ring.replace_primary()
        await verify_canary(pool, ring)
    old_ids = await _old_ids(user_keys)
    rewrapped = 0
    for last in (*[False] * (PASSES_MAX - 1), True):
        rewrapped += await _rewrap(user_keys, report)
        try:
            for old_id in old_ids:
                await retire_root_key(pool, ring, old_id)
        except RootKeyInUseError:
            if last:
                raise
        else:
            break
    in_file = sorted(ring.file_key_ids.intersection(old_ids))
    kept = tuple([ring.remove_root_key(old_id) for old_id in in_file])
    return Rotation(
        primary_id=ring.primary_id,
        rewrapped=rewrapped,
        retired=tuple(old_ids),
        kept=kept,
    )


async def _old_ids(user_keys: UserKeys) -> list[str]:
    """Return root keys that are in use, or in the file, and not primary."""
    in_use = (await user_keys.count_by_root_key()).keys()
    return sorted((in_use | user_keys.ring.file_key_ids) - {user_keys.ring.primary_id})


async def _rewrap(user_keys: UserKeys, report: Report) -> int:
    counts = await user_keys.count_by_root_key()
    total = sum(counts.values()) - counts.get(user_keys.ring.primary_id, 0)
    rewrapped = 0
    failed: tuple[UUID, ...] = ()
    async for progress in user_keys.rewrap_all():
        rewrapped, failed = progress.rewrapped, progress.failed
        report(rewrapped, max(total, rewrapped))
    if failed:
        raise RewrapFailedError(failed)
    return rewrapped
