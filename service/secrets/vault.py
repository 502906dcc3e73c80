"""Seal and open with the key of the user: the secrets' only door to their values."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from uuid import UUID

from psycopg.rows import tuple_row

from service.secrets.canary import Pool
from service.secrets.cipher import (
    OpenError,
    SecretBinding,
    TextBinding,
    open_sealed,
    seal,
    sealed_from_text,
    sealed_to_text,
)
from service.secrets.user_keys import KeyDestroyedError, UserKeys

ORPHAN_AGE = timedelta(hours=1)
ORPHAN_BATCH_SIZE = 500

WhichAreReferred = Callable[[Sequence[UUID]], Awaitable[Collection[UUID]]]


class Vault:
    """Opening raises KeyDestroyedError, or OpenError for everything else."""

    def __init__(self, pool: Pool, user_keys: UserKeys) -> None:
        self._pool = pool
        self._user_keys = user_keys

    def fingerprint(self, owner_id: UUID, value: str) -> str:
        """Return 32 hex digits, the same for equal values of one owner only."""
        return self._user_keys.ring.fingerprint(owner_id, value)

    async def seal_secret(self, value: str, binding: SecretBinding) -> bytes:
        """Return what belongs into ``events.sealed_value``, with the event."""
        user_key = await self._user_keys.get_or_create(binding.owner_id)
        return seal(_encode(value), user_key=user_key, binding=binding)

    async def open_secret(self, sealed_id: UUID, binding: SecretBinding) -> str:
        """Read and open one stored value; OpenError too when it was deleted."""
        async with self._pool.connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row)
            await cursor.execute(
                """
                SELECT owner.destroyed_at IS NOT NULL, kept.sealed
                  FROM events.user_key AS owner
                  LEFT JOIN events.sealed_value AS kept
                    ON kept.owner_id = owner.user_id AND kept.sealed_id = %s
                 WHERE owner.user_id = %s
                """,
                (sealed_id, binding.owner_id),
            )
            is_destroyed, sealed = await cursor.fetchone() or (False, None)
        # The cache may still hold a key that another process has destroyed.
        if is_destroyed:
            self._user_keys.forget(binding.owner_id)
            raise KeyDestroyedError
        if sealed is None:
            raise OpenError
        user_key = await self._user_keys.get(binding.owner_id)
        return _decode(open_sealed(sealed, user_key=user_key, binding=binding))

    async def seal_text(self, text: str, binding: TextBinding) -> str:
        """Return the sealed text in base64url, as an event holds it."""
        user_key = await self._user_keys.get_or_create(binding.owner_id)
        return sealed_to_text(seal(_encode(text), user_key=user_key, binding=binding))

    async def open_text(self, sealed: str, binding: TextBinding) -> str:
        user_key = await self._user_keys.get(binding.owner_id)
        opened = open_sealed(
            sealed_from_text(sealed), user_key=user_key, binding=binding
        )
        return _decode(opened)

    async def destroy_secrets(self, sealed_ids: Sequence[UUID]) -> int:
        """Delete stored values with their data keys; return how many there were."""
        async with self._pool.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM events.sealed_value WHERE sealed_id = ANY(%s)",
                (list(sealed_ids),),
            )
        return cursor.rowcount

    async def destroy_user(self, user_id: UUID) -> bool:
        """Destroy a user's key and stored values; False if the key was already.

        The key goes first: whatever happens then, nothing can be opened.
        """
        was_alive = await self._user_keys.destroy(user_id)
        async with self._pool.connection() as connection:
            await connection.execute(
                "DELETE FROM events.sealed_value WHERE owner_id = %s", (user_id,)
            )
        return was_alive

    async def collect_orphans(
        self,
        which_are_referred: WhichAreReferred,
        *,
        older_than: timedelta = ORPHAN_AGE,
        batch_size: int = ORPHAN_BATCH_SIZE,
    ) -> int:
        """Delete stored values that no aggregate refers to; return how many.

        An orphan is left when a process ends between the event that gives up a
        value and its destruction. ``which_are_referred`` gets up to ``batch_size``
        ids and returns those that are still needed; values younger than
        ``older_than`` are not asked about.
        """
        after, collected = None, 0
        while sealed_ids := await self._stored_after(after, older_than, batch_size):
            referred = set(await which_are_referred(sealed_ids))
            orphans = [one for one in sealed_ids if one not in referred]
            if orphans:
                collected += await self.destroy_secrets(orphans)
            after = sealed_ids[-1]
        return collected

    async def _stored_after(
        self, after: UUID | None, older_than: timedelta, batch_size: int
    ) -> list[UUID]:
        async with self._pool.connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row)
            await cursor.execute(
                """
                SELECT sealed_id FROM events.sealed_value
                 WHERE (%s::uuid IS NULL OR sealed_id > %s)
                   AND created_at < now() - %s
                 ORDER BY sealed_id LIMIT %s
                """,
                (after, after, older_than, batch_size),
            )
            return [row[0] for row in await cursor.fetchall()]


def _encode(text: str) -> bytes:
    # A lone surrogate is legal in JSON. A UnicodeEncodeError would hold the value.
    return text.encode("utf-8", "surrogatepass")


def _decode(opened: bytes) -> str:
    return opened.decode("utf-8", "surrogatepass")
