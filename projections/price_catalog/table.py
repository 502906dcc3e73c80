"""Writes to the price catalog's read tables."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from projections.engine.arrays import columns
from service.database import Db
from service.price_catalog.structure import Structure


@dataclass(slots=True, kw_only=True)
class ProviderRow:
    id: UUID
    key: str
    display_name: str


@dataclass(slots=True, kw_only=True)
class ModelRow:
    id: UUID
    number: int
    provider_id: UUID
    name: str
    version: int


@dataclass(slots=True, kw_only=True)
class PriceRow:
    model_id: UUID
    model_number: int
    price_version: int
    effective_from: datetime
    effective_until: datetime | None
    known_from: int
    known_until: int | None = None
    known_from_time: datetime
    known_until_time: datetime | None = None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    notes: str | None
    structure: Structure | None
    source_name: str
    source_version: str | None
    source_sha256: str | None


INSERT_PROVIDERS = """
    INSERT INTO catalog_provider (id, key, display_name)
    SELECT * FROM unnest(%(id)b::uuid[], %(key)b::text[], %(display_name)b::text[])
"""
SELECT_MODELS = """
    SELECT id, number, provider_id, name, version
      FROM catalog_model
     WHERE id = ANY (%s)
"""
UPSERT_MODELS = """
    INSERT INTO catalog_model (id, number, provider_id, name, version)
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(number)b::bigint[], %(provider_id)b::uuid[],
           %(name)b::text[], %(version)b::bigint[])
    ON CONFLICT (id) DO UPDATE SET version = excluded.version
"""
SELECT_PRICES = """
    SELECT model_id, model_number, price_version, effective_from, effective_until,
           known_from, known_until, known_from_time, known_until_time,
           input_price_per_1m, output_price_per_1m, cache_creation_price_per_1m,
           cache_read_price_per_1m, currency, notes, structure, source_name,
           source_version, source_sha256
      FROM model_price
     WHERE model_id = ANY (%s) AND known_until IS NULL
     ORDER BY model_id, effective_from
"""
SUPERSEDE_PRICES = """
    UPDATE model_price p
       SET known_until = gone.known_until, known_until_time = gone.known_until_time
      FROM unnest(
           %(model_id)b::uuid[], %(known_from)b::bigint[],
           %(effective_from)b::timestamptz[], %(known_until)b::bigint[],
           %(known_until_time)b::timestamptz[])
           AS gone (model_id, known_from, effective_from, known_until,
                    known_until_time)
     WHERE p.model_id = gone.model_id
       AND p.known_from = gone.known_from
       AND p.effective_from = gone.effective_from
"""
INSERT_PRICES = """
    INSERT INTO model_price (
           model_id, model_number, price_version, effective_from, effective_until,
           known_from, known_until, known_from_time, known_until_time,
           input_price_per_1m, output_price_per_1m, cache_creation_price_per_1m,
           cache_read_price_per_1m, currency, notes, structure, source_name,
           source_version, source_sha256)
    SELECT *
      FROM unnest(
           %(model_id)b::uuid[], %(model_number)b::bigint[],
           %(price_version)b::bigint[], %(effective_from)b::timestamptz[],
           %(effective_until)b::timestamptz[], %(known_from)b::bigint[],
           %(known_until)b::bigint[], %(known_from_time)b::timestamptz[],
           %(known_until_time)b::timestamptz[], %(input_price_per_1m)s::numeric[],
           %(output_price_per_1m)s::numeric[],
           %(cache_creation_price_per_1m)s::numeric[],
           %(cache_read_price_per_1m)s::numeric[], %(currency)b::text[],
           %(notes)b::text[], %(structure)s::jsonb[], %(source_name)b::text[],
           %(source_version)b::text[], %(source_sha256)s::text[])
"""
MOVE = "UPDATE catalog_change SET position = %s"


async def insert_providers(db: Db, rows: Sequence[ProviderRow]) -> None:
    if rows:
        await db.execute(INSERT_PROVIDERS, columns(rows))


async def select_models(db: Db, ids: Sequence[UUID]) -> dict[UUID, ModelRow]:
    async with db.cursor(row_factory=class_row(ModelRow)) as cursor:
        await cursor.execute(SELECT_MODELS, [ids])
        return {row.id: row for row in await cursor.fetchall()}


async def upsert_models(db: Db, rows: Iterable[ModelRow]) -> None:
    listed = list(rows)
    if listed:
        await db.execute(UPSERT_MODELS, columns(listed))


async def select_known_prices(db: Db, model_ids: Sequence[UUID]) -> list[PriceRow]:
    """Return the current prices of some models, in chronological order for each."""
    async with db.cursor(row_factory=class_row(PriceRow)) as cursor:
        await cursor.execute(SELECT_PRICES, [model_ids])
        return await cursor.fetchall()


async def supersede_prices(db: Db, rows: Sequence[PriceRow]) -> None:
    if rows:
        await db.execute(SUPERSEDE_PRICES, columns(rows))


async def insert_prices(db: Db, rows: Sequence[PriceRow]) -> None:
    if rows:
        structures = [row.structure and Jsonb(row.structure) for row in rows]
        values = {**columns(rows), "structure": structures}
        await db.execute(INSERT_PRICES, values)


async def move_change(db: Db, position: int) -> None:
    """Record the position of the tables' last change."""
    await db.execute(MOVE, [position])
