"""Queries of users and their tokens."""

from uuid import UUID

from psycopg.rows import class_row, dict_row

from projections.users.table import UserRow
from service.database import Db
from service.users.resource import TokenResource

USERS = """
    SELECT id, name, sealed_name, name_version, roles, is_disabled, is_erased, created,
           version, created_at, updated_at
      FROM read.user_account
     WHERE %(after)s::uuid IS NULL
        OR created > (SELECT created FROM read.user_account WHERE id = %(after)s)
     ORDER BY created
     LIMIT %(limit)s
"""
USER = """
    SELECT id, name, sealed_name, name_version, roles, is_disabled, is_erased, created,
           version, created_at, updated_at
      FROM read.user_account
     WHERE id = %s
"""
TOKENS = """
    SELECT id, user_id, label, created_at, expires_at, revoked_at
      FROM read.user_token
     WHERE user_id = %(user_id)s
       AND (%(after)s::uuid IS NULL
            OR issued < (SELECT issued FROM read.user_token WHERE id = %(after)s))
     ORDER BY issued DESC
     LIMIT %(limit)s
"""
MANAGES = "SELECT EXISTS (SELECT FROM read.agent_manager WHERE user_id = %s)"


async def users_by_creation(db: Db, *, after: UUID | None, limit: int) -> list[UserRow]:
    async with db.cursor(row_factory=class_row(UserRow)) as cursor:
        await cursor.execute(USERS, {"after": after, "limit": limit})
        return await cursor.fetchall()


async def user_by_id(db: Db, user_id: UUID) -> UserRow | None:
    async with db.cursor(row_factory=class_row(UserRow)) as cursor:
        await cursor.execute(USER, [user_id])
        return await cursor.fetchone()


async def tokens_of_user(
    db: Db, user_id: UUID, *, after: UUID | None, limit: int
) -> list[TokenResource]:
    """Return the metadata of a user's tokens, the latest first."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            TOKENS, {"user_id": user_id, "after": after, "limit": limit}
        )
        return await cursor.fetchall()  # type: ignore[return-value]


async def manages_an_agent(db: Db, user_id: UUID) -> bool:
    row = await (await db.execute(MANAGES, [user_id])).fetchone()
    return row is not None and row[0]
