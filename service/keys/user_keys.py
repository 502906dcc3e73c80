"""One key for each user, wrapped under a root key; destroying and rewrapping them."""

import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import LiteralString, NamedTuple
from uuid import UUID, uuid4

from cachetools import TTLCache
from psycopg.errors import ForeignKeyViolation
from psycopg.rows import tuple_row

from service.database import Pool
from service.errors import ConflictError
from service.keys.canary import introduce_root_key
from service.keys.cipher import KEY_BYTES, Key, OpenError, UserKey, length_prefixed
from service.keys.destruction import destroy_keys
from service.keys.key_ring import KeyRing
from service.keys.root_key import WrongRootKeyError

CACHED_MAX = 10_000
CACHED_FOR_S = 60.0
REWRAP_BATCH_SIZE = 500


class KeyDestroyedError(ConflictError):
    """The user's key was destroyed; what it sealed can't be opened any more."""

    code = "key_destroyed"

    def __init__(self) -> None:
        super().__init__("this user's key was destroyed")


@dataclass(frozen=True, slots=True)
class RewrapProgress:
    """The number of keys rewrapped so far, and the users whose keys failed."""

    rewrapped: int
    failed: tuple[UUID, ...]


class _Row(NamedTuple):
    user_id: UUID
    key_id: UUID
    wrapped: bytes
    root_key_id: str


