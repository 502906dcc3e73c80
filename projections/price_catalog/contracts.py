"""Contract prices that the log has recorded."""

from datetime import datetime
from uuid import UUID

from psycopg.rows import dict_row
from typing_extensions import TypedDict

from service.database import Db
from service.price_catalog.contract_resource import ContractPriceResource

CONTRACTS = """
    SELECT c.provider_id, v.key AS provider, v.display_name, c.model,
           c.price_version, c.discount_percent, c.input_price_per_1m,
           c.output_price_per_1m, c.cache_creation_price_per_1m,
           c.cache_read_price_per_1m, c.currency, c.effective_from, c.effective_until,
           c.notes, c.structure, c.known_from, c.known_from_time, c.known_until,
           c.known_until_time
      FROM read.contract_price c
      JOIN read.catalog_provider v ON v.id = c.provider_id
     WHERE (%(provider)s::text IS NULL OR v.key = %(provider)s)
       AND (%(model)s::text IS NULL OR c.model = %(model)s)
       AND (NOT %(current)s OR c.known_until IS NULL)
       AND (%(known)s::bigint IS NULL
            OR (c.known_from <= %(known)s
                AND (c.known_until IS NULL OR %(known)s < c.known_until)))
       AND (%(after_known)s::bigint IS NULL
            OR (c.known_from, c.effective_from) > (%(after_known)s, %(after_from)s))
     ORDER BY c.known_from, c.effective_from
     LIMIT %(limit)s
"""


class KnownContract(ContractPriceResource):
    """A contract price, and the log positions between which it was recorded.

    `model` is null for a discount on all models. `known_until` is null while the
    record is current.
    """

    provider_id: UUID
    provider: str
    display_name: str
    model: str | None
    known_from: int
    known_from_time: datetime
    known_until: int | None
    known_until_time: datetime | None


class WantedContracts(TypedDict):
    """``known``: as known at that position; ``current``: as known now."""

    provider: str | None
    model: str | None
    current: bool
    known: int | None
    after_known: int | None
    after_from: datetime | None
    limit: int


async def contract_prices(db: Db, wanted: WantedContracts) -> list[KnownContract]:
    """Return contract prices in the order of recording."""
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(CONTRACTS, wanted)
        return await cursor.fetchall()  # type: ignore[return-value]  # the columns are its keys
