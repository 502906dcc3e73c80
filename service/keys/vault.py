"""Seal and open values with the key of their user."""

from uuid import UUID

from psycopg.rows import tuple_row

from service.database import Pool
from service.errors import ConflictError, ServiceError
from service.keys.cipher import (
    SecretBinding,
    TextBinding,
    open_sealed,
    seal,
    sealed_from_text,
    sealed_to_text,
)
from service.keys.user_keys import KeyDestroyedError, UserKeys


class ValueDestroyedError(ConflictError):
    """The value was destroyed; the key of its owner was not."""

    code = "value_destroyed"

    def __init__(self) -> None:
        super().__init__("this value was destroyed")


class ValueMissingError(ServiceError):
    """The value is not there, though nobody destroyed it: somebody deleted it."""

    code = "unreadable_value"

    def __init__(self) -> None:
        super().__init__("this value can't be opened")


class Vault:
    """Seals and opens secret values and texts.

    Opening raises KeyDestroyedError, ValueMissingError for a secret value that isn't
    there, or OpenError for every other failure.
    """

    def __init__(self, pool: Pool, user_keys: UserKeys) -> None:
        self._pool = pool
        self._user_keys = user_keys

    def fingerprint(self, owner_id: UUID, value: str) -> str:
        """Return 32 hex digits, the same for equal values of one owner only."""
        return self._user_keys.ring.fingerprint(owner_id, value)

    def user_name_id(self, name: str) -> UUID:
        """Return the id of the aggregate that reserves a user's name."""
        return UUID(bytes=self._user_keys.ring.user_name_hash(name)[:16], version=4)

    async def seal_secret(self, value: str, binding: SecretBinding) -> bytes:
        """Return the bytes for ``events.sealed_value``, to be stored with the event."""
        user_key = await self._user_keys.get_or_create(binding.owner_id)
        return seal(_encode(value), user_key=user_key, binding=binding)

    async def open_secret(self, sealed_id: UUID, binding: SecretBinding) -> str:
        """Read and open a stored value that, by the log, was not destroyed."""
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
            raise ValueMissingError
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

    async def destroy_user(self, user_id: UUID) -> bool:
        """Destroy a user's key and stored values; False if the key was already."""
        return await self._user_keys.destroy(user_id)


def _encode(text: str) -> bytes:
    # A lone surrogate is legal in JSON. A UnicodeEncodeError would hold the value.
    return text.encode("utf-8", "surrogatepass")


def _decode(opened: bytes) -> str:
    return opened.decode("utf-8", "surrogatepass")
