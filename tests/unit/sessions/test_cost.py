"""What a turn costs, to the last digit, or unknown."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.charge import EXACT, Unpriced, amount_of
from service.price_catalog.price import Price, rates_of
from service.price_catalog.usage import CallUsage
from service.sessions.turn import TOKENS_MAX, TokenCounts
from tests.support.sessions.recording import NOON


def price(
    input_price: str | None = "2.5",
    output_price: str | None = "10",
    cache_read: str | None = None,
    cache_creation: str | None = None,
) -> Price:
    def amount(text: str | None) -> Decimal | None:
        return None if text is None else Decimal(text)

    return Price(
        model_id=UUID(int=1),
        version=2,
        input_price_per_1m=amount(input_price),
        output_price_per_1m=amount(output_price),
        cache_creation_price_per_1m=amount(cache_creation),
        cache_read_price_per_1m=amount(cache_read),
        currency="USD",
        notes=None,
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        effective_until=None,
        source={"name": "manual", "version": None, "sha256": None},
    )


def cost(tokens: TokenCounts, at_price: Price) -> Decimal | None:
    usage = CallUsage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.completion,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_creation,
    )
    amount = amount_of(rates_of(at_price, NOON, {}), usage)
    return None if isinstance(amount, Unpriced) else amount


@pytest.mark.parametrize(
    ("tokens", "at_price", "expected"),
    [
        (TokenCounts(prompt=1_000_000, completion=0), price(), "2.5"),
        (TokenCounts(prompt=1, completion=1), price(), "0.0000125"),
        (TokenCounts(prompt=3, completion=0), price("0", None), "0"),
        (TokenCounts(prompt=3, completion=1), price("1", None), None),
        (TokenCounts(prompt=3, completion=1), price(None, "1"), None),
        (TokenCounts(prompt=3), price(), None),
        (TokenCounts(completion=3), price(), None),
        (TokenCounts(), price(), None),
        # Cached tokens are part of the prompt, and cost as much without a price of
        # their own.
        (TokenCounts(prompt=100, completion=0, cache_read=40), price(), "0.00025"),
        (
            TokenCounts(prompt=100, completion=0, cache_read=40, cache_creation=10),
            price("10", "0", "1", "12.5"),
            "0.000665",
        ),
        (TokenCounts(prompt=100, completion=0, cache_read=0), price("1"), "0.0001"),
    ],
)
def test_what_tokens_cost(
    tokens: TokenCounts, at_price: Price, expected: str | None
) -> None:
    amount = cost(tokens, at_price)

    assert (None if amount is None else format(amount, "f")) == expected


@given(
    st.integers(0, TOKENS_MAX),
    st.integers(0, TOKENS_MAX),
    st.decimals(0, 10**10, places=10, allow_nan=False),
    st.decimals(0, 10**10, places=10, allow_nan=False),
)
def test_costs_are_exact(
    prompt: int, completion: int, input_price: Decimal, output_price: Decimal
) -> None:
    amount = cost(
        TokenCounts(prompt=prompt, completion=completion),
        price(str(input_price), str(output_price)),
    )

    scaled = prompt * int(input_price.scaleb(10)) + completion * int(
        output_price.scaleb(10)
    )
    assert amount is not None
    assert int(amount.scaleb(16, EXACT)) == scaled
