"""Queries for the prices at a time, as known at a position of the log."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from service.database import Db

STATE = """
    SELECT p.epoch, p.position, c.position
      FROM read.position p CROSS JOIN read.catalog_change c
     WHERE p.follower = 'provider_catalog'
"""
# One statement, so that prices and span are from one snapshot. Sorted by code point,
# independently of the database's collation.
EFFECTIVE = """
    WITH known AS (
         SELECT *
           FROM read.model_price p
          WHERE p.known_from <= %(known)s
            AND (p.known_until IS NULL OR %(known)s < p.known_until)),
    known_contract AS (
         SELECT *
           FROM read.contract_price p
          WHERE p.known_from <= %(known)s
            AND (p.known_until IS NULL OR %(known)s < p.known_until)),
    span AS (
         SELECT max(b.boundary) FILTER (WHERE b.boundary <= %(as_of)s) AS since,
                min(b.boundary) FILTER (WHERE b.boundary > %(as_of)s) AS until
           FROM (SELECT effective_from, effective_until FROM known
                  UNION ALL
                 SELECT effective_from, effective_until FROM known_contract) p
          CROSS JOIN LATERAL (VALUES (p.effective_from), (p.effective_until))
                AS b (boundary)),
    contract AS (
         SELECT *
           FROM known_contract
          WHERE effective_from <= %(as_of)s
            AND (effective_until IS NULL OR %(as_of)s < effective_until))
    SELECT span.since, span.until,
           v.key, v.display_name, v.id, m.name,
           p.input_price_per_1m, p.output_price_per_1m, p.cache_creation_price_per_1m,
           p.cache_read_price_per_1m, p.currency, p.effective_from, p.effective_until,
           p.notes, o.price_version, o.discount_percent, o.input_price_per_1m,
           o.output_price_per_1m, o.cache_creation_price_per_1m,
           o.cache_read_price_per_1m, o.currency, o.effective_from, o.effective_until,
           a.price_version, a.discount_percent, a.effective_from, a.effective_until
      FROM span
      LEFT JOIN (
           known p
           JOIN read.catalog_model m ON m.id = p.model_id
           JOIN read.catalog_provider v ON v.id = m.provider_id
           LEFT JOIN contract o ON o.provider_id = v.id AND o.model = m.name
           LEFT JOIN contract a ON a.provider_id = v.id AND a.model IS NULL)
        ON p.effective_from <= %(as_of)s
       AND (p.effective_until IS NULL OR %(as_of)s < p.effective_until)
     ORDER BY v.display_name COLLATE "C", v.key COLLATE "C", m.name COLLATE "C"
"""


@dataclass(frozen=True, slots=True)
class CatalogState:
    """The position of the projection, and that of its last change."""

    epoch: UUID
    position: int
    changed_at: int


@dataclass(frozen=True, slots=True)
class EffectivePrice:
    contract: "ContractPrice"
    provider: str
    display_name: str
    provider_id: UUID
    model: str
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    effective_from: datetime
    effective_until: datetime | None
    notes: str | None


@dataclass(frozen=True, slots=True)
class ContractPrice:
    """The contract for a model, ``own``, and the one for all models of a provider."""

    own_version: int | None = None
    own_discount: Decimal | None = None
    input_price_per_1m: Decimal | None = None
    output_price_per_1m: Decimal | None = None
    cache_creation_price_per_1m: Decimal | None = None
    cache_read_price_per_1m: Decimal | None = None
    currency: str | None = None
    own_effective_from: datetime | None = None
    own_effective_until: datetime | None = None
    general_version: int | None = None
    general_discount: Decimal | None = None
    general_effective_from: datetime | None = None
    general_effective_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time span in which no price starts or ends; None is unbounded."""

    since: datetime | None
    until: datetime | None

    def __contains__(self, at: datetime) -> bool:
        return (self.since is None or self.since <= at) and (
            self.until is None or at < self.until
        )


async def catalog_state(db: Db) -> CatalogState | None:
    """Return the projection's state, from two single rows; None: never built."""
    row = await (await db.execute(STATE, prepare=True)).fetchone()
    return None if row is None else CatalogState(*row)


async def effective_prices(
    db: Db, *, as_of: datetime, known: int
) -> tuple[list[EffectivePrice], TimeRange]:
    """Return the prices at a time, in the order of the answer.

    With them comes the longest time span in which they stay the same.
    """
    cursor = await db.execute(EFFECTIVE, {"as_of": as_of, "known": known})
    rows = await cursor.fetchall()
    span = TimeRange(*rows[0][:2])
    prices = [
        EffectivePrice(ContractPrice(*row[14:]), *row[2:14])
        for row in rows
        if row[2] is not None
    ]
    return prices, span
