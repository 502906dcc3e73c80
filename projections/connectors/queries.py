"""Questions about connectors."""

from typing import Any
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import dict_row

from service.connectors.resource import ConnectorResource

VISIBLE = """
    SELECT c.id, c.name, c.url, c.description, c.owner_id,
           CASE WHEN c.public_since IS NULL THEN 'private' ELSE 'public' END
               AS visibility,
           c.public_since, c.made_public_by, c.version, c.created_at, c.updated_at
      FROM read.connector c
     WHERE NOT c.is_retired
       AND (%(after)s::uuid IS NULL OR c.id > %(after)s)
       AND (%(everything)s OR c.owner_id = %(user_id)s OR c.public_since IS NOT NULL)
     ORDER BY c.id
     LIMIT %(limit)s
"""


async def visible_connectors(
    db: AsyncConnection[Any],
    *,
    user_id: UUID,
    everything: bool,
    after: UUID | None,
    limit: int,
) -> list[ConnectorResource]:
    """Return connectors that a user owns or that are public, by id."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            VISIBLE,
            {
                "user_id": user_id,
                "everything": everything,
                "after": after,
                "limit": limit,
            },
        )
        return await cursor.fetchall()  # type: ignore[return-value]