class UserKeys:
    """The users' keys, with a bounded cache in this process.

    A key that another process destroyed may be used from the cache for up to
    ``cached_for_s`` seconds, unless ``forget`` is called earlier.
    """

    def __init__(
        self,
        pool: Pool,
        ring: KeyRing,
        *,
        cached_max: int = CACHED_MAX,
        cached_for_s: float = CACHED_FOR_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ring = ring
        self._pool = pool
        self._cache: TTLCache[UUID, UserKey] = TTLCache(
            cached_max, cached_for_s, timer=clock
        )
        self._times_forgotten = 0

    async def get(self, user_id: UUID) -> UserKey:
        """Return the user's key.

        :raises KeyDestroyedError: it was destroyed
        :raises OpenError: the user never had one
        """
        user_key = await self._find(user_id)
        if user_key is None:
            raise OpenError
        return user_key

    async def get_or_create(self, user_id: UUID) -> UserKey:
        """Return the user's key, created if there was none.

        :raises KeyDestroyedError: it was destroyed
        """
        user_key = await self._find(user_id)
        if user_key is None:
            await self._create(user_id)
            # Not the key just made: another process may have been faster.
            user_key = await self.get(user_id)
        return user_key

    async def destroy(self, user_id: UUID) -> bool:
        """Destroy the key and what it sealed; False if it was destroyed already."""
        async with self._pool.connection() as connection, connection.transaction():
            alive = await destroy_keys(connection, [user_id])
        self.forget(user_id)
        return alive == 1

    def forget(self, user_id: UUID) -> None:
        """Drop the key from the cache of this process."""
        self._times_forgotten += 1
        self._cache.pop(user_id, None)

    def forget_all(self) -> None:
        self._times_forgotten += 1
        self._cache.clear()

    async def rewrap_all(
        self, *, batch_size: int = REWRAP_BATCH_SIZE
    ) -> AsyncIterator[RewrapProgress]:
        """Rewrap every key under the primary root key, yielding after each batch.

        Can be stopped anywhere and started again; no key is locked or unreadable
        meanwhile. WrongRootKeyError when the ring lacks a root key that a user key
        is wrapped under; a key that its root key doesn't open is named and passed.
        """
        after, rewrapped, failed = None, 0, list[UUID]()
        while True:
            primary_id = await introduce_root_key(self._pool, self.ring)
            rows = await self._rows(
                """
                SELECT user_id, key_id, wrapped, root_key_id FROM events.user_key
                 WHERE (%s::uuid IS NULL OR user_id > %s) AND root_key_id <> %s
                 ORDER BY user_id LIMIT %s
                """,
                (after, after, primary_id, batch_size),
            )
            if not rows:
                return
            newly_rewrapped, newly_failed = await self._rewrap(rows)
            after, rewrapped = rows[-1].user_id, rewrapped + newly_rewrapped
            failed += newly_failed
            yield RewrapProgress(rewrapped=rewrapped, failed=tuple(failed))

    async def count_by_root_key(self) -> dict[str, int]:
        """Return, for every root key in use, how many user keys are under it."""
        async with self._pool.connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row)
            await cursor.execute(
                """
                SELECT root_key_id, count(user_id)
                  FROM events.root_key_canary
                  LEFT JOIN events.user_key USING (root_key_id)
                 GROUP BY root_key_id
                """
            )
            return dict(await cursor.fetchall())

    async def _find(
        self, user_id: UUID, *, may_be_outdated: bool = True
    ) -> UserKey | None:
        cached = self._cache.get(user_id)
        if cached is not None:
            return cached
        times_forgotten = self._times_forgotten
        rows = await self._rows(
            """
            SELECT user_id, key_id, wrapped, root_key_id
              FROM events.user_key WHERE user_id = %s
            """,
            (user_id,),
        )
        if not rows:
            return None
        if rows[0].wrapped is None:
            raise KeyDestroyedError
        try:
            material = await self._unwrap(rows[0])
        except WrongRootKeyError:
            # Perhaps rewrapped, and its old root key removed, since it was read.
            if not may_be_outdated:
                raise
            return await self._find(user_id, may_be_outdated=False)
        user_key = UserKey(rows[0].key_id, Key(material))
        # A key that was destroyed while it was read must not be cached.
        if times_forgotten == self._times_forgotten:
            self._cache[user_id] = user_key
        return user_key

    async def _create(self, user_id: UUID) -> None:
        key_id, material = uuid4(), os.urandom(KEY_BYTES)
        try:
            await self._insert(user_id, key_id, material)
        except ForeignKeyViolation:
            # The first key under a root key that was promoted after the start.
            await introduce_root_key(self._pool, self.ring)
            await self._insert(user_id, key_id, material)

    async def _insert(self, user_id: UUID, key_id: UUID, material: bytes) -> None:
        bound = _user_key_aad(user_id, key_id)
        root_key_id, wrapped = await self.ring.wrap(material, bound)
        async with self._pool.connection() as connection:
            await connection.execute(
                """
                INSERT INTO events.user_key (user_id, key_id, wrapped, root_key_id)
                VALUES (%s, %s, %s, %s)
                ON CONFLICT (user_id) DO NOTHING
                """,
                (user_id, key_id, wrapped, root_key_id),
            )

    async def _rewrap(self, rows: Sequence[_Row]) -> tuple[int, list[UUID]]:
        """Return how many rows changed, and the users whose key doesn't open."""
        done, failed = list[tuple[UUID, str, str, bytes]](), list[UUID]()
        for row in rows:
            try:
                material = await self._unwrap(row)
            except OpenError:
                failed.append(row.user_id)
                continue
            bound = _user_key_aad(row.user_id, row.key_id)
            root_key_id, wrapped = await self.ring.wrap(material, bound)
            done.append((row.user_id, row.root_key_id, root_key_id, wrapped))
        async with self._pool.connection() as connection:
            # Compared with what was read: a key destroyed meanwhile stays destroyed.
            cursor = await connection.execute(
                """
                UPDATE events.user_key AS kept
                   SET wrapped = new.wrapped, root_key_id = new.root_key_id
                  FROM unnest(%b::uuid[], %b::text[], %b::text[], %b::bytea[])
                       AS new (user_id, old_root_key_id, root_key_id, wrapped)
                 WHERE kept.user_id = new.user_id
                   AND kept.root_key_id = new.old_root_key_id
                """,
                [list(column) for column in zip(*done, strict=True)] or [[]] * 4,
            )
        return cursor.rowcount, failed

    async def _unwrap(self, row: _Row) -> bytes:
        bound = _user_key_aad(row.user_id, row.key_id)
        return await self.ring.unwrap(row.root_key_id, row.wrapped, bound)

    async def _rows(self, query: LiteralString, values: Sequence[object]) -> list[_Row]:
        async with self._pool.connection() as connection:
            cursor = connection.cursor(row_factory=tuple_row)
            await cursor.execute(query, values)
            return [_Row(*row) for row in await cursor.fetchall()]


def _user_key_aad(user_id: UUID, key_id: UUID) -> bytes:
    return length_prefixed(b"user key", user_id.bytes, key_id.bytes)
