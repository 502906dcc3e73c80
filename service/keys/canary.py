"""Check at start-up that this process has the root keys that the database needs.

A root key is in use when it has a row in ``events.root_key_canary``; the database
refuses a user key under one that has none. A canary holds ``purpose_check`` of the
ring, so that a new ring around the right root key is detected as well. A root key that
was retired never comes into use again, because it may be gone.
"""

import hmac
from collections.abc import Iterable

from psycopg.errors import CheckViolation, ForeignKeyViolation
from psycopg.rows import tuple_row

from service.database import Pool
from service.errors import ConfigError
from service.keys.cipher import OpenError
from service.keys.key_ring import KeyRing
from service.keys.root_key import WrongRootKeyError

_CANARY_AAD = b"root key canary"


class WrongPurposeKeysError(ConfigError):
    """The ring's purpose keys are not those that this database was set up with."""

    def __init__(self) -> None:
        super().__init__("the key ring's purpose keys belong to another database")


class RetiredRootKeyError(WrongRootKeyError):
    """A rotation has retired the primary root key."""

    def __init__(self, root_key_id: str) -> None:
        ConfigError.__init__(
            self,
            f"root key {root_key_id} was retired by a rotation: start this process"
            " with another one in first place",
        )
        self.root_key_id = root_key_id


class RootKeyInUseError(Exception):
    def __init__(self, root_key_id: str) -> None:
        super().__init__(f"root key {root_key_id} is still needed")
        self.root_key_id = root_key_id


async def verify_canary(pool: Pool, ring: KeyRing) -> None:
    """Refuse to start with a ring that doesn't belong to this database.

    WrongRootKeyError when a root key in use is missing or wrong, and
    RetiredRootKeyError when the primary one was retired;
    WrongPurposeKeysError when the ring was created again. The first start, and the
    first one after a promotion, put the primary key's canary into the database.
    """
    await check_canaries(pool, ring)
    await introduce_root_key(pool, ring)


async def check_canaries(pool: Pool, ring: KeyRing) -> None:
    """Refuse a ring as ``verify_canary`` does, and change nothing."""
    async with pool.connection() as connection:
        cursor = connection.cursor(row_factory=tuple_row)
        await cursor.execute("SELECT root_key_id, sealed FROM events.root_key_canary")
        canaries = await cursor.fetchall()
        await cursor.execute("SELECT root_key_id FROM events.retired_root_key")
        retired = {root_key_id for (root_key_id,) in await cursor.fetchall()}
    await verify_canaries(canaries, ring)
    # A rotation that ended meanwhile had put the new key into the ring before.
    await ring.refresh()
    if ring.primary_id in retired:
        raise RetiredRootKeyError(ring.primary_id)


async def verify_canaries(canaries: Iterable[tuple[str, bytes]], ring: KeyRing) -> None:
    """Refuse a ring that doesn't open every canary, given by root key id.

    :raises WrongRootKeyError: a root key in use is missing or wrong
    :raises WrongPurposeKeysError: the ring was created again
    """
    for root_key_id, sealed in canaries:
        try:
            check = await ring.unwrap(root_key_id, sealed, _CANARY_AAD)
        except OpenError:
            raise WrongRootKeyError(root_key_id) from None
        if not hmac.compare_digest(check, ring.purpose_check()):
            raise WrongPurposeKeysError


async def introduce_root_key(pool: Pool, ring: KeyRing) -> str:
    """Allow user keys under the primary root key, and return its id.

    :raises RetiredRootKeyError: it was retired
    """
    root_key_id, sealed = await ring.wrap(ring.purpose_check(), _CANARY_AAD)
    try:
        async with pool.connection() as connection:
            await connection.execute(
                """
                INSERT INTO events.root_key_canary (root_key_id, sealed)
                VALUES (%s, %s) ON CONFLICT (root_key_id) DO NOTHING
                """,
                (root_key_id, sealed),
            )
    except CheckViolation:
        await ring.refresh()
        if ring.primary_id != root_key_id:
            return await introduce_root_key(pool, ring)
        raise RetiredRootKeyError(root_key_id) from None
    return root_key_id


async def retire_root_key(pool: Pool, ring: KeyRing, root_key_id: str) -> None:
    """Retire a root key for good, unless a user key is still wrapped under it.

    Afterwards the key can be removed from where it is stored. Earlier backups still
    need it.

    :raises RootKeyInUseError: a user key is wrapped under it, or it is primary
    """
    if root_key_id == ring.primary_id:
        raise RootKeyInUseError(root_key_id)
    try:
        async with pool.connection() as connection, connection.transaction():
            # A process that begins to use it is either seen, or waits and is refused.
            await connection.execute(
                "LOCK TABLE events.root_key_canary IN SHARE ROW EXCLUSIVE MODE"
            )
            await connection.execute(
                """
                INSERT INTO events.retired_root_key (root_key_id)
                VALUES (%s) ON CONFLICT (root_key_id) DO NOTHING
                """,
                (root_key_id,),
            )
            await connection.execute(
                "DELETE FROM events.root_key_canary WHERE root_key_id = %s",
                (root_key_id,),
            )
    except ForeignKeyViolation:
        raise RootKeyInUseError(root_key_id) from None
