"""Each oddity of genai-prices' data, in the smallest model that has it."""

import os
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from typing import Any

import pytest

from service.price_catalog.imports.price_list import (
    ImportedModel,
    PricePeriod,
    ReasonCode,
)


def required(module: str) -> Any:
    if os.environ.get("CI"):
        return import_module(module)
    return pytest.importorskip(
        module, reason="GENAI-PRICES NOT TESTED: install the extra named demo"
    )


types = required("genai_prices.types")
genai_models = required("service.price_catalog.imports.genai_prices.models")

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
FAR = datetime(2099, 1, 1, tzinfo=UTC)


def price(**fields: object) -> Any:
    decimals = {
        field: Decimal(value) if isinstance(value, str) else value
        for field, value in fields.items()
    }
    return types.ModelPrice(**decimals)


def since(day: datetime, prices: Any) -> Any:
    constraint = types.StartDateConstraint(start_date=day.date())
    return types.ConditionalPrice(constraint=constraint, prices=prices)


def always(prices: Any) -> Any:
    return types.ConditionalPrice(prices=prices)


def daily(start: time, end: time, prices: Any) -> Any:
    constraint = types.TimeOfDateConstraint(start_time=start, end_time=end)
    return types.ConditionalPrice(constraint=constraint, prices=prices)


def tiered(base: str, *tiers: tuple[int, str]) -> Any:
    steps = [types.Tier(start=start, price=Decimal(to)) for start, to in tiers]
    return types.TieredPrices(base=Decimal(base), tiers=steps)


def variant(when: dict[str, str], prices: Any, day: datetime | None = None) -> Any:
    constraint = types.StartDateConstraint(day.date()) if day else None
    return types.PriceVariant(when=when, prices=prices, constraint=constraint)


def read(prices: Any, *, name: str = "one", **about: Any) -> tuple[list[Any], ...]:
    match = types.ClauseEquals(equals=name)
    model = types.ModelInfo(id=name, match=match, prices=prices, **about)
    provider = types.Provider(id="acme", name="Acme", api_pattern="", models=[model])
    models, skipped = genai_models.read_providers([provider])
    return models, skipped


def periods(prices: Any, **about: Any) -> tuple[PricePeriod, ...]:
    [[model], []] = read(prices, **about)
    assert isinstance(model, ImportedModel)
    assert (model.provider, model.provider_name) == ("acme", "Acme")
    return model.periods


def notes(prices: Any, **about: Any) -> str | None:
    [period] = periods(prices, **about)
    return period.notes


def times(read_periods: tuple[PricePeriod, ...]) -> list[tuple[Any, ...]]:
    return [
        (each.input_price_per_1m, each.effective_from, each.effective_until)
        for each in read_periods
    ]


def skip_code(prices: Any, **about: Any) -> ReasonCode:
    [[], [skipped]] = read(prices, **about)
    code = skipped.code
    assert isinstance(code, ReasonCode)
    return code


def test_one_price_becomes_one_open_period() -> None:
    numbers = price(
        input_mtok="3",
        output_mtok="15",
        cache_write_mtok="3.75",
        cache_read_mtok="0.30",
    )
    assert periods(numbers) == (
        PricePeriod(
            input_price_per_1m=Decimal(3),
            output_price_per_1m=Decimal(15),
            cache_creation_price_per_1m=Decimal("3.75"),
            cache_read_price_per_1m=Decimal("0.3"),
            currency="USD",
            effective_from=None,
            effective_until=None,
            notes=None,
        ),
    )


def test_null_is_unknown_and_zero_is_free() -> None:
    [period] = periods(price(input_mtok="0.1", cache_read_mtok="0"))
    assert period.output_price_per_1m is None
    assert period.cache_creation_price_per_1m is None
    assert period.cache_read_price_per_1m == Decimal(0)


def test_start_dates_become_consecutive_periods_future_ones_too() -> None:
    first, second, third = (price(input_mtok=each) for each in "321")
    listed = [always(first), since(MAY, second), since(FAR, third)]
    assert times(periods(listed)) == [(3, None, MAY), (2, MAY, FAR), (1, FAR, None)]


def test_dates_in_any_order_never_overlap_and_the_last_listed_counts() -> None:
    first, second, third = (price(input_mtok=each) for each in "321")
    listed = [always(first), since(JUNE, second), since(MAY, third)]
    assert times(periods(listed)) == [(3, None, MAY), (1, MAY, JUNE), (1, JUNE, None)]
    twice = [always(first), since(MAY, second), since(MAY, third)]
    assert times(periods(twice)) == [(3, None, MAY), (1, MAY, None)]


def test_prices_before_the_first_date_need_a_base_price() -> None:
    listed = [since(MAY, price(input_mtok="2")), since(JUNE, price(input_mtok="1"))]
    assert times(periods(listed)) == [(2, MAY, JUNE), (1, JUNE, None)]


def test_a_time_without_a_price_is_left_out() -> None:
    listed = [always(price(input_mtok="2")), since(MAY, price())]
    assert times(periods(listed)) == [(2, None, MAY)]


def test_a_model_without_a_price_is_skipped() -> None:
    assert skip_code(price()) == ReasonCode.UNPRICED
    assert skip_code([]) == ReasonCode.UNPRICED


def test_a_price_by_the_hour_is_in_the_structure() -> None:
    [period] = periods(price(audio_hours="0.5"))
    assert period.prices == (None, None, None, None)
    assert period.structure is not None
    assert period.structure["rates"] == {"audio_seconds": {"price": "0.5", "tiers": []}}


