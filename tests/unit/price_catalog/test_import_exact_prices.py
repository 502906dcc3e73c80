"""What a source's number becomes, digit for digit, and what is refused."""

from datetime import UTC, datetime
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.imports.exact_prices import (
    RefusedRowError,
    is_rounded,
    read_name,
    read_price,
)
from service.price_catalog.imports.price_list import (
    ImportedModel,
    PricePeriod,
    PriceSource,
    ReasonCode,
    sorted_import,
)
from service.price_catalog.periods import PRICE_LIMIT


def period(
    *, price: str = "1", start: datetime | None = None, end: datetime | None = None
) -> PricePeriod:
    return PricePeriod(
        input_price_per_1m=Decimal(price),
        output_price_per_1m=Decimal(price),
        cache_creation_price_per_1m=None,
        cache_read_price_per_1m=None,
        currency="USD",
        effective_from=start,
        effective_until=end,
        notes=None,
    )


def model(*periods: PricePeriod, provider: str = "acme") -> ImportedModel:
    return ImportedModel(
        provider=provider, provider_name="Acme", model="one", periods=periods
    )


def refusal(value: object, *, per_tokens: int = 1) -> ReasonCode:
    with pytest.raises(RefusedRowError) as caught:
        read_price(value, field="input", per_tokens=per_tokens)
    return caught.value.code


@pytest.mark.parametrize(
    ("per_token", "per_1m"),
    [
        ("0.0000025", "2.5"),
        ("3E-7", "0.3"),
        ("0.00971", "9710"),
        ("0.00001", "10"),
        ("0.0", "0"),
        ("-0.0", "0"),
        ("1E-16", "0.0000000001"),
        ("0.000015000020000000002", "15.00002"),
        ("1.5E-16", "0.0000000002"),
        ("2.5E-16", "0.0000000002"),
        ("0." + "3" * 5000, "333333.3333333333"),
    ],
)
def test_a_price_per_token_is_scaled_exactly_and_written_plainly(
    per_token: str, per_1m: str
) -> None:
    price = read_price(Decimal(per_token), field="input", per_tokens=1)
    assert price is not None
    assert format(price, "f") == per_1m


def test_the_threads_own_decimal_context_changes_nothing() -> None:
    with localcontext() as context:
        context.prec = 3
        price = read_price(Decimal("0.00123456789"), field="input", per_tokens=1)
    assert price == Decimal("1234.56789")


def test_unknown_stays_unknown_and_free_stays_free() -> None:
    assert read_price(None, field="input", per_tokens=1) is None
    assert read_price(Decimal(0), field="input", per_tokens=1) == 0


@pytest.mark.parametrize("value", ["0.5", "", True, False, 0.1, 1, [], {}])
def test_what_is_no_decimal_is_refused(value: object) -> None:
    assert refusal(value) == ReasonCode.INVALID_PRICE


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-Infinity", "-1E-9"])
def test_what_is_not_finite_or_negative_is_refused(text: str) -> None:
    assert refusal(Decimal(text)) == ReasonCode.INVALID_PRICE


@pytest.mark.parametrize("text", ["1E+10", "9999999999.99999999999", "1E+999999999"])
def test_what_no_column_could_hold_is_refused(text: str) -> None:
    assert refusal(Decimal(text), per_tokens=1_000_000) == ReasonCode.PRICE_OUT_OF_RANGE


@pytest.mark.parametrize("text", ["4E-17", "1E-999999999"])
def test_a_tiny_price_does_not_become_free(text: str) -> None:
    assert refusal(Decimal(text)) == ReasonCode.PRICE_OUT_OF_RANGE


@given(
    value=st.decimals(min_value=0, allow_nan=False, allow_infinity=False),
    per_tokens=st.sampled_from([1, 1_000_000]),
)
def test_a_price_is_off_by_half_a_step_at_most(value: Decimal, per_tokens: int) -> None:
    try:
        price = read_price(value, field="input", per_tokens=per_tokens)
    except RefusedRowError:
        scaled = Fraction(value) * (1_000_000 // per_tokens)
        assert scaled <= Fraction(1, 2 * 10**10) or scaled > PRICE_LIMIT - 1
        return
    assert price is not None
    assert 0 <= price < PRICE_LIMIT
    exact = Fraction(value) * (1_000_000 // per_tokens)
    assert abs(Fraction(price) - exact) <= Fraction(1, 2 * 10**10)
    assert is_rounded(price, value, per_tokens=per_tokens) == (price != exact)
    assert (price == 0) == (value == 0)


@pytest.mark.parametrize("name", ["", " x", "x\n", "a\x00b", "\ud800", "n" * 257])
def test_a_name_that_cannot_be_stored_or_shown_is_refused(name: str) -> None:
    with pytest.raises(RefusedRowError) as caught:
        read_name(name)
    assert caught.value.code == ReasonCode.INVALID_NAME


def test_periods_must_ascend_and_not_overlap() -> None:
    may = datetime(2026, 5, 1, tzinfo=UTC)
    june = datetime(2026, 6, 1, tzinfo=UTC)
    assert len(model(period(end=may), period(start=may)).periods) == 2
    assert len(model(period(end=may), period(start=june)).periods) == 2
    for wrong in (
        (),
        (period(), period(start=may)),
        (period(end=june), period(start=may)),
        (period(end=may), period()),
        (period(start=june, end=may),),
        (period(start=may, end=may),),
    ):
        with pytest.raises(ValueError, match="acme/one has"):
            model(*wrong)


def test_a_zero_price_is_held_except_of_software_run_at_home() -> None:
    source = PriceSource(name="test", version=None, sha256="")
    may = datetime(2026, 5, 1, tzinfo=UTC)
    billed, free = model(period(price="0")), model(period(price="0"), provider="ollama")
    once_free = model(period(price="0", end=may), period(start=may), provider="b")
    imported = sorted_import(source, [once_free, free, billed], [])
    assert imported.models == (free,)
    assert [each.model for each in imported.held] == [billed, once_free]
    assert {each.code for each in imported.held} == {ReasonCode.ZERO_PRICE}
