"""The installed genai-prices in full, against what the package itself answers."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from itertools import pairwise
from typing import Any

import pytest

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.imports.price_list import (
    Import,
    PricePeriod,
)
from service.price_catalog.periods import price_values
from tests.support.price_catalog.prices import sent_back
from tests.unit.price_catalog.test_import_genai_prices import required, types

MEASURED_VERSION = "0.2.3"
FIELDS = ("input_mtok", "output_mtok", "cache_write_mtok", "cache_read_mtok")
MICROSECOND = timedelta(microseconds=1)
A_PAST_MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
A_LATE_MOMENT = datetime(2099, 1, 1, tzinfo=UTC)


providers = required("genai_prices.data").providers


@pytest.fixture(scope="module")
def imported() -> Import:
    return import_genai_prices()


@pytest.fixture(scope="module")
def sources() -> dict[tuple[str, str], Any]:
    return {
        (provider.id, model.id): model
        for provider in providers
        for model in provider.models
    }


def has_windows(model: Any) -> bool:
    return isinstance(model.prices, list) and any(
        isinstance(each.constraint, types.TimeOfDateConstraint) for each in model.prices
    )


def base(prices: Any, field: str) -> Decimal | None:
    value = getattr(prices, field)
    amount = value.base if isinstance(value, types.TieredPrices) else value
    assert amount is None or isinstance(amount, Decimal)
    return amount


def nearly(amount: Decimal | None) -> Decimal | None:
    step = Decimal("1E-10")
    return None if amount is None else amount.quantize(step, ROUND_HALF_EVEN)


def edges(period: PricePeriod) -> Iterator[datetime]:
    yield period.effective_from or A_PAST_MOMENT
    end = period.effective_until
    yield A_LATE_MOMENT if end is None else end - MICROSECOND


def test_each_model_is_imported_or_skipped(
    imported: Import, sources: dict[tuple[str, str], Any]
) -> None:
    models = {(each.provider, each.model) for each in imported.models}
    skipped = {(each.provider, each.model) for each in imported.skipped}
    assert not imported.held
    assert models | skipped == sources.keys()
    assert len(models) + len(skipped) == len(sources)


def test_the_counts_are_those_measured(imported: Import) -> None:
    if imported.source.version != MEASURED_VERSION:
        pytest.skip(f"the counts are those of genai-prices {MEASURED_VERSION}")
    assert len({each.provider for each in imported.models}) == 47
    assert len(imported.models) == 2151
    assert sum(len(each.periods) for each in imported.models) == 2453
    assert [each.code for each in imported.skipped] == ["unpriced"] * 179
    assert len(imported.source.sha256) == 64


def test_at_both_edges_of_every_period_the_package_gives_the_same_price(
    imported: Import, sources: dict[tuple[str, str], Any]
) -> None:
    compared = 0
    for model in imported.models:
        source = sources[model.provider, model.model]
        if has_windows(source):
            continue
        for period in model.periods:
            for moment in edges(period):
                expected = source.get_prices(moment)
                amounts = [base(expected, field) for field in FIELDS]
                assert [nearly(each) for each in amounts] == list(period.prices)
                if "Rounded" not in (period.notes or ""):
                    assert amounts == list(period.prices)
                compared += 1
    assert compared > 4000


def test_a_daily_window_gives_the_dearest_hour_of_the_day(
    imported: Import, sources: dict[tuple[str, str], Any]
) -> None:
    compared = 0
    for model in imported.models:
        source = sources[model.provider, model.model]
        if not has_windows(source):
            continue
        last = model.periods[-1]
        day = A_LATE_MOMENT
        for field, price in zip(FIELDS, last.prices, strict=True):
            hours = (source.get_prices(day + timedelta(hours=h)) for h in range(24))
            amounts = [base(each, field) for each in hours]
            assert price == max((each for each in amounts if each), default=None)
        assert "peak price" in (last.notes or "")
        compared += 1
    assert compared


def test_periods_follow_each_other_without_gap(imported: Import) -> None:
    for model in imported.models:
        assert model.periods[0].effective_from is None
        assert model.periods[-1].effective_until is None
        for earlier, later in pairwise(model.periods):
            assert earlier.effective_until == later.effective_from


def test_a_known_price_cut_is_dated(imported: Import) -> None:
    [o3] = [
        each
        for each in imported.models
        if (each.provider, each.model) == ("openai", "o3")
    ]
    cut = datetime(2025, 6, 10, tzinfo=UTC)
    before, after = o3.periods[:2]
    assert before.prices[:2] == (Decimal(10), Decimal(40))
    assert after.prices[:2] == (Decimal(2), Decimal(8))
    assert before.effective_until == after.effective_from == cut


def test_providers_have_the_names_that_the_package_gives(imported: Import) -> None:
    names = {provider.id: provider.name for provider in providers}
    assert all(each.provider_name == names[each.provider] for each in imported.models)


def test_two_runs_give_the_same_import_in_the_same_order(imported: Import) -> None:
    assert import_genai_prices() == imported
    names = [(each.provider, each.model) for each in imported.models]
    assert names == sorted(names)


def test_every_price_can_be_sent_back(imported: Import) -> None:
    for model in [*imported.models, *(held.model for held in imported.held)]:
        for period in model.periods:
            price = price_values(period)
            assert sent_back(price) == price, model.key
