"""Read the models of genai-prices; importing this module requires the package."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from itertools import zip_longest

from genai_prices.types import (
    ConditionalPrice,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TimeOfDateConstraint,
)

from service.price_catalog.imports.exact_prices import (
    RefusedRowError,
    is_rounded,
    read_name,
)
from service.price_catalog.imports.genai_prices.notes import (
    BASE_FIELDS,
    DailyWindow,
    base_price,
    describe_other_prices,
    describe_variants,
    describe_windows,
    midnight,
    source_price,
)
from service.price_catalog.imports.genai_prices.structure import (
    priced_units,
    read_structure,
)
from service.price_catalog.imports.price_list import (
    ImportedModel,
    PricePeriod,
    ReasonCode,
    SkippedModel,
)
from service.price_catalog.imports.price_notes import join_notes, rounded

CURRENCY = "USD"  # the package states every price in US dollars

_UNDATED_WINDOWS = "The source's undated daily windows count only for a later price."


@dataclass(frozen=True, slots=True)
class _DatedPrice:
    """A price, its first day (None: unknown), and its daily windows."""

    since: date | None
    prices: ModelPrice
    windows: list[DailyWindow]


@dataclass(frozen=True, slots=True)
class _Span:
    start: datetime | None
    end: datetime | None
    dated: _DatedPrice


def read_providers(
    providers: Iterable[Provider],
) -> tuple[list[ImportedModel], list[SkippedModel]]:
    models: list[ImportedModel] = []
    skipped: list[SkippedModel] = []
    for provider in providers:
        for model in provider.models:
            try:
                models.append(_read_model(model, provider))
            except RefusedRowError as refusal:
                skipped.append(
                    SkippedModel(
                        provider=provider.id,
                        model=model.id,
                        code=refusal.code,
                        reason=refusal.reason,
                    )
                )
    return models, skipped


def _read_model(model: ModelInfo, provider: Provider) -> ImportedModel:
    dated = _dated_prices(model)
    has_windows = any(price.windows for price in dated)
    periods = [
        _read_period(span, model=model, mentions_windows=has_windows)
        for span in _spans(dated)
        if priced_units(span.dated.prices)
    ]
    if not periods:
        reason = "no price of tokens or other units"
        raise RefusedRowError(ReasonCode.UNPRICED, reason)
    return ImportedModel(
        provider=provider.id,
        provider_name=provider.name,
        model=read_name(model.id),
        periods=tuple(periods),
    )


def _dated_prices(model: ModelInfo) -> list[_DatedPrice]:
    """Return the model's prices in the source's order, each with its daily windows.

    A row of the source has a start date or a daily window, never both, so windows
    are undated. A window is attached to the dated price before it: applied to
    earlier times, it would overstate the bill.
    """
    if isinstance(model.prices, ModelPrice):
        return [_DatedPrice(since=None, prices=model.prices, windows=[])]
    dated: list[_DatedPrice] = []
    for row in model.prices:
        match row:
            case ConditionalPrice(constraint=None, prices=prices):
                dated.append(_DatedPrice(since=None, prices=prices, windows=[]))
            case ConditionalPrice(
                constraint=StartDateConstraint(start_date=since), prices=prices
            ):
                dated.append(_DatedPrice(since=since, prices=prices, windows=[]))
            case ConditionalPrice(
                constraint=TimeOfDateConstraint() as hours, prices=prices
            ) if dated:
                window = DailyWindow(hours.start_time, hours.end_time, prices)
                dated[-1].windows.append(window)
            case _:
                reason = "a price has a condition that can't be read as a period"
                raise RefusedRowError(ReasonCode.INVALID_PERIODS, reason)
    return dated


def _spans(dated: Sequence[_DatedPrice]) -> Iterator[_Span]:
    """Order the prices in time; the last listed one that has begun counts."""
    known = sorted({price.since for price in dated if price.since is not None})
    is_known_from_start = any(price.since is None for price in dated)
    starts = [None, *known] if is_known_from_start else known
    for start, end in zip_longest(starts, starts[1:]):
        begun = [price for price in dated if _has_begun(price, start)]
        yield _Span(
            start=None if start is None else midnight(start),
            end=None if end is None else midnight(end),
            dated=begun[-1],
        )


def _has_begun(price: _DatedPrice, day: date | None) -> bool:
    return price.since is None or (day is not None and price.since <= day)


def _read_period(
    span: _Span, *, model: ModelInfo, mentions_windows: bool
) -> PricePeriod:
    windows = span.dated.windows
    peak = max([span.dated.prices, *(window.prices for window in windows)], key=_level)
    numbers = {field: base_price(peak, field) for field in BASE_FIELDS}
    notes = [
        *describe_windows(span.dated.prices, windows, peak=peak),
        _UNDATED_WINDOWS if mentions_windows and not windows else None,
        *describe_other_prices(peak),
        *describe_variants(model.price_variants or (), span.start, span.end),
        "Deprecated by its provider." if model.deprecated else None,
        rounded(
            BASE_FIELDS[field]
            for field, price in numbers.items()
            if price is not None
            and is_rounded(price, source_price(peak, field), per_tokens=1_000_000)
        ),
    ]
    return PricePeriod(
        input_price_per_1m=numbers["input_mtok"],
        output_price_per_1m=numbers["output_mtok"],
        cache_creation_price_per_1m=numbers["cache_write_mtok"],
        cache_read_price_per_1m=numbers["cache_read_mtok"],
        structure=read_structure(
            span.dated.prices, windows, model.price_variants or (), end=span.end
        ),
        currency=CURRENCY,
        effective_from=span.start,
        effective_until=span.end,
        notes=join_notes(notes),
    )


def _level(prices: ModelPrice) -> Decimal:
    """Return the sum of input and output price; the highest one is the peak."""
    known = (base_price(prices, field) for field in ("input_mtok", "output_mtok"))
    return sum((price for price in known if price is not None), Decimal(0))
