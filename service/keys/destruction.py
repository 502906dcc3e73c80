"""Destroy sealed values and users' keys; both operations are idempotent."""

from collections.abc import Sequence
from uuid import UUID

from service.database import Db
from service.notifications import DESTROYED_KEYS_CHANNEL

DESTROY_VALUES = "DELETE FROM events.sealed_value WHERE sealed_id = ANY (%s)"
DESTROY_VALUES_OF = "DELETE FROM events.sealed_value WHERE owner_id = ANY (%s)"
# A user who never had a key can't get one afterwards.
DESTROY_KEYS = """
    WITH destroyed AS (
        INSERT INTO events.user_key AS kept (user_id, key_id, destroyed_at)
        SELECT given.user_id, gen_random_uuid(), now()
          FROM unnest(%b::uuid[]) AS given (user_id)
        ON CONFLICT (user_id) DO UPDATE
           SET wrapped = NULL, root_key_id = NULL, destroyed_at = now()
         WHERE kept.destroyed_at IS NULL
        RETURNING user_id)
    SELECT pg_notify(%s, user_id::text) FROM destroyed
"""


async def destroy_values(db: Db, sealed_ids: Sequence[UUID]) -> int:
    """Delete sealed values with their data keys; return how many there were."""
    cursor = await db.execute(DESTROY_VALUES, [list(sealed_ids)])
    return cursor.rowcount


async def destroy_keys(db: Db, user_ids: Sequence[UUID]) -> int:
    """Destroy users' keys and sealed values; return how many keys were alive.

    The keys go first: if the rest fails, nothing can be opened. The wrapped
    keys stay in the table's dead rows until they are vacuumed, and in the
    write-ahead log and backups for as long as those are kept.
    """
    cursor = await db.execute(DESTROY_KEYS, [list(user_ids), DESTROYED_KEYS_CHANNEL])
    alive = cursor.rowcount
    await db.execute(DESTROY_VALUES_OF, [list(user_ids)])
    return alive
