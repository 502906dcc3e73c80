"""What every importer hands over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from itertools import pairwise

# Software that serves models on its operator's own hardware: no one bills tokens.
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
    """Why a row isn't imported as it is; a stable name for programs."""

    COMMITMENT = "commitment"
    CONFLICTING_DUPLICATE = "conflicting_duplicate"
    DUPLICATE = "duplicate"
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
    effective_from: datetime | None  # None: the source doesn't say since when
    effective_until: datetime | None  # None: open
    notes: str | None  # what the four numbers can't say, in words

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

    def __post_init__(self) -> None:
        if not self.periods:
            raise ValueError(f"{self.provider}/{self.model} has no period")
        for period in self.periods:
            start, end = period.effective_from, period.effective_until
            if start is not None and end is not None and start >= end:
                raise ValueError(f"{self.provider}/{self.model} has an empty period")
        for earlier, later in pairwise(self.periods):
            end, start = earlier.effective_until, later.effective_from
            if end is None or start is None or end > start:
                raise ValueError(f"{self.provider}/{self.model} has an overlap")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldModel:
    """A readable model that someone should confirm before it is imported."""

    model: ImportedModel
    code: ReasonCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedModel:
    """A row that can't or shouldn't be imported."""

    provider: str  # "" when the source names none
    model: str  # the source's own key when it isn't split into the two
    code: ReasonCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceSource:
    """Where prices were read, precisely enough to read them again."""

    name: str
    version: str | None  # None: the data carries none and the caller gave none
    sha256: str  # hexadecimal, of the bytes that hold the prices


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Everything that one source says, sorted into what to do with it."""

    source: PriceSource
    models: tuple[ImportedModel, ...]
    held: tuple[HeldModel, ...]
    skipped: tuple[SkippedModel, ...]


def sorted_import(
    source: PriceSource,
    models: Iterable[ImportedModel],
    skipped: Sequence[SkippedModel],
) -> Import:
    """Order the models by key and hold those that a zero price makes doubtful.

    Price lists write 0 for "free", "unknown" and "billed in another way" alike.
    """
    importable: list[ImportedModel] = []
    held: list[HeldModel] = []
    for model in sorted(models, key=lambda each: (each.provider, each.model)):
        doubtful = any(period.costs_nothing for period in model.periods)
        if doubtful and model.provider not in PROVIDERS_WITHOUT_CHARGE:
            reason = "the source says 0, which may mean free, unknown or billed apart"
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
