"""A price list as every importer returns it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise

from service.price_catalog.match_rules import ListedRules
from service.price_catalog.structure import Structure

# Software that serves models on its operator's own hardware, without charge.
PROVIDERS_WITHOUT_CHARGE = frozenset(
    {
        "docker_model_runner",
        "hosted_vllm",
        "lemonade",
        "llamafile",
        "lm_studio",
        "ollama",
        "ollama_chat",
    }
)


class ReasonCode(StrEnum):
    """Machine-readable reason for skipping or holding a row."""

    COMMITMENT = "commitment"
    CONFLICTING_DUPLICATE = "conflicting_duplicate"
    DUPLICATE = "duplicate"
    INVALID_HOURS = "invalid_hours"
    INVALID_NAME = "invalid_name"
    INVALID_PERIODS = "invalid_periods"
    INVALID_PRICE = "invalid_price"
    INVALID_PROVIDER = "invalid_provider"
    INVALID_TIERS = "invalid_tiers"
    NOT_A_MODEL = "not_a_model"
    OTHER_MODE = "other_mode"
    PRICE_OUT_OF_RANGE = "price_out_of_range"
    UNPRICED = "unpriced"
    WILDCARD = "wildcard"
    ZERO_PRICE = "zero_price"


# The row states a price, but not one that can be.
INVALID_PRICES = frozenset(
    {
        ReasonCode.INVALID_HOURS,
        ReasonCode.INVALID_PERIODS,
        ReasonCode.INVALID_PRICE,
        ReasonCode.INVALID_TIERS,
        ReasonCode.PRICE_OUT_OF_RANGE,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PricePeriod:
    """One price of one model for the half-open time [from, until).

    Prices are for 1,000,000 tokens, finite, at least 0 and of at most
    10 decimal places; None is unknown, 0 is free.
    """

    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str  # ISO 4217
    effective_from: datetime | None  # None: not in the source
    effective_until: datetime | None  # None: open
    notes: str | None  # everything that the four amounts can't express
    structure: Structure | None = None  # all rates, unless the four amounts are all

    @property
    def prices(self) -> tuple[Decimal | None, ...]:
        return (
            self.input_price_per_1m,
            self.output_price_per_1m,
            self.cache_creation_price_per_1m,
            self.cache_read_price_per_1m,
        )

    @property
    def costs_nothing(self) -> bool:
        base = (self.input_price_per_1m, self.output_price_per_1m)
        known = [price for price in base if price is not None]
        return bool(known) and not any(known)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedModel:
    """A model's periods, ascending and disjoint; gaps are allowed."""

    provider: str
    provider_name: str
    model: str
    periods: tuple[PricePeriod, ...]

    @property
    def key(self) -> str:
        return f"{self.provider}/{self.model}"

    def __post_init__(self) -> None:
        if not self.periods:
            raise ValueError(f"{self.key} has no period")
        for period in self.periods:
            start, end = period.effective_from, period.effective_until
            if start is not None and end is not None and start >= end:
                raise ValueError(f"{self.key} has an empty period")
        for earlier, later in pairwise(self.periods):
            end, start = earlier.effective_until, later.effective_from
            if end is None or start is None or end > start:
                raise ValueError(f"{self.key} has overlapping periods")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldModel:
    """A model that is imported only if somebody confirms it."""

    model: ImportedModel
    code: ReasonCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedModel:
    """A row that can't or shouldn't be imported."""

    provider: str  # "" when the source names none
    model: str  # the source's whole key if it can't be split
    code: ReasonCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSource:
    """The exact document from which prices were read."""

    name: str
    version: str | None  # None: neither in the data nor given by the caller
    sha256: str  # hexadecimal, of the bytes that hold the prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A whole price list: models to import, to confirm, and skipped rows."""

    source: PriceSource
    models: tuple[ImportedModel, ...]
    held: tuple[HeldModel, ...]
    skipped: tuple[SkippedModel, ...]
    rules: tuple[ListedRules, ...] = ()  # of names; only some lists have them


def sorted_import(
    source: PriceSource,
    models: Iterable[ImportedModel],
    skipped: Sequence[SkippedModel],
) -> Import:
    """Sort the models by key and hold those with a price of 0.

    Price lists use 0 for "free", "unknown" and "billed in another way" alike.
    """
    importable: list[ImportedModel] = []
    held: list[HeldModel] = []
    for model in sorted(models, key=lambda model: (model.provider, model.model)):
        doubtful = any(period.costs_nothing for period in model.periods)
        if doubtful and model.provider not in PROVIDERS_WITHOUT_CHARGE:
            reason = (
                "the source says 0, which may mean free, unknown or billed separately"
            )
            held.append(
                HeldModel(model=model, code=ReasonCode.ZERO_PRICE, reason=reason)
            )
        else:
            importable.append(model)
    return Import(
        source=source,
        models=tuple(importable),
        held=tuple(held),
        skipped=tuple(skipped),
    )
