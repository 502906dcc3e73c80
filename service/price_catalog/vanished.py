"""Which models a price list had once and has no more; only to be reported."""

from collections.abc import Set as AbstractSet
from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import UndefinedTable
from psycopg_pool import AsyncConnectionPool

# From the read tables, as far as they have been built: nothing is decided on it.
MODELS_OF_SOURCE = """
    SELECT DISTINCT v.key || '/' || m.name AS model
      FROM read.model_price p
      JOIN read.catalog_model m ON m.id = p.model_id
      JOIN read.catalog_provider v ON v.id = m.provider_id
     WHERE p.known_until IS NULL
       AND p.effective_until IS NULL
       AND p.source_name = %s
     ORDER BY model
"""


async def vanished_models(
    pool: AsyncConnectionPool[AsyncConnection[Any]],
    source_name: str,
    listed: AbstractSet[str],
) -> list[str]:
    """Return models with an open price of a list that doesn't have them any more."""
    async with pool.connection() as db:
        try:
            cursor = await db.execute(MODELS_OF_SOURCE, [source_name])
        except UndefinedTable:
            return []
        return [row[0] for row in await cursor.fetchall() if row[0] not in listed]
