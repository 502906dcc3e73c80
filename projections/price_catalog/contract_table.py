"""Writes to the read table of contracts with providers."""

from collections.abc import Sequence
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
class ContractRow:
    provider_id: UUID
    model: str | None
    price_version: int
    effective_from: datetime
    effective_until: datetime | None
    known_from: int
    known_until: int | None = None
    known_from_time: datetime
    known_until_time: datetime | None = None
    discount_percent: Decimal | None
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str | None
    notes: str | None
    structure: Structure | None


SELECT = """
    SELECT provider_id, model, price_version, effective_from, effective_until,
           known_from, known_until, known_from_time, known_until_time,
           discount_percent, input_price_per_1m, output_price_per_1m,
           cache_creation_price_per_1m, cache_read_price_per_1m, currency, notes,
           structure
      FROM contract_price
     WHERE provider_id = ANY (%s) AND known_until IS NULL
     ORDER BY effective_from
"""
SUPERSEDE = """
    UPDATE contract_price c
       SET known_until = gone.known_until, known_until_time = gone.known_until_time
      FROM unnest(
           %(provider_id)b::uuid[], %(model)b::text[], %(known_from)b::bigint[],
           %(effective_from)b::timestamptz[], %(known_until)b::bigint[],
           %(known_until_time)b::timestamptz[])
           AS gone (provider_id, model, known_from, effective_from, known_until,
                    known_until_time)
     WHERE c.provider_id = gone.provider_id
       AND c.model IS NOT DISTINCT FROM gone.model
       AND c.known_from = gone.known_from
       AND c.effective_from = gone.effective_from
"""
INSERT = """
    INSERT INTO contract_price (
           provider_id, model, price_version, effective_from, effective_until,
           known_from, known_until, known_from_time, known_until_time,
           discount_percent, input_price_per_1m, output_price_per_1m,
           cache_creation_price_per_1m, cache_read_price_per_1m, currency, notes,
           structure)
    SELECT *
      FROM unnest(
           %(provider_id)b::uuid[], %(model)b::text[], %(price_version)b::bigint[],
           %(effective_from)b::timestamptz[], %(effective_until)b::timestamptz[],
           %(known_from)b::bigint[], %(known_until)b::bigint[],
           %(known_from_time)b::timestamptz[], %(known_until_time)b::timestamptz[],
           %(discount_percent)s::numeric[], %(input_price_per_1m)s::numeric[],
           %(output_price_per_1m)s::numeric[],
           %(cache_creation_price_per_1m)s::numeric[],
           %(cache_read_price_per_1m)s::numeric[], %(currency)b::text[],
           %(notes)b::text[], %(structure)s::jsonb[])
"""


async def select_known_contracts(
    db: Db, providers: Sequence[UUID]
) -> list[ContractRow]:
    """Return the current contract prices of some providers, by their start."""
    async with db.cursor(row_factory=class_row(ContractRow)) as cursor:
        await cursor.execute(SELECT, [providers])
        return await cursor.fetchall()


async def supersede_contracts(db: Db, rows: Sequence[ContractRow]) -> None:
    if rows:
        await db.execute(SUPERSEDE, columns(rows))


async def insert_contracts(db: Db, rows: Sequence[ContractRow]) -> None:
    if rows:
        structures = [row.structure and Jsonb(row.structure) for row in rows]
        await db.execute(INSERT, {**columns(rows), "structure": structures})
