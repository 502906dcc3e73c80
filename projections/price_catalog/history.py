"""All prices of a model that the log has ever recorded."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.database import Db
from service.price_catalog.resource import PriceSourceResource
from service.price_catalog.structure import Structure

MODEL = """
    SELECT m.id AS model_id, v.id AS provider_id, v.key AS provider,
           v.display_name, m.name AS model, m.version
      FROM read.catalog_model m
      JOIN read.catalog_provider v ON v.id = m.provider_id
     WHERE m.id = %s
"""
HISTORY = """
    SELECT price_version, input_price_per_1m, output_price_per_1m,
           cache_creation_price_per_1m, cache_read_price_per_1m, currency,
           effective_from, effective_until, notes, structure,
           json_build_object('name', source_name, 'version', source_version,
                             'sha256', source_sha256) AS source,
           known_from, known_from_time, known_until, known_until_time
      FROM read.model_price
     WHERE model_id = %(model_id)s
       AND (%(known)s::bigint IS NULL
            OR (known_from <= %(known)s
                AND (known_until IS NULL OR %(known)s < known_until)))
       AND (%(after_known)s::bigint IS NULL
            OR (known_from, effective_from) > (%(after_known)s, %(after_from)s))
     ORDER BY known_from, effective_from
     LIMIT %(limit)s
"""


class KnownPrice(TypedDict):
    """A price for a period, and the log positions between which it was recorded.

    ``known_until`` is null while the record is current. ``structure`` holds all rates
    of a price that has more than the four amounts, null for others.
    """

    price_version: int
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None
    structure: Structure | None
    source: PriceSourceResource
    known_from: int
    known_from_time: datetime
    known_until: int | None
    known_until_time: datetime | None


class PricedModel(TypedDict):
    model_id: UUID
    provider_id: UUID
    provider: str
    display_name: str
    model: str
    version: int


async def priced_model(db: Db, model_id: UUID) -> PricedModel | None:
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(MODEL, [model_id])
        return await cursor.fetchone()  # type: ignore[return-value]  # the columns are its keys


async def price_history(
    db: Db,
    model_id: UUID,
    *,
    known: int | None,
    after: tuple[int, datetime] | None,
    limit: int,
) -> list[KnownPrice]:
    """Return prices in the order of recording; ``known``: as known at that position."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            HISTORY,
            {
                "model_id": model_id,
                "known": known,
                "after_known": after[0] if after else None,
                "after_from": after[1] if after else None,
                "limit": limit,
            },
        )
        return await cursor.fetchall()  # type: ignore[return-value]  # the columns are its keys