def test_a_name_that_cannot_be_stored_is_skipped() -> None:
    code = skip_code(price(input_mtok="1"), name="a\x00b")
    assert code == ReasonCode.INVALID_NAME


@pytest.mark.parametrize("wrong", ["-1", "NaN", "Infinity"])
def test_a_wrong_price_is_skipped(wrong: str) -> None:
    assert skip_code(price(input_mtok=wrong)) == ReasonCode.INVALID_PRICE
    assert skip_code(price(input_mtok=tiered("1", (9, wrong)))) == (
        ReasonCode.INVALID_PRICE
    )


def test_the_lowest_tier_gives_the_numbers_and_the_others_a_note() -> None:
    numbers = price(
        input_mtok=tiered("1.25", (200_000, "2.5")),
        output_mtok=tiered("10", (200_000, "15"), (500_000, "20")),
    )
    [period] = periods(numbers)
    assert period.input_price_per_1m == Decimal("1.25")
    assert period.output_price_per_1m == Decimal(10)
    assert period.notes == (
        "Above 200,000 input tokens: input 2.5, output 15 per 1M. "
        "Above 500,000 input tokens: output 20 per 1M."
    )


def test_float_noise_is_rounded_and_said() -> None:
    [period] = periods(price(input_mtok="0.13999999999999999", output_mtok="1"))
    assert period.input_price_per_1m == Decimal("0.14")
    assert period.notes == "Rounded to 10 decimal places: input."


def test_other_tokens_and_other_units_are_noted_apart() -> None:
    numbers = price(
        input_mtok="1",
        cache_write_1h_mtok="2",
        input_audio_mtok="3",
        web_searches_kcount="10",
        audio_hours="0.36",
    )
    assert notes(numbers) == (
        "Other tokens: cache write 1h 2, input audio 3 per 1M. "
        "Also charged: web searches 10 per 1,000, audio 0.36 per hour."
    )


def test_deprecation_is_a_note_and_ends_no_period() -> None:
    [period] = periods(price(input_mtok="1"), deprecated=True)
    assert period.effective_until is None
    assert period.notes == "Deprecated by its provider."


def test_the_peak_price_of_the_day_gives_the_numbers() -> None:
    low = price(input_mtok="1", output_mtok="2", cache_read_mtok="0.1")
    peak = price(input_mtok="2", output_mtok="4", cache_read_mtok="0.2")
    one, four = time(1, tzinfo=UTC), time(4, tzinfo=UTC)
    in_shanghai = time(14, tzinfo=timezone(timedelta(hours=8)))
    listed = [
        always(low),
        daily(one, four, peak),
        daily(in_shanghai, time(10, tzinfo=UTC), peak),
    ]
    [period] = periods(listed)
    assert period.prices == (Decimal(2), Decimal(4), None, Decimal("0.2"))
    assert period.notes == (
        "The numbers are the peak price, daily 01:00-04:00, 06:00-10:00 UTC. "
        "At other hours: input 1, output 2, cache read 0.1 per 1M."
    )


def test_a_cheaper_daily_window_leaves_the_standard_price_as_the_peak() -> None:
    listed = [
        always(price(input_mtok="2")),
        daily(time(22), time(6), price(input_mtok="1")),
    ]
    [period] = periods(listed)
    assert period.input_price_per_1m == Decimal(2)
    assert period.notes == (
        "The numbers are the peak price, at all but the hours named here. "
        "Daily 22:00-06:00 UTC: input 1 per 1M."
    )


def test_an_undated_window_counts_only_for_the_price_that_it_follows() -> None:
    listed = [
        always(price(input_mtok="1")),
        since(MAY, price(input_mtok="2")),
        daily(time(1), time(4), price(input_mtok="4")),
    ]
    before, after = periods(listed)
    assert times((before, after)) == [(1, None, MAY), (4, MAY, None)]
    assert before.notes == (
        "The source's undated daily windows count only for a later price."
    )


def test_a_window_before_any_price_is_skipped() -> None:
    listed = [daily(time(1), time(4), price(input_mtok="4"))]
    assert skip_code(listed) == ReasonCode.INVALID_PERIODS


def test_prices_of_special_requests_are_noted_where_they_apply() -> None:
    batch, flex = {"processing": "batch"}, {"service_tier": "flex", "route": "eu"}
    listed = [always(price(input_mtok="8")), since(JUNE, price(input_mtok="4"))]
    before, after = periods(
        listed,
        price_variants=[
            variant({"service_tier": "default"}, price()),
            variant(batch, price(input_mtok="2"), JUNE),
            variant(batch, price(input_mtok="4"), MAY),
            variant(flex, price(input_mtok=tiered("3", (9, "6")), audio_hours="1")),
        ],
    )
    flexible = (
        "With service_tier flex and route eu: input 3 per 1M. "
        "With service_tier flex and route eu above 9 input tokens: input 6 per 1M. "
        "With service_tier flex and route eu also charged: audio 1 per hour."
    )
    batched = "With processing batch from 2026-05-01: input 4 per 1M."
    assert before.notes == f"{batched} {flexible}"
    assert after.notes == f"With processing batch: input 2 per 1M. {flexible}"


def test_a_special_price_by_the_hour_is_noted_with_its_hours() -> None:
    hours = types.TimeOfDateConstraint(start_time=time(1), end_time=time(2))
    night = types.PriceVariant(
        when={"speed": "fast"}, prices=price(input_mtok="9"), constraint=hours
    )
    assert notes(price(input_mtok="1"), price_variants=[night]) == (
        "With speed fast daily 01:00-02:00 UTC: input 9 per 1M."
    )


def test_dates_start_at_midnight_utc() -> None:
    assert genai_models.midnight(date(2026, 5, 1)) == MAY
